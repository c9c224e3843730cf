"""The conversion of one document: what the walk over its schemas and the keywords' handlers share.

Idea: every location becomes the conjunction of one node per keyword family. The walk itself is
native (``cpp/bindings/schema_walk.h``): it finds the schemas, dispatches their keywords, and
converts those whose values have the one plain form that nearly all schemas use. All else goes to
the keyword's handler, which adds its nodes by `add`, and asks for the nodes of the schemas below
while it does. Schema objects are known by identity, so a definition is converted once, whoever
refers to it, and an edge back to a location under construction gets a reserved node. Only what can
be reached from the root is ever looked at.
Cost: linear in the reachable part of the schema; nothing is copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from ..._native import KeywordTable, SchemaWalk
from ...errors import InvalidSchemaError, LimitExceededError
from .faults import non_string_key, not_a_schema
from .locations import Location, render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...ir import Builder
    from .coverage import Recorder
    from .dialects import Dialect
    from .references import Document
    from .resources import Resource

__all__ = ["ABSENT", "Converter", "Places"]

ABSENT: Any = object()
"""Stands for a keyword that is not there; None is a value that a schema can hold."""

_Spot: TypeAlias = "tuple[int, Resource]"

Place: TypeAlias = "tuple[Location, dict[str, Any]]"
Places: TypeAlias = "dict[int, Place]"
"""Where the first schema with a node stands, by node."""


class Converter(SchemaWalk):
    """Converts one document.

    The walk keeps what is at hand: `schema`, its `location` and its `resource`; handlers look up
    siblings there.

    Attributes:
        builder: Receives the nodes.
        document: Resolves references.
        strict: Objects that name members, and arrays with a prefix, are closed unless they say
            otherwise.
        any_order: In which order members are named does not matter.
        assert_format: `format` constrains.
        nullable: `nullable: true` beside `type` admits null.
        recorder: Notes what becomes of the keywords, if anyone asks.
        max_number_digits: Limit on the digits of a number written without exponent.
        max_constant_values: Limit on the values in one `enum` or `const`.
        patterns: Expressions of the patterns so far.
        formats: Nodes of the formats so far.
        places: Receives the place of each node, where someone asks for it.
        facts: Names of what was met, of which the certificate speaks.
    """

    def __init__(
        self,
        builder: Builder,
        document: Document,
        *,
        strict: bool,
        any_order: bool,
        assert_format: bool,
        nullable: bool,
        recorder: Recorder | None,
        max_number_digits: int,
        max_constant_values: int,
        places: Places | None = None,
    ) -> None:
        observed = recorder is not None or places is not None
        super().__init__(builder, strict, any_order, max_constant_values, observed)
        self.builder = builder
        self.document = document
        self.strict = strict
        self.any_order = any_order
        self.assert_format = assert_format
        self.nullable = nullable
        self.recorder = recorder
        self.max_number_digits = max_number_digits
        self.max_constant_values = max_constant_values
        self.places = places
        self.patterns: dict[str, int] = {}
        self.formats: dict[str, list[int]] = {}
        self.facts: set[str] = set()

    def convert(self) -> None:
        """Convert the document; `root_node` is the node of its root then."""
        root = self.document.root
        if self.places is not None:
            self.places.clear()
        self.walk(root.schema, None, root)
        self.facts |= self.plain_facts()
        if self.is_cyclic:
            self._check_reference_loops()

    def ignored_pointers(self, max_bytes: int) -> tuple[str, ...]:
        """Return the JSON pointers of the keywords without effect.

        Raises:
            LimitExceededError: They are longer than ``max_bytes`` together (a deeply nested schema
                with an annotation at each level).
        """
        pointers = self.pointers_of_ignored(max_bytes)
        if pointers is None:
            raise LimitExceededError(
                "the JSON pointers of ignored keywords are longer than "
                f"max_ignored_bytes = {max_bytes} together; "
                "remove annotations from the deeply nested part of the schema",
                code="schema-ignored-bytes",
                limit="max_ignored_bytes",
                value=max_bytes,
            )
        return pointers

    # What the walk calls back.

    def _table(self, dialect: Dialect) -> KeywordTable:
        """Return the handlers of a dialect, as the options ask for them."""
        if self.recorder is None:
            return dialect.nullable_table if self.nullable else dialect.table
        handlers = dialect.nullable_handlers if self.nullable else dialect.handlers
        recorded = {key: self.recorder.recorded(handler) for key, handler in handlers.items()}
        return KeywordTable(recorded, {}, frozenset(), dialect.id_keyword, dialect.ref_alone)

    def _enter(self, schema: dict[str, Any], location: Location) -> None:
        if self.recorder is not None:
            self.recorder.enter(schema, location)

    def _note_loop(self, location: Location) -> None:
        if self.recorder is not None:
            self.recorder.loop(location)

    def _note_place(
        self, location: Location, schema: dict[str, Any], nodes: Sequence[int], reserved: int | None
    ) -> None:
        if self.places is None:
            return
        for node in nodes:
            self.places.setdefault(node, (location, schema))
        if reserved is not None:
            self.places[reserved] = (location, schema)

    def _refuse_key(self, key: Any, location: Location) -> NoReturn:
        raise non_string_key(key, location)

    def _refuse_schema(self, value: Any, keyword: str, token: str | None) -> NoReturn:
        tokens = (keyword,) if token is None else (keyword, token)
        raise not_a_schema(value, self.location, *tokens)

    # After the walk.

    def _check_reference_loops(self) -> None:
        """Refuse a schema that applies to an instance only if it applies to it already.

        Colours a graph whose edges keep to one instance; an edge to a schema on the path is a loop.
        """
        edges: dict[_Spot, tuple[Location, list[_Spot]]] = {}
        for schema, location, resource, below, around in self.in_place():
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
        if not self.is_known(schema, around):
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
