"""Keywords about objects: members by name and key pattern, the others, their names and number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import unsupported as no
from .convert import ABSENT
from .counts import add_counts
from .faults import malformed, non_string_key, surrogate
from .scalars import pattern_expression

if TYPE_CHECKING:
    from .convert import Converter

__all__ = ["member_count", "properties", "property_names", "required", "unevaluated"]


_FAMILY = ("properties", "patternProperties", "additionalProperties")


def properties(conv: Converter, key: str, _value: Any) -> None:
    """`properties`, `patternProperties`, `additionalProperties`: one node, made by the first."""
    schema = conv.schema
    if key != next(name for name in _FAMILY if name in schema):
        return
    members = _schemas_by_name(conv, "properties")
    patterns = _schemas_by_name(conv, "patternProperties")
    additional = schema.get("additionalProperties", ABSENT)
    if additional is not ABSENT:
        conv.visit(additional, "additionalProperties")
    for keyword, schemas in (("patternProperties", patterns), ("properties", members)):
        for name in reversed(schemas):
            conv.visit(schemas[name], keyword, name)
    rules = [
        (pattern_expression(conv, text, "patternProperties", text), value)
        for text, value in patterns.items()
    ]
    conv.pending.append((_finish_object, (members, rules, additional)))


def _schemas_by_name(conv: Converter, keyword: str) -> dict[str, Any]:
    schemas: Any = conv.schema.get(keyword, ABSENT)
    if schemas is ABSENT:
        return {}
    if not isinstance(schemas, dict):
        per = "member" if keyword == "properties" else "key pattern"
        raise malformed(schemas, f"an object with a schema per {per}", conv.location, keyword)
    for name in schemas:
        if not isinstance(name, str):
            raise non_string_key(name, conv.location, keyword)
    return schemas


def _finish_object(
    conv: Converter, argument: tuple[dict[str, Any], list[tuple[int, Any]], Any]
) -> None:
    members, patterns, additional = argument
    if members:
        conv.facts.add("named members")
    if members or patterns:
        if additional is ABSENT:
            conv.facts.add("open members")
    elif additional is ABSENT or (additional is True and not conv.strict):
        return
    node_of = conv.node_of
    node = None if additional is ABSENT else node_of(additional)
    pairs = [(name, node_of(value)) for name, value in members.items()]
    rules = [(expression, node_of(value)) for expression, value in patterns]
    try:
        conv.parts.append(conv.builder.object(pairs, node, rules))
    except UnicodeEncodeError as error:
        raise surrogate(error.object, conv.location, "properties") from None


def property_names(conv: Converter, key: str, value: Any) -> None:
    """`propertyNames`: a schema that all keys, as strings, satisfy."""
    conv.visit(value, key)
    conv.pending.append((_finish_names, value))


def _finish_names(conv: Converter, value: Any) -> None:
    if value is not True:
        conv.parts.append(conv.builder.member_names(conv.node_of(value)))


def required(conv: Converter, key: str, value: Any) -> None:
    """`required`: members that must be there, named in `properties` or not."""
    if not isinstance(value, (list, tuple)):
        raise malformed(value, "an array of member names", conv.location, key)
    for index, name in enumerate(value):
        if not isinstance(name, str):
            raise malformed(name, "a member name as a string", conv.location, key, str(index))
    if not value:
        return
    try:
        conv.parts.append(conv.builder.required(value))
    except UnicodeEncodeError as error:
        raise surrogate(error.object, conv.location, key) from None


def unevaluated(conv: Converter, key: str, value: Any) -> None:
    """`unevaluatedProperties: true`: nothing to enforce, but the object is open in strict mode."""
    if value is not True:
        no.schema(conv, key, value)
    elif conv.strict:
        conv.parts.append(conv.builder.object((), conv.builder.any()))


def member_count(conv: Converter, key: str, _value: Any) -> None:
    """`minProperties`, `maxProperties`."""
    add_counts(conv, key, "minProperties", "maxProperties", conv.builder.member_count)
