"""Keywords about objects: members by name and key pattern, the others, their names and number."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from . import unsupported as no
from .convert import ABSENT
from .counts import add_counts
from .faults import malformed, non_string_key, surrogate
from .scalars import pattern_expression

if TYPE_CHECKING:
    from .convert import Converter

__all__ = ["member_count", "properties", "property_names", "required", "unevaluated"]


def properties(conv: Converter, key: str, _value: Any) -> None:
    """`properties`, `patternProperties`, `additionalProperties`: one node, made by the first."""
    schema = conv.schema
    if key != "properties" and "properties" in schema:
        return
    if key == "additionalProperties" and "patternProperties" in schema:
        return
    members: dict[str, int] = {}
    if "properties" in schema:
        by_name = _schemas_by_name(conv, "properties")
        if conv.any_order:
            by_name = dict(sorted(by_name.items(), key=itemgetter(0)))
        members = conv.named_nodes(by_name, "properties")
    patterns = []
    if "patternProperties" in schema:
        by_pattern = _schemas_by_name(conv, "patternProperties")
        expressions = {t: pattern_expression(conv, t, "patternProperties", t) for t in by_pattern}
        named = conv.named_nodes(by_pattern, "patternProperties")
        patterns = [(expressions[text], node) for text, node in named.items()]
    additional: Any = schema.get("additionalProperties", ABSENT)
    if members:
        conv.facts.add("named members")
    others = None
    if additional is not ABSENT:
        if additional is True and not (members or patterns or conv.strict):
            return
        others = conv.node(additional, "additionalProperties")
    elif members or patterns:
        conv.facts.add("open members")
    else:
        return
    try:
        conv.add(conv.builder.object(members, others, patterns))
    except UnicodeEncodeError as error:
        raise surrogate(error.object, conv.location, "properties") from None


def _schemas_by_name(conv: Converter, keyword: str) -> dict[str, Any]:
    schemas: Any = conv.schema[keyword]
    if not isinstance(schemas, dict):
        per = "member" if keyword == "properties" else "key pattern"
        raise malformed(schemas, f"an object with a schema per {per}", conv.location, keyword)
    for name in schemas:
        if not isinstance(name, str):
            raise non_string_key(name, conv.location, keyword)
    return schemas


def property_names(conv: Converter, key: str, value: Any) -> None:
    """`propertyNames`: a schema that all keys, as strings, satisfy."""
    node = conv.node(value, key)
    if value is not True:
        conv.add(conv.builder.member_names(node))


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
        conv.add(conv.builder.required(value))
    except UnicodeEncodeError as error:
        raise surrogate(error.object, conv.location, key) from None


def unevaluated(conv: Converter, key: str, value: Any) -> None:
    """`unevaluatedProperties: true`: nothing to enforce, but the object is open in strict mode."""
    if value is not True:
        no.schema(conv, key, value)
    elif conv.strict:
        conv.add(conv.builder.object((), conv.builder.any()))


def member_count(conv: Converter, key: str, _value: Any) -> None:
    """`minProperties`, `maxProperties`."""
    add_counts(conv, key, "minProperties", "maxProperties", conv.builder.member_count)
