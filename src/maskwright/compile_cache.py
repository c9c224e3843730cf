"""A cache of compiled grammars: one computation per key, least recently used first out.

Idea: a key is looked up first, among the entries (``cache_entries``) and the computations in flight
(``computation``). If it is new, its computation finds out what it means and asks for that, among
the entries and the builds in flight. One lock guards all of it. Nothing is computed, waited for or
freed under it: the first caller of a key computes, the others wait for its outcome.
`clear` begins a new *generation*, with new entries and nothing in flight, so whatever was in flight
finds itself forgotten and is delivered to its callers without being kept. A computation gets the
generation that it began in; what its entries share belongs to that one, and lives as long as they
do. What is more than the limit goes at each insertion, hit and question about the size.
Cost: a lock and two dictionary look-ups per hit, whatever the number of entries.
"""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from .cache_entries import Charged, Entries, Entry, GenerationLike
from .compile_future import CompileFuture
from .computation import Computation, copied
from .forks import renew_in_children
from .work_pool import program_ends

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from .work_pool import WorkPool

__all__ = ["CacheStats", "CompileCache"]

_Value = TypeVar("_Value", bound=Charged)
_Generation = TypeVar("_Generation", bound=GenerationLike)
_Make: TypeAlias = "Callable[[Computation[_Value, _Generation]], _Value]"


@dataclass(frozen=True)
class CacheStats:
    """Figures of a cache at one moment.

    Attributes:
        entries: Finished entries that are kept.
        bytes: Memory of those entries.
        hits: Calls that were answered without a computation of their own, or by one that found
            what it would have built.
        misses: Computations that were started, without those.
        evictions: Entries that were dropped to keep the limit; `clear` doesn't count.
        in_flight: Computations that run now, or wait for a thread, and will be kept.
    """

    entries: int
    bytes: int
    hits: int
    misses: int
    evictions: int
    in_flight: int


