"""`clear` of a compile cache: nothing of an old generation gets into the new one, or waits for it.

Threads meet at barriers and events; each wait has a time limit, and what hangs is let go before a
test fails.
"""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError
from typing import Any

import pytest

from cache_fakes import (
    SECONDS,
    Entry,
    Gate,
    Waits,
    new_cache,
    new_entry,
    threads,
    wait_until_idle,
)
from maskwright.errors import GrammarSyntaxError

SIZE = 10


def never(_: Any) -> Entry:
    pytest.fail("computed again")


def figures(cache: Any) -> tuple[int, int, int]:
    stats = cache.stats()
    assert stats.bytes == cache.size_bytes()
    return stats.entries, stats.bytes, stats.in_flight


@pytest.mark.parametrize("limit", [-1, 100])
@pytest.mark.parametrize("fails", [False, True])
def test_what_ends_after_a_clear_reaches_its_callers_only(fails, limit):
    result = GrammarSyntaxError("bad", code="c") if fails else Entry()
    cache = new_cache(limit)
    old, new = Gate(result), Entry()
    with threads(1, old) as pool:
        future = pool.submit(cache.get, "a", old)
        assert old.started.wait(SECONDS)
        past = cache.clear()
        assert figures(cache) == (0, 0, 0)
        assert cache.get("a", lambda _: new) is new
        assert figures(cache) == (1, SIZE, 0)
        old.go.set()
        if isinstance(result, Entry):
            assert future.result(SECONDS) is result
            assert result.ledger is past.generation
        else:
            assert future.exception(SECONDS) is result
    assert figures(cache) == (1, SIZE, 0)
    assert cache.get("a", never) is new


@pytest.mark.parametrize("submitted", [False, True])
@pytest.mark.parametrize("fails", [False, True])
def test_three_generations_of_one_key(fails, submitted):
    """The first hangs while the second and third come and go, and ends last."""
    result = GrammarSyntaxError("bad", code="c") if fails else Entry(99)
    cache = new_cache(100)
    first, second, third = Gate(result), Gate(Entry(20)), Gate(Entry(30))
    with threads(3, first, second, third) as pool:

        def ask(gate: Gate) -> Any:
            future = cache.submit("a", gate) if submitted else pool.submit(cache.get, "a", gate)
            assert gate.started.wait(SECONDS)
            return future

        old = ask(first)
        assert figures(cache) == (0, 0, 1)
        cache.clear()
        assert figures(cache) == (0, 0, 0)
        middle = ask(second)
        assert figures(cache) == (0, 0, 1)
        second.go.set()
        assert middle.result(SECONDS) is second.result
        assert figures(cache) == (1, 20, 0)
        cache.clear()
        assert figures(cache) == (0, 0, 0)
        new = ask(third)
        third.go.set()
        assert new.result(SECONDS) is third.result
        assert figures(cache) == (1, 30, 0)
        first.go.set()
        if isinstance(result, Entry):
            assert old.result(SECONDS) is result
        else:
            assert type(old.exception(SECONDS)) is type(result)
    assert figures(cache) == (1, 30, 0)
    assert cache.get("a", never) is third.result
    assert cache.stats().evictions == 0


def test_a_build_of_an_old_generation_is_not_waited_for():
    """Two keys of one meaning: the second is asked for after a clear, and builds by itself."""
    cache = new_cache()
    old, new = Gate(Entry()), Entry()
    with threads(1, old) as pool:
        future = pool.submit(cache.get, "a", lambda work: work.share("same", lambda: old(work)))
        assert old.started.wait(SECONDS)
        cache.clear()
        assert cache.get("b", lambda work: work.share("same", lambda: new)) is new
        old.go.set()
        assert future.result(SECONDS) is old.result
    assert figures(cache) == (1, SIZE, 0)
    assert cache.get("c", lambda work: work.share("same", lambda: never(work))) is new


def test_an_old_computation_finds_nothing_of_the_new_generation():
    """It finds out its meaning after the clear, when there is an entry of that meaning."""
    cache = new_cache()
    front_end, old, new = Gate(Entry()), Entry(), Entry()

    def make(work: Any) -> Entry:
        front_end(work)
        return work.share("same", lambda: old)

    with threads(1, front_end) as pool:
        future = pool.submit(cache.get, "a", make)
        assert front_end.started.wait(SECONDS)
        past = cache.clear()
        assert cache.get("b", lambda work: work.share("same", lambda: new)) is new
        front_end.go.set()
        assert future.result(SECONDS) is old
    assert old.ledger is past.generation
    assert figures(cache) == (1, SIZE, 0)
    assert cache.hits_by_meaning == 0


