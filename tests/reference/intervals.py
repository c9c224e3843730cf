"""Sets of integers as sorted, disjoint, non-adjacent closed ranges. Cost: linear in the ranges."""

from __future__ import annotations

from collections.abc import Iterable

Ranges = tuple[tuple[int, int], ...]

MAX_CODE_POINT = 0x10FFFF
#: All Unicode scalar values: code points without surrogates.
SCALARS: Ranges = ((0, 0xD7FF), (0xE000, MAX_CODE_POINT))
ALL_BYTES: Ranges = ((0, 255),)


def normalise(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Sorts and merges ranges; drops empty ones (lo > hi)."""
    merged: list[tuple[int, int]] = []
    for lo, hi in sorted(r for r in ranges if r[0] <= r[1]):
        if merged and lo <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(hi, merged[-1][1]))
        else:
            merged.append((lo, hi))
    return tuple(merged)


def intersect(a: Ranges, b: Ranges) -> Ranges:
    """The integers in both sets."""
    return normalise((max(x[0], y[0]), min(x[1], y[1])) for x in a for y in b)


def contains(ranges: Ranges, value: int) -> bool:
    """Whether the set holds a value."""
    return any(lo <= value <= hi for lo, hi in ranges)


def members(ranges: Ranges) -> Iterable[int]:
    """All members in order."""
    for lo, hi in ranges:
        yield from range(lo, hi + 1)
