"""`$ref`: identifiers, anchors and JSON pointers, within a document and into others.

Idea: nearly all references are `#` or `#/a/pointer` and need a walk along the pointer only. The
first one that is not builds an index of every identifier and anchor, by a walk over the places
where schemas stand, so that look-alikes in `enum` or `const` do not count. A URI that the index
does not have is looked up in the registry, whose documents join the index as they are needed.
Cost: linear in the pointer; the index, once per document, linear in the document.
Source: RFC 3986 (references), RFC 6901 (pointers), JSON Schema core, "base URI" and "$ref".
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import unquote, urljoin

from ...errors import InvalidSchemaError, LimitExceededError
from .faults import describe, malformed, not_a_schema
from .locations import Location, escape, render, unescape
from .resources import NO_SCOPE, Resource, Target, subschemas
from .vocabularies import dialect_of

if TYPE_CHECKING:
    from .dialects import Dialect
    from .registry import Registry

__all__ = ["MAX_DYNAMIC_SCOPES", "Document", "ScopesNeededError"]

MAX_DYNAMIC_SCOPES = 1000
"""Default for the number of scopes in which resources with dynamic anchors are converted."""

_MAX_LISTED = 8
_MAX_INDEX_DIGITS = 18
_RECURSIVE = ""


class ScopesNeededError(Exception):
    """A dynamic reference was met whose target depends on what evaluation came through."""


class Document:
    """A schema document, and those that it refers to.

    Args:
        schema: The schema.
        default_dialect: That of documents without `$schema`.
        registry: The other documents.
        scoped: Keep apart by which resources evaluation comes to a schema.
        max_dynamic_scopes: Limit on the variants that ``scoped`` leads to.
    """

    def __init__(
        self,
        schema: dict[str, Any],
        default_dialect: Dialect,
        registry: Registry,
        *,
        scoped: bool = False,
        max_dynamic_scopes: int = MAX_DYNAMIC_SCOPES,
    ) -> None:
        self._registry = registry
        # By the resource a reference stands in; not kept there, so as to make no reference cycle.
        self._targets: dict[tuple[Resource, str], Target] = {}
        self._resources: dict[tuple[int, Resource], Resource] = {}
        self._by_uri: dict[str, Resource] | None = None
        self._walked: set[tuple[int, Resource]] = set()
        self._loaded: set[str] = set()
        self._scoped = scoped
        self._scopes_left = max_dynamic_scopes
        self._max_dynamic_scopes = max_dynamic_scopes
        root = self._root_resource(schema, None, "", default_dialect)
        self._root = root
        self.root = root
        if scoped:
            self._index()
            self.root = root.variant(root.scope_from(NO_SCOPE))

    def enter(self, schema: dict[str, Any], location: Location, outer: Resource) -> Resource:
        """Return the resource of a schema that has the identifier keyword and stands in ``outer``.

        That is ``outer`` itself when the identifier is an anchor only, or has no effect.
        """
        return self._in_scope(self._enter(schema, location, outer.origin), outer)

    def resolve(self, reference: str, resource: Resource, location: Location) -> Target:
        """Return the schema that a reference in ``resource`` means.

        Args:
            reference: The value of `$ref`.
            resource: The resource that the reference stands in.
            location: The location of the schema that has the reference, for errors.

        Raises:
            InvalidSchemaError: There is no such schema (code ``schema-unresolvable-ref``), or what
                is there is no schema.
            LimitExceededError: There are too many dynamic scopes.
        """
        keyword = (location, "$ref", None)
        schema, at, base = self._resolve(reference, resource.origin, keyword)
        return schema, at, self._in_scope(base, resource)

    def resolve_dynamic(self, reference: str, resource: Resource, location: Location) -> Target:
        """Return the schema that a `$dynamicRef` means; as `resolve`, and then by the scope.

        Raises:
            ScopesNeededError: The scope decides, and it is not kept track of.
        """
        fragment = unquote(reference.partition("#")[2])
        keyword = (location, "$dynamicRef", None)
        schema, _, _ = target = self._resolve(reference, resource.origin, keyword)
        anchored = isinstance(schema, dict) and schema.get("$dynamicAnchor") == fragment
        return self._by_scope(fragment, target, resource, dynamic=anchored)

    def resolve_recursive(self, reference: str, resource: Resource, location: Location) -> Target:
        """Return the schema that a `$recursiveRef` means; raises as `resolve_dynamic`."""
        keyword = (location, "$recursiveRef", None)
        schema, _, _ = target = self._resolve(reference, resource.origin, keyword)
        anchored = isinstance(schema, dict) and schema.get("$recursiveAnchor") is True
        return self._by_scope(_RECURSIVE, target, resource, dynamic=anchored)

    def _by_scope(self, name: str, target: Target, resource: Resource, *, dynamic: bool) -> Target:
        if not dynamic:
            return target[0], target[1], self._in_scope(target[2], resource)
        if not self._scoped:
            raise ScopesNeededError
        outermost = next((r for anchor, r in resource.scope if anchor == name), target[2])
        schema, at = outermost.dynamic_anchors.get(name, target[:2])
        return schema, at, self._in_scope(outermost, resource)

    def _in_scope(self, base: Resource, source: Resource) -> Resource:
        """Return the variant of a resource that evaluation reaches from ``source``."""
        if not self._scoped:
            return base
        if base is source.origin:
            return source
        scope = base.scope_from(source.scope)
        if scope not in base.variants:
            self._scopes_left -= 1
            if self._scopes_left < 0:
                limit = self._max_dynamic_scopes
                raise LimitExceededError(
                    "dynamic references give the schemas of this document different meanings in "
                    f"more than max_dynamic_scopes = {limit} scopes",
                    code="schema-dynamic-scopes",
                    limit="max_dynamic_scopes",
                    value=limit,
                )
        return base.variant(scope)

    def _root_resource(
        self, schema: Any, location: Location, uri: str, inherited: Dialect
    ) -> Resource:
        """Return the resource of a whole document, which came from a URI."""
        dialect, identifier = inherited, ""
        if isinstance(schema, dict):
            if "$schema" in schema:
                dialect = dialect_of(schema, location, self._registry)
            identifier = schema.get(dialect.id_keyword, "")
        if not isinstance(identifier, str):
            raise malformed(identifier, "a URI as a string", location, dialect.id_keyword)
        base = identifier.partition("#")[0]
        return Resource(schema, location, urljoin(uri, base) if uri else base, dialect)

    def _enter(self, schema: dict[str, Any], location: Location, outer: Resource) -> Resource:
        if schema is outer.schema:
            return outer
        key = id(schema), outer
        found = self._resources.get(key)
        if found is not None:
            return found
        keyword = outer.dialect.id_keyword
        identifier = schema[keyword]
        if not isinstance(identifier, str):
            raise malformed(identifier, "a URI as a string", location, keyword)
        uri = identifier.partition("#")[0]
        if not uri or (outer.dialect.ref_alone and "$ref" in schema):
            return outer
        dialect = outer.dialect
        if "$schema" in schema:
            dialect = dialect_of(schema, location, self._registry)
        resource = Resource(schema, location, urljoin(outer.uri, uri), dialect)
        self._resources[key] = resource
        if self._by_uri is not None:
            self._walk(schema, location, outer)
        return resource

    def _resolve(self, reference: str, resource: Resource, location: Location) -> Target:
        target = self._targets.get((resource, reference))
        if target is None:
            target = self._find(reference, resource, location)
            self._targets[resource, reference] = target
        return target

    def _find(self, reference: str, resource: Resource, location: Location) -> Target:
        uri, _, fragment = reference.partition("#")
        base = resource
        if uri:
            found = self._resource_with(urljoin(resource.uri, uri))
            if found is None:
                why = f'"{uri}" is neither in this document nor in the registry; {_EMBED}'
                self._unresolvable(reference, resource, location, why)
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
            token = unescape(raw)
            if isinstance(value, dict) and token in value:
                value = value[token]
            elif isinstance(value, (list, tuple)) and _is_index(token, len(value)):
                value = value[int(token)]
            else:
                here = f"{describe(value)} at {render(at)}"
                self._unresolvable(reference, resource, location, f'{here} has no "{token}"')
            at = (at, token, None)
            if isinstance(value, dict) and isinstance(value.get(base.dialect.id_keyword), str):
                base = self._enter(value, at, base)
        if not isinstance(value, (dict, bool)):
            raise not_a_schema(value, at)
        return value, at, base

    # The index of identifiers and anchors.

    def _resource_with(self, uri: str) -> Resource | None:
        """Return the resource with an absolute URI; of this document, else of the registry."""
        by_uri = self._index()
        if uri not in by_uri:
            self._load(uri)
        if uri not in by_uri:
            # It may be embedded in a document that has another URI.
            for other in self._registry.uris():
                self._load(other)
        return by_uri.get(uri)

    def _load(self, uri: str) -> None:
        """Add the document with a URI to the index, if the registry has it."""
        if uri in self._loaded:
            return
        self._loaded.add(uri)
        schema = self._registry.find(uri)
        if schema is not None:
            root = self._root_resource(schema, uri, uri, self._root.dialect)
            self._index_document(root, uri)

    def _index(self) -> dict[str, Resource]:
        """Return the resources by URI, those of this document at least."""
        if self._by_uri is None:
            self._by_uri = {}
            self._index_document(self._root, self._root.uri)
        return self._by_uri

    def _index_document(self, root: Resource, uri: str) -> None:
        by_uri = self._by_uri
        assert by_uri is not None
        by_uri.setdefault(uri, root)
        by_uri.setdefault(root.uri, root)
        if isinstance(root.schema, dict):
            self._walk(root.schema, root.location, root)

    def _walk(self, start: dict[str, Any], location: Location, outer: Resource) -> None:
        """Enter every resource and anchor at and below a schema into the index."""
        by_uri = self._by_uri
        assert by_uri is not None
        stack = [(start, location, outer)]
        while stack:
            schema, at, around = stack.pop()
            if (id(schema), around) in self._walked:
                continue
            self._walked.add((id(schema), around))
            resource = around
            dialect = around.dialect
            identifier = schema.get(dialect.id_keyword)
            if isinstance(identifier, str) and not (dialect.ref_alone and "$ref" in schema):
                resource = self._enter(schema, at, around)
                by_uri.setdefault(resource.uri, resource)
                anchor = identifier.partition("#")[2]
                if anchor and anchor[0] != "/":
                    resource.anchors.setdefault(anchor, (schema, at))
            _note_anchors(schema, at, resource)
            stack += [
                (child, below, resource)
                for child, below in subschemas(schema, at, resource.dialect)
            ]

    def _unresolvable(
        self, reference: str, resource: Resource, location: Location, why: str
    ) -> NoReturn:
        pointer = render(location)
        raise InvalidSchemaError(
            f'the reference "{reference}" at {pointer} cannot be resolved: {why}'
            f"{_suggestion(reference, resource)}",
            code="schema-unresolvable-ref",
            pointer=pointer,
        )


_EMBED = "put the schema under $defs, or pass it in registry={uri: schema}"


def _note_anchors(schema: dict[str, Any], location: Location, resource: Resource) -> None:
    """Enter the anchors that a schema has by keywords of its dialect."""
    handlers = resource.dialect.handlers
    for keyword in ("$anchor", "$dynamicAnchor"):
        name = schema.get(keyword)
        if isinstance(name, str) and keyword in handlers:
            resource.anchors.setdefault(name, (schema, location))
            if keyword == "$dynamicAnchor":
                resource.dynamic_anchors.setdefault(name, (schema, location))
    recursive = schema.get("$recursiveAnchor") is True and "$recursiveAnchor" in handlers
    if recursive and schema is resource.schema:
        resource.dynamic_anchors.setdefault(_RECURSIVE, (schema, location))


def _is_index(token: str, length: int) -> bool:
    """Whether the token is an array index (without leading zeros) below ``length``."""
    if not token.isascii() or not token.isdigit() or len(token) > _MAX_INDEX_DIGITS:
        return False
    return int(token) < length and token == str(int(token))


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
