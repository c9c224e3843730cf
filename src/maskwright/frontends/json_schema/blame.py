"""Where a schema has no value: the core names a schema node, this says which place that is.

Idea: nodes don't know their places, which would cost time for each schema. When a grammar is
refused, the schema is converted once more, with the places noted; equal nodes get equal numbers.
Of a schema that strict mode may have left without a value it is first asked whether it has one in
open mode; if not, what is wrong there is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import UnsatisfiableGrammarError, UnsupportedFeatureError
from ...ir import nodes as n
from ...ir.reader import read
from .closed import Reason, reason_of
from .compile import compile_json_schema
from .convert import ABSENT
from .locations import render

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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

_ASKS_NOTHING = {"required": [], "minItems": 0, "minProperties": 0}
_IN_PLACE = (n.AllOf, n.AnyOf, n.OneOf, n.Not)


def with_pointer(
    error: UnsatisfiableGrammarError | UnsupportedFeatureError,
    schema: Any,
    options: Mapping[str, Any],
    refusal_of: Callable[[bytes], Exception | None],
) -> UnsatisfiableGrammarError | UnsupportedFeatureError:
    """Return the core's error about a schema with the place it is about, if that is known.

    Args:
        error: What the core raised for the IR of the schema.
        schema: The schema.
        options: The options it was converted with.
        refusal_of: What the core raises for an IR.
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
    if isinstance(error, UnsupportedFeatureError):
        return _unsupported(error, places[node][0], *_keywords(program, node, places))
    if options.get("strict_mode", True):
        in_open_mode = {**options, "strict_mode": False}
        refusal = refusal_of(compile_json_schema(schema, **in_open_mode)[0])
        if isinstance(refusal, UnsatisfiableGrammarError):
            return with_pointer(refusal, schema, in_open_mode, refusal_of)
        if refusal is None:
            return _closed(error, program, node, places)
    _, keywords = _keywords(program, node, places)
    reason = reason_of(program, node, strict=False) or _conflict(keywords)
    return _unsatisfiable(error, places[node], reason)


def _closed(
    error: UnsatisfiableGrammarError, program: n.Program, node: int, places: Places
) -> UnsatisfiableGrammarError:
    """What to say where strict mode is at fault."""
    whole = _whole(program, node)
    reason = None
    if whole in places:
        node = whole
        reason = reason_of(program, node, strict=True)
    if reason is None:
        _, keywords = _keywords(program, node, places)
        conflict = _conflict(keywords)
        reason = conflict._replace(
            why=f"{conflict.why} in strict_mode",
            advice=f"{conflict.advice}, or admit what it does not name with strict_mode=False",
        )
    return _unsatisfiable(error, places[node], reason)


def _whole(program: n.Program, node: int) -> int:
    """Return all that holds for the instances of a node; -1: that depends on the way to it."""
    around = _around(program)
    while True:
        parents = around.get(node, [])
        if not any(isinstance(program.nodes[x], _IN_PLACE) for x in parents):
            return node
        parent = program.nodes[parents[0]]
        if len(parents) > 1 or isinstance(parent, n.Not):
            return -1
        if not isinstance(parent, n.AllOf) and len(n.child_nodes(parent)) > 1:
            return -1
        node = parents[0]


def _keywords(program: n.Program, node: int, places: Places) -> tuple[Sequence[str], list[str]]:
    """The keywords that a node can come from, and those of them at its place."""
    names = _KEYWORDS.get(type(program.nodes[node]), _EVERY)
    return names, [name for name in places[node][1] if name in names]


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
    error: UnsatisfiableGrammarError, place: Place, reason: Reason
) -> UnsatisfiableGrammarError:
    location, source = place
    keyword = reason.keyword
    is_there = keyword in source and source[keyword] != _ASKS_NOTHING.get(keyword, ABSENT)
    pointer = render(location, *([keyword] if is_there else []))
    return UnsatisfiableGrammarError(
        f"no value is valid under the schema at {pointer}: {reason.why}, and a value is needed "
        f"there; {reason.advice}",
        code="schema-unsatisfiable",
        pointer=pointer,
        node=error.node,
    )


def _conflict(keywords: list[str]) -> Reason:
    """What to say of keywords that leave no value."""
    said = ", ".join(f'"{name}"' for name in keywords) or "false"
    return Reason(
        keyword=keywords[0] if len(keywords) == 1 else "",
        why=f"{said} together allow none" if len(keywords) > 1 else f"{said} allows none here",
        advice="correct it, or allow that place to be missing",
    )


def _nearest(program: n.Program, node: int, places: Places) -> int:
    """Return the node, or one around it that has a place.

    Nodes without one stand for parts of a keyword, such as an object in an `enum`.
    """
    around = _around(program)
    reached, seen = [node], {node}
    for at in reached:  # grows
        if at in places:
            return at
        for parent in around.get(at, ()):
            if parent not in seen:
                seen.add(parent)
                reached.append(parent)
    return node


def _around(program: n.Program) -> dict[int, list[int]]:
    """The nodes directly around each."""
    around: dict[int, list[int]] = {}
    for parent, value in enumerate(program.nodes):
        for child in n.child_nodes(value):
            around.setdefault(child, []).append(parent)
    return around
