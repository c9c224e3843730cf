"""Between the session and the grammar machinery: format in, constraint out.

Idea: the session needs three steps only, so they are a protocol, and a test can put its own
machinery behind it. The real one owns one `TokenizerInfo` and one `GrammarCompiler` per model; a
format used twice is compiled once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from maskwright.chat.constraint import Constraint, GrammarConstraint
from maskwright.chat.plain_spelling import PlainConstraint, PlainSpelling
from maskwright.errors import MatcherError

if TYPE_CHECKING:
    from maskwright.matcher import GrammarMatcher
    from maskwright.tokenizers import VocabularyData


class GrammarEngine(Protocol):
    """Compiles formats and makes constraints of them."""

    def is_grammar(self, output_format: object) -> bool:
        """Whether a format is a grammar; any other is a schema."""
        ...

    def compile(self, output_format: Any) -> Any:
        """Compile a schema or a grammar."""
        ...

    def constraint(self, compiled: Any, max_tokens: int) -> Constraint:
        """A fresh constraint for one generation, complete within so many tokens if it can be."""
        ...


class MaskwrightEngine:
    """The real machinery, over one vocabulary.

    Args:
        vocabulary: The vocabulary of the model.
    """

    def __init__(self, vocabulary: VocabularyData) -> None:
        # Loaded here and not by the first compile, whose time is reported.
        import maskwright.frontends.json_schema  # noqa: F401  for its effect
        from maskwright.compiler import GrammarCompiler
        from maskwright.tokenizer_info import TokenizerInfo

        self._vocabulary = vocabulary
        self._spelling = PlainSpelling(vocabulary.text_bytes())
        self._compiler = GrammarCompiler(TokenizerInfo._from_data(vocabulary))  # noqa: SLF001  of this package

    def is_grammar(self, output_format: object) -> bool:
        """Whether a format is a `maskwright.Grammar`."""
        from maskwright.grammar import Grammar

        return isinstance(output_format, Grammar)

    def compile(self, output_format: Any) -> Any:
        """Compile a grammar, or a schema in one fixed layout.

        A schema gets no free whitespace: a small model can otherwise spend its tokens on it.

        Returns:
            The compiled grammar, and whether its texts are JSON that is to be spelled plainly.
        """
        if self.is_grammar(output_format):
            return self._compiler.compile_grammar(output_format), False
        return self._compiler.compile_json_schema(output_format, any_whitespace=False), True

    def constraint(self, compiled: Any, max_tokens: int) -> Constraint:
        """A fresh matcher; without a stop token the text ends as soon as it is complete.

        The text is complete within `max_tokens`, unless it is not known how many tokens it takes at
        least, as it may be where the vocabulary cannot spell every text.

        Raises:
            MatcherError: The format takes more tokens than that (``matcher-budget-too-small``).
        """
        from maskwright.bitmask import apply_token_bitmask_inplace
        from maskwright.matcher import GrammarMatcher

        grammar, is_json = compiled
        matcher = GrammarMatcher(
            grammar, terminate_without_stop_token=not self._vocabulary.stop_token_ids
        )
        _set_budget(matcher, max_tokens)
        size = self._vocabulary.vocab_size
        if not is_json:
            return GrammarConstraint(matcher, size, apply_token_bitmask_inplace)
        return PlainConstraint(matcher, size, apply_token_bitmask_inplace, self._spelling)


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
