"""Sets the grammar of a request up: compiles its format, then makes its matchers.

Idea: two tasks on threads of the grammar pool, and between them a future of the compiler, for
which no thread waits. Cancelling cancels the future, so a compilation stops when no other request
waits for it. Making matchers is short beside that, and runs to its end.
Cost: for a known format a look-up and a reset, on one thread.
"""

from __future__ import annotations

import threading
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from maskwright.chat.errors import EngineClosedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from maskwright.chat.grammar_pool import GrammarPool
    from maskwright.chat.response_format import ResponseFormat
    from maskwright.compiler import CompiledGrammar
    from maskwright.matcher import GrammarMatcher


class Outcome(NamedTuple):
    """What a set-up came to.

    Attributes:
        matchers: For each choice its matcher; none if there is an error.
        error: Why there are none.
        seconds: What it took since a thread began it.
    """

    matchers: list[GrammarMatcher]
    error: BaseException | None
    seconds: float


class SetUp:
    """Makes the matchers of a request, from its creation on. Safe to use from several threads.

    Args:
        grammars: Where they come from.
        response_format: The format; not free text.
        count: How many matchers.
        max_tokens: The most tokens of each text.
        on_done: Called once, by any thread, with what it came to; also if it was cancelled.
    """

    def __init__(
        self,
        grammars: GrammarPool,
        response_format: ResponseFormat,
        count: int,
        max_tokens: int,
        on_done: Callable[[Outcome], object],
    ) -> None:
        self._grammars = grammars
        self._format = response_format
        self._count = count
        self._max_tokens = max_tokens
        self._on_done = on_done
        self._begun = 0.0
        self._is_cancelled = threading.Event()
        self._compiling: Future[CompiledGrammar] | None = None
        grammars.threads.submit(self._compile)

    def cancel(self) -> None:
        """Let nobody wait for it any longer; returns at once."""
        self._is_cancelled.set()
        if self._compiling is not None:  # else `_compile`, once it is, sees that it should not be
            self._compiling.cancel()

    def _compile(self) -> None:
        self._begun = perf_counter()
        if self._is_cancelled.is_set():
            self._fail(_cancelled())
            return
        try:
            compiling = self._grammars.compile(self._format)
        except BaseException as error:  # noqa: BLE001  it is told to the caller
            self._fail(error)
            return
        self._compiling = compiling
        if self._is_cancelled.is_set():
            compiling.cancel()
        if compiling.done():
            self._make_matchers(compiling)
        else:
            compiling.add_done_callback(self._go_on)

    def _go_on(self, compiled: Future[CompiledGrammar]) -> None:
        """Make the matchers on a thread of its own: this one has others waiting for it."""
        try:
            self._grammars.threads.submit(lambda: self._make_matchers(compiled))
        except RuntimeError as error:  # there are no more threads
            self._fail(error)

    def _make_matchers(self, compiled: Future[CompiledGrammar]) -> None:
        if compiled.cancelled():
            self._fail(_cancelled())
            return
        try:
            matchers = self._grammars.acquire(compiled.result(), self._count, self._max_tokens)
        except BaseException as error:  # noqa: BLE001  it is told to the caller
            self._fail(error)
        else:
            self._on_done(Outcome(matchers, None, perf_counter() - self._begun))

    def _fail(self, error: BaseException) -> None:
        self._on_done(Outcome([], error, perf_counter() - self._begun))


def _cancelled() -> EngineClosedError:
    """What ends a request that was not cancelled itself: its compilation was, by the program."""
    return EngineClosedError(
        "the program ends, and compiles nothing more; wait for the answer before its last thread "
        "ends",
        code="engine-closed",
    )
