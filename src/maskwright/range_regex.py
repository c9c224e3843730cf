"""Regular expressions for the decimal spellings of the numbers in a range.

Idea: a number with a given number of digits is at least the bound if it has the bound's first digit
and its rest is at least the bound's rest, or if its first digit is greater. The same from above,
and behind the point, where a missing digit is a zero.
Cost: as many alternatives as the bounds have digits.
"""

from __future__ import annotations

from decimal import Decimal

__all__ = ["float_range_regex", "integer_range_regex"]

_DIGIT = "[0-9]"


def integer_range_regex(start: int | None, end: int | None) -> str:
    """Return a regular expression for ``str(n)`` of the integers from `start` to `end`.

    Args:
        start: The least of them; None for no bound.
        end: The greatest of them; None for no bound.

    Raises:
        ValueError: There are none.
    """
    _check_range(start, end)
    parts = []
    if start is None or start < 0:
        least = 1 if end is None or end >= 0 else -end
        parts.append("-" + _group(_natural(least, None if start is None else -start)))
    if end is None or end >= 0:
        parts.append(_group(_natural(0 if start is None else max(start, 0), end)))
    return f"^{_group(parts)}$"


def float_range_regex(start: float | None, end: float | None) -> str:
    """Return a regular expression for the decimals whose value is from `start` to `end`.

    A decimal is an optional minus, an integer without leading zeros, and optionally a point with
    digits; it has no exponent. Bounds count as Python writes them: 0.1 is one tenth.

    Args:
        start: The lower bound; None for no bound.
        end: The upper bound; None for no bound.

    Raises:
        ValueError: No number lies between the bounds, or one is no finite number.
    """
    low, high = (None if bound is None else _decimal(bound) for bound in (start, end))
    _check_range(low, high)
    zero = Decimal(0)
    parts = []
    if low is None or low <= 0:
        least = zero if high is None or high >= 0 else -high
        parts.append("-" + _group(_positive(least, None if low is None else -low)))
    if high is None or high >= 0:
        parts.append(_group(_positive(zero if low is None else max(low, zero), high)))
    return f"^{_group(parts)}$"


def _check_range(start: int | Decimal | None, end: int | Decimal | None) -> None:
    if start is not None and end is not None and start > end:
        raise ValueError(f"start is {start} and end is {end}; expected start <= end")


def _decimal(bound: float) -> Decimal:
    value = Decimal(repr(bound + 0))
    if not value.is_finite():
        raise ValueError(f"a bound is {bound}; expected a finite number, or None for no bound")
    return value


