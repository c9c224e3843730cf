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
        conv.parts.append(conv.builder.any() if schema else conv.builder.never())
        return
    conv.note_in_place([schema], resource)
    conv.visit_target(schema, location, resource)
    conv.pending.append((_finish_ref, target))


def _finish_ref(conv: Converter, target: Target) -> None:
    conv.parts.append(conv.target_node(target[0], target[2]))


def definitions(conv: Converter, key: str, value: Any) -> None:
    """`$defs`, `definitions`: a place for schemas; those that nothing refers to have no effect."""
    if not isinstance(value, dict):
        raise malformed(value, "an object with a schema per name", conv.location, key)


def _schemas(conv: Converter, key: str, value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)) or not value:
        raise malformed(value, "a non-empty array of schemas", conv.location, key)
    # In reverse, because the stack gives them back in order.
    for index in range(len(value) - 1, -1, -1):
        conv.visit(value[index], key, str(index))
    schemas = list(value)
    conv.note_in_place(schemas)
    return schemas


def all_of(conv: Converter, key: str, value: Any) -> None:
    """`allOf`: more parts of the conjunction."""
    conv.pending.append((_finish_all_of, _schemas(conv, key, value)))


def _finish_all_of(conv: Converter, schemas: list[Any]) -> None:
    conv.parts += [conv.node_of(schema) for schema in schemas]


def any_of(conv: Converter, key: str, value: Any) -> None:
    """`anyOf`: at least one schema accepts the instance."""
    conv.pending.append((_finish_any_of, _schemas(conv, key, value)))


def _finish_any_of(conv: Converter, schemas: list[Any]) -> None:
    conv.parts.append(conv.builder.any_of([conv.node_of(schema) for schema in schemas]))


def one_of(conv: Converter, key: str, value: Any) -> None:
    """`oneOf`: exactly one schema accepts the instance."""
    conv.pending.append((_finish_one_of, _schemas(conv, key, value)))


def _finish_one_of(conv: Converter, schemas: list[Any]) -> None:
    conv.parts.append(conv.builder.one_of([conv.node_of(schema) for schema in schemas]))


def negation(conv: Converter, key: str, value: Any) -> None:
    """`not`: the schema does not accept the instance."""
    conv.visit(value, key)
    conv.note_in_place([value])
    conv.pending.append((_finish_negation, value))


def _finish_negation(conv: Converter, value: Any) -> None:
    conv.parts.append(conv.builder.negation(conv.node_of(value)))
