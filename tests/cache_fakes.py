"""Stand-ins for what a compile cache keeps and computes, for tests of the cache alone.

Each wait has a time limit, so that a fault fails and cannot hang.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from maskwright.compile_cache import CompileCache
from maskwright.computation import Computation
from maskwright.work_pool import WorkPool

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

SECONDS = 30


class Ledger:
    """Asks those charged to it, as the engine's own ledger need not."""

    def __init__(self) -> None:
        self.debtors: set[Entry] = set()

    @property
    def bytes(self) -> int:
        return sum(debtor.size for debtor in tuple(self.debtors))


class Entry:
    def __init__(self, size: int = 10) -> None:
        self.size = size
        self.ledger: Ledger | None = None
        self.measured = self.charged = 0

    @property
    def memory_size_bytes(self) -> int:
        self.measured += 1
        return self.size

    def charge_to(self, ledger: Ledger | None) -> None:
        self.charged += 1
        if self.ledger is not None:
            self.ledger.debtors.discard(self)
        if ledger is not None:
            ledger.debtors.add(self)
        self.ledger = ledger


def new_entry(_: Any) -> Entry:
    return Entry()


def new_cache(limit_bytes: int = -1) -> CompileCache[Entry, Ledger]:
    """A cache in which each further key of an entry takes one byte."""
    return CompileCache(Ledger, limit_bytes, pool=WorkPool(2), key_bytes=lambda *_: 1)


class Gate:
    """A computation that starts, then waits until it is let go."""

    def __init__(self, result: Entry | BaseException) -> None:
        self.started = threading.Event()
        self.go = threading.Event()
        self.calls = 0
        self.result = result

    def __call__(self, _: Any) -> Entry:
        self.calls += 1
        self.started.set()
        assert self.go.wait(SECONDS)
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result


@contextmanager
def threads(count: int, *gates: Gate) -> Iterator[ThreadPoolExecutor]:
    """Threads to compute on; all gates are open before they are waited for, whatever fails."""
    with ThreadPoolExecutor(count) as pool:
        try:
            yield pool
        finally:
            for gate in gates:
                gate.go.set()


class Waits:
    """Notes that a thread is about to wait for what another one builds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.noted = threading.Event()
        wait = Computation.wait_for_build

        def noting(computation: Any) -> Any:
            self.noted.set()
            return wait(computation)

        monkeypatch.setattr(Computation, "wait_for_build", noting)


def wait_until_idle(pool: WorkPool, max_threads: int) -> None:
    """Wait until all threads of a pool have ended what they did."""
    idle = threading.Barrier(max_threads + 1)
    for _ in range(max_threads):
        pool.submit(lambda: idle.wait(SECONDS) and None)
    idle.wait(SECONDS)
