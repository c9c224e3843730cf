"""Compiled grammars and matchers of one model, kept for the next request.

Idea: one `TokenizerInfo` and one `GrammarCompiler` per model. A format that was compiled before
comes from the compiler's cache, and a matcher whose choice has ended is reset and used again; of
idle matchers a few are kept for each of the grammars that were used last.
Cost: for a known format a look-up and a reset, microseconds.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from maskwright.compiler import GrammarCompiler
from maskwright.errors import MatcherError
from maskwright.matcher import GrammarMatcher
from maskwright.tokenizer_info import TokenizerInfo

if TYPE_CHECKING:
    from maskwright.chat.response_format import ResponseFormat
    from maskwright.compiler import CompiledGrammar
    from maskwright.ir.format import NumberSpelling
    from maskwright.tokenizers import VocabularyData

_MOST_GRAMMARS: Final = 32


class GrammarPool:
    """Makes matchers for formats. Safe to use from several threads.

    Args:
        vocabulary: The vocabulary of the model.
        any_whitespace: Whether JSON may have whitespace between any two tokens.
        number_spelling: As for `Grammar.from_json_schema`.
        cache_limit_bytes: What the compiler may keep; -1: no limit.
        max_idle: How many idle matchers of one grammar are kept.
    """

    def __init__(
        self,
        vocabulary: VocabularyData,
        *,
        any_whitespace: bool = False,
        number_spelling: NumberSpelling = "decimal",
        cache_limit_bytes: int = 512 << 20,
        max_idle: int = 8,
    ) -> None:
        # Loaded here and not by the first request, whose time is reported.
        import maskwright.frontends.json_schema  # noqa: F401  for its effect

        self.tokenizer_info = TokenizerInfo._from_data(vocabulary)  # noqa: SLF001  of this package
        self.compiler = GrammarCompiler(self.tokenizer_info, cache_limit_bytes=cache_limit_bytes)
        self._json_options = {
            "any_whitespace": any_whitespace,
            "number_spelling": number_spelling,
        }
        self._max_idle = max_idle
        self._lock = threading.Lock()  # guards _idle; nothing is computed under it
        self._idle: OrderedDict[CompiledGrammar, list[GrammarMatcher]] = OrderedDict()

    def acquire(
        self, response_format: ResponseFormat, count: int, max_tokens: int
    ) -> list[GrammarMatcher]:
        """Return matchers at the beginning of their text, complete within a number of tokens.

        Where it is not known how many tokens a text takes at least, as it may be where the
        vocabulary cannot spell every text, they are without a budget.

        Args:
            response_format: The format; not free text.
            count: How many.
            max_tokens: The most tokens of each text.

        Raises:
            GrammarError: The format cannot be used; the message says why and where.
            LimitExceededError: It is beyond a limit.
            MatcherError: It takes more tokens than that (``matcher-budget-too-small``).
        """
        compiled = response_format.compile(self.compiler, json_options=self._json_options)
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
