"""Compiled grammars that were stored on a disk, for later processes and those beside this one.

Idea: a key is a hash of all that decides what is compiled: the source and its options, the limits,
the vocabulary, the format, and the code of this package, since a newer front-end may mean something
else. So an entry is never out of date; what no longer has a key goes when the limit needs its room.
Entries are loaded by the checks that every stored grammar goes through. A cache is no reason to
fail: what the disk refuses is compiled as without one, said once and counted, and tried again
after a while.
Cost: per grammar a hash and a look-up, or a transaction; once per process, reading the code of the
package (milliseconds). SQLite is imported when a compiler first has a disk cache.
"""

from __future__ import annotations

import functools
import hashlib
import marshal
import os
import threading
import time
import warnings
import weakref
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from . import _core
from .certificate import Certificate
from .compiled_grammar import CompiledGrammar
from .disk_store import DiskStore
from .errors import DiskCacheError, MaskwrightError
from .forks import close_before_forks
from .shown import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from .tokenizer_info import TokenizerInfo

__all__ = ["DiskCache", "DiskCacheStats"]

_RETRY_SECONDS: Final = 60.0

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class DiskCacheStats:
    """Figures of a disk cache at one moment.

    Attributes:
        hits: Grammars that were loaded by this compiler.
        misses: Grammars that were compiled, since the disk had none.
        writes: Grammars that were stored.
        dropped: Entries that were damaged, and compiled anew.
        errors: Accesses that the disk refused. After one, grammars are compiled without the disk,
            or without storing them, for a minute.
        entries: Entries on the disk, whoever stored them.
        bytes: What they take in the file.
    """

    hits: int
    misses: int
    writes: int
    dropped: int
    errors: int
    entries: int
    bytes: int


