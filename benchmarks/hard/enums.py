"""Enumerations of 50,000 values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.hard.case import case, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.hard.case import Case

COUNT = 50_000


def picked(values: list[Any]) -> list[str]:
    """Return the texts of a few of the values."""
    return [quoted(values[k]) for k in (0, 1, COUNT // 3, COUNT // 2, COUNT - 1)]


def cases() -> Iterator[Case]:
    """Yield the inputs of this family."""
    prefixed = [f"https://example.org/catalogue/item/{k:05d}/view" for k in range(COUNT)]
    yield case(
        "enums/50000 with shared prefixes",
        {"enum": prefixed},
        picked(prefixed),
        [quoted(prefixed[5] + "x"), quoted("https://example.org/catalogue/item/50000/view")],
    )
    numbers = [k * 37 - 400_000 for k in range(COUNT)]
    yield case(
        "enums/50000 numbers",
        {"enum": numbers},
        [*picked(numbers), "-400000.0"],
        ["1", "-400001", quoted("-400000")],
    )
    kinds: list[Any] = [None, True, False]
    mixed = kinds + [
        (k, f"name {k}", {"id": k}, [k, k + 1], k + 0.5)[k % 5] for k in range(COUNT - len(kinds))
    ]
    yield case(
        "enums/50000 mixed",
        {"enum": mixed},
        picked(mixed),
        [quoted({"id": 3}), quoted([1, 2]), quoted("name 2")],
    )
    letters = [chr(0x4E00 + k % 20_000) + chr(0x1F300 + k % 700) + f"é{k}" for k in range(COUNT)]
    yield case(
        "enums/50000 Unicode",
        {"enum": letters},
        [*picked(letters), r'"\u4e00\ud83c\udf00\u00e90"'],
        [quoted(letters[0] + "1"), quoted("一é0")],
    )
