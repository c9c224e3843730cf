"""Schemas in other forms: newer spellings for the judge, draft 7 for `hypothesis-jsonschema`.

Both walk a schema by the positions of its subschemas, so that members of `const` stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

from pattern_grammar import python_pattern

Schema = Any

_ONE = {
    "additionalItems", "additionalProperties", "contains", "else", "if", "items", "not",
    "propertyNames", "then",
}  # fmt: skip
_SOME = {"allOf", "anyOf", "items", "oneOf", "prefixItems"}
_NAMED = {
    "$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties",
}  # fmt: skip
_MAX_UNROLLED = 3


def map_subschemas(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """A schema with its direct subschemas changed."""
    if not isinstance(schema, dict):
        return schema
    result = dict(schema)
    for key, value in schema.items():
        if key in _NAMED:
            result[key] = {
                name: inner if isinstance(inner, list) else change(inner)
                for name, inner in value.items()
            }
        elif key in _SOME and isinstance(value, list):
            result[key] = [change(inner) for inner in value]
        elif key in _ONE:
            result[key] = change(value)
    return result


def modern(schema: Schema) -> Schema:
    """A schema without `$schema` as draft 2020-12 writes it: older spellings replaced."""
    schema = map_subschemas(schema, modern)
    if not isinstance(schema, dict):
        return schema
    if isinstance(schema.get("items"), list):
        schema["prefixItems"] = schema.pop("items")
        if "additionalItems" in schema:
            schema["items"] = schema.pop("additionalItems")
    for key in ("minimum", "maximum"):
        exclusive = "exclusive" + key.capitalize()
        if schema.get(exclusive) is True:
            schema[exclusive] = schema.pop(key)
        elif schema.get(exclusive) is False:
            del schema[exclusive]
    if "dependencies" in schema:
        old = schema.pop("dependencies")
        names = {name: value for name, value in old.items() if isinstance(value, list)}
        inner = {name: value for name, value in old.items() if name not in names}
        part = {"dependentRequired": names, "dependentSchemas": inner}
        schema["allOf"] = [*schema.get("allOf", []), part]
    return schema


class Draft7:
    """A schema as `hypothesis-jsonschema` reads it: draft 7, without references.

    Its values are likely to be valid under the schema, and not more: references that recur end in
    `false`, `minContains` has no counterpart, and patterns become similar ones of Python.
    """

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.open: list[str] = []

    def convert(self, schema: Schema) -> Schema:
        """The form of a schema."""
        schema = modern(schema)
        if not isinstance(schema, dict):
            return schema
        schema = {key: value for key, value in schema.items() if key[0] != "$" or key == "$ref"}
        for key in ("definitions", "id", "format", "title"):
            schema.pop(key, None)
        reference = schema.pop("$ref", None)
        schema = self._renamed(map_subschemas(schema, self.convert))
        if reference is not None:
            target = self._referred(reference)
            schema = {"allOf": [schema, target]} if schema else target
        return schema

    def _renamed(self, schema: Schema) -> Schema:
        if "prefixItems" in schema:
            if "items" in schema:
                schema["additionalItems"] = schema["items"]
            schema["items"] = schema.pop("prefixItems")
        needed = schema.pop("dependentRequired", {})
        for name, names in {**needed, **schema.pop("dependentSchemas", {})}.items():
            schema.setdefault("dependencies", {})[name] = names
        if schema.pop("minContains", 1) == 0:
            schema.pop("contains", None)
        schema.pop("maxContains", None)
        if "pattern" in schema:
            schema["pattern"] = python_pattern(schema["pattern"])
        if "patternProperties" in schema:
            members = schema["patternProperties"].items()
            schema["patternProperties"] = {python_pattern(p): inner for p, inner in members}
        return schema

    def _referred(self, reference: str) -> Schema:
        if reference in self.open or len(self.open) == _MAX_UNROLLED:
            return False
        self.open.append(reference)
        result = self.convert(self._target(reference))
        self.open.pop()
        return result

    def _target(self, reference: str) -> Schema:
        definitions = self.root.get("$defs", self.root.get("definitions", {}))
        path = unquote(reference).lstrip("#").split("/")
        if path == [""]:
            return self.root
        name = path[-1].replace("~1", "/").replace("~0", "~")
        return definitions[name]


def smaller(schema: Schema) -> Iterator[Schema]:
    """Schemas with one thing less than a schema, to find the smallest that still shows a fault."""
    if isinstance(schema, dict):
        for key in schema:
            yield {k: v for k, v in schema.items() if k != key}
        for key, value in schema.items():
            for inner in smaller(value):
                yield {**schema, key: inner}
            if isinstance(value, (dict, bool)) and key in _ONE:
                yield value
    elif isinstance(schema, list):
        for at, value in enumerate(schema):
            yield schema[:at] + schema[at + 1 :]
            for inner in smaller(value):
                yield [*schema[:at], inner, *schema[at + 1 :]]
