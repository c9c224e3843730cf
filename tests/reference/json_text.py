"""JSON text that may be cut off anywhere, read into a value with one open end.

Idea: JSON is LL(1), so a text has at most one reading, and if it is cut off, the open end is on the
right edge of the value: an unfinished scalar, or a container in a certain phase. ``read`` gives that
value or raises ``NotJson``; what may follow is decided elsewhere.

Layout: free whitespace of a bounded number of bytes between tokens, or none with fixed separators.
Never before or after the root value. Source: RFC 8259.

Cost: linear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from .intervals import SCALARS, Ranges, intersect, normalise
from .utf8 import expected_after


class NotJson(Exception):
    """The text is not the beginning of any JSON text in this layout."""


@dataclass(frozen=True)
class Layout:
    """How the text between the values must look."""

    any_whitespace: bool
    max_whitespace: int
    item_separator: bytes
    key_separator: bytes


@dataclass(frozen=True)
class Hole:
    """A value that has not begun."""


@dataclass(frozen=True)
class Word:
    """null, true or false, or a beginning of it."""

    text: bytes
    name: str  # "null", "true" or "false"

    @property
    def closed(self) -> bool:
        return self.text == self.name.encode()


@dataclass(frozen=True)
class Number:
    """A number. An open one is at the end of the text and may go on."""

    text: str
    closed: bool


@dataclass(frozen=True)
class String:
    """A string: its decoded code points, and the bytes of an unfinished character."""

    points: tuple[int, ...]
    pending: bytes
    closed: bool

    @property
    def text(self) -> str:
        return "".join(map(chr, self.points))


class Phase(Enum):
    """Where the open end of a container is."""

    OPENED = "after the opening bracket"
    INSIDE = "in the last item, or in the value of the last member"
    KEY = "in the key of the last member"
    COLON = "after the key of the last member, before its value"
    AFTER = "after a complete item or member"
    NEXT = "after a comma"
    CLOSED = "after the closing bracket"


@dataclass(frozen=True)
class Array:
    """An array and its items so far; the last one may be open."""

    items: tuple[Value, ...]
    phase: Phase

    @property
    def closed(self) -> bool:
        return self.phase is Phase.CLOSED


@dataclass(frozen=True)
class Object:
    """An object and its members so far; the last key or value may be open.

    A value is a ``Hole`` as long as it has not begun.
    """

    members: tuple[tuple[String, Value], ...]
    phase: Phase

    @property
    def closed(self) -> bool:
        return self.phase is Phase.CLOSED


Value = Hole | Word | Number | String | Array | Object
HOLE = Hole()

_NUMBER_PREFIX = re.compile(
    r"-?(?:(?:0|[1-9][0-9]*)(?:\.(?:[0-9]+(?:[eE](?:[+-]?[0-9]*)?)?)?|[eE](?:[+-]?[0-9]*)?)?)?"
)
_COMPLETE_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_SHORT_ESCAPES = {
    0x22: 0x22,
    0x5C: 0x5C,
    0x2F: 0x2F,
    0x62: 0x08,
    0x66: 0x0C,
    0x6E: 0x0A,
    0x72: 0x0D,
    0x74: 0x09,
}
_HEX = "0123456789abcdefABCDEF"


def read(text: bytes, layout: Layout) -> Value:
    """Reads the beginning of a JSON text.

    Raises:
        NotJson: no completion of the text is JSON in this layout.
    """
    reader = _Reader(text, layout)
    value = reader.value()
    if reader.at < len(text):
        raise NotJson(f"text after the value at byte {reader.at}")
    return value


def is_complete_number(text: str) -> bool:
    """Whether a text is a JSON number."""
    return _COMPLETE_NUMBER.fullmatch(text) is not None


def characters_after(pending: bytes) -> Ranges:
    """The code points that an unfinished character of a string may still become."""
    if pending[:1] != b"\\":
        return expected_after(pending)
    if pending == b"\\":
        return SCALARS  # \\u spells any
    digits = pending[2:6].decode()
    low = int(digits.ljust(4, "0"), 16)
    high = int(digits.ljust(4, "f"), 16)
    if len(digits) < 4:
        pairs = intersect(((low, high),), ((0xD800, 0xDBFF),))
        found = [_pairs(lo, hi, 0xDC00, 0xDFFF) for lo, hi in pairs]
        return normalise([*intersect(((low, high),), SCALARS), *found])
    tail = pending[8:].decode()  # behind \\uD83D\\u
    second_low = max(int(tail.ljust(4, "0"), 16), 0xDC00)
    second_high = min(int(tail.ljust(4, "f"), 16), 0xDFFF)
    return normalise([_pairs(low, low, second_low, second_high)])


def _pairs(high_lo: int, high_hi: int, low_lo: int, low_hi: int) -> tuple[int, int]:
    def point(high: int, low: int) -> int:
        return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)

    return point(high_lo, low_lo), point(high_hi, low_hi)


class _Reader:
    def __init__(self, text: bytes, layout: Layout) -> None:
        self._text, self._layout, self.at = text, layout, 0

    @property
    def _ended(self) -> bool:
        return self.at >= len(self._text)

    def _next(self) -> int:
        return self._text[self.at]

    def _whitespace(self) -> None:
        if not self._layout.any_whitespace:
            return
        start = self.at
        while not self._ended and self._next() in b" \t\n\r":
            self.at += 1
        if self.at - start > self._layout.max_whitespace:
            raise NotJson("too much whitespace")

    def _separator(self, separator: bytes, plain: bytes) -> bool:
        """Reads a separator; False if the text ends within or behind it."""
        wanted = plain if self._layout.any_whitespace else separator
        got = self._text[self.at : self.at + len(wanted)]
        if not wanted.startswith(got):
            raise NotJson(f"expected {wanted!r} at byte {self.at}")
        self.at += len(got)
        self._whitespace()
        return not self._ended

    def value(self) -> Value:
        if self._ended:
            return HOLE
        first = self._next()
        if first == 0x22:
            return self.string()
        if first == 0x5B:
            return self._array()
        if first == 0x7B:
            return self._object()
        if first == 0x2D or 0x30 <= first <= 0x39:
            return self._number()
        for name in ("null", "true", "false"):
            if first == ord(name[0]):
                got = self._text[self.at : self.at + len(name)]
                if not name.encode().startswith(got):
                    break
                self.at += len(got)
                return Word(got, name)
        raise NotJson(f"no value at byte {self.at}")

    def _number(self) -> Number:
        rest = self._text[self.at :].decode("latin-1")
        match = _NUMBER_PREFIX.match(rest)
        text = match.group() if match else ""
        self.at += len(text)
        if not self._ended and not is_complete_number(text):
            raise NotJson("unfinished number")
        return Number(text, closed=not self._ended)

    def string(self) -> String:
        self.at += 1
        points: list[int] = []
        while not self._ended:
            if self._next() == 0x22:
                self.at += 1
                return String(tuple(points), b"", closed=True)
            point, length = self._character()
            if point is None:
                pending = self._text[self.at :]
                self.at = len(self._text)
                return String(tuple(points), pending, closed=False)
            points.append(point)
            self.at += length
        return String(tuple(points), b"", closed=False)

    def _character(self) -> tuple[int | None, int]:
        """The next character and its length in bytes; None if the text ends within it."""
        first = self._next()
        if first == 0x5C:
            return self._escape()
        if first < 0x20:
            raise NotJson("raw control character in a string")
        for length in range(1, 5):
            unit = self._text[self.at : self.at + length]
            try:
                return ord(unit.decode("utf-8")), length
            except UnicodeDecodeError:
                if not expected_after(unit):
                    raise NotJson("invalid UTF-8") from None
                if self.at + length >= len(self._text):
                    return None, 0
        raise NotJson("invalid UTF-8")

    def _escape(self) -> tuple[int | None, int]:
        rest = self._text[self.at : self.at + 12]
        if len(rest) == 1:
            return None, 0
        if rest[1] in _SHORT_ESCAPES:
            return _SHORT_ESCAPES[rest[1]], 2
        unit = self._hex_unit(rest)
        if unit is None:
            if not characters_after(rest):
                raise NotJson("lone surrogate")
            return None, 0
        if not 0xD800 <= unit <= 0xDFFF:
            return unit, 6
        if unit >= 0xDC00:
            raise NotJson("lone surrogate")
        if len(rest) == 6:
            return None, 0
        if rest[6] != 0x5C:
            raise NotJson("lone surrogate")
        low = self._hex_unit(rest[6:]) if len(rest) > 7 else None
        if low is None:
            if not characters_after(rest):
                raise NotJson("lone surrogate")
            return None, 0
        if not 0xDC00 <= low <= 0xDFFF:
            raise NotJson("lone surrogate")
        return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00), 12

    def _hex_unit(self, escape: bytes) -> int | None:
        """The value of ``\\uXXXX`` at the start of some bytes; None if the text ends within it."""
        if escape[1] != 0x75:
            raise NotJson("unknown escape")
        digits = escape[2:6].decode("latin-1")
        if any(d not in _HEX for d in digits):
            raise NotJson("bad hexadecimal digit")
        return int(digits, 16) if len(digits) == 4 else None

    def _array(self) -> Array:
        self.at += 1
        items: list[Value] = []
        self._whitespace()
        if self._ended:
            return Array((), Phase.OPENED)
        if self._next() == 0x5D:
            self.at += 1
            return Array((), Phase.CLOSED)
        while True:
            items.append(self.value())
            if not _finished(items[-1]) or (isinstance(items[-1], Number) and self._ended):
                return Array(tuple(items), Phase.INSIDE)
            self._whitespace()
            if self._ended:
                return Array(tuple(items), Phase.AFTER)
            if self._next() == 0x5D:
                self.at += 1
                return Array(tuple(items), Phase.CLOSED)
            if not self._separator(self._layout.item_separator, b","):
                return Array(tuple(items), Phase.NEXT)

    def _object(self) -> Object:
        self.at += 1
        members: list[tuple[String, Value]] = []
        self._whitespace()
        if self._ended:
            return Object((), Phase.OPENED)
        if self._next() == 0x7D:
            self.at += 1
            return Object((), Phase.CLOSED)
        while True:
            phase = self._member(members)
            if phase is not Phase.AFTER:
                return Object(tuple(members), phase)
            self._whitespace()
            if self._ended:
                return Object(tuple(members), Phase.AFTER)
            if self._next() == 0x7D:
                self.at += 1
                return Object(tuple(members), Phase.CLOSED)
            if not self._separator(self._layout.item_separator, b","):
                return Object(tuple(members), Phase.NEXT)

    def _member(self, members: list[tuple[String, Value]]) -> Phase:
        if self._next() != 0x22:
            raise NotJson(f"no key at byte {self.at}")
        key = self.string()
        members.append((key, HOLE))
        if not key.closed:
            return Phase.KEY
        self._whitespace()
        if self._ended or not self._separator(self._layout.key_separator, b":"):
            return Phase.COLON
        value = self.value()
        members[-1] = (key, value)
        if not _finished(value) or (isinstance(value, Number) and self._ended):
            return Phase.INSIDE
        return Phase.AFTER


def _finished(value: Value) -> bool:
    return isinstance(value, Number) or (not isinstance(value, Hole) and value.closed)
