"""The walk over a schema: every location becomes the conjunction of one node per keyword family.

Idea: the handler of each keyword adds its nodes to `parts`, and asks for the nodes of the schemas
below while it does. Schema objects are known by identity, so a definition is converted once,
whoever refers to it, and an edge back to a location under construction gets a reserved node. Only
what can be reached from the root is ever looked at. Recursion is bounded: a schema that is nested
deeper gets a reserved node at once, and is converted when the stack is empty again.
Cost: linear in the reachable part of the schema; nothing is copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ...errors import InvalidSchemaError
from .faults import non_string_key, not_a_schema
from .locations import Location, render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...ir import Builder
    from .coverage import Recorder
    from .dialects import Dialect, Handler
    from .references import Document
    from .resources import Resource

__all__ = ["ABSENT", "Converter", "Places"]

ABSENT: Any = object()
"""Stands for a keyword that is not there; None is a value that a schema can hold."""

_STRUCTURAL = {"$defs", "$id", "$ref", "$schema", "definitions", "id"}

_MAX_NESTED = 50
"""Schemas in each other, or referred to by each other, that are converted in one recursion."""

_Spot: TypeAlias = "tuple[int, Resource]"

Place: TypeAlias = "tuple[Location, dict[str, Any]]"
Places: TypeAlias = "dict[int, Place]"
"""Where the first schema with a node stands, by node."""


def _nullable(conv: Converter, key: str, _value: Any) -> None:
    """`nullable`: belongs to `type`, and has no effect without it."""
    if "type" not in conv.schema:
        conv.ignore(key)


class Converter:
    """Converts one document; `schema`, `location`, `resource` and `parts` are those at hand.

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
        type_nodes: Nodes of the types so far, by name.
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
        self.type_nodes: dict[str, int] = {}
        self.patterns: dict[str, int] = {}
        self.formats: dict[str, list[int]] = {}
        self.ignored: list[tuple[Location, str]] = []
        self.facts: set[str] = set()
        self._depth = 0
        # Schemas nested too deeply, with the node reserved for each.
        self._deferred: list[tuple[dict[str, Any], Location, Resource, int]] = []
        # By identity of a dialect; it lives as long as the resources that have it.
        self._tables: dict[int, Mapping[str, Handler]] = {}
        self._dialect: Dialect | None = None
        self._handlers: Mapping[str, Handler] = {}
        # Schemas that judge the same instance as the schema they stand in or are referred from.
        self._in_place: list[tuple[dict[str, Any], Location, Resource, list[Any], Resource]] = []
        self._cyclic = False
        self.root_node = -1

    def convert(self) -> None:
        """Convert the document; `root_node` is the node of its root."""
        root = self.document.root
        if self.places is not None:
            self.places.clear()
        self.root_node = self.target_node(root.schema, None, root)
        while self._deferred:
            schema, location, resource, reserved = self._deferred.pop()
            node = self._convert(schema, location, resource)
            self.builder.define_node(reserved, node)
            if self.places is not None:
                self.places[reserved] = (location, schema)
        if self._cyclic:
            self._check_reference_loops()

    def _convert(self, schema: dict[str, Any], location: Location, resource: Resource) -> int:
        """Return the node of a schema that has none yet."""
        if self._depth == _MAX_NESTED:
            return self._defer(schema, location, resource)
        nodes = resource.nodes
        key = id(schema)
        nodes[key] = -1
        dialect = resource.dialect
        if dialect is not self._dialect:
            self._use(dialect)
        handlers, type_nodes, ignored = self._handlers, self.type_nodes, self.ignored
        if self.recorder is not None:
            self.recorder.enter(schema, location)
        parts: list[int] = []
        around = None  # most schemas are but a type and annotations, and need no handler
        effective = self._effective(schema, location) if dialect.ref_alone else schema
        for keyword, value in effective.items():
            handler = handlers.get(keyword)
            if handler is None:
                if type(keyword) is not str:
                    raise non_string_key(keyword, location)
                ignored.append((location, keyword))
            elif keyword == "type" and type(value) is str and value in type_nodes:
                parts.append(type_nodes[value])
            else:
                if around is None:
                    around = self.schema, self.location, self.resource, self.parts
                    self._depth += 1
                    self.schema = schema
                    self.location = location
                    self.resource = resource
                    self.parts = parts
                handler(self, keyword, value)
        node = parts[0] if len(parts) == 1 else self.builder.all_of(parts)
        state = nodes[key]
        nodes[key] = node
        if state < -1:
            self.builder.define_node(-2 - state, node)
        if self.places is not None:
            self._note_place((location, schema), parts, node, state)
        if around is not None:
            self._depth -= 1
            self.schema, self.location, self.resource, self.parts = around
        return node

    def _effective(self, schema: dict[str, Any], location: Location) -> dict[str, Any]:
        """Return the part of a schema that has an effect in drafts where a `$ref` stands alone."""
        if "$ref" not in schema:
            return schema
        self.ignored += [(location, keyword) for keyword in schema if keyword not in _STRUCTURAL]
        return {"$ref": schema["$ref"]}

    def _defer(self, schema: dict[str, Any], location: Location, resource: Resource) -> int:
        self._cyclic = True  # it may be: edges back to it are not seen as such
        node = resource.nodes[id(schema)] = self.builder.reserve()
        self._deferred.append((schema, location, resource, node))
        return node

    def _use(self, dialect: Dialect) -> None:
        """Take the handlers of a dialect, as the options ask for them."""
        self._dialect = dialect
        table = self._tables.get(id(dialect))
        if table is None:
            table = dialect.handlers
            if self.nullable:
                table = {**table, "nullable": _nullable}
            if self.recorder is not None:
                table = {key: self.recorder.recorded(handler) for key, handler in table.items()}
            self._tables[id(dialect)] = table
        self._handlers = table

    def _note_place(self, place: Place, parts: list[int], node: int, state: int) -> None:
        assert self.places is not None
        for part in (*parts, node):
            self.places.setdefault(part, place)
        if state < -1:
            self.places[-2 - state] = place

    # What handlers use.

    def ignore(self, keyword: str) -> None:
        """Note that a keyword of the schema at hand has no effect."""
        if not isinstance(keyword, str):
            raise non_string_key(keyword, self.location)
        self.ignored.append((self.location, keyword))

    def node(self, value: Any, keyword: str, token: str | None = None) -> int:
        """Return the node of a schema below the one at hand."""
        if isinstance(value, dict):
            resource = self.resource
            node = resource.nodes.get(id(value))
            if node is not None and node >= 0:
                return node
            location = (self.location, keyword, token)
            if resource.dialect.id_keyword in value:
                resource = self.document.enter(value, location, resource)
            return self.target_node(value, location, resource)
        if not isinstance(value, bool):
            tokens = (keyword,) if token is None else (keyword, token)
            raise not_a_schema(value, self.location, *tokens)
        return self.builder.any() if value else self.builder.never()

    def named_nodes(self, schemas: dict[str, Any], keyword: str) -> dict[str, int]:
        """Return the nodes of schemas by name below the one at hand."""
        here, resource = self.location, self.resource
        nodes, id_keyword = resource.nodes, resource.dialect.id_keyword
        named = {}
        for name, value in schemas.items():
            if type(value) is dict and id(value) not in nodes and id_keyword not in value:
                named[name] = self._convert(value, (here, keyword, name), resource)
            else:
                named[name] = self.node(value, keyword, name)
        return named

    def nodes_of(self, values: Sequence[Any], keyword: str) -> list[int]:
        """Return the nodes of schemas in an array below the one at hand."""
        nodes = []
        for index, value in enumerate(values):
            nodes.append(self.node(value, keyword, str(index)))
        return nodes

    def target_node(self, schema: dict[str, Any], location: Location, resource: Resource) -> int:
        """Return the node of a schema in a resource; a reserved one while it is converted."""
        node = resource.nodes.get(id(schema))
        if node is None:
            return self._convert(schema, location, resource)
        if node >= 0:
            return node
        self._cyclic = True
        if self.recorder is not None:
            self.recorder.loop(self.location)
        if node == -1:
            node = resource.nodes[id(schema)] = -2 - self.builder.reserve()
        return -2 - node

    def note_in_place(self, schemas: list[Any], resource: Resource | None = None) -> None:
        """Note that schemas, of ``resource``, judge the same instance as the schema at hand."""
        here = self.resource
        self._in_place.append((self.schema, self.location, here, schemas, resource or here))

    # After the walk.

    def _check_reference_loops(self) -> None:
        """Refuse a schema that applies to an instance only if it applies to it already.

        Colours a graph whose edges keep to one instance; an edge to a schema on the path is a loop.
        """
        edges: dict[_Spot, tuple[Location, list[_Spot]]] = {}
        for schema, location, resource, below, around in self._in_place:
            children = [self._place(child, around) for child in below if isinstance(child, dict)]
            edges.setdefault((id(schema), resource), (location, []))[1].extend(children)
        on_path: set[_Spot] = set()
        done: set[_Spot] = set()
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

    def _place(self, schema: dict[str, Any], around: Resource) -> _Spot:
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