class DiskCache:
    """Loads and stores the compiled grammars of one compiler. Safe to use from several threads.

    Args:
        folder: Where the database is or will be.
        limit_bytes: What it may take; -1: no limit.
        tokenizer_info: The vocabulary.
        limits: Those that all grammars are compiled under.

    Raises:
        TypeError: The folder is no path.
        DiskCacheError: The folder is none, or what is in it has the name of the database and is no
            database of this package.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        limit_bytes: int,
        tokenizer_info: TokenizerInfo,
        limits: dict[str, int],
    ) -> None:
        self._tokenizer_info = tokenizer_info
        self._limits = limits
        circumstances = (_code_digest(), _core.STORED_VERSION, tokenizer_info.fingerprint)
        self._key_start = marshal.dumps((*circumstances, sorted(limits.items())), 2)
        self._store = DiskStore(_path_of(folder), limit_bytes)
        # Guards all else; taken again by a signal handler that forks.
        self._lock = threading.RLock()
        self._hits = self._misses = self._writes = self._dropped = self._errors = 0
        self._has_warned = False
        self._access_after = self._write_after = 0.0  # time.monotonic()
        try:
            self._store.open()
        except DiskCacheError:
            raise  # said now, rather than with the first request
        except _disk_errors() as error:
            self._access_after = self._report(error)
        weakref.finalize(self, self._store.close)
        close_before_forks(self)

    def load(self, key: Hashable, shared_masks: _core.SharedMasks | None) -> CompiledGrammar | None:
        """Return the grammar of a compiler's key, None if it has to be compiled."""
        stored = self._read(self._disk_key(key))
        if stored is None:
            return None
        try:
            compiled = CompiledGrammar._load(  # noqa: SLF001  of this package
                stored, self._tokenizer_info, self._limits, key=key, shared_masks=shared_masks
            )
        except MaskwrightError:
            with self._lock:
                self._dropped += 1
                self._misses += 1
            return None
        with self._lock:
            self._hits += 1
        return compiled

    def store(self, key: Hashable, compiled: CompiledGrammar) -> None:
        """Store a grammar under a compiler's key, if the disk allows it."""
        disk_key, stored = self._disk_key(key), compiled.serialize()
        with self._lock:
            if self._write(lambda store: store.write(disk_key, stored)):
                self._writes += 1

    def clear(self) -> None:
        """Drop all entries, of all compilers.

        Raises:
            DiskCacheError: The disk doesn't allow it (``disk-cache-clear``).
        """
        try:
            with self._lock:
                self._store.clear()
        except _disk_errors() as error:
            raise DiskCacheError(
                f"the disk cache cannot be cleared: {self._store.path}: {error}; see that it can "
                "be written and is not locked, or remove it while no process uses it",
                code="disk-cache-clear",
            ) from error

    def stats(self) -> DiskCacheStats:
        """Return the figures of this moment."""
        with self._lock:
            entries, size = self._access(lambda store: store.size()) or (0, 0)
            counts = (self._hits, self._misses, self._writes, self._dropped, self._errors)
            return DiskCacheStats(*counts, entries, size)

    def before_fork(self) -> None:
        """Close the database, since a connection must not be carried over a fork."""
        self._lock.acquire()
        self._store.close()

    def after_fork(self) -> None:
        """Let go of what `before_fork` has taken."""
        with suppress(RuntimeError):  # it was made in between
            self._lock.release()

    def _disk_key(self, key: Hashable) -> bytes:
        assert isinstance(key, tuple)
        parts = tuple(astuple(part) if isinstance(part, Certificate) else part for part in key)
        return hashlib.sha256(self._key_start + marshal.dumps(parts, 2)).digest()

    def _read(self, key: bytes) -> bytes | None:
        with self._lock:
            try:
                stored = self._access(lambda store: store.read(key))
            except ValueError:
                stored = None
                self._dropped += 1
            if stored is None:
                self._misses += 1
            else:
                self._write(lambda store: store.write_uses())
            return stored

    def _access(self, work: Callable[[DiskStore], _Result]) -> _Result | None:
        if time.monotonic() < self._access_after:
            return None
        try:
            return work(self._store)
        except _disk_errors() as error:
            self._access_after = self._report(error)
            return None

    def _write(self, work: Callable[[DiskStore], _Result]) -> _Result | None:
        if time.monotonic() < max(self._access_after, self._write_after):
            return None
        try:
            return work(self._store)
        except _disk_errors() as error:
            self._write_after = self._report(error)
            return None

    def _report(self, error: Exception) -> float:
        """Count an error, say the first, and return the time at which to try again."""
        self._errors += 1
        if not self._has_warned:
            self._has_warned = True
            with suppress(RuntimeWarning):  # where warnings are errors: requests go on
                warnings.warn(
                    f"the disk cache {self._store.path} cannot be used: {error}; grammars are "
                    "compiled without it until it can",
                    RuntimeWarning,
                    stacklevel=2,
                )
        return time.monotonic() + _RETRY_SECONDS


def _disk_errors() -> tuple[type[Exception], ...]:
    import sqlite3

    return sqlite3.Error, OSError, DiskCacheError


@functools.cache
def _code_digest() -> bytes:
    """Return a digest of this package's code and data, whose version alone says too little."""
    files = [path for path in Path(__file__).parent.rglob("*") if path.is_file()]
    of_package = sorted(path for path in files if path.suffix not in (".pyc", ".so", ".pyd"))
    digest = hashlib.sha256(_core.engine_version().encode())
    for path in [*of_package, Path(_core.__file__)]:
        digest.update(path.name.encode() + b"\0")
        digest.update(path.read_bytes())
    return digest.digest()


def _path_of(folder: object) -> Path:
    """Return the path of the folder; one that no file system can have is told at once."""
    if not isinstance(folder, str | os.PathLike):
        raise TypeError(f"disk_cache is {shown(folder)}; expected the path of a folder, or None")
    path = Path(folder)
    try:
        is_path = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        is_path = False
    if not is_path or not os.fspath(folder):
        raise DiskCacheError(
            f"disk_cache is {shown(folder)}, which no folder can be called; pass the path of a "
            "folder",
            code="disk-cache-folder",
        )
    return path
