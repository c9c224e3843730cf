"""What the EBNF parser says of a text that is no grammar, or of one that it does not support.

Idea: the parser knows what it met and where; the words are here.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Final

from ...errors import GrammarSyntaxError, UnsupportedFeatureError

if TYPE_CHECKING:
    from collections.abc import Collection

_MAX_SUGGESTION_NAMES: Final = 2_000
_RULE_OPTIONS = re.compile(
    r"\[\s*(max_tokens|max_chars|capture|lazy|temperature|stop_capture)\s*[=,\]].{0,1000}?::=",
    re.DOTALL,
)
_OPTIONS_END = re.compile(r"[^\n]{0,1000}?\]\s{0,100}::=")
_UNTERMINATED: Final = {
    '"': (
        'this string is never closed; add a " in the same line (a line break is \\n)',
        "ebnf-unterminated-string",
    ),
    "[": (
        "this class is never closed; add a ] in the same line (a line break is \\n)",
        "ebnf-unterminated-class",
    ),
    "{": (
        "bad repetition; expected {n}, {n,m} or {n,} with decimal numbers",
        "ebnf-bad-repetition",
    ),
}
_HINTS: Final = {
    "'": "strings are written with double quotes",
    "/": "alternatives are written with |, comments with #",
    ";": "rules end without a mark, comments begin with #",
    ",": "items of a sequence are separated by white space",
    "]": 'write "]" for the character',
    "}": 'write "}" for the character',
}


def unsupported(source: str, feature: str, code: str, offset: int) -> UnsupportedFeatureError:
    """What to raise for something that other engines have in their notation."""
    return UnsupportedFeatureError(
        f"{feature} is not supported in EBNF yet; rewrite the rule without it",
        code=code,
        feature=feature,
        source=source,
        offset=offset,
    )


def rule_option(source: str, end: int) -> UnsupportedFeatureError | None:
    """What to raise for ``name[option...] ::=``; None: it is none.

    Args:
        source: The text.
        end: Where the name ends.
    """
    if not source.startswith("[", end):
        return None
    found = _RULE_OPTIONS.match(source, end)
    if found is None or not _OPTIONS_END.match(source, end):
        return None
    return unsupported(source, f"rule option {found[1]}", "ebnf-unsupported-rule-option", end + 1)


def undefined_rule(
    source: str, name: str, defined: Collection[str], offset: int
) -> GrammarSyntaxError:
    """What to raise for a name that no rule has."""
    close: list[str] = []
    if len(defined) <= _MAX_SUGGESTION_NAMES:
        close = difflib.get_close_matches(name[:200], list(defined), n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"add a rule {name} ::= ..."
    if name.endswith(".") and name.rstrip(".") in defined:
        hint = "write a space before a dot that stands for any character"
    return GrammarSyntaxError(
        f"rule {name!r} is not defined; {hint}",
        code="ebnf-undefined-rule",
        source=source,
        offset=offset,
    )


def wrong_arrow(source: str, text: str, offset: int) -> GrammarSyntaxError:
    """What to raise for ``=`` and the like."""
    return GrammarSyntaxError(
        f"wrong arrow {text!r}; a rule is written name ::= expression",
        code="ebnf-wrong-arrow",
        source=source,
        offset=offset,
    )


def bad_character(source: str, text: str, offset: int) -> GrammarSyntaxError:
    """What to raise for a character that begins nothing, or something without an end."""
    if text in _UNTERMINATED:
        message, code = _UNTERMINATED[text]
    else:
        hint = _HINTS.get(text, "expected a string, class, name, group, quantifier or |")
        message, code = f"unexpected {shown(text)}; {hint}", "ebnf-unexpected-character"
    return GrammarSyntaxError(message, code=code, source=source, offset=offset)


def shown(text: str) -> str:
    """Return a token's text for a message, clipped, with what does not print as U+XXXX."""
    if len(text) == 1 and not text.isprintable():
        return f"U+{ord(text):04X}"
    return text if len(text) <= 40 else text[:40] + "..."
