"""Schema resources: schemas with a base URI of their own, and the places where schemas stand.

Idea: a reference is resolved against the resource it stands in, so a resource keeps what belongs to
that: URI, anchors and dialect; a schema becomes a node of its own in each. With dynamic references
the meaning of a schema also depends on the resources that evaluation came through; a resource then
has one variant per *scope*, the outermost resource for each dynamic anchor.
Source: JSON Schema core 2020-12, "Schema Identification" and "Dynamic References".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .dialects import Dialect
    from .locations import Location

__all__ = ["NO_SCOPE", "Resource", "Scope", "Target", "subschemas"]

_SCHEMA = {
    "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items",
    "not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
}  # fmt: skip
_SCHEMAS = {"allOf", "anyOf", "items", "oneOf", "prefixItems"}
_NAMED_SCHEMAS = {
    "$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties",
}  # fmt: skip
# Known to be a place for a schema, and an annotation otherwise.
_UNHANDLED = "contentSchema"

Scope = frozenset[tuple[str, "Resource"]]
"""The outermost resource per dynamic anchor; the anchor of `$recursiveAnchor` has no name."""

NO_SCOPE: Scope = frozenset()


class Resource:
    """A schema with a base URI.

    Attributes:
        schema: The schema, an object; the root of another document can be a Boolean.
        location: Where it stands.
        uri: Its absolute URI without fragment; empty for a document without an identifier.
        dialect: What its keywords mean.
        anchors: Schemas by the plain name of their anchor.
        dynamic_anchors: Those of them that a dynamic reference can find.
        scope: What evaluation came through, itself included.
    """

    __slots__ = (
        "_origin", "anchors", "dialect", "dynamic_anchors", "location", "schema", "scope",
        "uri", "variants",
    )  # fmt: skip

    def __init__(self, schema: Any, location: Location, uri: str, dialect: Dialect) -> None:
        self.schema = schema
        self.location = location
        self.uri = uri
        self.dialect = dialect
        self.anchors: dict[str, tuple[dict[str, Any], Location]] = {}
        self.dynamic_anchors: dict[str, tuple[dict[str, Any], Location]] = {}
        self._origin: Resource | None = None  # not itself, which would keep it alive
        self.scope: Scope = NO_SCOPE
        self.variants: dict[Scope, Resource] = {}

    @property
    def origin(self) -> Resource:
        """The variant of the empty scope, which is the resource itself."""
        return self if self._origin is None else self._origin

    def variant(self, scope: Scope) -> Resource:
        """Return the resource for a scope, in which schemas have nodes of their own."""
        found = self.variants.get(scope)
        if found is None:
            found = Resource(self.schema, self.location, self.uri, self.dialect)
            found.anchors = self.anchors
            found.dynamic_anchors = self.dynamic_anchors
            found._origin = self
            found.scope = scope
            self.variants[scope] = found
        return found

    def scope_from(self, outer: Scope) -> Scope:
        """Return the scope within this resource when evaluation comes from ``outer``."""
        known = {name for name, _ in outer}
        return outer | {(name, self.origin) for name in self.dynamic_anchors if name not in known}


# The schema that a reference means, where it stands, and the resource it belongs to.
Target = tuple[Any, "Location", Resource]


def subschemas(
    schema: dict[str, Any], location: Location, dialect: Dialect
) -> Iterator[tuple[dict[str, Any], Location]]:
    """Yield the schema objects directly below a schema, for all keywords that the dialect has."""
    for keyword, value in schema.items():
        if keyword not in dialect.handlers and keyword != _UNHANDLED:
            continue
        children: list[tuple[Any, str | None]]
        if keyword in _NAMED_SCHEMAS and isinstance(value, dict):
            children = [(child, str(name)) for name, child in value.items()]
        elif keyword in _SCHEMAS and isinstance(value, (list, tuple)):
            children = [(child, str(index)) for index, child in enumerate(value)]
        elif keyword in _SCHEMA:
            children = [(value, None)]
        else:
            continue
        for child, name in children:
            if isinstance(child, dict):
                yield child, (location, keyword, name)
