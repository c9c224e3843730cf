"""Which numbers a conjunction allows, and whether a beginning of a number can become one of them.

Idea: the numbers that a plain decimal ``-?(0|[1-9][0-9]*)(\\.[0-9]+)?`` may become by appending
digits fill intervals of magnitudes: ``12`` gives [12, 13), [120, 130), [1200, 1300), ...; ``1.5``
gives [1.5, 1.6). All finite decimals in them are reached, so the question is whether such an
interval meets the bounds, in an integer where one is wanted. If the vocabulary lacks digits, the
few digits that matter are tried one by one.

Cost: the digits of the bounds; exponential in them if digits are lacking.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from .json_text import is_complete_number

_PLAIN = re.compile(r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)?")
_DIGITS = frozenset(b"0123456789")
_SPELLING = frozenset(b"0123456789-.")


@dataclass(frozen=True)
class Bound:
    """An end of an interval."""

    value: Fraction
    exclusive: bool


@dataclass(frozen=True)
class NumberSet:
    """A set of numbers. ``any_spelling``: nothing is asked of the value, exponents are allowed."""

    integers_only: bool
    lows: tuple[Bound, ...] = ()
    highs: tuple[Bound, ...] = ()
    values: frozenset[Fraction] | None = None

    @property
    def any_spelling(self) -> bool:
        return not (self.integers_only or self.lows or self.highs or self.values is not None)

    def holds(self, value: Fraction) -> bool:
        """Whether a value is in the set."""
        if self.integers_only and value.denominator != 1:
            return False
        if self.values is not None and value not in self.values:
            return False
        return all(
            value > b.value if b.exclusive else value >= b.value for b in self.lows
        ) and all(value < b.value if b.exclusive else value <= b.value for b in self.highs)

    def meets(self, low: Bound | None, high: Bound | None) -> bool:
        """Whether some finite decimal of an interval (None: unbounded) is in the set."""
        lows = (*self.lows, *([low] if low else []))
        highs = (*self.highs, *([high] if high else []))
        narrowed = NumberSet(self.integers_only, lows, highs, self.values)
        if self.values is not None:
            return any(narrowed.holds(v) for v in self.values)
        bottom = max(lows, key=lambda b: (b.value, b.exclusive), default=None)
        top = min(highs, key=lambda b: (b.value, not b.exclusive), default=None)
        if self.integers_only:
            return _integer_between(bottom, top)
        if bottom is None or top is None:
            return True
        if bottom.value == top.value:
            return not (bottom.exclusive or top.exclusive)
        return bottom.value < top.value

    def scale(self) -> int:
        """An upper bound of the digits, before and behind the point, of the numbers named."""
        named = [b.value for b in (*self.lows, *self.highs)] + list(self.values or ())
        digits = 1
        for value in named:
            digits = max(digits, len(str(abs(value.numerator))) + len(str(value.denominator)))
        return digits


def _integer_between(bottom: Bound | None, top: Bound | None) -> bool:
    if bottom is None or top is None:
        return True
    first = math.ceil(bottom.value)
    if bottom.exclusive and first == bottom.value:
        first += 1
    last = math.floor(top.value)
    if top.exclusive and last == top.value:
        last -= 1
    return first <= last


def value_of(text: str) -> Fraction:
    """The value of a JSON number."""
    return Fraction(text)


def is_valid(text: str, allowed: NumberSet) -> bool:
    """Whether a complete number is in the set, in a spelling that is allowed."""
    if not is_complete_number(text):
        return False
    if allowed.any_spelling:
        return True
    return "e" not in text.lower() and allowed.holds(value_of(text))


def can_become(text: str, allowed: NumberSet, usable: frozenset[int]) -> bool:
    """Whether some completion of ``text`` (may be empty) by usable bytes is valid."""
    if allowed.any_spelling:
        return is_complete_number(text) or bool(usable & _DIGITS)
    if usable >= _SPELLING:
        return _reaches(text, allowed)
    return _search(text, allowed, usable, len(text) + 2 * allowed.scale() + 4)


def _search(text: str, allowed: NumberSet, usable: frozenset[int], max_length: int) -> bool:
    if not _reaches(text, allowed) or len(text) > max_length:
        return False
    if is_valid(text, allowed):
        return True
    following = (text + chr(byte) for byte in sorted(usable & _SPELLING))
    return any(_search(longer, allowed, usable, max_length) for longer in following)


def _reaches(text: str, allowed: NumberSet) -> bool:
    """Whether some completion by any digits is valid."""
    if _PLAIN.fullmatch(text) is None:
        return False
    signs = ("-",) if text.startswith("-") else ("+",) if text else ("+", "-")
    for low, high in _magnitudes(text.lstrip("-"), allowed.scale()):
        for sign in signs:
            if sign == "+" and allowed.meets(Bound(low, False), _bound(high)):
                return True
            upper = None if high is None else Bound(-high, True)
            if sign == "-" and allowed.meets(upper, Bound(-low, False)):
                return True
    return False


def _bound(high: Fraction | None) -> Bound | None:
    return None if high is None else Bound(high, True)


def _magnitudes(text: str, scale: int) -> Iterator[tuple[Fraction, Fraction | None]]:
    """Intervals [low, high) of the magnitudes that ``text`` may become; high None: unbounded."""
    if not text:
        yield Fraction(0), None
        return
    whole, point, decimals = text.partition(".")
    value = Fraction(text.rstrip("."))
    if point:
        yield value, value + Fraction(1, 10 ** len(decimals))
        return
    yield value, value + 1
    if whole != "0":
        for n_digits in range(1, scale + 3):
            yield value * 10**n_digits, (value + 1) * 10**n_digits
