"""Which numbers a conjunction allows, and whether a beginning of a number can become one of them.

Idea: the numbers that the digits ``12`` may become by appending digits, a fraction and an exponent
fill the intervals [12, 13) * 10^j, for all j from the least exponent on; ``1.5`` fills
[15, 16) * 10^j for the exponents minus one. All finite decimals in them are reached, so the
question is whether such an interval meets the bounds in a multiple of what is asked for. Intervals
far from all numbers named behave as their neighbours do, so few j matter. If the vocabulary lacks
digits, those that it has are tried one by one. An exponent that was begun is tried to its end.

In plain spelling there is no exponent, and what follows a fraction makes another number of it: the
numbers strictly between 1.5 and 1.6.

Cost: the digits of the bounds, and of the text; exponential in them if digits are lacking.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from .json_text import is_complete_number

_MANTISSA = re.compile(r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)?")
_WITH_EXPONENT = re.compile(r"(.*[0-9])[eE]([+-]?)([0-9]*)")
_DIGITS = frozenset(b"0123456789")
#: With all of these, a beginning can be completed if any digits complete it.
_SPELLING = _DIGITS | frozenset(b".")
#: The greatest exponent where something is asked of the value.
_MAX_EXPONENT = 400


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
    divisors: tuple[Fraction, ...] = ()
    plain: bool = False
    decimal: bool = False

    @property
    def any_spelling(self) -> bool:
        return self == NumberSet(False)

    @property
    def only_integers(self) -> bool:
        """Whether all are integers, as divisors or the list say."""
        if self.values is not None:
            return all(value.denominator == 1 for value in self.values if self.holds(value))
        return self.divisor is not None and self.divisor.denominator == 1

    @property
    def divisor(self) -> Fraction | None:
        """What all the numbers are multiples of, if anything."""
        divisors = [*self.divisors, *([Fraction(1)] if self.integers_only else [])]
        if not divisors:
            return None
        common = math.lcm(*(d.denominator for d in divisors))
        return Fraction(math.lcm(*(int(d * common) for d in divisors)), common)

    def holds(self, value: Fraction) -> bool:
        """Whether a value is in the set."""
        if self.divisor is not None and (value / self.divisor).denominator != 1:
            return False
        if self.values is not None and value not in self.values:
            return False
        return all(value > b.value if b.exclusive else value >= b.value for b in self.lows) and all(
            value < b.value if b.exclusive else value <= b.value for b in self.highs
        )

    def meets(self, low: Bound | None, high: Bound | None) -> bool:
        """Whether some finite decimal of an interval (None: unbounded) is in the set."""
        lows = (*self.lows, *([low] if low else []))
        highs = (*self.highs, *([high] if high else []))
        narrowed = NumberSet(self.integers_only, lows, highs, self.values, self.divisors)
        if self.values is not None:
            return any(narrowed.holds(v) for v in self.values)
        bottom = max(lows, key=lambda b: (b.value, b.exclusive), default=None)
        top = min(highs, key=lambda b: (b.value, not b.exclusive), default=None)
        if self.divisor is not None:
            return _multiple_between(self.divisor, bottom, top)
        if bottom is None or top is None:
            return True
        if bottom.value == top.value:
            return not (bottom.exclusive or top.exclusive)
        return bottom.value < top.value

    def scale(self) -> int:
        """An upper bound of the digits, before and behind the point, of the numbers named."""
        named = [b.value for b in (*self.lows, *self.highs)] + list(self.values or ())
        named += [] if self.divisor is None else [self.divisor]
        digits = 1
        for value in named:
            digits = max(digits, len(str(abs(value.numerator))) + len(str(value.denominator)))
        return digits


def _multiple_between(divisor: Fraction, bottom: Bound | None, top: Bound | None) -> bool:
    if bottom is None or top is None:
        return True
    first = math.ceil(bottom.value / divisor)
    if bottom.exclusive and first * divisor == bottom.value:
        first += 1
    last = math.floor(top.value / divisor)
    if top.exclusive and last * divisor == top.value:
        last -= 1
    return first <= last


def is_valid(text: str, allowed: NumberSet) -> bool:
    """Whether a complete number is in the set, in a spelling that is allowed."""
    if not is_complete_number(text):
        return False
    if allowed.decimal:
        return not _has_exponent(text) and is_valid(text, replace(allowed, decimal=False))
    if allowed.plain:
        return text == plain_spelling(text) and allowed.holds(Fraction(text))
    if allowed.any_spelling:
        return True
    begun = _WITH_EXPONENT.fullmatch(text)
    if begun is None:
        return allowed.holds(Fraction(text))
    mantissa, sign, digits = begun.groups()
    size = int(digits)
    return size <= _MAX_EXPONENT and allowed.holds(_scaled(mantissa, int(f"{sign}{size}")))


def _has_exponent(text: str) -> bool:
    return "e" in text.lower()


def plain_spelling(text: str) -> str:
    """The one plain spelling of a number."""
    spelled = format(Decimal(text), "f")
    if "." in spelled:
        spelled = spelled.rstrip("0").rstrip(".")
    return "0" if spelled == "-0" else spelled


@lru_cache(maxsize=100_000)
def can_become(text: str, allowed: NumberSet, usable: frozenset[int]) -> bool:
    """Whether some completion of ``text`` (may be empty) by usable bytes is valid."""
    if allowed.any_spelling:
        return is_complete_number(text) or bool(usable & _DIGITS)
    if allowed.decimal:
        spelling = usable - frozenset(b"eE")
        return not _has_exponent(text) and can_become(
            text, replace(allowed, decimal=False), spelling
        )
    if allowed.plain:
        most = len(text) + (0 if usable >= _SPELLING else 2 * allowed.scale() + 4)
        return _becomes_plain(text, allowed, usable, most)
    begun = _WITH_EXPONENT.fullmatch(text)
    if begun is not None:
        mantissa, sign, digits = begun.groups()
        exponents = _exponents(sign, digits, usable)
        return any(allowed.holds(_scaled(mantissa, exponent)) for exponent in exponents)
    if usable >= _SPELLING:
        return _reaches(text, allowed, usable)
    return _search(text, allowed, usable, len(text) + 2 * allowed.scale() + 4)


def _becomes_plain(text: str, allowed: NumberSet, usable: frozenset[int], most: int) -> bool:
    if _MANTISSA.fullmatch(text) is None:
        return False
    if is_valid(text, allowed):
        return True
    if not any(_meets_beyond(text, sign, allowed) for sign in _signs(text, usable)):
        return False
    if usable >= _SPELLING:
        return True
    following = (text + chr(byte) for byte in sorted(usable & (_SPELLING | frozenset(b"-"))))
    return len(text) < most and any(
        _becomes_plain(longer, allowed, usable, most) for longer in following
    )


def _signs(text: str, usable: frozenset[int]) -> tuple[int, ...]:
    if text:
        return (-1,) if text.startswith("-") else (1,)
    return (1, -1) if ord("-") in usable else (1,)


def _meets_beyond(text: str, sign: int, allowed: NumberSet) -> bool:
    """Whether some number that is not zero, and none that a fraction was read to, goes on so."""
    whole, point, decimals = text.lstrip("-").partition(".")
    if not whole:
        low = Bound(Fraction(0), True)
        return _meets_signed(sign, allowed, low, None) or (not text and allowed.holds(Fraction(0)))
    digits = int(whole + decimals)
    fixed = bool(point) or not digits
    powers = range(1) if fixed else range(allowed.scale() + len(text) + 4)
    unit = Fraction(1, 10 ** len(decimals))
    return any(
        _meets_signed(
            sign,
            allowed,
            Bound(digits * unit * 10**power, fixed),
            Bound((digits + 1) * unit * 10**power, True),
        )
        for power in powers
    )


def _meets_signed(sign: int, allowed: NumberSet, low: Bound | None, high: Bound | None) -> bool:
    if sign > 0:
        return allowed.meets(low, high)
    mirrored = [
        None if bound is None else Bound(-bound.value, bound.exclusive) for bound in (high, low)
    ]
    return allowed.meets(*mirrored)


def _scaled(mantissa: str, exponent: int) -> Fraction:
    return Fraction(mantissa) * Fraction(10) ** exponent


def _exponents(sign: str, digits: str, usable: frozenset[int]) -> Iterator[int]:
    """The exponents that the beginning of one may become."""
    begun = digits.lstrip("0")
    for size in range(_MAX_EXPONENT + 1):
        text = str(size)
        following = "" if digits and not size and not begun else text.removeprefix(begun)
        if not text.startswith(begun) or not usable >= frozenset(following.encode()):
            continue
        if sign != "-":
            yield size
        if sign == "-" or (not sign and not digits and ord("-") in usable):
            yield -size


def _search(text: str, allowed: NumberSet, usable: frozenset[int], max_length: int) -> bool:
    if not _reaches(text, allowed, usable) or len(text) > max_length:
        return False
    if is_valid(text, allowed):
        return True
    may_scale = is_complete_number(text) and usable & frozenset(b"eE")
    exponents = _exponents("", "", usable) if may_scale else iter(())
    if any(allowed.holds(_scaled(text, exponent)) for exponent in exponents):
        return True
    following = (text + chr(byte) for byte in sorted(usable & (_SPELLING | frozenset(b"-"))))
    return any(_search(longer, allowed, usable, max_length) for longer in following)


def _reaches(text: str, allowed: NumberSet, usable: frozenset[int]) -> bool:
    """Whether some completion by any digits is valid."""
    if _MANTISSA.fullmatch(text) is None:
        return False
    signs = ("-",) if text.startswith("-") else ("+",) if text else ("+", "-")
    if not text and ord("-") not in usable:
        signs = ("+",)
    for low, high in _magnitudes(text.lstrip("-"), allowed.scale(), usable):
        for sign in signs:
            if sign == "+" and allowed.meets(Bound(low, False), _bound(high)):
                return True
            upper = None if high is None else Bound(-high, True)
            if sign == "-" and allowed.meets(upper, Bound(-low, False)):
                return True
    return False


def _bound(high: Fraction | None) -> Bound | None:
    return None if high is None else Bound(high, True)


def _magnitudes(
    text: str, scale: int, usable: frozenset[int]
) -> Iterator[tuple[Fraction, Fraction | None]]:
    """Intervals [low, high) of the magnitudes that ``text`` may become; high None: unbounded."""
    if not text:
        yield Fraction(0), None
        return
    whole, point, decimals = text.partition(".")
    digits = int(whole + decimals)
    most = _MAX_EXPONENT if usable & frozenset(b"eE") else 0
    least = -most if ord("-") in usable else 0
    if not digits:
        yield Fraction(0), Fraction(10) ** (most - len(decimals))
        return
    # What lies beyond is far from all that is named.
    far = scale + len(text) + 3
    first, last = least - len(decimals), most - len(decimals)
    if not point:
        last = max(first, far)
    for power in range(min(max(first, -far), last), max(min(last, far), first) + 1):
        yield digits * Fraction(10) ** power, (digits + 1) * Fraction(10) ** power
