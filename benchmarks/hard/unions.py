"""Unions: hundreds of branches told apart first or last, and oneOf inside oneOf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.hard.case import case, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.hard.case import Case


def branch(k: int, *, discriminator_first: bool) -> dict[str, Any]:
    """Return the k-th kind of object: a constant that names it, and members of its own."""
    kind = {"kind": {"const": f"kind_{k}"}}
    body = {
        "id": {"type": "integer"},
        "label": {"type": "string"},
        f"field_{k}": {"type": ("string", "integer", "boolean")[k % 3]},
    }
    members = {**kind, **body} if discriminator_first else {**body, **kind}
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


def member_value(k: int) -> Any:
    """Return a value for the k-th kind's own member."""
    return ("text", 17, True)[k % 3]


def nested_one_of(depth: int) -> dict[str, Any]:
    """Return oneOf inside oneOf: at each level a number of its own, or the next level."""
    schema: dict[str, Any] = {"type": "string", "maxLength": 3}
    for level in range(depth):
        schema = {
            "oneOf": [
                {"type": "object", "properties": {f"n{level}": schema}, "required": [f"n{level}"]},
                {"type": "integer", "minimum": level * 10, "maximum": level * 10 + 5},
                {"type": "array", "items": schema, "maxItems": 2},
            ]
        }
    return schema


def cases() -> Iterator[Case]:
    """Yield the inputs of this family."""
    for count in (200, 2000):
        for first in (True, False):
            branches = [branch(k, discriminator_first=first) for k in range(count)]
            last = count - 1
            value = {"id": 1, "label": "a", f"field_{last}": member_value(last)}
            named = {"kind": f"kind_{last}"}
            good = {**named, **value} if first else {**value, **named}
            bad = {**good, "kind": "kind_0"}
            yield case(
                f"unions/{count} branches, discriminator {'first' if first else 'last'}",
                {"anyOf": branches},
                [quoted(good)],
                [quoted(bad), quoted({**good, "other": 1})],
            )
    text: Any = "abc"
    for level in range(10):
        text = {f"n{level}": text}
    yield case(
        "unions/oneOf 10 deep",
        nested_one_of(10),
        [quoted(text), "95", '[{"n8":75}]'],
        [quoted(text).replace("abc", "abcd"), "96"],
    )
    overlapping = {"oneOf": [{"type": "integer", "multipleOf": k} for k in (2, 3, 5, 7)]}
    yield case("unions/oneOf of multiples", overlapping, ["4", "9", "25"], ["6", "11", "210"])
