r"""Sets of code points, as ``maskwright.ir.ranges`` has them, and those that ECMA-262 names.

Idea: a class of a pattern is a plain tuple of pairs, so that it can be compared, shared and handed
to the IR builder as it is; "all" is the set of Unicode scalar values.
Cost: linear merges; the case closure is linear in the 1,482 case orbits.
Source: ECMA-262, CharacterClassEscape, WordCharacters, Canonicalize (with u: simple case folding).
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache

from ...ir.ranges import CharRanges, complement, normalise

__all__ = [
    "ALL",
    "DIGITS",
    "LINE_TERMINATORS",
    "NONE",
    "SPACE",
    "WORD",
    "CharRanges",
    "case_closure",
    "complement",
    "contains",
    "intersection",
    "normalise",
    "only",
    "union",
]

NONE: CharRanges = ()
ALL: CharRanges = ((0, 0xD7FF), (0xE000, 0x10FFFF))
DIGITS: CharRanges = ((0x30, 0x39),)
WORD: CharRanges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
LINE_TERMINATORS: CharRanges = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
SPACE: CharRanges = (
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
)


def union(*sets: CharRanges) -> CharRanges:
    """Code points in any of the sets."""
    return normalise(pair for ranges in sets for pair in ranges)


def intersection(left: CharRanges, right: CharRanges) -> CharRanges:
    """Code points in both sets."""
    out: list[tuple[int, int]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        lo, hi = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if lo <= hi:
            out.append((lo, hi))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(out)


def contains(ranges: CharRanges, code_point: int) -> bool:
    """Tell whether the code point is in the set."""
    at = bisect_right(ranges, (code_point, 0x110000)) - 1
    return at >= 0 and ranges[at][1] >= code_point


def only(ranges: CharRanges) -> int | None:
    """Return the code point of a set of one, else None."""
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return ranges[0][0]
    return None


@lru_cache(maxsize=512)
def case_closure(ranges: CharRanges) -> CharRanges:
    """Add every code point that simple case folding makes equal to one of the set."""
    from ...unicode import case_orbits  # the table is read on first use only

    added: list[tuple[int, int]] = []
    for orbit in case_orbits():
        if any(contains(ranges, member) for member in orbit):
            added += ((member, member) for member in orbit)
    return union(ranges, tuple(added)) if added else ranges
