"""JSON Schemas of the supported keywords straight into schema nodes: a tiny front-end for tests.

It is written for clarity, knows a handful of patterns by hand, and is independent of the product's
front-end: the reference can so judge schemas before and beside it.
"""

from __future__ import annotations

from typing import Any

from maskwright.ir import Builder

Schema = Any

_TYPES = {
    "null": 1,
    "boolean": 2,
    "integer": 4,
    "number": 8,
    "string": 16,
    "array": 32,
    "object": 64,
}
#: Patterns that ``pattern_expression`` knows.
PATTERNS = ("^a+$", "b", "^[ab]{2,3}$", "^(ab|ba)", "^[^a]*$")


def pattern_expression(builder: Builder, pattern: str) -> int:
    """The language that a search for the pattern accepts."""
    anything = builder.repeat(builder.char_class([(0, 0x10FFFF)]), 0, None)
    a, b = builder.literal(b"a"), builder.literal(b"b")
    if pattern == "^a+$":
        return builder.repeat(a, 1, None)
    if pattern == "b":
        return builder.sequence([anything, b, anything])
    if pattern == "^[ab]{2,3}$":
        return builder.repeat(builder.char_class([(97, 98)]), 2, 3)
    if pattern == "^(ab|ba)":
        return builder.sequence([builder.literal_set([b"ab", b"ba"]), anything])
    if pattern == "^[^a]*$":
        return builder.repeat(builder.char_class([(0, 96), (98, 0x10FFFF)]), 0, None)
    raise ValueError(f"unknown pattern {pattern!r}")


def schema_ir(
    schema: Schema,
    *,
    any_order: bool = True,
    strict: bool = False,
    any_whitespace: bool = True,
    max_whitespace: int = 2,
    item_separator: bytes = b", ",
    key_separator: bytes = b": ",
) -> bytes:
    """The IR of a schema; ``{"$ref": "#"}`` and ``{"$ref": "#/$defs/x"}`` are the references."""
    builder = Builder()
    rule = builder.rule("root")
    node = _Lowering(builder, schema).root()
    builder.define(
        rule,
        builder.json(
            node,
            any_order=any_order,
            any_whitespace=any_whitespace,
            strict=strict,
            max_whitespace=max_whitespace,
            item_separator=item_separator,
            key_separator=key_separator,
        ),
    )
    return builder.finish(rule)


class _Lowering:
    def __init__(self, builder: Builder, schema: Schema) -> None:
        self._b = builder
        self._schema = schema
        self._targets: dict[str, int] = {}

    def root(self) -> int:
        return self._reference("#")

    def _reference(self, pointer: str) -> int:
        if pointer not in self._targets:
            node = self._targets[pointer] = self._b.reserve()
            target = self._schema
            for part in pointer.split("/")[1:]:
                target = target[part]
            self._b.define_node(node, self._node(target))
        return self._targets[pointer]

    def _node(self, schema: Schema) -> int:
        b = self._b
        if schema is True:
            return b.any()
        if schema is False:
            return b.never()
        parts: list[int] = []
        if "$ref" in schema:
            parts.append(self._reference(schema["$ref"]))
        if "type" in schema:
            names = schema["type"]
            mask = 0
            for name in [names] if isinstance(names, str) else names:
                mask |= _TYPES[name]
            parts.append(b.types(mask))
        parts += self._scalars(schema)
        parts += self._containers(schema)
        if "const" in schema:
            parts.append(self._enum([schema["const"]]))
        if "enum" in schema:
            parts.append(self._enum(schema["enum"]))
        for key, make in (("allOf", b.all_of), ("anyOf", b.any_of)):
            if key in schema:
                parts.append(make([self._node(s) for s in schema[key]]))
        return b.all_of(parts) if parts else b.any()

    def _scalars(self, schema: Schema) -> list[int]:
        b, parts = self._b, []
        for low, high, exclusive in (
            ("minimum", "maximum", False),
            ("exclusiveMinimum", "exclusiveMaximum", True),
        ):
            if low in schema:
                parts.append(b.number(lo=decimal(schema[low]), lo_exclusive=exclusive))
            if high in schema:
                parts.append(b.number(hi=decimal(schema[high]), hi_exclusive=exclusive))
        if "minLength" in schema or "maxLength" in schema:
            parts.append(b.string_length(schema.get("minLength", 0), schema.get("maxLength")))
        if "pattern" in schema:
            parts.append(b.string_language(pattern_expression(b, schema["pattern"])))
        return parts

    def _containers(self, schema: Schema) -> list[int]:
        b, parts = self._b, []
        if "prefixItems" in schema or "items" in schema:
            rest = self._node(schema["items"]) if "items" in schema else None
            parts.append(b.array([self._node(s) for s in schema.get("prefixItems", [])], rest))
        if "minItems" in schema or "maxItems" in schema:
            parts.append(b.item_count(schema.get("minItems", 0), schema.get("maxItems")))
        if "properties" in schema or "additionalProperties" in schema:
            members = [(k, self._node(s)) for k, s in schema.get("properties", {}).items()]
            more = schema.get("additionalProperties")
            parts.append(b.object(members, None if more is None else self._node(more)))
        if "required" in schema:
            parts.append(b.required(schema["required"]))
        if "minProperties" in schema or "maxProperties" in schema:
            low, high = schema.get("minProperties", 0), schema.get("maxProperties")
            parts.append(b.member_count(low, high))
        return parts

    def _enum(self, values: list[Any]) -> int:
        b = self._b
        literals = sum({None: 1, False: 2, True: 4}[v] for v in _words_in(values))
        numbers = [decimal(v) for v in values if _is_number(v)]
        strings = [v for v in values if isinstance(v, str)]
        nodes = [self._constant(v) for v in values if isinstance(v, list | dict)]
        return b.enum(literals=literals, numbers=numbers, strings=strings, nodes=nodes)

    def _constant(self, value: Any) -> int:
        b = self._b
        if isinstance(value, list):
            items = b.array([self._constant(v) for v in value], b.never())
            return b.all_of([b.types(32), items, b.item_count(len(value), len(value))])
        if isinstance(value, dict):
            members = b.object([(k, self._constant(v)) for k, v in value.items()], b.never())
            return b.all_of([b.types(64), members, b.required(list(value))])
        return self._enum([value])


def _words_in(values: list[Any]) -> list[Any]:
    return list(dict.fromkeys(v for v in values if v is None or isinstance(v, bool)))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def decimal(value: float) -> str:
    """A number as the plain normalised decimal that nodes hold (no exponent in its repr)."""
    text = repr(value)
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
