"""The walk over a schema: every location becomes the conjunction of one node per keyword family.

Idea: one explicit stack, two visits per location. On the way down each keyword's handler either
adds its node to `parts` at once, or queues the schemas below and leaves a *finisher* in `pending`;
on the way up the finishers find the nodes below ready. Schema objects are known by identity, so a
definition is converted once, whoever refers to it, and an edge back to a location under
construction gets a reserved node. Only what can be reached from the root is ever looked at.
Cost: linear in the reachable part of the schema; no recursion, nothing is copied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from ...errors import InvalidSchemaError
from .faults import non_string_key, not_a_schema
from .locations import Location, render

if TYPE_CHECKING:
    from ...ir import Builder
    from .coverage import Recorder
    from .references import Document
    from .resources import Resource

__all__ = ["ABSENT", "Converter", "Places"]

ABSENT: Any = object()
"""Stands for a keyword that is not there; None is a value that a schema can hold."""

_STRUCTURAL = {"$defs", "$id", "$ref", "$schema", "definitions", "id"}

_Place: TypeAlias = "tuple[int, Resource]"

Finisher = Callable[["Converter", Any], None]
Places: TypeAlias = "dict[int, tuple[Location, dict[str, Any]]]"
"""Where the first schema with a node stands, by node."""


class Converter:
    """Converts one document; the attributes up to `pending` describe the location at hand.

    Attributes:
        builder: Receives the nodes.
        document: Resolves references.
        strict: Objects that name members, and arrays with a prefix, are closed unless they say
            otherwise.
        assert_format: `format` constrains.
        nullable: `nullable: true` beside `type` admits null.
        recorder: Notes what becomes of the keywords, if anyone asks.
        max_number_digits: Limit on the digits of a number written without exponent.
        max_constant_values: Limit on the values in one `enum` or `const`.
        schema: The schema at hand; handlers look up siblings here.
        location: Where it stands.
        resource: The resource that it belongs to.
        parts: Nodes whose conjunction the location becomes.
        pending: Finishers with their argument, called when the schemas below are converted.
        patterns: Expressions of the patterns so far.
        formats: Nodes of the formats so far.
        ignored: Keywords without effect, by location.
        places: Receives the place of each node, where someone asks for it.
        facts: Names of what was met, of which the certificate speaks.
        root_node: The node of the whole schema, after the conversion.
    """

    def __init__(
        self,
        builder: Builder,
        document: Document,
        *,
        strict: bool,
        assert_format: bool,
        nullable: bool,
        recorder: Recorder | None,
        max_number_digits: int,
        max_constant_values: int,
        places: Places | None = None,
    ) -> None:
        self.builder = builder
        self.document = document
        self.strict = strict
        self.assert_format = assert_format
        self.nullable = nullable
        self.recorder = recorder
        self.max_number_digits = max_number_digits
        self.max_constant_values = max_constant_values
        self.places = places
        self.schema: dict[str, Any] = document.root.schema
        self.location: Location = None
        self.resource: Resource = document.root
        self.parts: list[int] = []
        self.pending: list[tuple[Finisher, Any]] = []
        self.patterns: dict[str, int] = {}
        self.formats: dict[str, list[int]] = {}
        self.ignored: list[tuple[Location, str]] = []
        self.facts: set[str] = set()
        # Schemas still to be converted, or (with parts) to be finished.
        self._stack: list[
            tuple[
                dict[str, Any],
                Location,
                Resource,
                list[int] | None,
                list[tuple[Finisher, Any]],
            ]
        ] = []
        # Schemas that judge the same instance as the schema they stand in or are referred from.
        self._in_place: list[tuple[dict[str, Any], Location, Resource, list[Any], Resource]] = []
        self._cyclic = False
        self.root_node = -1

    def convert(self) -> None:
        """Convert the document; `root_node` is the node of its root."""
        root = self.document.root
        if self.places is not None:
            self.places.clear()
        stack = self._stack
        stack.append((root.schema, None, root, None, []))
        while stack:
            schema, location, resource, parts, pending = stack.pop()
            if parts is None:
                if id(schema) not in resource.nodes:
                    self._enter(schema, location, resource)
            else:
                self.schema = schema
                self.location = location
                self.resource = resource
                self.parts = parts
                for finish, argument in pending:
                    finish(self, argument)
                self._leave()
        if self._cyclic:
            self._check_reference_loops()
        self.root_node = root.nodes[id(root.schema)]

    def _enter(self, schema: dict[str, Any], location: Location, resource: Resource) -> None:
        resource.nodes[id(schema)] = -1
        self.schema = schema
        self.location = location
        self.resource = resource
        parts: list[int] = []
        pending: list[tuple[Finisher, Any]] = []
        self.parts = parts
        self.pending = pending
        stack = self._stack
        below = len(stack)
        if self.recorder is not None:
            self.recorder.enter(schema, location)
        dialect = resource.dialect
        handlers = dialect.handlers
        if dialect.ref_alone and "$ref" in schema:
            for keyword in schema:
                if keyword not in _STRUCTURAL:
                    self.ignore(keyword)
            handlers["$ref"](self, "$ref", schema["$ref"])
        else:
            for keyword, value in schema.items():
                handler = handlers.get(keyword)
                if self.recorder is not None and handler is not None:
                    self.recorder.apply(self, handler, keyword, value)
                elif handler is not None:
                    handler(self, keyword, value)
                elif not (keyword == "nullable" and self.nullable and "type" in schema):
                    self.ignore(keyword)
        if pending:
            # Below the schemas that the handlers have queued.
            stack.insert(below, (schema, location, resource, parts, pending))
        else:
            self._leave()

    def _leave(self) -> None:
        """Give the location at hand its node, the conjunction of its parts."""
        parts = self.parts
        node = parts[0] if len(parts) == 1 else self.builder.all_of(parts)
        nodes = self.resource.nodes
        key = id(self.schema)
        state = nodes[key]
        if state < -1:
            self.builder.define_node(-2 - state, node)
        nodes[key] = node
        if self.places is not None:
            self._note_place(node, state)

    def _note_place(self, node: int, state: int) -> None:
        here = (self.location, self.schema)
        assert self.places is not None
        for part in self.parts:
            self.places.setdefault(part, here)
        if len(self.parts) != 1:
            self.places[node] = here
        if state < -1:
            self.places[-2 - state] = here

    # What handlers use on the way down.

    def ignore(self, keyword: str) -> None:
        """Note that a keyword of the schema at hand has no effect."""
        if not isinstance(keyword, str):
            raise non_string_key(keyword, self.location)
        self.ignored.append((self.location, keyword))

    def visit(self, value: Any, keyword: str, token: str | None = None) -> None:
        """Queue a schema below the one at hand; `node_of` gives its node in a finisher."""
        if isinstance(value, dict):
            resource = self.resource
            location = (self.location, keyword, token)
            if resource.dialect.id_keyword in value:
                resource = self.document.enter(value, location, resource)
            if id(value) not in resource.nodes:
                self._stack.append((value, location, resource, None, []))
        elif not isinstance(value, bool):
            tokens = (keyword,) if token is None else (keyword, token)
            raise not_a_schema(value, self.location, *tokens)

    def visit_target(self, value: dict[str, Any], location: Location, resource: Resource) -> None:
        """Queue a schema that the one at hand refers to."""
        if id(value) not in resource.nodes:
            self._stack.append((value, location, resource, None, []))

    def note_in_place(self, schemas: list[Any], resource: Resource | None = None) -> None:
        """Note that schemas, of ``resource``, judge the same instance as the schema at hand."""
        here = self.resource
        self._in_place.append((self.schema, self.location, here, schemas, resource or here))

    # What finishers use on the way up.

    def node_of(self, value: Any) -> int:
        """Return the node of a schema that was queued by the schema at hand."""
        node = self.resource.nodes.get(id(value))
        if node is None:
            if isinstance(value, bool):
                return self.builder.any() if value else self.builder.never()
            return self.target_node(value, self.document.enter(value, None, self.resource))
        return node if node >= 0 else self.target_node(value, self.resource)

    def target_node(self, value: dict[str, Any], resource: Resource) -> int:
        """Return the node of a schema in a resource; a reserved one while it is converted."""
        node = resource.nodes[id(value)]
        if node >= 0:
            return node
        self._cyclic = True
        if self.recorder is not None:
            self.recorder.loop(self.location)
        if node == -1:
            node = resource.nodes[id(value)] = -2 - self.builder.reserve()
        return -2 - node

    # After the walk.

    def _check_reference_loops(self) -> None:
        """Refuse a schema that applies to an instance only if it applies to it already.

        Colours a graph whose edges keep to one instance; an edge to a schema on the path is a loop.
        """
        edges: dict[_Place, tuple[Location, list[_Place]]] = {}
        for schema, location, resource, below, around in self._in_place:
            children = [self._place(child, around) for child in below if isinstance(child, dict)]
            edges.setdefault((id(schema), resource), (location, []))[1].extend(children)
        on_path: set[_Place] = set()
        done: set[_Place] = set()
        for start in edges:
            path = [(start, iter(edges[start][1]))] if start not in done else []
            on_path.add(start)
            while path:
                key, remaining = path[-1]
                child = next(remaining, None)
                if child is None:
                    path.pop()
                    on_path.discard(key)
                    done.add(key)
                elif child in on_path:
                    raise self._loop_error(edges[key][0])
                elif child in edges and child not in done:
                    on_path.add(child)
                    path.append((child, iter(edges[child][1])))
            on_path.discard(start)

    def _place(self, schema: dict[str, Any], around: Resource) -> _Place:
        """Return what tells a schema apart: the object, and the resource it was converted in."""
        if id(schema) not in around.nodes:
            around = self.document.enter(schema, None, around)
        return id(schema), around

    def _loop_error(self, location: Location) -> InvalidSchemaError:
        pointer = render(location)
        return InvalidSchemaError(
            f"the schema at {pointer} refers back to itself without going down into the instance, "
            "so it says nothing about any instance: expected the reference under a keyword such as "
            '"properties" or "items"',
            code="schema-reference-loop",
            pointer=pointer,
        )
