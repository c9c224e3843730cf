"""A bounded store of bytes by key in one SQLite database, shared by all processes that open it.

Idea: SQLite with a write-ahead log takes care of many processes, of crashes at any moment and of
readers that no writer holds up. An entry has a digest of its key and its bytes, so damage shows,
and damage to the database itself cannot give a key the bytes of another one. How recently entries
were used is a number that grows with each use; uses are gathered and written with the next entry,
or many at once, so that reading costs no transaction.
Cost: a look-up by an index; a new entry one transaction without waiting for the disk, and a sync
every few megabytes. Source: https://www.sqlite.org/wal.html.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from .errors import DiskCacheError

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

__all__ = ["DiskStore"]

#: Of the tables below. Another number is another file, so versions don't meet in one.
_LAYOUT: Final = 1
_FILE_NAME: Final = f"compiled-grammars-{_LAYOUT}.sqlite3"
#: "MWCG", where SQLite keeps the kind of a file.
_APPLICATION: Final = 0x4D574347
#: How long another process may keep the database locked.
_TIMEOUT_SECONDS: Final = 0.5
#: Uses that are gathered at most.
_MAX_USES: Final = 64
#: In one transaction; there can be more to drop only when the limit has become smaller.
_MAX_EVICTIONS: Final = 1000
#: Larger numbers of uses are damage.
_MAX_USE: Final = 2**62
_PRAGMAS: Final = ("synchronous = NORMAL", "trusted_schema = OFF", "cell_size_check = ON")
_TABLES: Final = (
    """CREATE TABLE IF NOT EXISTS entries
    (key BLOB PRIMARY KEY, used INTEGER NOT NULL, digest BLOB NOT NULL, stored BLOB NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS by_use ON entries (used)",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_LAYOUT}",
)
_DROP_OLDEST: Final = (
    "DELETE FROM entries WHERE rowid = (SELECT rowid FROM entries ORDER BY used LIMIT 1)"
)


class DiskStore:
    """The store in a folder. For one thread at a time, and not across forks: close it before.

    All methods raise ``sqlite3.Error`` or OSError where the disk or the database does not allow
    what they do, and `DiskCacheError` where the file is none of this package; the store is whole
    then, and may be used again.

    Args:
        folder: Made, for its owner alone, if it does not exist.
        limit_bytes: What the entries may take in the file; -1: no limit.
    """

    def __init__(self, folder: Path, limit_bytes: int) -> None:
        self.path = folder / _FILE_NAME
        self._limit_bytes = limit_bytes
        self._connection: sqlite3.Connection | None = None
        self._used: dict[bytes, None] = {}  # since they were last written, in order

    def open(self) -> sqlite3.Connection:
        """Open the database unless it is open, and return the connection."""
        if self._connection is None:
            _make_folder(self.path.parent)
            self._connection = _connect(self.path)
        return self._connection

    def close(self) -> None:
        """Write what is left to be written, if that can be done, and close the database."""
        from sqlite3 import Error

        connection, self._connection = self._connection, None
        if connection is None:
            return
        with suppress(Error):
            self._write_uses(connection)
        self._used.clear()
        connection.close()

    def read(self, key: bytes) -> bytes | None:
        """Return the bytes of a key, None if there are none.

        Raises:
            ValueError: They are damaged.
        """
        query = "SELECT digest, stored FROM entries WHERE key = ?"
        row = self.open().execute(query, (key,)).fetchone()
        if row is None:
            return None
        digest, stored = row
        if not isinstance(stored, bytes) or digest != _digest(key, stored):
            raise ValueError("the entry is damaged")
        self._used.pop(key, None)
        self._used[key] = None
        return stored

    def write(self, key: bytes, stored: bytes) -> bool:
        """Keep an entry and drop those that it drives out; False: it is larger than the limit."""
        if 0 <= self._limit_bytes < len(stored):
            return False
        connection = self.open()
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            self._number_uses(connection)
            connection.execute(
                "INSERT OR REPLACE INTO entries (key, used, digest, stored) VALUES (?, ?, ?, ?)",
                (key, _last_use(connection) + 1, _digest(key, stored), stored),
            )
            if self._limit_bytes >= 0:
                self._evict(connection)
        self._used.clear()
        return True

    def write_uses(self) -> None:
        """Write down what was used, once that is much."""
        if len(self._used) >= _MAX_USES:
            self._write_uses(self.open())

    def size(self) -> tuple[int, int]:
        """Return the number of entries, counted one by one, and the bytes they take in the file."""
        connection = self.open()
        return _number(connection, "SELECT count(*) FROM entries"), _used_bytes(connection)

    def clear(self) -> None:
        """Drop all entries and give their space back."""
        connection = self.open()
        self._used.clear()
        connection.execute("DELETE FROM entries")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _write_uses(self, connection: sqlite3.Connection) -> None:
        if self._used:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                self._number_uses(connection)
            self._used.clear()

    def _number_uses(self, connection: sqlite3.Connection) -> None:
        uses = enumerate(self._used, _last_use(connection) + 1)
        connection.executemany("UPDATE entries SET used = ? WHERE key = ?", uses)

    def _evict(self, connection: sqlite3.Connection) -> None:
        for _ in range(_MAX_EVICTIONS):
            if _used_bytes(connection) <= self._limit_bytes:
                return
            connection.execute(_DROP_OLDEST)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise DiskCacheError(
            f"the disk cache cannot be used: {folder} is no folder and cannot become one; pass the "
            "path of a folder as disk_cache",
            code="disk-cache-folder",
        ) from error


