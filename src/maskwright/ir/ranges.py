"""Sets of code points as ranges: sorted, disjoint, non-adjacent, inclusive, without surrogates.

Idea: text is valid UTF-8, so surrogates cannot occur and are dropped at once; equal sets are equal
tuples. Cost: a sort and a linear pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .format import MAX_CODE_POINT, SURROGATES

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["CharRanges", "complement", "normalise"]

CharRanges = tuple[tuple[int, int], ...]


def normalise(ranges: Iterable[tuple[int, int]]) -> CharRanges:
    """Sort and merge ranges, and drop surrogates.

    Raises:
        ValueError: A range is reversed or not within the code points.
    """
    merged: list[tuple[int, int]] = []
    for lo, hi in sorted(ranges):
        if not 0 <= lo <= hi <= MAX_CODE_POINT:
            raise ValueError(f"bad code point range {lo:#x}..{hi:#x}")
        if merged and lo <= merged[-1][1] + 1:
            if hi > merged[-1][1]:
                merged[-1] = (merged[-1][0], hi)
        else:
            merged.append((lo, hi))
    first, last = SURROGATES
    if not merged or merged[-1][1] < first or merged[0][0] > last:
        return tuple(merged)
    kept: list[tuple[int, int]] = []
    for lo, hi in merged:
        if lo < first:
            kept.append((lo, min(hi, first - 1)))
        if hi > last:
            kept.append((max(lo, last + 1), hi))
    return tuple(kept)


def complement(ranges: CharRanges) -> CharRanges:
    """Return the code points that are not in a normalised set."""
    gaps: list[tuple[int, int]] = []
    start = 0
    for lo, hi in ranges:
        if lo > start:
            gaps.append((start, lo - 1))
        start = hi + 1
    if start <= MAX_CODE_POINT:
        gaps.append((start, MAX_CODE_POINT))
    return normalise(gaps)
