"""`enum` and `const`: values as one node; arrays and objects in it as nodes that accept only them.

Idea: values compare as in JSON Schema: true is not 1, 1 is 1.0, 0 is -0, the members of objects
have no order. Scalars go into the node's lists as they are. A structured value is a schema of its
own: an array of constant items and exact length, or an object of constant, required, sole members.
Cost: linear; nested values are built innermost first from a list, without recursion.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ...errors import LimitExceededError
from ...ir import format as f
from .faults import (
    malformed,
    non_string_key,
    surrogate,
)
from .locations import render
from .numbers import number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .convert import Converter

__all__ = ["MAX_CONSTANT_VALUES", "constants_node"]

MAX_CONSTANT_VALUES = 1_000_000
"""Default for the values in one `enum` or `const`, nested ones included."""

_SHORT_DIGITS = 15
_SHORT = 10**_SHORT_DIGITS  # integers below it need no closer look
_STRUCTURED = (list, tuple, dict)


def constants_node(conv: Converter, values: Sequence[Any], key: str) -> int:
    """Return the node that accepts exactly the values, which stand under keyword ``key``."""
    if len(values) > conv.max_constant_values:
        raise _too_many(conv, key)
    for value in values:
        if type(value) is not str:
            break
    else:
        # The common case.
        return _enum(conv, key, strings=values)
    built = _structured_nodes(conv, values, key)
    return _flat_node(conv, values, key, built)


def _enum(conv: Converter, key: str, **parts: Any) -> int:
    try:
        return conv.builder.enum(**parts)
    except UnicodeEncodeError as error:
        raise surrogate(error.object, conv.location, key) from None


def _flat_node(conv: Converter, values: Sequence[Any], key: str, built: dict[int, int]) -> int:
    """Return the node of values whose structured ones are built already."""
    literals = 0
    numbers: list[str] = []
    strings: list[str] = []
    nodes: list[int] = []
    for value in values:
        if isinstance(value, str):
            strings.append(value)
        elif (
            type(value) is int
            and -_SHORT < value < _SHORT
            and conv.max_number_digits > _SHORT_DIGITS
        ):
            numbers.append(int.__repr__(value))
        elif value is None:
            literals |= f.LITERAL_NULL
        elif isinstance(value, bool):
            literals |= f.LITERAL_TRUE if value else f.LITERAL_FALSE
        elif isinstance(value, (int, float, Decimal)):
            numbers.append(number_text(conv, value, "a JSON value", key))
        elif isinstance(value, _STRUCTURED):
            nodes.append(built[id(value)])
        else:
            raise malformed(value, "a JSON value", conv.location, key)
    if numbers:
        conv.facts.add("exact numbers")
    if len(nodes) == 1 == len(values):
        return nodes[0]
    return _enum(conv, key, literals=literals, numbers=numbers, strings=strings, nodes=nodes)


def _structured_nodes(conv: Converter, values: Sequence[Any], key: str) -> dict[int, int]:
    """Return the nodes of all arrays and objects in the values, by identity."""
    order = [value for value in values if isinstance(value, _STRUCTURED)]
    count = len(values)
    for value in order:  # grows while it is read: parents before their children
        if isinstance(value, dict):
            for name in value:
                if not isinstance(name, str):
                    raise non_string_key(name, conv.location, key)
            children: Any = value.values()
        else:
            children = value
        count += len(children)
        if count > conv.max_constant_values:
            raise _too_many(conv, key)
        order += [child for child in children if isinstance(child, _STRUCTURED)]
    built: dict[int, int] = {}
    for value in reversed(order):
        if id(value) not in built:
            built[id(value)] = (
                _object_node(conv, value, key, built)
                if isinstance(value, dict)
                else _array_node(conv, value, key, built)
            )
    return built


def _array_node(conv: Converter, value: Sequence[Any], key: str, built: dict[int, int]) -> int:
    builder = conv.builder
    items = [_flat_node(conv, (item,), key, built) for item in value]
    return builder.all_of(
        (
            builder.types(f.TYPE_ARRAY),
            builder.array(items, builder.never()),
            builder.item_count(len(items), len(items)),
        )
    )


def _object_node(conv: Converter, value: dict[str, Any], key: str, built: dict[int, int]) -> int:
    builder = conv.builder
    members = [(name, _flat_node(conv, (item,), key, built)) for name, item in value.items()]
    parts = [builder.types(f.TYPE_OBJECT)]
    try:
        parts.append(builder.object(members, builder.never()))
        if members:
            conv.facts.add("named members")
            parts.append(builder.required(value))
    except UnicodeEncodeError as error:
        raise surrogate(error.object, conv.location, key) from None
    return builder.all_of(parts)


def _too_many(conv: Converter, key: str) -> LimitExceededError:
    limit = conv.max_constant_values
    return LimitExceededError(
        f'the "{key}" at {render(conv.location, key)} has more than '
        f"max_constant_values = {limit} values, nested ones included",
        code="schema-constant-values",
        limit="max_constant_values",
        value=limit,
    )
