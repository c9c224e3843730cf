"""Computes the masks of a grammar before a matcher asks for them, on a compiler's threads.

Idea: the core works breadth first from the start of the grammar (its source: precompute.h) and can
be stopped at any place, so work goes in short slices. Between two of them a worker looks whether
anybody still needs the grammar: what is dropped from the cache, or belongs to a program that ends,
is left. It also makes way for compilations that wait for a thread.
Cost: processor time of the workers, up to the budget of each grammar.
"""

from __future__ import annotations

import logging
import threading
import weakref
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from . import _core
from .forks import renew_in_children
from .work_pool import program_ends

if TYPE_CHECKING:
    from collections.abc import Callable

    from .compiled_grammar import CompiledGrammar
    from .work_pool import WorkPool

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


class _Piece:
    """What is left to do for one grammar, which it keeps alive once it has begun."""

    def __init__(self, grammar: weakref.ref[CompiledGrammar], budget: Budget) -> None:
        self.seconds_left = budget.seconds
        self._grammar = grammar
        self._memory_bytes = budget.memory_bytes
        self._work: _core.Precompute | None = None

    def advance(self, make_way: Callable[[], bool]) -> bool:
        """Work until another should go first; False: nothing is left, or it is not wanted."""
        compiled = self._grammar()
        if self._work is None and compiled is not None:
            self._work = _core.Precompute(compiled._core)  # noqa: SLF001  of this package
        del compiled
        while self._work is not None and self._is_wanted():
            if make_way():
                return True
            if not self._work.run(min(_SLICE_SECONDS, self.seconds_left), self._memory_bytes):
                return False
            self.seconds_left -= _SLICE_SECONDS
        return False

    def _is_wanted(self) -> bool:
        return self.seconds_left > 0 and self._grammar() is not None and not program_ends()


class Precomputer:
    """Has a pool compute masks.

    Args:
        pool: The threads.
        budget: Of each grammar.
    """

    def __init__(self, pool: WorkPool, budget: Budget) -> None:
        self._pool = pool
        self._budget = budget
        self.renew()
        renew_in_children(self)

    def renew(self) -> None:
        """Begin without work, as a forked child does."""
        self._changed = threading.Condition()  # guards what follows
        self._unfinished: set[_Piece] = set()

    def run(self, compiled: CompiledGrammar, is_wanted: Callable[[], bool]) -> None:
        """Compute masks in this thread, until nothing or no budget is left, or nobody waits."""
        _Piece(weakref.ref(compiled), self._budget).advance(lambda: not is_wanted())

    def start(self, compiled: CompiledGrammar) -> None:
        """Have a thread compute masks; returns at once. A failure is logged.

        A program that ends takes no more work: nothing is done then.
        """
        piece = _Piece(weakref.ref(compiled), self._budget)
        with self._changed:
            self._unfinished.add(piece)
        self._queue(piece)

    def in_flight(self) -> int:
        """Return how many grammars wait or are worked on."""
        with self._changed:
            return len(self._unfinished)

    def wait(self, timeout_seconds: float) -> bool:
        """Wait until no grammar waits or is worked on; False: some still are after that time."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._unfinished, timeout_seconds)

    def _queue(self, piece: _Piece) -> None:
        try:
            self._pool.submit(partial(self._advance, piece), urgent=False)
        except RuntimeError:  # no thread can be started
            self._finish(piece)

    def _advance(self, piece: _Piece) -> None:
        is_left = False
        try:
            is_left = piece.advance(lambda: self._pool.has_urgent)
        except Exception:
            _logger.exception("computing masks ahead failed")
        if is_left:
            self._queue(piece)
        else:
            self._finish(piece)

    def _finish(self, piece: _Piece) -> None:
        with self._changed:
            self._unfinished.discard(piece)
            self._changed.notify_all()