def _group(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


def _digits(low: int, high: int) -> str:
    """One digit from `low` to `high`."""
    return str(low) if low == high else f"[{low}-{high}]"


def _some_digits(count: int) -> str:
    return {0: "", 1: _DIGIT}.get(count, f"{_DIGIT}{{{count}}}")


# Integers -----------------------------------------------------------------------------------------


def _natural(low: int, high: int | None) -> list[str]:
    """The naturals from `low` to `high`, by their number of digits."""
    first = str(low)
    if high is None:
        return [*_same_length(first, "9" * len(first)), f"[1-9]{_DIGIT}{{{len(first)},}}"]
    last = str(high)
    if len(first) == len(last):
        return _same_length(first, last)
    parts = _same_length(first, "9" * len(first))
    if len(last) - len(first) > 1:
        parts.append(f"[1-9]{_DIGIT}{{{len(first)},{len(last) - 2}}}")
    return [*parts, *_same_length("1" + "0" * (len(last) - 1), last)]


def _same_length(low: str, high: str) -> list[str]:
    """The digit sequences from `low` to `high`, all of one length."""
    common = next((i for i, (a, b) in enumerate(zip(low, high, strict=True)) if a != b), len(low))
    if common == len(low):
        return [low]
    prefix, rest = low[:common], len(low) - common - 1
    begin, end = int(low[common]), int(high[common])
    parts = []
    low_rest, high_rest = low[common + 1 :], high[common + 1 :]
    if low_rest.strip("0"):
        above = _same_length(low_rest, "9" * rest)
        parts.append(f"{prefix}{begin}{_group(above)}")
        begin += 1
    upper = None
    if high_rest.strip("9"):
        upper = f"{prefix}{end}{_group(_same_length('0' * rest, high_rest))}"
        end -= 1
    if begin <= end:
        parts.append(f"{prefix}{_digits(begin, end)}{_some_digits(rest)}")
    return parts if upper is None else [*parts, upper]


# Decimals -----------------------------------------------------------------------------------------


def _positive(low: Decimal, high: Decimal | None) -> list[str]:
    """The decimals from `low` to `high`, neither negative."""
    first, low_fraction = _split(low)
    if high is None:
        return [f"{first}{_at_least(low_fraction)}", *_whole(first + 1, None)]
    last, high_fraction = _split(high)
    if first == last:
        return [f"{first}{_between(low_fraction, high_fraction)}"]
    parts = [f"{first}{_at_least(low_fraction)}"]
    if last - first > 1:
        parts += _whole(first + 1, last - 1)
    return [*parts, f"{last}{_at_most(high_fraction)}"]


def _whole(low: int, high: int | None) -> list[str]:
    """The decimals whose integer is from `low` to `high`."""
    return [f"{_group(_natural(low, high))}(?:\\.{_DIGIT}+)?"]


def _split(value: Decimal) -> tuple[int, str]:
    """The integer and the digits behind the point, without zeros at the end."""
    whole, _, fraction = f"{value:f}".partition(".")
    return int(whole), fraction.rstrip("0")


def _at_least(fraction: str) -> str:
    if not fraction:
        return f"(?:\\.{_DIGIT}+)?"
    return "\\." + _group(_digits_at_least(fraction))


def _at_most(fraction: str) -> str:
    if not fraction:
        return "(?:\\.0+)?"
    return f"(?:\\.{_group(_digits_at_most(fraction))})?"


def _between(low: str, high: str) -> str:
    if not low:
        return _at_most(high)
    common = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), None)
    if common is None:  # high goes on where low ends
        rest = high[len(low) :]
        more = _group(_digits_at_most(rest)) if rest else "0+"
        return f"\\.{low}(?:{more})?"
    prefix, begin, end = low[:common], int(low[common]), int(high[common])
    parts = [f"{begin}{rest}" for rest in _rest_at_least(low[common + 1 :])]
    if end - begin > 1:
        parts.append(f"{_digits(begin + 1, end - 1)}{_DIGIT}*")
    parts.append(f"{end}{_rest_at_most(high[common + 1 :])}")
    return f"\\.{prefix}{_group(parts)}"


def _digits_at_least(fraction: str) -> list[str]:
    """Digits behind the point that make at least the fraction, which does not end in 0."""
    parts = []
    for i, digit in enumerate(fraction):
        if digit < "9":
            parts.append(f"{fraction[:i]}{_digits(int(digit) + 1, 9)}{_DIGIT}*")
    return [*parts, f"{fraction}{_DIGIT}*"]


def _rest_at_least(fraction: str) -> list[str]:
    return _digits_at_least(fraction) if fraction else [f"{_DIGIT}*"]


def _digits_at_most(fraction: str) -> list[str]:
    """Some digits behind the point that make at most the fraction, which does not end in 0."""
    parts = []
    for i, digit in enumerate(fraction):
        if digit > "0":
            parts.append(f"{fraction[:i]}{_digits(0, int(digit) - 1)}{_DIGIT}*")
        if i > 0:
            parts.append(fraction[:i])
    return [*parts, f"{fraction}0*"]


def _rest_at_most(fraction: str) -> str:
    return f"(?:{_group(_digits_at_most(fraction))})?" if fraction else "0*"
