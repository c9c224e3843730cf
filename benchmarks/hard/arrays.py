"""Arrays: many items, tokens that hold several of them, depth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.hard.case import case, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.hard.case import Case

POINT: dict[str, Any] = {
    "type": "object",
    "properties": {"x": {"type": "number"}, "name": {"type": "string"}},
    "additionalProperties": False,
}


def nested(depth: int) -> str:
    """Return an array inside an array, and so on."""
    return "[" * depth + "]" * depth


def cases() -> Iterator[Case]:
    """Yield the inputs of this family."""
    yield case(
        "arrays/minItems 1000",
        {"type": "array", "items": {"type": "integer"}, "minItems": 1000},
        [quoted(list(range(1000))), quoted([7] * 1010)],
        [quoted(list(range(999)))],
    )
    yield case(
        "arrays/maxItems 100000 of objects",
        {"type": "array", "items": POINT, "maxItems": 100_000},
        [quoted([{}] * 100_000), quoted([{"x": 1.5, "name": "a"}] * 500)],
        [quoted([{}] * 100_001)],
    )
    for longest in (5, 17):
        schema = {"type": "array", "items": {"type": "array"}, "maxItems": longest}
        yield case(
            f"arrays/several items in a token, maxItems {longest}",
            schema,
            ["[" + ",".join(["[]"] * longest) + "]", quoted([[]] * longest)],
            ["[" + ",".join(["[]"] * (longest + 1)) + "]"],
        )
    yield case(
        "arrays/digits, maxItems 9",
        {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 9}, "maxItems": 9},
        ["[1,2,3,4,5,6,7,8,9]", "[]"],
        ["[1,2,3,4,5,6,7,8,9,0]", "[12]"],
    )
    yield case(
        "arrays/10000 deep, recursive schema",
        {"type": "array", "items": {"$ref": "#"}},
        [nested(10_000), "[" + ",".join([nested(50)] * 20) + "]"],
        [nested(10_000) + "]", "[" * 50 + "1" + "]" * 50],
    )
    yield case("arrays/10000 deep, any value", {}, [nested(10_000)], [nested(5_000) + "}"])
    closing: dict[str, Any] = {"type": "integer"}
    for _ in range(6):
        closing = {"type": "array", "items": closing}
    yield case(
        "arrays/closing tokens",
        {"type": "object", "properties": {"a": closing}, "additionalProperties": False},
        ['{"a":[[[[[[1]]]]]]}', '{"a": [[[[[[1, 2], [3]]]]]]}', '{"a":[]}'],
        ['{"a":[[[[[[1]]]]]}', '{"a":[[[[[[[1]]]]]]]}'],
    )
    yield case(
        "arrays/unique items of 40 words",
        {"type": "array", "items": {"enum": [f"word{k}" for k in range(40)]}, "uniqueItems": True},
        [quoted([f"word{k}" for k in reversed(range(40))])],
        [quoted(["word1", "word2", "word1"])],
    )
