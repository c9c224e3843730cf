"""Quantifiers of a pattern: whether one stands at a place, and what it says.

Cost: one match of a short regular expression.
Source: ECMA-262, "Quantifier".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn

from ...errors import LimitExceededError

if TYPE_CHECKING:
    from .scanner import Scanner

_QUANTIFIER = re.compile(r"([*+?])|\{([0-9]+)(?:(,)([0-9]*))?\}")
_SIMPLE_COUNTS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_LONGEST_COUNT = 20


def at_quantifier(scanner: Scanner) -> bool:
    """Return whether a quantifier stands at the scanner's place."""
    return scanner.peek() in ("*", "+", "?", "{") and bool(
        _QUANTIFIER.match(scanner.pattern, scanner.pos)
    )


def nothing_to_repeat(scanner: Scanner) -> NoReturn:
    """Refuse the quantifier at the scanner's place.

    Raises:
        GrammarSyntaxError: Always.
    """
    scanner.fail(
        "nothing-to-repeat",
        f"there is nothing that {scanner.peek()} could repeat; escape it to match it literally",
        scanner.pos,
    )


def read_quantifier(scanner: Scanner, max_repeat: int) -> tuple[int, int | None]:
    """Read the quantifier at the scanner's place, and return its bounds; None: no upper one.

    Raises:
        GrammarSyntaxError: Its bounds are reversed, or another one follows.
        UnsupportedFeatureError: It is possessive.
        LimitExceededError: A bound is more than `max_repeat`.
    """
    start = scanner.pos
    match = _QUANTIFIER.match(scanner.pattern, start)
    if match is None:
        raise AssertionError("caller checks that a quantifier is here")
    scanner.pos = match.end()
    if match[1]:
        counts = _SIMPLE_COUNTS[match[1]]
    else:
        minimum = _count(scanner, match[2], start, max_repeat)
        maximum: int | None = minimum
        if match[3]:
            maximum = _count(scanner, match[4], start, max_repeat) if match[4] else None
        if maximum is not None and maximum < minimum:
            scanner.fail("reversed-quantifier", f"{match[0]} has its bounds reversed", start)
        counts = minimum, maximum
    if scanner.peek() == "?":  # lazy: the same language
        scanner.pos += 1
    elif scanner.peek() == "+":
        scanner.unsupported(
            "possessive quantifier",
            f"{match[0]}+ changes what matches; use {match[0]}",
            start,
        )
    if at_quantifier(scanner):
        nothing_to_repeat(scanner)
    return counts


def _count(scanner: Scanner, digits: str, start: int, limit: int) -> int:
    digits = digits.lstrip("0") or "0"
    if len(digits) > _LONGEST_COUNT or int(digits) > limit:
        raise LimitExceededError(
            f"the repeat count {digits[:40]} is more than max_repeat = {limit}; use a smaller "
            "count, or leave the upper one out for no bound",
            code="regex-repeat-count",
            limit="max_repeat",
            value=limit,
            source=scanner.pattern,
            offset=start,
        )
    return int(digits)