class CompileCache(Generic[_Value, _Generation]):
    """Maps keys to values that are expensive to make. Safe to use from several threads.

    Args:
        new_generation: Makes what the entries of a generation charge their bytes to.
        limit_bytes: What the entries may take; -1: unlimited, 0: nothing is kept.
        pool: Runs what is submitted.
        key_bytes: Returns what a further key and its form take, beside the value of the entry.
    """

    def __init__(
        self,
        new_generation: Callable[[], _Generation],
        limit_bytes: int = -1,
        *,
        pool: WorkPool,
        key_bytes: Callable[[Hashable, _Value, _Value], int] = lambda _key, _form, _value: 0,
    ) -> None:
        self.limit_bytes = limit_bytes
        self._pool = pool
        self._new_entries: Callable[[], Entries[_Value, _Generation]] = lambda: Entries(
            new_generation(), limit_bytes, key_bytes
        )
        self._lock = threading.Lock()
        self._entries = self._new_entries()
        self._computations: dict[Hashable, Computation[_Value, _Generation]] = {}  # by key
        self._builds: dict[Hashable, Computation[_Value, _Generation]] = {}  # by meaning
        self._hits = self._hits_by_meaning = self._misses = self._evictions = 0
        renew_in_children(self)

    def renew(self) -> None:
        """Forget what other threads of a parent process compute: they don't in a forked child."""
        self._lock = threading.Lock()
        self._computations = {}
        self._builds = {}

    @property
    def generation(self) -> _Generation:
        """The present generation."""
        return self._entries.generation

    @property
    def hits_by_meaning(self) -> int:
        """Hits for which the meaning had to be found out."""
        return self._hits_by_meaning

    def get(self, key: Hashable, make: _Make[_Value, _Generation]) -> _Value:
        """Return the entry of a key, made by ``make`` if there is none. Counts as a use.

        Args:
            key: None: neither kept nor counted.
            make: Called with the computation, without any lock.

        Raises:
            Exception: What ``make`` raised, in this thread or in the one that this one waited for.
                Nothing is kept then.
        """
        if key is None:
            return make(Computation(self, None, make, None))
        while True:
            with self._lock:
                value = self._entries.use(key)
                if value is not None:
                    self._hits += 1
                    dropped = self._drop_excess()
                else:
                    computation, is_new = self._computation(key, make)
                    computation.callers += 1
                    is_mine = computation.begin()
                    self._hits += is_mine and not is_new
            if value is not None:
                del dropped  # frees compiled grammars, after the lock
                return value
            if is_mine:
                return self._compute(computation)
            try:
                value = computation.wait()
            finally:
                self._leave(computation)
            if value is not None:
                with self._lock:
                    self._hits += 1
                return value

    def submit(self, key: Hashable, make: _Make[_Value, _Generation]) -> CompileFuture[_Value]:
        """Return a future of what `get` returns, computed by the pool; waits for nothing.

        Raises:
            RuntimeError: The program ends, and computes nothing more.
        """
        with self._lock:
            value = self._entries.use(key)
            if value is not None:
                self._hits += 1
                dropped = self._drop_excess()
            else:
                computation, is_new = self._computation(key, make)
                future = CompileFuture(partial(self._leave, computation))
                computation.futures[future] = None
                self._hits += not is_new
        if value is not None:
            del dropped  # frees compiled grammars, after the lock
            future = CompileFuture()
            future.deliver(value)
        elif is_new:
            self._queue(computation)
        return future

    def value_of(
        self,
        computation: Computation[_Value, _Generation],
        meaning: Hashable,
        build: Callable[[], _Value],
    ) -> _Value:
        """See `Computation.share`."""
        if computation.generation is None:
            return build()
        while True:
            with self._lock:
                value, other = None, None
                if computation.generation is self.generation:
                    value = self._entries.use_meaning(meaning)
                    other = self._builds.get(meaning) if value is None else None
                    if value is None and other is None:
                        self._builds[meaning] = computation
            if value is None and other is None:
                return self._build(computation, meaning, build)
            if other is not None:
                value = other.wait_for_build()
            if value is not None:
                computation.shared = meaning, value
                self._count_by_meaning()
                return value
            # That one was stopped.

    def clear(self) -> Entries[_Value, _Generation]:
        """Forget all entries, and keep nothing of what is in flight; waits for nothing.

        Returns:
            What was forgotten, which is freed when it is let go. What still lives of it goes on
            charging its generation.
        """
        entries = self._new_entries()
        with self._lock:
            past, self._entries = self._entries, entries
            self._computations = {}
            self._builds = {}
        return past

    def size_bytes(self) -> int:
        """Return the memory of the entries; within the limit, since what is more goes first."""
        with self._lock:
            size, dropped = self._entries.drop_excess()
            self._evictions += len(dropped)
        del dropped  # frees compiled grammars, after the lock
        return size

    def values(self) -> list[_Value]:
        """Return the values of the entries, least recently used first."""
        with self._lock:
            return self._entries.values()

    def stats(self) -> CacheStats:
        """Return the figures of this moment."""
        size = self.size_bytes()
        with self._lock:
            return CacheStats(
                len(self._entries),
                size,
                self._hits,
                self._misses,
                self._evictions,
                len(self._computations),
            )

    # --- under the lock ---------------------------------------------------------------------------

    def _drop_excess(self) -> list[Entry[_Value]]:
        if self.limit_bytes < 0:
            return []
        _, dropped = self._entries.drop_excess()
        self._evictions += len(dropped)
        return dropped

    def _computation(
        self, key: Hashable, make: _Make[_Value, _Generation]
    ) -> tuple[Computation[_Value, _Generation], bool]:
        """Return the computation of a key, and whether it is new."""
        computation = self._computations.get(key)
        if computation is not None:
            return computation, False
        generation = None if key is None else self.generation
        computation = Computation(self, key, make, generation)
        if key is not None:
            self._computations[key] = computation
            self._misses += 1
        return computation, True

    def _forget(self, computation: Computation[_Value, _Generation]) -> bool:
        """Take a computation out; False: it had been, by `clear` or because nobody waited."""
        is_known = self._computations.get(computation.key) is computation
        if is_known:
            del self._computations[computation.key]
        return is_known

    def _keep(self, computation: Computation[_Value, _Generation]) -> _Value | None:
        """Keep what a computation that has ended built, and have its key lead there.

        Returns:
            The form of a key that had to go for that, if one had.
        """
        is_known = self._forget(computation)
        meaning = computation.key if computation.builds is None else computation.builds
        if self._builds.get(meaning) is computation:
            del self._builds[meaning]
        if computation.shared is None and computation.value is not None:  # without a meaning
            computation.shared = meaning, computation.value
        if computation.shared is None or computation.generation is None:
            return None
        meaning, value = computation.shared
        if computation.generation is not self.generation:
            value.charge_to(computation.generation)
            return None
        if is_known or computation.builds is not None:
            self._entries.insert(meaning, value)
        if not is_known or computation.value is None:
            return None
        return self._entries.add_key(computation.key, computation.value, meaning, value)

    # --- computing, without the lock --------------------------------------------------------------

    def _count_by_meaning(self) -> None:
        with self._lock:
            self._misses -= 1
            self._hits += 1
            self._hits_by_meaning += 1

    def _queue(self, computation: Computation[_Value, _Generation]) -> None:
        try:
            self._pool.submit(partial(self._compute_queued, computation))
        except RuntimeError:
            _cancel(computation)
            raise

    def _compute_queued(self, computation: Computation[_Value, _Generation]) -> None:
        if program_ends():
            _cancel(computation)
        with self._lock:
            is_mine = computation.begin()
        if is_mine:
            with suppress(BaseException):  # those who wait have it
                self._compute(computation, for_caller=False)

    def _compute(
        self, computation: Computation[_Value, _Generation], *, for_caller: bool = True
    ) -> _Value:
        """Compute in this thread, and tell all who wait."""
        try:
            computation.value = value = computation.make(computation)
        except CancelledError:
            raise
        except BaseException as error:
            # What interrupts a caller is for that one only.
            if isinstance(error, Exception) or not for_caller:
                computation.error = error
            raise
        finally:
            self._end(computation)
        return value

    def _end(self, computation: Computation[_Value, _Generation]) -> None:
        value, error = computation.value, computation.error
        with self._lock:
            dropped = self._keep(computation), self._drop_excess()
            futures, computation.futures = computation.futures, {}
        computation.end()
        for future in futures:
            if value is not None:
                future.deliver(value)
            elif error is not None:
                future.fail(copied(error))
        if value is None and error is None and futures:
            self._compute_anew(computation, futures)
        del dropped  # frees compiled grammars, after the lock

    def _compute_anew(
        self,
        interrupted: Computation[_Value, _Generation],
        futures: dict[CompileFuture[_Value], None],
    ) -> None:
        """Queue what a thread was computing that was interrupted, for those who still wait."""
        with self._lock:
            computation, is_new = self._computation(interrupted.key, interrupted.make)
            computation.futures.update(futures)
            for future in futures:
                future.leave = partial(self._leave, computation)
        if is_new:
            self._queue(computation)

    def _leave(
        self,
        computation: Computation[_Value, _Generation],
        future: CompileFuture[_Value] | None = None,
    ) -> None:
        """One who waited does so no longer. When nobody is left it is not begun, or stopped."""
        with self._lock:
            if future is None:
                computation.callers -= 1
            else:
                computation.futures.pop(future, None)
            if computation.callers or computation.futures:
                return
            if self._forget(computation) and not computation.is_begun:
                self._misses -= 1
            computation.is_begun = True
            computation.stop.set()

    def _build(
        self,
        computation: Computation[_Value, _Generation],
        meaning: Hashable,
        build: Callable[[], _Value],
    ) -> _Value:
        """Build for a computation; those who wait for the meaning hear of it when that ends."""
        computation.builds = meaning
        try:
            value = build()
        except CancelledError:
            raise
        except Exception as error:
            computation.build_error = error
            raise
        computation.shared = meaning, value
        return value


def _cancel(computation: Computation[_Value, _Generation]) -> None:
    for future in tuple(computation.futures):
        future.cancel()
