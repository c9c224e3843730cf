"""`$ref`: schema resources, identifiers and JSON pointers within one document.

Idea: a resource is a schema with an identifier of its own (the root always is one); references are
resolved against the resource they stand in. Nearly all are `#` or `#/a/pointer` and need a walk
along the pointer only. The first one that is not builds an index of every `$id` and `$anchor`, by a
walk over the places where schemas stand, so that look-alikes in `enum` or `const` do not count.
Cost: linear in the pointer; the index, once per document, linear in the document.
Source: RFC 3986 (references), RFC 6901 (pointers), JSON Schema core, "base URI" and "$ref".
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, NoReturn
from urllib.parse import unquote, urljoin

from ...errors import InvalidSchemaError
from .dialects import Dialect, dialect_of
from .faults import describe, malformed, not_a_schema
from .locations import Location, escape, render

__all__ = ["Document", "Resource", "Target"]

_SCHEMA = {
    "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items",
    "not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
}  # fmt: skip
_SCHEMAS = {"allOf", "anyOf", "items", "oneOf", "prefixItems"}
_NAMED_SCHEMAS = {
    "$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties",
}  # fmt: skip
_MAX_LISTED = 8
_MAX_INDEX_DIGITS = 18


class Resource:
    """A schema with a base URI, and the nodes that the schemas in it became.

    Attributes:
        schema: The schema object.
        location: Where it stands in the document.
        uri: Its absolute URI without fragment; empty for a document without an identifier.
        dialect: What its keywords mean.
        nodes: By identity of a schema object: its node; -1 while it is under construction, and
            ``-2 - node`` once something refers to it in that time through the reserved ``node``.
        targets: References resolved so far.
    """

    __slots__ = ("anchors", "dialect", "location", "nodes", "schema", "targets", "uri")

    def __init__(
        self, schema: dict[str, Any], location: Location, uri: str, dialect: Dialect
    ) -> None:
        self.schema = schema
        self.location = location
        self.uri = uri
        self.dialect = dialect
        self.nodes: dict[int, int] = {}
        self.targets: dict[str, Target] = {}
        self.anchors: dict[str, tuple[dict[str, Any], Location]] = {}


# The schema that a reference means, where it stands, and the resource it belongs to.
Target = tuple[Any, Location, Resource]


class Document:
    """One schema document: its resources and the references between them."""

    def __init__(self, schema: dict[str, Any], default_dialect: Dialect) -> None:
        dialect = dialect_of(schema, None, default_dialect)
        identifier = schema.get(dialect.id_keyword, "")
        if not isinstance(identifier, str):
            raise malformed(identifier, "a URI as a string", None, dialect.id_keyword)
        self.root = Resource(schema, None, identifier.partition("#")[0], dialect)
        self._resources: dict[int, Resource] = {id(schema): self.root}
        self._by_uri: dict[str, Resource] | None = None

    def enter(self, schema: dict[str, Any], location: Location, outer: Resource) -> Resource:
        """Return the resource of a schema that has the identifier keyword and stands in ``outer``.

        That is ``outer`` itself when the identifier is an anchor only, or has no effect.
        """
        found = self._resources.get(id(schema))
        if found is not None:
            return found
        keyword = outer.dialect.id_keyword
        identifier = schema[keyword]
        if not isinstance(identifier, str):
            raise malformed(identifier, "a URI as a string", location, keyword)
        uri = identifier.partition("#")[0]
        if not uri or (outer.dialect.ref_alone and "$ref" in schema):
            return outer
        dialect = dialect_of(schema, location, outer.dialect)
        resource = Resource(schema, location, urljoin(outer.uri, uri), dialect)
        self._resources[id(schema)] = resource
        return resource

    def resource_at(self, schema: dict[str, Any]) -> Resource:
        """Return the resource whose root a schema is."""
        return self._resources[id(schema)]

    def resolve(self, reference: str, resource: Resource, location: Location) -> Target:
        """Return the schema that a reference in ``resource`` means.

        Args:
            reference: The value of `$ref`.
            resource: The resource that the reference stands in.
            location: The location of the schema that has the `$ref`, for errors.

        Raises:
            InvalidSchemaError: There is no such schema in the document (code
                ``schema-unresolvable-ref``), or what is there is no schema.
        """
        target = resource.targets.get(reference)
        if target is None:
            target = resource.targets[reference] = self._find(reference, resource, location)
        return target

    def _find(self, reference: str, resource: Resource, location: Location) -> Target:
        uri, _, fragment = reference.partition("#")
        base = resource
        if uri:
            found = self._index().get(urljoin(resource.uri, uri))
            if found is None:
                self._unresolvable(
                    reference, resource, location, f'"{uri}" is not in this document; {_EMBED}'
                )
            base = found
        if "%" in fragment:
            fragment = unquote(fragment)
        if not fragment:
            return base.schema, base.location, base
        if fragment[0] == "/":
            return self._follow(reference, fragment, base, resource, location)
        self._index()
        anchor = base.anchors.get(fragment)
        if anchor is None:
            self._unresolvable(reference, resource, location, f'there is no anchor "{fragment}"')
        return anchor[0], anchor[1], base

    def _follow(
        self, reference: str, pointer: str, base: Resource, resource: Resource, location: Location
    ) -> Target:
        value: Any = base.schema
        at = base.location
        for raw in pointer[1:].split("/"):
            token = raw.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and token in value:
                value = value[token]
            elif isinstance(value, (list, tuple)) and _is_index(token, len(value)):
                value = value[int(token)]
            else:
                here = f"{describe(value)} at {render(at)}"
                self._unresolvable(reference, resource, location, f'{here} has no "{token}"')
            at = (at, token, None)
            if isinstance(value, dict) and isinstance(value.get(base.dialect.id_keyword), str):
                base = self.enter(value, at, base)
        if not isinstance(value, (dict, bool)):
            raise not_a_schema(value, at)
        return value, at, base

    def _index(self) -> dict[str, Resource]:
        """Return the resources by URI, after a walk that finds every resource and anchor."""
        if self._by_uri is None:
            self._by_uri = {self.root.uri: self.root}
            self._walk(self._by_uri)
        return self._by_uri

    def _walk(self, by_uri: dict[str, Resource]) -> None:
        seen: set[int] = set()
        stack: list[tuple[dict[str, Any], Location, Resource]] = [
            (self.root.schema, None, self.root)
        ]
        while stack:
            schema, location, outer = stack.pop()
            if id(schema) in seen:
                continue
            seen.add(id(schema))
            resource = outer
            identifier = schema.get(outer.dialect.id_keyword)
            if isinstance(identifier, str):
                resource = self.enter(schema, location, outer)
                by_uri.setdefault(resource.uri, resource)
                if identifier[0:1] == "#":
                    resource.anchors.setdefault(identifier[1:], (schema, location))
            for keyword in ("$anchor", "$dynamicAnchor"):
                if isinstance(schema.get(keyword), str):
                    resource.anchors.setdefault(schema[keyword], (schema, location))
            for child, at in _subschemas(schema, location):
                stack.append((child, at, resource))

    def _unresolvable(
        self, reference: str, resource: Resource, location: Location, why: str
    ) -> NoReturn:
        pointer = render(location, "$ref")
        raise InvalidSchemaError(
            f'the reference "{reference}" at {pointer} cannot be resolved: {why}'
            f"{_suggestion(reference, resource)}",
            code="schema-unresolvable-ref",
            pointer=pointer,
        )


_EMBED = "other documents are not loaded, put the schema under $defs and refer to it there"


def _is_index(token: str, length: int) -> bool:
    """Whether the token is an array index (without leading zeros) below ``length``."""
    if not token.isascii() or not token.isdigit() or len(token) > _MAX_INDEX_DIGITS:
        return False
    return int(token) < length and token == str(int(token))


def _subschemas(
    schema: dict[str, Any], location: Location
) -> list[tuple[dict[str, Any], Location]]:
    """Return the schema objects directly below a schema, for all keywords of all dialects."""
    found: list[tuple[dict[str, Any], Location]] = []
    for keyword, value in schema.items():
        if keyword in _NAMED_SCHEMAS and isinstance(value, dict):
            children: list[tuple[Any, str | None]]
            children = [(child, str(name)) for name, child in value.items()]
        elif keyword in _SCHEMAS and isinstance(value, (list, tuple)):
            children = [(child, str(index)) for index, child in enumerate(value)]
        elif keyword in _SCHEMA:
            children = [(value, None)]
        else:
            continue
        found += [
            (child, (location, keyword, name))
            for child, name in children
            if isinstance(child, dict)
        ]
    return found


def _suggestion(reference: str, resource: Resource) -> str:
    """Name the definitions that may have been meant."""
    pointers: dict[str, str] = {}
    for keyword in ("definitions", "$defs"):
        definitions = resource.schema.get(keyword)
        if isinstance(definitions, dict):
            for name in map(str, definitions):
                pointers[name] = f"#/{keyword}/{escape(name)}"
    close = get_close_matches(reference.rpartition("/")[2], pointers, n=3, cutoff=0.6)
    if close:
        return f"; did you mean {' or '.join(pointers[name] for name in close)}?"
    if pointers:
        more = ", ..." if len(pointers) > _MAX_LISTED else ""
        return f"; the definitions here are {', '.join([*pointers.values()][:_MAX_LISTED])}{more}"
    return "; the schema has no definitions"
