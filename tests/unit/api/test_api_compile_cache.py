"""The cache behind GrammarCompiler: one computation per key, limits, clearing, failures.

Threads meet at barriers and events; each wait has a timeout, so that a fault fails and cannot hang.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from typing_extensions import Self

from cache_fakes import SECONDS, Entry, Gate, Ledger, new_cache, new_entry, threads
from maskwright.compile_cache import CompileCache
from maskwright.computation import Computation, copied
from maskwright.errors import GrammarSyntaxError


def never(_):
    pytest.fail("computed again")


def test_a_hit_returns_the_same_object():
    cache = new_cache()
    value = cache.get("a", new_entry)
    assert cache.get("a", never) is value
    stats = cache.stats()
    assert (stats.entries, stats.bytes, stats.hits, stats.misses) == (1, 10, 1, 1)
    assert (stats.evictions, stats.in_flight) == (0, 0)


def waiting(cache: CompileCache[Entry, Ledger], pool: ThreadPoolExecutor, gate: Gate, count: int):
    """One thread computes, the others have been told to ask for the same key."""
    first = pool.submit(cache.get, "a", gate)
    assert gate.started.wait(SECONDS)
    barrier = threading.Barrier(count + 1)

    def ask():
        barrier.wait(SECONDS)
        return cache.get("a", gate)

    others = [pool.submit(ask) for _ in range(count)]
    barrier.wait(SECONDS)
    return [first, *others]


def test_threads_share_one_computation():
    cache = new_cache()
    gate = Gate(Entry())
    with threads(8, gate) as pool:
        futures = waiting(cache, pool, gate, 7)
        assert cache.stats().in_flight == 1
        gate.go.set()
        values = {id(future.result(SECONDS)) for future in futures}
    assert values == {id(gate.result)}
    assert gate.calls == 1
    assert (cache.stats().hits, cache.stats().misses) == (7, 1)


def test_another_key_is_not_held_up():
    cache = new_cache()
    gate = Gate(Entry())
    with threads(1, gate) as pool:
        future = pool.submit(cache.get, "a", gate)
        assert gate.started.wait(SECONDS)
        assert cache.get("b", new_entry).memory_size_bytes == 10
        cache.clear()
        gate.go.set()
        assert future.result(SECONDS) is gate.result


def test_a_failure_reaches_all_and_is_not_kept():
    cache = new_cache()
    gate = Gate(GrammarSyntaxError("bad", code="c", source="x", offset=0))
    with threads(4, gate) as pool:
        futures = waiting(cache, pool, gate, 3)
        gate.go.set()
        errors = [future.exception(SECONDS) for future in futures]
    assert {type(error) for error in errors} == {GrammarSyntaxError}
    assert {str(error) for error in errors} == {str(gate.result)}
    assert len({id(error) for error in errors if error is not gate.result}) >= 3 - (gate.calls - 1)
    assert cache.stats().entries == 0
    assert cache.stats().in_flight == 0
    assert cache.get("a", new_entry).memory_size_bytes == 10


def test_a_copy_of_an_error_is_made_whatever_its_constructor_takes():
    class StubbornError(Exception):
        def __init__(self, a: int, b: int) -> None:
            super().__init__(f"made of {a}")
            self.b = b

    error = StubbornError(1, 2)
    own = copied(error)
    assert (type(own), str(own), own.b) == (StubbornError, "made of 1", 2)
    assert own is not error
    assert own.__cause__ is error


def test_an_error_that_cannot_be_copied_still_arrives():
    class StubbornError(Exception):
        def __new__(cls, *arguments: object) -> Self:
            assert arguments == (1,)
            return super().__new__(cls, *arguments)

        def __init__(self, a: int) -> None:
            super().__init__(a, "made")

    cache = new_cache()
    gate = Gate(StubbornError(1))
    with threads(2, gate) as pool:
        futures = waiting(cache, pool, gate, 1)
        gate.go.set()
        assert all(isinstance(f.exception(SECONDS), StubbornError) for f in futures)


def test_an_interrupted_computation_is_taken_over_by_a_waiter():
    cache = new_cache()
    gate = Gate(KeyboardInterrupt())
    entry = Entry()
    with threads(2, gate) as pool:
        first = pool.submit(cache.get, "a", gate)
        assert gate.started.wait(SECONDS)
        second = pool.submit(cache.get, "a", lambda _: entry)
        gate.go.set()
        assert isinstance(first.exception(SECONDS), KeyboardInterrupt)
        assert second.result(SECONDS) is entry


def test_what_an_interrupted_thread_computed_is_computed_for_futures():
    cache = new_cache()
    interrupted, entry = Gate(KeyboardInterrupt()), Entry()

    def make(work):
        return interrupted(work) if interrupted.calls == 0 else entry

    with threads(1, interrupted) as pool:
        first = pool.submit(cache.get, "a", make)
        assert interrupted.started.wait(SECONDS)
        futures = [cache.submit("a", never) for _ in range(3)]
        assert futures[0].cancel()
        interrupted.go.set()
        assert isinstance(first.exception(SECONDS), KeyboardInterrupt)
        assert [future.result(SECONDS) for future in futures[1:]] == [entry] * 2
    assert cache.get("a", never) is entry


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_thread_of_the_pool_reaches_the_future(error):
    cache = new_cache()
    gate = Gate(error())
    gate.go.set()
    assert type(cache.submit("a", gate).exception(SECONDS)) is error
    assert cache.submit("a", new_entry).result(SECONDS) is not None
    assert gate.calls == 1


def test_a_caller_that_waits_keeps_the_computation_wanted(monkeypatch):
    """Although the one who submitted it has given up."""
    cache = new_cache()
    gate, waits, wait = Gate(Entry()), threading.Event(), Computation.wait

    def noted(outcome):
        waits.set()
        return wait(outcome)

    monkeypatch.setattr(Computation, "wait", noted)
    stops = []

    def make(work):
        entry = gate(work)
        stops.append(work.stop.is_set)
        return entry

    with threads(1, gate) as pool:
        given_up = cache.submit("a", make)
        assert gate.started.wait(SECONDS)
        caller = pool.submit(cache.get, "a", never)
        assert waits.wait(SECONDS)
        assert given_up.cancel()
        assert cache.stats().in_flight == 1
        gate.go.set()
        assert caller.result(SECONDS) is gate.result
    assert stops == [False]
    assert cache.get("a", never) is gate.result


def test_the_least_recently_used_go_first():
    cache = new_cache(30)
    for key in "abc":
        cache.get(key, new_entry)
    cache.get("a", never)
    cache.get("d", new_entry)
    assert cache.stats().evictions == 1
    for key in "cad":
        cache.get(key, never)
    cache.get("e", lambda _: Entry(25))
    assert cache.stats().entries == 1
    assert cache.size_bytes() == 25


def test_what_grew_goes_at_the_next_insertion():
    cache = new_cache(30)
    cache.get("a", new_entry).size = 100
    cache.get("b", new_entry)
    assert (cache.stats().entries, cache.size_bytes()) == (1, 10)
    cache.get("b", never)


def test_what_grew_goes_at_the_next_hit():
    cache = new_cache(30)
    old = cache.get("a", new_entry)
    used = cache.get("b", new_entry)
    used.size = 25
    assert cache.get("b", never) is used
    assert cache.stats().evictions == 1
    assert old.ledger is None
    assert cache.size_bytes() == 25


@pytest.mark.parametrize("ask", [CompileCache.size_bytes, lambda cache: cache.stats().bytes])
def test_the_size_is_within_the_limit_whenever_it_is_asked_for(ask):
    cache = new_cache(30)
    entries = [cache.get(key, new_entry) for key in "abc"]
    entries[2].size = 20  # 40 in all: the oldest goes
    assert ask(cache) == 30
    entries[0].size = 1000  # no longer here
    assert ask(cache) == 30
    entries[2].size = 31  # more than the limit on its own
    assert ask(cache) == 0
    assert cache.values() == []


@pytest.mark.parametrize("limit", [0, 9])
def test_what_is_larger_than_the_limit_is_returned_and_not_kept(limit):
    cache = new_cache(limit)
    assert cache.get("a", new_entry).memory_size_bytes == 10
    assert cache.stats().entries == 0


def test_what_is_larger_than_the_limit_drives_nothing_out():
    cache = new_cache(30)
    kept = [cache.get(key, new_entry) for key in "abc"]
    assert cache.get("d", lambda _: Entry(31)).ledger is None
    assert cache.values() == kept
    assert cache.stats().evictions == 0


@pytest.mark.parametrize("limit", [-1, 100])
def test_an_insertion_asks_no_other_entry(limit):
    cache = new_cache(limit)
    entries = [cache.get(key, new_entry) for key in range(200)]
    cache.get(199, never)
    cache.size_bytes()
    cache.stats()
    assert all(entry.measured <= 1 for entry in entries)
    assert all(entry.charged <= 2 for entry in entries)  # in and out


def test_many_threads_and_keys():
    cache = new_cache(50)
    barrier = threading.Barrier(8)

    def work(seed: int) -> None:
        barrier.wait(SECONDS)
        for i in range(200):
            key = (seed * 7 + i * 3) % 12
            assert cache.get(key, lambda _, key=key: Entry(10 + key % 3)).memory_size_bytes >= 10
            assert cache.size_bytes() <= 50
            if i % 50 == 0:
                cache.clear()

    with ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(work, seed) for seed in range(8)]:
            future.result(SECONDS)
    stats = cache.stats()
    assert stats.in_flight == 0
    assert stats.hits + stats.misses == 8 * 200
    cache.get("last", new_entry)
    assert cache.size_bytes() <= 50
