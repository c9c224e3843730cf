"""Keywords about arrays: items by position, the rest, how many, which of them, all different.

Idea: `prefixItems` with `items`, or array-form `items` with `additionalItems`, are one node. The
first keyword of such a group converts the whole group, the others do nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import unsupported as no
from .convert import ABSENT
from .counts import add_counts
from .faults import malformed
from .scalars import admits_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .convert import Converter

__all__ = [
    "additional_items",
    "contains",
    "contains_count",
    "item_count",
    "items",
    "prefix_items",
    "unevaluated",
    "unique_items",
]


def prefix_items(conv: Converter, key: str, value: Any) -> None:
    """`prefixItems`: a schema per position, none of them mandatory; `items` is for the rest."""
    rest = conv.schema.get("items", ABSENT)
    if isinstance(rest, (list, tuple)):
        raise malformed(rest, 'a schema, as "prefixItems" stands beside it', conv.location, "items")
    _positions(conv, key, value, "items", rest)


def items(conv: Converter, key: str, value: Any) -> None:
    """`items`: a schema for all items, or in older drafts an array with one per position."""
    if "prefixItems" in conv.schema and "prefixItems" in conv.resource.dialect.handlers:
        return
    if not isinstance(value, (list, tuple)):
        _add_array(conv, (), key, value)
        return
    if not conv.resource.dialect.items_array:
        raise malformed(
            value, 'a schema; schemas per position go to "prefixItems"', conv.location, key
        )
    _positions(conv, key, value, "additionalItems", conv.schema.get("additionalItems", ABSENT))


def _positions(conv: Converter, key: str, value: Any, rest_key: str, rest: Any) -> None:
    if not isinstance(value, (list, tuple)) or not value:
        raise malformed(value, "a non-empty array of schemas", conv.location, key)
    nodes = conv.nodes_of(value, key)
    if rest is ABSENT:
        conv.facts.add("open prefix")
        conv.add(conv.builder.array(nodes, None))
    else:
        _add_array(conv, nodes, rest_key, rest)


def _add_array(conv: Converter, prefix: Sequence[int], rest_key: str, rest: Any) -> None:
    if rest is not True or prefix or conv.strict:
        conv.add(conv.builder.array(prefix, conv.node(rest, rest_key)))


def additional_items(conv: Converter, key: str, _value: Any) -> None:
    """`additionalItems`: belongs to array-form `items`, and has no effect without it."""
    if not isinstance(conv.schema.get("items"), (list, tuple)):
        conv.ignore(key)


def unevaluated(conv: Converter, key: str, value: Any) -> None:
    """`unevaluatedItems: true`: nothing to enforce, but the array is open in strict mode."""
    if value is not True:
        no.schema(conv, key, value)
    elif conv.strict:
        conv.add(conv.builder.array((), conv.builder.any()))


def item_count(conv: Converter, key: str, _value: Any) -> None:
    """`minItems`, `maxItems`."""
    add_counts(conv, key, "minItems", "maxItems", conv.builder.item_count)


def contains(conv: Converter, key: str, value: Any) -> None:
    """`contains` with `minContains` and `maxContains`: how many items satisfy a schema."""
    if not admits_type(conv, "array"):
        conv.ignore(key)
        return
    node = conv.node(value, key)
    builder = conv.builder
    if "minContains" not in conv.resource.dialect.handlers:
        conv.add(builder.contains(node, 1, None))
        return
    add_counts(
        conv,
        "contains",
        "minContains",
        "maxContains",
        lambda low, high: builder.contains(node, low, high),
        default_low=1,
    )


def contains_count(conv: Converter, key: str, _value: Any) -> None:
    """`minContains` and `maxContains`; without `contains` they say nothing."""
    if "contains" not in conv.schema:
        conv.ignore(key)


def unique_items(conv: Converter, key: str, value: Any) -> None:
    """`uniqueItems`; false says nothing."""
    if not isinstance(value, bool):
        raise malformed(value, "a Boolean", conv.location, key)
    if value and admits_type(conv, "array"):
        conv.add(conv.builder.unique_items())
    elif value:
        conv.ignore(key)