def test_a_build_of_the_new_generation_stays_when_an_old_one_ends(monkeypatch):
    """Whoever wants it then waits for it."""
    cache = new_cache()
    waits, old, new = Waits(monkeypatch), Gate(Entry()), Gate(Entry())
    with threads(3, old, new) as pool:
        first = pool.submit(cache.get, "a", lambda work: work.share("m", lambda: old(work)))
        assert old.started.wait(SECONDS)
        cache.clear()
        second = pool.submit(cache.get, "b", lambda work: work.share("m", lambda: new(work)))
        assert new.started.wait(SECONDS)
        old.go.set()
        assert first.result(SECONDS) is old.result
        third = pool.submit(cache.get, "c", lambda work: work.share("m", lambda: never(work)))
        assert waits.noted.wait(SECONDS)
        new.go.set()
        assert second.result(SECONDS) is third.result(SECONDS) is new.result
    assert figures(cache) == (1, SIZE + 1, 0)


@pytest.mark.parametrize("shared", [False, True])
def test_what_was_given_up_and_ends_is_no_key(shared):
    """Although what it built may be found by its meaning."""
    cache = new_cache()
    gate = Gate(Entry())

    def make(work: Any) -> Entry:
        return work.share("m", lambda: gate(work)) if shared else gate(work)

    try:
        given_up = cache.submit("a", make)
        assert gate.started.wait(SECONDS)
        assert given_up.cancel()
        again = cache.submit("a", make)
        gate.go.set()
        value = again.result(SECONDS)
    finally:
        gate.go.set()
    wait_until_idle(cache._pool, 2)
    assert figures(cache) == (1, SIZE, 0)
    assert cache.get("a", never) is value


def test_what_was_given_up_without_a_meaning_is_not_kept():
    cache = new_cache()
    gate, entry = Gate(Entry()), Entry()
    try:
        given_up = cache.submit("a", gate)
        assert gate.started.wait(SECONDS)
        assert given_up.cancel()
    finally:
        gate.go.set()
    wait_until_idle(cache._pool, 2)
    assert figures(cache) == (0, 0, 0)
    assert cache.get("a", lambda _: entry) is cache.get("a", never)


def test_further_keys_are_no_longer_counted_when_their_entry_goes():
    cache = new_cache(25)
    for key in "abc":
        cache.get(key, lambda work: work.share("m", lambda: new_entry(work)))
    assert figures(cache) == (1, SIZE + 2, 0)
    cache.get("d", new_entry)
    assert figures(cache) == (2, 2 * SIZE + 2, 0)
    cache.get("e", new_entry)
    assert figures(cache) == (2, 2 * SIZE, 0)


def test_a_submitted_computation_is_delivered_after_a_clear():
    cache = new_cache()
    gate = Gate(Entry())
    try:
        futures = [cache.submit("a", gate) for _ in range(3)]
        assert gate.started.wait(SECONDS)
        cache.clear()
        assert figures(cache) == (0, 0, 0)
        gate.go.set()
        assert [future.result(SECONDS) for future in futures] == [gate.result] * 3
    finally:
        gate.go.set()
    assert figures(cache) == (0, 0, 0)


@pytest.mark.parametrize("level", ["key", "meaning"])
def test_a_computation_may_clear(level):
    cache = new_cache()
    entry = Entry()

    def clear() -> Entry:
        cache.clear()
        return entry

    def make(work: Any) -> Entry:
        return clear() if level == "key" else work.share("meaning", clear)

    with threads(1) as pool:
        assert pool.submit(cache.get, "a", make).result(SECONDS) is entry
    assert figures(cache) == (0, 0, 0)
    assert cache.get("a", new_entry) is not entry


def test_clearing_while_an_entry_is_evicted():
    """The clear waits for the lock that the eviction has, and then finds all in order."""
    cache = new_cache(25)
    begun, cleared = threading.Event(), threading.Event()

    class Evicted(Entry):
        def charge_to(self, ledger: Any) -> None:
            if ledger is None:
                thread.start()
                assert begun.wait(SECONDS)
                assert not cleared.is_set()
            super().charge_to(ledger)

    def clear() -> None:
        begun.set()
        cache.clear()
        cleared.set()

    thread = threading.Thread(target=clear)
    old = cache.get("a", lambda _: Evicted())
    cache.get("b", new_entry)
    newest = cache.get("c", new_entry)  # evicts "a"
    assert cleared.wait(SECONDS)
    thread.join(SECONDS)
    assert old.ledger is None
    assert newest.ledger is not cache.generation
    assert figures(cache) == (0, 0, 0)
    assert cache.stats().evictions == 1


