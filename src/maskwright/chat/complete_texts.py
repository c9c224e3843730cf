"""Says where a text of a grammar may end, for stop strings that are found in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from maskwright.matcher import GrammarMatcher

if TYPE_CHECKING:
    from maskwright.compiler import CompiledGrammar


class CompleteTexts:
    """Says whether texts are whole ones of a grammar, for texts that mostly grow.

    Tokens that add no text count as none.

    Args:
        compiled: The grammar.
    """

    def __init__(self, compiled: CompiledGrammar) -> None:
        self._matcher = GrammarMatcher(compiled, terminate_without_stop_token=True)
        self._text = ""

    def __call__(self, text: str) -> bool:
        """Whether a text is a whole one; costs what it has more than the last one."""
        if not text.startswith(self._text):
            self._matcher.reset()
            self._text = ""
        if not self._matcher.accept_string(text[len(self._text) :]):
            return False
        self._text = text
        return self._matcher.is_completed()
