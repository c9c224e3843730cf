"""Keywords that apply schemas to the same instance: `$ref`, `allOf`, `anyOf`, `oneOf`, `not`.

Idea: `allOf` adds the nodes of its schemas to the conjunction that the location is anyway; the
others are one node each, which the core decides. A reference is an edge to the node of its target,
so recursion costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .faults import malformed

if TYPE_CHECKING:
    from .convert import Converter
    from .references import Target

__all__ = ["all_of", "any_of", "definitions", "negation", "one_of", "ref"]


def ref(conv: Converter, key: str, value: Any) -> None:
    """`$ref`: whatever its target says."""
    if not isinstance(value, str):
        raise malformed(value, "a URI reference as a string", conv.location, key)
    target = conv.document.resolve(value, conv.resource, conv.location)
    schema, location, resource = target
    if isinstance(schema, bool):
        conv.parts.append(conv.builder.any() if schema else conv.builder.never())
        return
    conv.note_in_place([schema])
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
