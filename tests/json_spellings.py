"""Texts of one JSON value: spacing, order of members, escapes and forms of numbers vary.

All of them mean the same to JSON Schema, so a schema accepts all or none. What the options of the
compiler leave out is not made: whitespace around the value, or more of it at once than allowed.
"""

from __future__ import annotations

import json
from decimal import Context, Decimal
from random import Random
from typing import Any


class NumberText(str):
    """A number as it was written."""

    __slots__ = ()


MAX_WHITESPACE = 256
_MAX_INDENT = 200
_MAX_EXPONENT = 300
_EXACT = Context(prec=1000)
_SHORT = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n"}
_SHORT |= {"\r": "\\r", "\t": "\\t"}
_SPACES = ("", "", " ", "\n", "\t ", "\r\n")


def plain(value: Any) -> str:
    """Return the text of a value without any variation."""
    return Speller(None).text(value)


def spellings(
    value: Any, rng: Random, count: int, *, max_whitespace: int = MAX_WHITESPACE
) -> list[str]:
    """Return the plain text of a value and ``count - 1`` random ones.

    Args:
        value: As ``json`` reads it; numbers may be `NumberText`.
        rng: Where randomness comes from.
        count: How many.
        max_whitespace: Bytes of whitespace that may stand between two tokens.
    """
    return [plain(value)] + [
        Speller(rng, max_whitespace=max_whitespace).text(value) for _ in range(count - 1)
    ]


class Speller:
    """One way to write values; each instance has a style of its own."""

    def __init__(self, rng: Random | None, *, max_whitespace: int = MAX_WHITESPACE) -> None:
        self.rng = rng
        self.spaces = [space for space in _SPACES if len(space) <= max_whitespace]
        self.escape_share = 0.0
        self.indent = None
        self.spaced = False
        if rng is not None:
            self.escape_share = rng.choice((0, 0, 0.2, 1))
            if max_whitespace > _MAX_INDENT:
                self.indent = rng.choice((None, None, 0, 1, 4))
            self.spaced = rng.random() < 0.5

    def text(self, value: Any, depth: int = 0) -> str:
        """Return a text of a value."""
        if isinstance(value, NumberText):
            return self.number(value)
        if isinstance(value, str):
            return self.string(value)
        if isinstance(value, list):
            return self.bracketed("[]", [self.text(item, depth + 1) for item in value], depth)
        if isinstance(value, dict):
            members = [
                f"{self.string(key)}{self.space()}:{self.space(1)}{self.text(item, depth + 1)}"
                for key, item in value.items()
            ]
            if self.rng is not None and self.rng.random() < 0.7:
                self.rng.shuffle(members)
            return self.bracketed("{}", members, depth)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return self.number(repr(value))
        return json.dumps(value)

    def space(self, otherwise: int = 0) -> str:
        """Return whitespace that may stand between two tokens."""
        if self.rng is not None and self.spaced:
            return self.rng.choice(self.spaces)
        return " " * otherwise if self.rng is not None and self.indent is not None else ""

    def bracketed(self, brackets: str, parts: list[str], depth: int) -> str:
        """Join the parts of an array or object."""
        if not parts:
            return brackets[0] + self.space() + brackets[1]
        if self.indent is None:
            comma = f"{self.space()},{self.space()}"
            inner = comma.join(parts)
            return f"{brackets[0]}{self.space()}{inner}{self.space()}{brackets[1]}"
        outer = "\n" + " " * min(depth * self.indent, _MAX_INDENT)
        line = "\n" + " " * min((depth + 1) * self.indent, _MAX_INDENT)
        return f"{brackets[0]}{line}{f',{line}'.join(parts)}{outer}{brackets[1]}"

    def string(self, text: str) -> str:
        """Return a string in quotes, with its characters as they are or escaped."""
        return '"' + "".join(map(self.character, text)) + '"'

    def character(self, char: str) -> str:
        """Return one character of a string, escaped if it has to be or by chance."""
        rng = self.rng
        if rng is None or rng.random() >= self.escape_share:
            must = ord(char) < 0x20 or char in '"\\'
            return json.dumps(char)[1:-1] if must else char
        if char in _SHORT and rng.random() < 0.5:
            return _SHORT[char]
        units = char.encode("utf-16-be", "surrogatepass")
        escapes = [units[at : at + 2].hex() for at in range(0, len(units), 2)]
        return "".join("\\u" + (e.upper() if rng.random() < 0.5 else e) for e in escapes)

    def number(self, text: str) -> str:
        """Return a number of the same value."""
        rng = self.rng
        try:
            value = Decimal(text)
        except ArithmeticError:  # an exponent of 20 digits
            return text
        long = max(len(text), abs(value.adjusted())) > _MAX_EXPONENT
        if rng is None or long or rng.random() < 0.4:
            return text
        if not value and rng.random() < 0.5:
            return rng.choice(("0", "-0", "0.0", "-0.000"))
        shown = format(value, "f")
        if rng.random() < 0.5:
            return shown + (rng.choice(("", "0", "00")) if "." in shown else ".0")
        shift = rng.choice((0, 1, 2, 7, 30))
        sign = rng.choice((1, -1))
        mantissa = format(_EXACT.scaleb(value, -sign * shift), "f")
        form = rng.choice(("e", "E"))
        plus = "-" if sign < 0 else rng.choice(("", "+"))
        return f"{mantissa}{form}{plus}{rng.choice(('', '0'))}{shift}"


def has_lone_surrogate(value: Any) -> bool:
    """Return whether a string in a value has no UTF-8 text."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False
