"""Reader of ucd.bin; tools/make_unicode_tables.py writes it and describes its format."""

from __future__ import annotations

import pkgutil
import struct
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "UNICODE_VERSION",
    "UnknownPropertyError",
    "case_orbits",
    "property_names",
    "property_ranges",
]

UNICODE_VERSION = "17.0.0"

_FORMAT_VERSION = 1
_HEADER = struct.Struct("<4sII")
_KINDS = {
    "General_Category": "gc",
    "gc": "gc",
    "Script": "sc",
    "sc": "sc",
    "Script_Extensions": "scx",
    "scx": "scx",
}


class UnknownPropertyError(KeyError):
    """No property, or no value of the property, has this name (names are case sensitive)."""

    def __str__(self) -> str:
        return str(self.args[0])


class _Table(NamedTuple):
    places: dict[tuple[str, str], tuple[int, int]]
    data: bytes


@lru_cache(maxsize=1)
def _table() -> _Table:
    blob = pkgutil.get_data(__package__, "ucd.bin")
    if blob is None:
        raise FileNotFoundError("maskwright/unicode/ucd.bin is missing from the installation")
    magic, version, index_bytes = _HEADER.unpack_from(blob)
    if magic != b"MWUC" or version != _FORMAT_VERSION:
        raise ValueError("maskwright/unicode/ucd.bin has an unknown format; reinstall maskwright")
    start = _HEADER.size + index_bytes
    index: dict[tuple[str, str], tuple[int, int]] = {}
    for line in blob[_HEADER.size : start].decode().split("\n")[1:]:
        kind, names, offset, size = line.split("|")
        place = (int(offset), int(size))
        for name in names.split(","):
            index[kind, name] = place
    return _Table(index, blob[start:])


def _varints(offset: int, size: int) -> Iterator[int]:
    value = shift = 0
    for byte in _table().data[offset : offset + size]:
        value |= (byte & 0x7F) << shift
        if byte & 0x80:
            shift += 7
        else:
            yield value
            value = shift = 0


def property_ranges(name: str, value: str | None = None) -> tuple[tuple[int, int], ...]:
    r"""Return the code points that have a property, as sorted, disjoint, inclusive ranges.

    Args:
        name: Without a value: a general category (``"Lu"``) or a binary property
            (``"Alphabetic"``), as in ``\p{name}``. With a value: ``General_Category``, ``Script``,
            ``Script_Extensions`` or their aliases ``gc``, ``sc``, ``scx``.
        value: Name or alias of the value, as in ``\p{Script=Greek}``.

    Returns:
        The ranges; surrogates are in them where the property holds for surrogates.

    Raises:
        UnknownPropertyError: No such property or value under exactly this name.

    Example:
        >>> property_ranges("ASCII_Hex_Digit")
        ((48, 57), (65, 70), (97, 102))
    """
    places = _table().places
    if value is None:
        place = places.get(("gc", name)) or places.get(("b", name))
        if place is None:
            raise UnknownPropertyError(f"unknown Unicode property or general category {name!r}")
    else:
        kind = _KINDS.get(name)
        if kind is None:
            raise UnknownPropertyError(
                f"unknown Unicode property {name!r}; with a value it must be General_Category, "
                "Script or Script_Extensions"
            )
        place = places.get((kind, value))
        if place is None:
            raise UnknownPropertyError(f"unknown value {value!r} of the Unicode property {name}")
    return _decode_ranges(*place)


@lru_cache(maxsize=256)
def _decode_ranges(offset: int, size: int) -> tuple[tuple[int, int], ...]:
    ranges: list[tuple[int, int]] = []
    numbers, position = _varints(offset, size), 0
    for gap in numbers:
        lo = position + gap
        hi = lo + next(numbers)
        ranges.append((lo, hi))
        position = hi + 1
    return tuple(ranges)


def property_names() -> tuple[tuple[str, str | None], ...]:
    r"""Return every ``(name, value)`` that ``property_ranges`` knows, aliases included."""
    long_names = {"gc": "General_Category", "sc": "Script", "scx": "Script_Extensions"}
    pairs: list[tuple[str, str | None]] = []
    for kind, name in _table().places:
        if kind in long_names:
            pairs.append((long_names[kind], name))
        if kind in ("b", "gc"):
            pairs.append((name, None))
    return tuple(pairs)


@lru_cache(maxsize=1)
def case_orbits() -> tuple[tuple[int, ...], ...]:
    """Return the sets of two or more code points that simple case folding makes equal.

    Returns:
        Sorted tuples of code points, sorted by their first one; a code point is in one at most.
    """
    numbers, position = _varints(*_table().places["fold", "simple"]), 0
    members: dict[int, list[int]] = {}
    for delta in numbers:
        position += delta
        zigzag = next(numbers)
        target = position + (-(zigzag + 1 >> 1) if zigzag & 1 else zigzag >> 1)
        members.setdefault(target, [target]).append(position)
    return tuple(sorted(tuple(sorted(orbit)) for orbit in members.values()))