def test_an_entry_that_is_freed_may_clear():
    """Nothing is freed under the lock: it would wait for itself."""
    cache = new_cache(25)

    class Clearing(Entry):
        def __del__(self) -> None:
            cache.clear()

    def work() -> tuple[int, int, int]:
        cache.get("a", lambda _: Clearing())
        cache.get("b", new_entry)
        cache.get("c", new_entry)  # evicts "a", whose end clears
        return figures(cache)

    found: list[tuple[int, int, int]] = []
    thread = threading.Thread(target=lambda: found.append(work()), daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert found == [(0, 0, 0)]


@pytest.mark.parametrize("limit", [-1, 1000])
def test_clearing_waits_for_none_of_many_computations(limit):
    cache = new_cache(limit)
    gates = [Gate(Entry()) for _ in range(16)]
    with threads(16, *gates) as pool:
        futures = [pool.submit(cache.get, key, gate) for key, gate in enumerate(gates)]
        assert all(gate.started.wait(SECONDS) for gate in gates)
        assert figures(cache) == (0, 0, 16)
        assert not len(cache.clear())
        assert figures(cache) == (0, 0, 0)
        assert cache.get("other", new_entry).ledger is cache.generation
        assert not any(future.done() for future in futures)
        for gate in gates:
            gate.go.set()
        assert [future.result(SECONDS) for future in futures] == [gate.result for gate in gates]
    assert figures(cache) == (1, SIZE, 0)


def test_nothing_waits_for_a_computation_but_its_callers():
    """Neither hits, misses, insertions that evict, figures, nor submissions: no lock is held."""
    cache = new_cache(25)
    gate = Gate(Entry())
    with threads(1, gate) as pool:
        future = pool.submit(cache.get, "a", lambda work: work.share("m", lambda: gate(work)))
        assert gate.started.wait(SECONDS)
        assert cache.get("b", new_entry) is cache.get("b", never)
        for key in "cde":
            cache.get(key, new_entry)
        assert cache.stats().evictions == 2
        assert cache.submit("f", new_entry).result(SECONDS) is not None
        assert figures(cache) == (2, 2 * SIZE, 1)
        assert len(cache.values()) == 2
        given_up = cache.submit("a", never)
        assert given_up.cancel()
        with pytest.raises(CancelledError):
            given_up.result(0)
        gate.go.set()
        assert future.result(SECONDS) is gate.result


def test_what_grows_after_clearing_is_not_charged():
    cache = new_cache(30)
    old = cache.get("a", new_entry)
    cache.clear()
    old.size = 100
    assert cache.size_bytes() == 0
    new = cache.get("a", new_entry)
    old.size = 200
    assert cache.size_bytes() == SIZE
    assert cache.values() == [new]


def test_after_clearing_equal_work_takes_equal_memory():
    cache = new_cache()
    sizes = []
    for _ in range(3):
        for key in range(30):
            cache.get(key, lambda work: work.share(work.key % 7, lambda: new_entry(work)))
        sizes.append(figures(cache))
        cache.clear()
        assert figures(cache) == (0, 0, 0)
    assert sizes == [(7, 7 * SIZE + 30 - 7, 0)] * 3


@pytest.mark.parametrize("limit", [-1, 73])
def test_exact_under_load(limit):
    """Threads insert by key and by meaning, submit, cancel and clear; then the books are right."""
    cache = new_cache(limit)
    barrier = threading.Barrier(8)

    def make(work: Any) -> Entry:
        if work.key % 3 == 0:
            return Entry(SIZE + work.key)
        return work.share(("meaning", work.key % 5), lambda: Entry(SIZE + work.key % 5))

    def use(seed: int) -> None:
        barrier.wait(SECONDS)
        for i in range(300):
            key = (seed * 7 + i * 3) % 25
            if i % 4 == 0:
                future = cache.submit(key, make)
                if i % 8 == 0 or not future.cancel():
                    assert future.result(SECONDS) is not None
            else:
                assert cache.get(key, make).size >= SIZE
            assert limit < 0 or cache.size_bytes() <= limit
            if i % 97 == seed:
                cache.clear()

    with threads(8) as pool:
        for future in [pool.submit(use, seed) for seed in range(8)]:
            future.result(SECONDS)
    wait_until_idle(cache._pool, 2)  # what was given up may still run
    entries, size, in_flight = figures(cache)
    assert in_flight == 0
    kept = cache._entries._entries.values()
    assert entries == len(kept)
    assert cache.generation.debtors == {entry.value for entry in kept}
    further_keys = sum(max(len(entry.forms) - 1, 0) for entry in kept)
    assert size == sum(entry.value.size for entry in kept) + further_keys
