"""Computes the masks of a grammar before a matcher asks for them, on a compiler's threads.

Idea: the core works breadth first from the start of the grammar (its source: precompute.h) and can
be stopped at any place, so work goes in short slices. Between two of them a worker looks whether
anybody still needs the grammar: what is dropped from the cache, or belongs to a program that ends,
is left. Threads are started with the first piece of work.
Cost: processor time of the workers, up to the budget of each grammar.
"""

from __future__ import annotations

import logging
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from . import _core
from .forks import renew_in_children

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from .compiled_grammar import CompiledGrammar

__all__ = ["MODES", "Budget", "Mode", "Precomputer"]

Mode = Literal["lazy", "background", "eager"]
MODES: tuple[Mode, ...] = ("lazy", "background", "eager")

_SLICE_SECONDS = 0.01
_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Budget:
    """What one grammar may cost.

    Attributes:
        seconds: Processor time.
        memory_bytes: Size up to which the grammar may grow.
    """

    seconds: float
    memory_bytes: int


class Precomputer:
    """Threads that compute masks.

    Args:
        max_threads: How many at most.
        budget: Of each grammar.
    """

    def __init__(self, max_threads: int, budget: Budget) -> None:
        self._max_threads = max_threads
        self._budget = budget
        self.renew()
        renew_in_children(self)

    def renew(self) -> None:
        """Begin without threads, as a forked child is."""
        self._changed = threading.Condition()  # guards what follows
        self._pool: ThreadPoolExecutor | None = None
        self._waiting: set[Future[None]] = set()

    def run(self, core: _core.CompiledGrammar) -> None:
        """Compute masks in this thread; returns when nothing or no budget is left."""
        _in_slices(_core.Precompute(core), self._budget, lambda: True)

    def start(self, compiled: CompiledGrammar) -> None:
        """Have a thread compute masks; returns at once. A failure is logged.

        A program that ends takes no more work: nothing is done then.
        """
        grammar = weakref.ref(compiled)
        with self._changed:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._max_threads, "maskwright-precompute")
                weakref.finalize(self, self._pool.shutdown, wait=False, cancel_futures=True)
            try:
                future = self._pool.submit(_work, grammar, self._budget)
            except RuntimeError:  # after the interpreter's shutdown has begun
                return
            self._waiting.add(future)
        future.add_done_callback(self._finish)

    def in_flight(self) -> int:
        """Return how many grammars wait or are worked on."""
        with self._changed:
            return len(self._waiting)

    def wait(self, timeout_seconds: float) -> bool:
        """Wait until no grammar waits or is worked on; False: some still are after that time."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting, timeout_seconds)

    def _finish(self, future: Future[None]) -> None:
        if not future.cancelled() and (error := future.exception()) is not None:
            _logger.error("computing masks ahead failed", exc_info=error)
        with self._changed:
            self._waiting.discard(future)
            self._changed.notify_all()


def _work(grammar: weakref.ref[CompiledGrammar], budget: Budget) -> None:
    compiled = grammar()
    if compiled is None:
        return
    work = _core.Precompute(compiled._core)  # noqa: SLF001  of this package
    del compiled
    _in_slices(work, budget, lambda: grammar() is not None and threading.main_thread().is_alive())


def _in_slices(work: _core.Precompute, budget: Budget, is_wanted: Callable[[], bool]) -> None:
    """Work until nothing or no budget is left, or it is not wanted; signals are seen meanwhile."""
    left = budget.seconds
    while left > 0 and is_wanted():
        if not work.run(min(_SLICE_SECONDS, left), budget.memory_bytes):
            return
        left -= _SLICE_SECONDS
