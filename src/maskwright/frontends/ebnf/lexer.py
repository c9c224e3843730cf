"""Lexer of the EBNF front-end: one regular expression, one pass, three parallel lists.

Idea: the lexer never raises for a character it does not know; it emits a token of kind ``ERROR``,
and the parser raises when it gets there, so that the first error of the text is the one reported,
and all rule names are known before parsing. White space is space, tab, line feed and carriage
return; a byte order mark at the start is skipped. Cost: linear; no nested quantifier backtracks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ...errors import GrammarSyntaxError

NAME: Final = 1
ARROW: Final = 2
STRING: Final = 3
CLASS: Final = 4
REPEAT: Final = 5
OPEN: Final = 6
CLOSE: Final = 7
BAR: Final = 8
STAR: Final = 9
PLUS: Final = 10
QUESTION: Final = 11
WRONG_ARROW: Final = 12
LOOKAHEAD: Final = 13
ERROR: Final = 14
END: Final = 15

_TOKEN = re.compile(
    r"""
      (?P<skip>[ \t\r\n]+|\#[^\r\n]*)
    | (?P<arrow>::=)
    | (?P<wrong>::?=?|->|=>|=|→|<-)
    | (?P<name>[A-Za-z_.-][A-Za-z0-9_.-]*)
    | (?P<string>"[^"\\\r\n]*(?:\\[^\r\n][^"\\\r\n]*)*")
    | (?P<class>\[[^\]\\\r\n]*(?:\\[^\r\n][^\]\\\r\n]*)*\])
    | (?P<repeat>\{[ \t\r\n]*[0-9]+[ \t\r\n]*(?:,[ \t\r\n]*(?:[0-9]+[ \t\r\n]*)?)?\})
    | (?P<look>\([ \t]*=)
    | (?P<open>\()
    | (?P<close>\))
    | (?P<bar>\|)
    | (?P<star>\*)
    | (?P<plus>\+)
    | (?P<question>\?)
    """,
    re.VERBOSE,
)

_KINDS: Final = {
    "arrow": ARROW,
    "wrong": WRONG_ARROW,
    "name": NAME,
    "string": STRING,
    "class": CLASS,
    "repeat": REPEAT,
    "look": LOOKAHEAD,
    "open": OPEN,
    "close": CLOSE,
    "bar": BAR,
    "star": STAR,
    "plus": PLUS,
    "question": QUESTION,
}


@dataclass(frozen=True)
class Tokens:
    """Kinds, texts and code point offsets of the tokens; the last one is ``END``."""

    kinds: list[int]
    texts: list[str]
    offsets: list[int]


def tokenize(source: str) -> Tokens:
    """Split a grammar text into tokens.

    Raises:
        GrammarSyntaxError: The text holds a NUL character or a lone surrogate.
    """
    _check_characters(source)
    kinds: list[int] = []
    texts: list[str] = []
    offsets: list[int] = []
    position = 1 if source.startswith("\ufeff") else 0
    match, end = _TOKEN.match, len(source)
    while position < end:
        found = match(source, position)
        if found is None:
            kinds.append(ERROR)
            texts.append(source[position])
            offsets.append(position)
            if source[position] in '"[':
                break  # unterminated: what follows cannot be told apart
            position += 1
            continue
        group = found.lastgroup or "skip"
        if group != "skip":
            kinds.append(_KINDS[group])
            texts.append(found.group())
            offsets.append(position)
        position = found.end()
    kinds.append(END)
    texts.append("")
    offsets.append(end)
    return Tokens(kinds, texts, offsets)


def _check_characters(source: str) -> None:
    nul = source.find("\0")
    if nul >= 0:
        raise GrammarSyntaxError(
            "a grammar text cannot hold a NUL character; write \\0 in a string or class",
            code="ebnf-nul",
            source=source,
            offset=nul,
        )
    try:
        source.encode("utf-8")
    except UnicodeEncodeError as error:
        raise GrammarSyntaxError(
            "a grammar text cannot hold a lone surrogate; write the code point itself, or \\U",
            code="ebnf-surrogate",
            source=source,
            offset=error.start,
        ) from None
