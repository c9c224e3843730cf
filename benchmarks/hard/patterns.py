"""Regular expressions whose automata explode: nested loops, counts inside counts, ambiguity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.data import REGEX
from benchmarks.hard.case import ALLOWED, case, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.hard.case import Case

LETTERS = r"[\p{L}\p{M}\p{N} ]{1,200}"
WORD_LIST = r"(?:\S+\s+){0,49}\S+"


def cases() -> Iterator[Case]:
    """Yield the inputs of this family, as patterns in schemas and as grammars."""
    table = [
        ("(a*)*", r"(a*)*", ["", "aaaa" * 20], ["aab"]),
        (
            "(a|b)*a(a|b){14}",
            r"(a|b)*a(a|b){14}",
            ["abab" * 10 + "a" + "b" * 14],
            ["b" * 15, "b" * 40],
        ),
        ("(x{1,50}){1,50}", r"(x{1,50}){1,50}", ["x" * 2500, "x"], ["x" * 2501, "xy"]),
        ("any character {1,1000}", ".{1,1000}", ["words and " * 90], ["a" * 1001, "a\nb"]),
        ("words, ambiguous", "(?:[a-z]+ ?){1,60}", ["word and more " * 15], ["a" * 9 + "-"]),
        ("letters {1,200}", LETTERS, ["Ärger über 漢字 123 " * 8], ["a" * 201, "a-b"]),
    ]
    for name, pattern, accepts, rejects in table:
        yield case(
            f"patterns/{name} in a schema",
            {"type": "string", "pattern": f"^(?:{pattern})$"},
            map(quoted, accepts),
            map(quoted, rejects),
        )
        yield case(f"patterns/{name} alone", pattern, accepts, rejects, kind=REGEX)
    fifty = ("word and more " * 25).split()[:50]
    yield case(
        "patterns/50 words, maxLength 500",
        {"type": "string", "pattern": f"^{WORD_LIST}$", "maxLength": 500},
        [quoted(" ".join(fifty)), quoted("x" * 500)],
        [quoted(" ".join([*fifty, "more"])), quoted("x" * 501), quoted("word ")],
    )
    yield case("patterns/50 words alone", WORD_LIST, [" ".join(fifty)], ["word "], kind=REGEX)
    yield case(
        "patterns/unanchored, 8 of them",
        {"allOf": [{"type": "string", "pattern": f"{c}[a-z]*{c}"} for c in "abcdefgh"]},
        [quoted("".join(c + "x" + c for c in "abcdefgh"))],
        [quoted("".join(c + "x" + c for c in "abcdefg"))],
    )
    for name, pattern in (
        ("a bomb of repeats", r"(((x{1,1000}){1,1000}){1,1000}){1,1000}"),
        ("a bomb of alternatives", r"((a|b|ab){1,200}(a|ba){1,200}){1,200}c{500}"),
    ):
        yield case(
            f"patterns/{name}",
            pattern,
            ["x" * 50] if "x" in pattern else [],
            ["xz"],
            kind=REGEX,
            refusal=ALLOWED,
        )
