"""Keywords about objects: named members, the others, which must be there, and how many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import unsupported as no
from .convert import ABSENT
from .counts import add_counts
from .faults import malformed, non_string_key, surrogate

if TYPE_CHECKING:
    from .convert import Converter

__all__ = ["member_count", "properties", "required", "unevaluated"]


def properties(conv: Converter, key: str, _value: Any) -> None:
    """`properties` and `additionalProperties`: one node, made by the first of them."""
    schema = conv.schema
    if key == "additionalProperties" and "properties" in schema:
        return
    members: Any = schema.get("properties", ABSENT)
    if members is ABSENT:
        members = {}
    elif not isinstance(members, dict):
        raise malformed(members, "an object with a schema per member", conv.location, "properties")
    additional = schema.get("additionalProperties", ABSENT)
    if additional is not ABSENT:
        conv.visit(additional, "additionalProperties")
    visit = conv.visit
    for name in reversed(members):
        if not isinstance(name, str):
            raise non_string_key(name, conv.location, "properties")
        visit(members[name], "properties", name)
    conv.pending.append((_finish_object, (members, additional)))


def _finish_object(conv: Converter, argument: tuple[dict[str, Any], Any]) -> None:
    members, additional = argument
    if members:
        conv.facts.add("named members")
        if additional is ABSENT:
            conv.facts.add("open members")
    elif additional is ABSENT or (additional is True and not conv.strict):
        return
    node = None if additional is ABSENT else conv.node_of(additional)
    node_of = conv.node_of
    pairs = [(name, node_of(value)) for name, value in members.items()]
    try:
        conv.parts.append(conv.builder.object(pairs, node))
    except UnicodeEncodeError as error:
        raise surrogate(error.object, conv.location, "properties") from None


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
