"""The store below the disk cache: order of use, limits by count, transactions, damaged numbers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from maskwright.disk_store import DiskStore

SIZE = 20_000


def key(n: int) -> bytes:
    return n.to_bytes(32, "big")


def present(store: DiskStore, count: int) -> list[int]:
    """Which entries there are, without using them."""
    found = store.open().execute("SELECT key FROM entries ORDER BY used").fetchall()
    numbers = [int.from_bytes(row[0], "big") for row in found]
    assert set(numbers) <= set(range(count))
    return numbers


def test_the_least_recently_used_go_as_late_as_the_limit_allows(tmp_path):
    limit = 300_000
    store = DiskStore(tmp_path, limit)
    entry_bytes = 5 * 4096  # pages of the file
    for n in range(40):
        assert store.write(key(n), bytes(SIZE))
        entries, size = store.size()
        assert size <= limit
        assert entries == n + 1 or size + entry_bytes > limit
        assert present(store, n + 1) == list(range(n + 1 - entries, n + 1))
    assert 10 < entries < 15
    store.close()


def test_what_is_read_stays(tmp_path):
    store = DiskStore(tmp_path, 200_000)
    for n in range(30):
        store.write(key(n), bytes(SIZE))
        assert store.read(key(0)) == bytes(SIZE)
    assert present(store, 30)[-3:] == [28, 0, 29]
    store.close()


def test_an_entry_beyond_the_limit_drives_nothing_out(tmp_path):
    store = DiskStore(tmp_path, 200_000)
    store.write(key(1), bytes(SIZE))
    assert not store.write(key(2), bytes(200_001))
    assert present(store, 3) == [1]
    store.close()


def test_a_smaller_limit_is_reached_with_the_next_entry(tmp_path):
    store = DiskStore(tmp_path, -1)
    for n in range(100):
        store.write(key(n), bytes(SIZE))
    store.close()
    store = DiskStore(tmp_path, 200_000)
    assert store.size()[0] == 100
    store.write(key(100), bytes(SIZE))
    assert store.size()[1] <= 200_000
    assert present(store, 101)[-1] == 100
    store.close()


def test_reading_costs_no_transaction(tmp_path):
    store = DiskStore(tmp_path, -1)
    for n in range(100):
        store.write(key(n), b"x")
    connection = store.open()
    before = connection.total_changes
    for n in range(63):
        store.read(key(n))
        store.write_uses()
    assert connection.total_changes == before
    store.read(key(63))
    store.write_uses()
    assert connection.total_changes == before + 64
    assert present(store, 100) == [*range(64, 100), *range(64)]
    store.close()


@pytest.mark.parametrize("how", ["close", "write"])
def test_uses_are_written_with_what_comes_next(tmp_path, how):
    store = DiskStore(tmp_path, -1)
    for n in range(3):
        store.write(key(n), b"x")
    store.read(key(1))
    store.read(key(0))
    store.read(key(1))
    if how == "write":
        store.write(key(3), b"x")
        assert present(store, 4) == [2, 0, 1, 3]
    store.close()
    assert present(store, 4)[:3] == [2, 0, 1]
    store.close()


def test_a_damaged_number_of_uses_stops_nothing(tmp_path):
    store = DiskStore(tmp_path, -1)
    for n in range(3):
        store.write(key(n), b"x")
    for damage in (2**63 - 1, "text", b"bytes", -(2**63)):
        store.open().execute("UPDATE entries SET used = ? WHERE key = ?", (damage, key(1)))
        store.write(key(3), b"x")
        assert store.read(key(1)) == b"x"
        store.write(key(4), b"x")
    store.close()


def test_space_is_given_back(tmp_path):
    store = DiskStore(tmp_path, -1)
    for n in range(50):
        store.write(key(n), bytes(SIZE))
    store.clear()
    assert store.size()[0] == 0
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 100_000
    assert store.read(key(1)) is None
    store.close()


def test_sqlite_is_imported_with_the_first_disk_cache_only(tmp_path):
    script = (
        "import sys, maskwright as m\n"
        "info = m.TokenizerInfo(['a', 'b'], stop_token_ids=1)\n"
        "m.GrammarCompiler(info).compile_regex('a')\n"
        "print('sqlite3' in sys.modules)\n"
        f"m.GrammarCompiler(info, disk_cache={str(tmp_path)!r}).compile_regex('a')\n"
        "print('sqlite3' in sys.modules)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert result.stdout.split() == ["False", "True"]


def test_a_folder_is_made_for_its_owner_alone(tmp_path: Path):
    store = DiskStore(tmp_path / "a", -1)
    store.open()
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700
    store.close()
