"""Strings with length bounds: counts far beyond any state, escapes and emoji as one character."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.hard.case import case, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.hard.case import Case

WORDS = "masks are composed from what a token needs to read; "


def prose(length: int) -> str:
    """Return text of that many characters."""
    return (WORDS * (length // len(WORDS) + 1))[:length]


def cases() -> Iterator[Case]:
    """Yield the inputs of this family."""
    for longest in (64, 512, 100_000):
        yield case(
            f"strings/maxLength {longest}",
            {"type": "string", "maxLength": longest},
            [quoted(prose(longest)), quoted("é\n😀" * (longest // 3)), '""'],
            [quoted(prose(longest + 1))],
        )
    yield case(
        "strings/maxLength 64, escapes and emoji",
        {"type": "string", "maxLength": 64},
        [
            '"' + r"\u0061" * 64 + '"',
            '"' + r"\ud83d\ude00" * 64 + '"',
            quoted("😀" * 64),
            '"' + r"\n" * 63 + 'a"',
        ],
        ['"' + r"\u0061" * 65 + '"', '"' + r"\ud83d\ude00" * 65 + '"', quoted("😀" * 65)],
    )
    yield case(
        "strings/maxLength 2^31",
        {"type": "string", "maxLength": 2**31},
        [quoted(prose(5_000))],
        [quoted(prose(10))[:-1] + "\t" + '"'],
    )
    yield case(
        "strings/minLength 50000",
        {"type": "string", "minLength": 50_000},
        [quoted(prose(50_000)), quoted(prose(50_200))],
        [quoted(prose(49_999))],
    )
    yield case(
        "strings/exact length 1000 in members",
        {
            "type": "object",
            "properties": {
                f"text_{k}": {"type": "string", "minLength": 1000 + k, "maxLength": 1000 + k}
                for k in range(8)
            },
            "required": [f"text_{k}" for k in range(8)],
        },
        [quoted({f"text_{k}": prose(1000 + k) for k in range(8)})],
        [quoted({f"text_{k}": prose(1000) for k in range(8)})],
    )
    yield case(
        "strings/pattern and maxLength 500",
        {"type": "string", "pattern": r"^[a-z ;]+\.$", "maxLength": 500},
        [quoted(prose(499) + ".")],
        [quoted(prose(500) + "."), quoted(prose(20))],
    )
