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
        conv.visit(value, key)
        conv.pending.append((_finish_array, ((), value)))
        return
    if not conv.resource.dialect.items_array:
        raise malformed(
            value, 'a schema; schemas per position go to "prefixItems"', conv.location, key
        )
    _positions(conv, key, value, "additionalItems", conv.schema.get("additionalItems", ABSENT))


def _positions(conv: Converter, key: str, value: Any, rest_key: str, rest: Any) -> None:
    if not isinstance(value, (list, tuple)) or not value:
        raise malformed(value, "a non-empty array of schemas", conv.location, key)
    if rest is not ABSENT:
        conv.visit(rest, rest_key)
    for index in range(len(value) - 1, -1, -1):
        conv.visit(value[index], key, str(index))
    conv.pending.append((_finish_array, (value, rest)))


def _finish_array(conv: Converter, argument: tuple[Sequence[Any], Any]) -> None:
    prefix, rest = argument
    if rest is ABSENT:
        conv.facts.add("open prefix")
        rest_node = None
    elif rest is True and not prefix and not conv.strict:
        return
    else:
        rest_node = conv.node_of(rest)
    conv.parts.append(conv.builder.array([conv.node_of(item) for item in prefix], rest_node))


def additional_items(conv: Converter, key: str, _value: Any) -> None:
    """`additionalItems`: belongs to array-form `items`, and has no effect without it."""
    if not isinstance(conv.schema.get("items"), (list, tuple)):
        conv.ignore(key)


def unevaluated(conv: Converter, key: str, value: Any) -> None:
    """`unevaluatedItems: true`: nothing to enforce, but the array is open in strict mode."""
    if value is not True:
        no.schema(conv, key, value)
    elif conv.strict:
        conv.parts.append(conv.builder.array((), conv.builder.any()))


def item_count(conv: Converter, key: str, _value: Any) -> None:
    """`minItems`, `maxItems`."""
    add_counts(conv, key, "minItems", "maxItems", conv.builder.item_count)


def contains(conv: Converter, key: str, value: Any) -> None:
    """`contains` with `minContains` and `maxContains`: how many items satisfy a schema."""
    if admits_type(conv, "array"):
        conv.visit(value, key)
        conv.pending.append((_finish_contains, value))
    else:
        conv.ignore(key)


def _finish_contains(conv: Converter, value: Any) -> None:
    node = conv.node_of(value)
    builder = conv.builder
    if "minContains" not in conv.resource.dialect.handlers:
        conv.parts.append(builder.contains(node, 1, None))
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
        conv.parts.append(conv.builder.unique_items())
    elif value:
        conv.ignore(key)
