r"""Bracketed classes: ``[a-z]``, ``[^\d_]``.

Idea: a class has no nesting, so a regular expression finds its end, and the set of each distinct
class text is computed once and cached; on an error the class is read again in place, which raises
with the right position.
Cost: linear; a cache hit is one match and one look-up.
Source: ECMA-262, "CharacterClass", and Annex B for ranges that have a set as an end.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NoReturn

from ...errors import GrammarError
from . import charset
from .scanner import CharOrSet, Scanner

if TYPE_CHECKING:
    from .charset import CharRanges

_CLASS = re.compile(r"\[(?:[^\]\\]|\\.)*\]", re.DOTALL)
_POSIX = re.compile(
    r"\[:\^?(?:al(?:num|pha)|ascii|blank|cntrl|x?digit|graph|lower|print|punct|space|upper|word):\]"
)


def read_class(scanner: Scanner, *, ignore_case: bool) -> CharRanges:
    """Read a class that starts at the position, bracket included."""
    match = _CLASS.match(scanner.pattern, scanner.pos)
    if match and _POSIX.search(match[0]) is None:
        try:
            ranges = _cached_class(match[0], scanner.legacy, scanner.any_dialect, ignore_case)
        except GrammarError:
            pass  # raised again below, with the position in the whole pattern
        else:
            scanner.pos = match.end()
            return ranges
    return _read(scanner, ignore_case=ignore_case)


@lru_cache(maxsize=1024)
def _cached_class(text: str, legacy: bool, any_dialect: bool, ignore_case: bool) -> CharRanges:
    scanner = Scanner(text, legacy=legacy, any_dialect=any_dialect)
    return _read(scanner, ignore_case=ignore_case)


def forget_classes() -> None:
    """Keep no class that was read so far."""
    _cached_class.cache_clear()


def _read(scanner: Scanner, *, ignore_case: bool) -> CharRanges:
    start = scanner.pos
    scanner.pos += 1
    negated = scanner.peek() == "^"
    scanner.pos += negated
    if scanner.any_dialect and scanner.peek() == "]":
        _refuse_empty_class(scanner, start)
    parts: list[tuple[int, int]] = []
    while scanner.peek() != "]":
        if not scanner.peek():
            scanner.fail("unterminated-class", "this class has no closing ]", start)
        _read_item(scanner, parts, ignore_case=ignore_case)
    scanner.pos += 1
    ranges = charset.normalise(parts)
    if ignore_case:
        ranges = charset.case_closure(ranges)
    if negated:
        return charset.complement(ranges)
    if parts and not ranges:
        scanner.lone_surrogate(start)
    return ranges


def _refuse_empty_class(scanner: Scanner, start: int) -> NoReturn:
    opening = scanner.pattern[start : scanner.pos]
    meaning = "[^] is any character, write [\\s\\S]" if len(opening) > 1 else "[] matches nothing"
    scanner.unsupported(
        "empty class",
        f"in ECMA-262 {meaning}; in Python and PCRE the ] is a character of the class, write "
        f"{opening}\\]...]",
        start,
    )


def _read_item(scanner: Scanner, parts: list[tuple[int, int]], *, ignore_case: bool) -> None:
    """Read one character, escape or range and add what it stands for."""
    start = scanner.pos
    low = _read_atom(scanner, ignore_case=ignore_case)
    if scanner.peek() != "-" or scanner.peek(1) in ("]", ""):
        parts.extend(_pairs(low))
        return
    scanner.pos += 1
    high = _read_atom(scanner, ignore_case=ignore_case)
    if isinstance(low, int) and isinstance(high, int):
        if low > high:
            scanner.fail(
                "reversed-range",
                f"the range ends before it starts: {scanner.pattern[start : scanner.pos]}; swap "
                "its ends, or escape the hyphen",
                start,
            )
        parts.append((low, high))
        return
    if not scanner.legacy:
        scanner.fail(
            "bad-range",
            "a class such as \\d cannot be the end of a range; escape the hyphen",
            start,
        )
    if scanner.any_dialect:
        scanner.unsupported(
            "class range",
            f"{scanner.pattern[start : scanner.pos]} has a class as the end of a range: the hyphen "
            "is a character in ECMA-262, and an error elsewhere; escape the hyphen, \\-",
            start,
        )
    parts.extend((*_pairs(low), (0x2D, 0x2D), *_pairs(high)))


def _read_atom(scanner: Scanner, *, ignore_case: bool) -> CharOrSet:
    char = scanner.peek()
    if char == "[":
        posix = _POSIX.match(scanner.pattern, scanner.pos)
        if posix:
            scanner.unsupported(
                "POSIX class",
                f"{posix[0]} is no class in ECMA-262; write the ranges or a \\p{{...}} property",
                scanner.pos,
            )
    if scanner.any_dialect and scanner.pattern.startswith("&&", scanner.pos):
        scanner.unsupported(
            "class intersection",
            "&& intersects classes in Rust and Java, and is text in ECMA-262; write one & for the "
            "character, or a lookahead for the intersection: (?=[a-z])[^aeiou]",
            scanner.pos,
        )
    scanner.pos += 1
    if char == "\\":
        return scanner.escape(in_class=True, ignore_case=ignore_case)
    return ord(char)


def _pairs(item: CharOrSet) -> CharRanges:
    return ((item, item),) if isinstance(item, int) else item
