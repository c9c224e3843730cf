"""The cache behind GrammarCompiler: one computation per key, limits, clearing, failures.

Threads meet at barriers and events; each wait has a timeout, so that a fault fails and cannot hang.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from maskwright.compile_cache import CompileCache
from maskwright.errors import GrammarSyntaxError

SECONDS = 30


class Entry:
    def __init__(self, size: int = 10) -> None:
        self.memory_size_bytes = size


class Gate:
    """A computation that starts, then waits until it is let go."""

    def __init__(self, result: Entry | BaseException) -> None:
        self.started = threading.Event()
        self.go = threading.Event()
        self.calls = 0
        self.result = result

    def __call__(self) -> Entry:
        self.calls += 1
        self.started.set()
        assert self.go.wait(SECONDS)
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result


def never():
    pytest.fail("computed again")


def test_a_hit_returns_the_same_object():
    cache: CompileCache[Entry] = CompileCache()
    value = cache.get("a", Entry)
    assert cache.get("a", never) is value
    stats = cache.stats()
    assert (stats.entries, stats.bytes, stats.hits, stats.misses) == (1, 10, 1, 1)
    assert (stats.evictions, stats.in_flight) == (0, 0)


def waiting(cache: CompileCache[Entry], pool: ThreadPoolExecutor, gate: Gate, count: int):
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
    cache: CompileCache[Entry] = CompileCache()
    gate = Gate(Entry())
    with ThreadPoolExecutor(8) as pool:
        futures = waiting(cache, pool, gate, 7)
        assert cache.stats().in_flight == 1
        gate.go.set()
        values = {id(future.result(SECONDS)) for future in futures}
    assert values == {id(gate.result)}
    assert gate.calls == 1
    assert (cache.stats().hits, cache.stats().misses) == (7, 1)


def test_another_key_is_not_held_up():
    cache: CompileCache[Entry] = CompileCache()
    gate = Gate(Entry())
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(cache.get, "a", gate)
        assert gate.started.wait(SECONDS)
        assert cache.get("b", Entry).memory_size_bytes == 10
        cache.clear()
        gate.go.set()
        assert future.result(SECONDS) is gate.result


def test_a_failure_reaches_all_and_is_not_kept():
    cache: CompileCache[Entry] = CompileCache()
    gate = Gate(GrammarSyntaxError("bad", code="c", source="x", offset=0))
    with ThreadPoolExecutor(4) as pool:
        futures = waiting(cache, pool, gate, 3)
        gate.go.set()
        errors = [future.exception(SECONDS) for future in futures]
    assert {type(error) for error in errors} == {GrammarSyntaxError}
    assert {str(error) for error in errors} == {str(gate.result)}
    assert len({id(error) for error in errors if error is not gate.result}) >= 3 - (gate.calls - 1)
    assert cache.stats().entries == 0
    assert cache.stats().in_flight == 0
    assert cache.get("a", Entry).memory_size_bytes == 10


def test_an_error_that_cannot_be_copied_still_arrives():
    class Stubborn(Exception):  # noqa: N818  it stands for any
        def __init__(self, a: int, b: int) -> None:
            super().__init__(a)
            self.b = b

    cache: CompileCache[Entry] = CompileCache()
    gate = Gate(Stubborn(1, 2))
    with ThreadPoolExecutor(2) as pool:
        futures = waiting(cache, pool, gate, 1)
        gate.go.set()
        assert all(isinstance(f.exception(SECONDS), Stubborn) for f in futures)


def test_an_interrupted_computation_is_taken_over_by_a_waiter():
    cache: CompileCache[Entry] = CompileCache()
    gate = Gate(KeyboardInterrupt())
    entry = Entry()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(cache.get, "a", gate)
        assert gate.started.wait(SECONDS)
        second = pool.submit(cache.get, "a", lambda: entry)
        gate.go.set()
        assert isinstance(first.exception(SECONDS), KeyboardInterrupt)
        assert second.result(SECONDS) is entry


def test_clear_forgets_what_is_in_flight():
    cache: CompileCache[Entry] = CompileCache()
    old, new = Gate(Entry()), Entry()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(cache.get, "a", old)
        assert old.started.wait(SECONDS)
        cache.clear()
        assert cache.stats().in_flight == 0
        assert cache.get("a", lambda: new) is new
        old.go.set()
        assert future.result(SECONDS) is old.result
    assert cache.get("a", never) is new
    cache.clear()
    assert cache.size_bytes() == 0
    assert cache.values() == []


def test_the_least_recently_used_go_first():
    cache: CompileCache[Entry] = CompileCache(30)
    for key in "abc":
        cache.get(key, Entry)
    cache.get("a", never)
    cache.get("d", Entry)
    assert cache.stats().evictions == 1
    for key in "cad":
        cache.get(key, never)
    cache.get("e", lambda: Entry(25))
    assert cache.stats().entries == 1
    assert cache.size_bytes() == 25


def test_entries_are_measured_when_they_matter():
    cache: CompileCache[Entry] = CompileCache(30)
    first = cache.get("a", Entry)
    first.memory_size_bytes = 100
    assert cache.size_bytes() == 100
    cache.get("b", Entry)
    assert (cache.stats().entries, cache.size_bytes()) == (1, 10)


@pytest.mark.parametrize("limit", [0, 9])
def test_what_is_larger_than_the_limit_is_returned_and_not_kept(limit):
    cache: CompileCache[Entry] = CompileCache(limit)
    assert cache.get("a", Entry).memory_size_bytes == 10
    assert cache.stats().entries == 0


def test_many_threads_and_keys():
    cache: CompileCache[Entry] = CompileCache(50)
    barrier = threading.Barrier(8)

    def work(seed: int) -> None:
        barrier.wait(SECONDS)
        for i in range(200):
            key = (seed * 7 + i * 3) % 12
            assert cache.get(key, lambda key=key: Entry(10 + key % 3)).memory_size_bytes >= 10
            if i % 50 == 0:
                cache.clear()

    with ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(work, seed) for seed in range(8)]:
            future.result(SECONDS)
    stats = cache.stats()
    assert stats.in_flight == 0
    assert stats.hits + stats.misses == 8 * 200
    cache.get("last", Entry)
    assert cache.size_bytes() <= 50
