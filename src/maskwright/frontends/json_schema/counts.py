"""Counting keywords: two of them, a minimum and a maximum, make one node.

Idea: the IR holds counts in 32 bits. A larger maximum is cut to the largest count there is (noted
as narrowed: nobody will see a string of four billion characters); a larger minimum is a limit.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ...errors import LimitExceededError
from ...ir.format import NONE
from .faults import malformed
from .locations import render

if TYPE_CHECKING:
    from collections.abc import Callable

    from .convert import Converter

__all__ = ["MAX_COUNT", "add_counts"]

MAX_COUNT = NONE - 1
"""The largest count that the IR can express."""


def add_counts(
    conv: Converter,
    key: str,
    low_key: str,
    high_key: str,
    build: Callable[[int, int | None], int],
    *,
    default_low: int = 0,
) -> None:
    """Add the node for a minimum and a maximum; the first keyword of the two does it."""
    schema = conv.schema
    if key == high_key and low_key in schema:
        return
    low = _count(conv, low_key) if low_key in schema else default_low
    high = _count(conv, high_key) if high_key in schema else None
    if low > MAX_COUNT:
        raise LimitExceededError(
            f'"{low_key}" at {render(conv.location, low_key)} is too large: '
            f"expected at most {MAX_COUNT}",
            code="schema-count-limit",
            limit="max_count",
            value=MAX_COUNT,
        )
    if high is not None and high > MAX_COUNT:
        conv.facts.add("clipped count")
        high = MAX_COUNT
    if high is not None and low > high:
        # A node holds an ordered pair; two of them say what the schema says: nothing fits.
        conv.add(build(low, None))
        conv.add(build(0, high))
    elif high is not None or low > 0:
        conv.add(build(low, high))


def _count(conv: Converter, key: str) -> int:
    value: Any = conv.schema[key]
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    # 3.0 is an integer to JSON Schema; the exponent is checked so that 1e999999999 stays small.
    if isinstance(value, float) and value >= 0 and value.is_integer():
        return int(value)
    if isinstance(value, Decimal) and value.is_finite() and value >= 0:
        if value.adjusted() > 2 * len(str(MAX_COUNT)):
            return 2 * MAX_COUNT
        if value == value.to_integral_value():
            return int(value)
    raise malformed(value, "an integer of at least 0", conv.location, key)
