"""Where a schema has no value: the core names a schema node, this says which place that is.

Idea: nodes don't know their places, which would cost time for each schema. When a grammar is
refused, the schema is converted once more, with the places noted; equal nodes get equal numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import UnsatisfiableGrammarError, UnsupportedFeatureError
from ...ir import nodes as n
from ...ir.reader import read
from .closed import reason_of
from .compile import compile_json_schema
from .locations import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .closed import Reason
    from .convert import Place, Places
    from .locations import Location

__all__ = ["with_pointer"]

_KEYWORDS: dict[type, tuple[str, ...]] = {
    n.Array: ("prefixItems", "items", "additionalItems", "unevaluatedItems"),
    n.Contains: ("contains", "minContains", "maxContains"),
    n.DependentRequired: ("dependentRequired", "dependencies"),
    n.Enum: ("enum", "const"),
    n.ItemCount: ("minItems", "maxItems"),
    n.MemberCount: ("minProperties", "maxProperties"),
    n.MemberNames: ("propertyNames",),
    n.MultipleOf: ("multipleOf",),
    n.Not: ("not",),
    n.Number: ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    n.Object: (
        "properties",
        "patternProperties",
        "additionalProperties",
        "unevaluatedProperties",
    ),
    n.OneOf: ("oneOf",),
    n.Required: ("required",),
    n.StringLanguage: ("pattern", "format"),
    n.StringLength: ("minLength", "maxLength"),
    n.Types: ("type",),
    n.UniqueItems: ("uniqueItems",),
    n.AnyOf: ("anyOf", "if", "dependentSchemas", "dependencies"),
}
_EVERY = (*dict.fromkeys(name for names in _KEYWORDS.values() for name in names), "allOf", "$ref")


def with_pointer(
    error: UnsatisfiableGrammarError | UnsupportedFeatureError,
    schema: Any,
    options: Mapping[str, Any],
) -> UnsatisfiableGrammarError | UnsupportedFeatureError:
    """Return the core's error about a schema with the place it is about, if that is known.

    Args:
        error: What the core raised for the IR of the schema.
        schema: The schema.
        options: The options it was converted with.
    """
    if error.node is None or error.pointer is not None:
        return error
    places: Places = {}
    ir, _ = compile_json_schema(schema, **options, places=places)
    program = read(ir)
    node = error.node
    if isinstance(error, UnsupportedFeatureError):
        node = _nearest(program, node, places)
    if node not in places:
        return error
    names = _KEYWORDS.get(type(program.nodes[node]), _EVERY)
    keywords = [name for name in places[node][1] if name in names]
    if isinstance(error, UnsupportedFeatureError):
        return _unsupported(error, places[node][0], names, keywords)
    strict = bool(options.get("strict_mode", True))
    return _unsatisfiable(error, places[node], keywords, reason_of(program, node, strict=strict))


def _unsupported(
    error: UnsupportedFeatureError, location: Location, names: Sequence[str], keywords: list[str]
) -> UnsupportedFeatureError:
    # Of a keyword around the node, such as "not", the place is where it leads to.
    about_node = error.feature in names and len(keywords) == 1
    pointer = render(location, *keywords) if about_node else render(location)
    return UnsupportedFeatureError(
        f"{error.message}: at {pointer}",
        code=error.code,
        feature=error.feature,
        pointer=pointer,
        node=error.node,
    )


def _unsatisfiable(
    error: UnsatisfiableGrammarError, place: Place, keywords: list[str], reason: Reason | None
) -> UnsatisfiableGrammarError:
    location, source = place
    if reason is not None:
        at = [reason.keyword] if reason.keyword in source else []
        why, advice = reason.why, reason.advice
    else:
        at = keywords if len(keywords) == 1 else []
        why, advice = _conflict(keywords)
    pointer = render(location, *at)
    return UnsatisfiableGrammarError(
        f"no value is valid under the schema at {pointer}: {why}, and a value is needed there; "
        f"{advice}",
        code="schema-unsatisfiable",
        pointer=pointer,
        node=error.node,
    )


def _conflict(keywords: list[str]) -> tuple[str, str]:
    """What to say of keywords that leave no value, and what to do."""
    said = ", ".join(f'"{name}"' for name in keywords) or "false"
    why = f"{said} together allow none" if len(keywords) > 1 else f"{said} allows none here"
    return why, "correct it, or allow that place to be missing"


def _nearest(program: n.Program, node: int, places: Places) -> int:
    """Return the node, or one around it that has a place.

    Nodes without one stand for parts of a keyword, such as an object in an `enum`.
    """
    around: dict[int, list[int]] = {}
    for parent, value in enumerate(program.nodes):
        for child in n.child_nodes(value):
            around.setdefault(child, []).append(parent)
    reached, seen = [node], {node}
    for at in reached:  # grows
        if at in places:
            return at
        for parent in around.get(at, ()):
            if parent not in seen:
                seen.add(parent)
                reached.append(parent)
    return node