def _connect(path: Path) -> sqlite3.Connection:
    """Open a database and make its tables if it is new."""
    from sqlite3 import OperationalError

    try:
        return _checked(path, "mode=rwc")
    except OperationalError:
        # A log cannot be made beside it. It is taken for one that nobody writes, then.
        if not path.exists() or os.access(path.parent, os.W_OK):
            raise
    return _checked(path, "immutable=1")


def _checked(path: Path, options: str) -> sqlite3.Connection:
    import sqlite3

    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{options}",
        uri=True,
        timeout=_TIMEOUT_SECONDS,
        isolation_level=None,  # transactions begin where it is said
        check_same_thread=False,
    )
    try:
        _prepare(connection, path)
    except sqlite3.DatabaseError as error:
        connection.close()
        if type(error) is sqlite3.DatabaseError:  # no database, or a damaged one
            raise _refusal(path, f"is no database that can be read ({error})") from error
        raise
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    from sqlite3 import OperationalError

    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    if not _is_ours(connection, path):
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            for statement in _TABLES:
                connection.execute(statement)
    with suppress(OperationalError):  # in use: who opens it next can do it
        connection.execute("PRAGMA journal_mode = WAL")


def _is_ours(connection: sqlite3.Connection, path: Path) -> bool:
    """Return whether the tables are there; False: the database is empty."""
    with connection:
        connection.execute("BEGIN")  # all of one moment: another process may make it just now
        application = _number(connection, "PRAGMA application_id")
        layout = _number(connection, "PRAGMA user_version")
        tables = _number(connection, "SELECT count(*) FROM sqlite_master")
    if (application, layout) == (_APPLICATION, _LAYOUT):
        return True
    if application == _APPLICATION:
        raise _refusal(path, f"has layout {layout}, expected {_LAYOUT}", "disk-cache-version")
    if application != 0 or tables != 0:
        raise _refusal(path, "is a database of another program")
    return False


def _refusal(path: Path, what: str, code: str = "disk-cache-foreign") -> DiskCacheError:
    return DiskCacheError(
        f"the disk cache cannot be used: {path} {what}; it is left as it is: remove it while no "
        "process uses it, or pass another folder as disk_cache",
        code=code,
    )


def _digest(key: bytes, stored: bytes) -> bytes:
    return hashlib.sha256(key + stored).digest()


def _number(connection: sqlite3.Connection, query: str, *values: int) -> int:
    return int(connection.execute(query, values).fetchone()[0])


def _last_use(connection: sqlite3.Connection) -> int:
    query = "SELECT coalesce(max(used), 0) FROM entries WHERE used < ?"
    return _number(connection, query, _MAX_USE)


def _used_bytes(connection: sqlite3.Connection) -> int:
    pages = _number(connection, "PRAGMA page_count") - _number(connection, "PRAGMA freelist_count")
    return pages * _number(connection, "PRAGMA page_size")
