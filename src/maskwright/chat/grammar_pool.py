"""Compiled grammars and matchers of one model, kept for the next request.

Idea: one `TokenizerInfo` and one `GrammarCompiler` per model. A format that was compiled before
comes from the compiler's cache, and a matcher whose choice has ended is reset and used again; of
idle matchers a few are kept for each of the grammars that were used last.
Cost: for a known format a look-up and a reset, microseconds.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

from maskwright.compiler import GrammarCompiler
from maskwright.errors import MatcherError
from maskwright.matcher import GrammarMatcher
from maskwright.tokenizer_info import TokenizerInfo
from maskwright.work_pool import WorkPool

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Future

    from maskwright.chat.response_format import ResponseFormat
    from maskwright.compiler import CompiledGrammar
    from maskwright.tokenizers import VocabularyData

_MOST_GRAMMARS: Final = 32
_MOST_THREADS: Final = 32
"""So many that what cannot be stopped though nobody waits, front-ends and matchers that are being
made, keeps no others waiting."""


class GrammarPool:
    """Makes matchers for formats; see `SetUp`. Safe to use from several threads.

    Args:
        vocabulary: The vocabulary of the model.
        json_options: How JSON Schemas are compiled.
        compiler_options: Options of the `GrammarCompiler`.
        compile_timeout_seconds: How long compiling may take for a request; None: any time.
        max_idle: How many idle matchers of one grammar are kept.

    Attributes:
        threads: Where matchers are made.
    """

    def __init__(
        self,
        vocabulary: VocabularyData,
        *,
        json_options: Mapping[str, Any] | None = None,
        compiler_options: Mapping[str, Any] | None = None,
        compile_timeout_seconds: float | None = None,
        max_idle: int = 8,
    ) -> None:
        # Loaded here and not by the first request, whose time is reported.
        import maskwright.frontends.json_schema  # noqa: F401  for its effect

        self.tokenizer_info = TokenizerInfo._from_data(vocabulary)  # noqa: SLF001  of this package
        self.compiler = GrammarCompiler(
            self.tokenizer_info, max_threads=_MOST_THREADS, **(compiler_options or {})
        )
        self.threads = WorkPool(_MOST_THREADS)
        self._json_options = json_options or {}
        self._compile_timeout = compile_timeout_seconds
        self._max_idle = max_idle
        self._lock = threading.Lock()  # guards what follows; nothing is computed under it
        self._set_ups = 0
        self._idle: OrderedDict[CompiledGrammar, list[GrammarMatcher]] = OrderedDict()

    @property
    def set_ups(self) -> int:
        """How often `compile` was called."""
        return self._set_ups

    def compile(self, response_format: ResponseFormat) -> Future[CompiledGrammar]:
        """Compile a format on a thread of the compiler, or find it again.

        Args:
            response_format: The format; not free text.

        Raises:
            Exception: What `ResponseFormat.submit` raises; all else the future raises.
        """
        with self._lock:
            self._set_ups += 1
        return response_format.submit(
            self.compiler,
            json_options=self._json_options,
            timeout_seconds=self._compile_timeout,
        )

    def acquire(
        self, compiled: CompiledGrammar, count: int, max_tokens: int
    ) -> list[GrammarMatcher]:
        """Return matchers at the beginning of their text, complete within a number of tokens.

        Where it is not known how many tokens a text takes at least, as it may be where the
        vocabulary cannot spell every text, they are without a budget.

        Args:
            compiled: The grammar.
            count: How many.
            max_tokens: The most tokens of each text.

        Raises:
            MatcherError: It takes more tokens than that (``matcher-budget-too-small``).
        """
        matchers: list[GrammarMatcher] = []
        try:
            for _ in range(count):
                matchers.append(self._take_idle(compiled) or self._make(compiled))
                _set_budget(matchers[-1], max_tokens)
        except BaseException:
            self.give_back(matchers)
            raise
        return matchers

    def give_back(self, matchers: list[GrammarMatcher]) -> None:
        """Take matchers that nobody uses any more."""
        with self._lock:
            for matcher in matchers:
                idle = self._idle.setdefault(matcher.compiled_grammar, [])
                self._idle.move_to_end(matcher.compiled_grammar)
                if len(idle) < self._max_idle:
                    idle.append(matcher)
            while len(self._idle) > _MOST_GRAMMARS:
                self._idle.popitem(last=False)

    def _take_idle(self, compiled: CompiledGrammar) -> GrammarMatcher | None:
        with self._lock:
            idle = self._idle.get(compiled)
            matcher = idle.pop() if idle else None
        if matcher is not None:
            matcher.reset()  # without a budget, as it was made
        return matcher

    def _make(self, compiled: CompiledGrammar) -> GrammarMatcher:
        """A new matcher; without a stop token the text ends as soon as it is complete."""
        return GrammarMatcher(
            compiled, terminate_without_stop_token=not self.tokenizer_info.stop_token_ids
        )


def _set_budget(matcher: GrammarMatcher, max_tokens: int) -> None:
    try:
        least = matcher.min_tokens_to_finish()
    except MatcherError:
        return  # not known: the limit may cut the text off
    if max_tokens < least:
        raise MatcherError(
            f"max_tokens, or what the context of the model has place for, is {max_tokens}, but the "
            f"format takes {least} tokens to be complete; allow at least {least}",
            code="matcher-budget-too-small",
        )
    matcher.remaining_tokens = max_tokens
