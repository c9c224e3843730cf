"""Other spellings of a schema, which mean the same: orders of keywords, annotations, JSON text."""

from __future__ import annotations

import json
import random
from typing import Any

# Keywords whose values hold schemas by name, which are no keywords.
_BY_NAME = {
    "$defs", "definitions", "dependentRequired", "patternProperties", "properties",
}  # fmt: skip
# Data, and dependencies: one that says `required` and nothing else has an IR of its own.
_KEPT = {"const", "default", "dependencies", "dependentSchemas", "enum", "examples"}
# Of these the first names the first members.
_DECLARING = {
    "$dynamicRef", "$recursiveRef", "$ref", "additionalProperties", "allOf", "anyOf",
    "dependencies", "dependentSchemas", "if", "oneOf", "patternProperties", "properties",
}  # fmt: skip
_ANNOTATIONS: dict[str, Any] = {
    "$comment": "c", "default": {"type": "null"}, "deprecated": True, "description": "d",
    "examples": [1], "readOnly": True, "title": "t", "writeOnly": False, "x-unknown": [{}],
}  # fmt: skip


def respelled(schema: Any, rng: random.Random, *, any_order: bool = False) -> Any:
    """Return a schema with its keywords in another order, and other annotations.

    With ``any_order`` all keywords and members are, else those that name members stay in order.
    """
    if isinstance(schema, (list, tuple)):
        return [respelled(item, rng, any_order=any_order) for item in schema]
    if not isinstance(schema, dict):
        return schema
    pairs = [(name, _value(name, value, rng, any_order)) for name, value in schema.items()]
    names = [name for name in _ANNOTATIONS if name not in schema and rng.random() < 0.2]
    pairs += [(name, _ANNOTATIONS[name]) for name in names]
    rng.shuffle(pairs)
    if any_order:
        return dict(pairs)
    in_order = iter([pair for pair in pairs if pair[0] in _DECLARING])
    in_order = iter(sorted(in_order, key=lambda pair: list(schema).index(pair[0])))
    return dict(next(in_order) if pair[0] in _DECLARING else pair for pair in pairs)


def _value(name: str, value: Any, rng: random.Random, any_order: bool) -> Any:
    if name in _KEPT or name.startswith("x-"):
        return value
    if name in _BY_NAME and isinstance(value, dict):
        pairs = [(key, respelled(below, rng, any_order=any_order)) for key, below in value.items()]
        if any_order and name == "properties":
            rng.shuffle(pairs)
        return dict(pairs)
    return respelled(value, rng, any_order=any_order)


def retyped(schema: Any, rng: random.Random) -> str:
    """Return JSON text with some spacing and some characters escaped."""
    text = json.dumps(schema, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 1, 4]))
    return "".join(
        f"\\u{ord(char):04x}" if char.isalpha() and rng.random() < 0.3 and _in_string(text, at)
        else char
        for at, char in enumerate(text)
    )  # fmt: skip


def _in_string(text: str, at: int) -> bool:
    """Whether a letter stands in a string, and in no escape; for texts of `json.dumps`."""
    before = text[:at].replace("\\\\", "  ").replace('\\"', "  ")
    escape = before.rfind("\\")
    return before.count('"') % 2 == 1 and (escape < 0 or at - escape > 5)
