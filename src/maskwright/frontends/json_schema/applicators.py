"""Keywords that apply schemas to the same instance: references, `allOf`, `anyOf`, `oneOf`, `not`.

Idea: `allOf` adds the nodes of its schemas to the conjunction that the location is anyway; the
others are one node each, which the core decides. A reference is an edge to the node of its target,
so recursion costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .faults import malformed

if TYPE_CHECKING:
    from .convert import Converter
    from .resources import Target

__all__ = [
    "all_of",
    "any_of",
    "definitions",
    "dynamic_ref",
    "negation",
    "one_of",
    "recursive_ref",
    "ref",
]


def ref(conv: Converter, key: str, value: Any) -> None:
    """`$ref`: whatever its target says."""
    _check_reference(conv, key, value)
    _refer(conv, conv.document.resolve(value, conv.resource, conv.location))


def dynamic_ref(conv: Converter, key: str, value: Any) -> None:
    """`$dynamicRef`: as `$ref`, and at a dynamic anchor its outermost one in the dynamic scope."""
    _check_reference(conv, key, value)
    _refer(conv, conv.document.resolve_dynamic(value, conv.resource, conv.location))


def recursive_ref(conv: Converter, key: str, value: Any) -> None:
    """`$recursiveRef`: the resource, or the outermost one where `$recursiveAnchor` asks for it."""
    if value != "#":
        raise malformed(value, 'the string "#"', conv.location, key)
    _refer(conv, conv.document.resolve_recursive(value, conv.resource, conv.location))


def _check_reference(conv: Converter, key: str, value: Any) -> None:
    if not isinstance(value, str):
        raise malformed(value, "a URI reference as a string", conv.location, key)


def _refer(conv: Converter, target: Target) -> None:
    schema, location, resource = target
    if isinstance(schema, bool):
        conv.add(conv.builder.any() if schema else conv.builder.never())
        return
    conv.note_in_place([schema], resource)
    conv.add(conv.target_node(schema, location, resource))


def definitions(conv: Converter, key: str, value: Any) -> None:
    """`$defs`, `definitions`: a place for schemas; those that nothing refers to have no effect."""
    if not isinstance(value, dict):
        raise malformed(value, "an object with a schema per name", conv.location, key)


def _nodes(conv: Converter, key: str, value: Any) -> list[int]:
    if not isinstance(value, (list, tuple)) or not value:
        raise malformed(value, "a non-empty array of schemas", conv.location, key)
    conv.note_in_place(list(value))
    return conv.nodes_of(value, key)


def all_of(conv: Converter, key: str, value: Any) -> None:
    """`allOf`: more parts of the conjunction."""
    for node in _nodes(conv, key, value):
        conv.add(node)


def any_of(conv: Converter, key: str, value: Any) -> None:
    """`anyOf`: at least one schema accepts the instance."""
    conv.add(conv.builder.any_of(_nodes(conv, key, value)))


def one_of(conv: Converter, key: str, value: Any) -> None:
    """`oneOf`: exactly one schema accepts the instance."""
    conv.add(conv.builder.one_of(_nodes(conv, key, value)))


def negation(conv: Converter, key: str, value: Any) -> None:
    """`not`: the schema does not accept the instance."""
    conv.note_in_place([value])
    conv.add(conv.builder.negation(conv.node(value, key)))
