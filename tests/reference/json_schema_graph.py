"""The schema graph as alternatives of conjunctions of simple nodes.

Idea: at an instance location a conjunction of nodes applies. Taking ALL_OF apart and choosing
branches of ANY_OF (and entries of ENUM) gives a finite list of *cases*; a value is valid iff it is
valid under one of them. A case asks of each type its own questions: a number set, a string term,
item conjunctions by position, member conjunctions by key.

Cost: exponential in the ANY_OF nodes of one location.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from .flat import FlatIr, Node
from .json_number import Bound, NumberSet
from .regular import Lowering, ReferenceLimitError, Term

TYPE_BITS = {
    "null": 1,
    "boolean": 2,
    "integer": 4,
    "number": 8,
    "string": 16,
    "array": 32,
    "object": 64,
}
MAX_CASES = 4096
# Judged over small worlds by another judge (json_worlds.py), and not here.
UNJUDGED = frozenset((
    "CONTAINS", "DEPENDENT_REQUIRED", "MEMBER_NAMES", "NOT", "ONE_OF", "UNIQUE_ITEMS",
))  # fmt: skip

#: The nodes that apply at a location, in order of first mention, without repetition.
Conjunction = tuple[int, ...]


@dataclass
class Case:
    """A conjunction without ALL_OF and ANY_OF."""

    nodes: list[Node]
    strict: bool
    lowering: Lowering
    types: int = 127
    _members: dict[str, Conjunction | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in self.of("TYPES"):
            mask = node.mask | (4 if node.mask & 8 else 0)
            self.types &= mask
        for node in self.of("ENUM"):
            # structured entries have been made cases of their own
            mask = (node.literals & 1 and 1) | (node.literals & 6 and 2)
            mask |= (12 if node.numbers else 0) | (16 if node.strings else 0)
            self.types &= mask

    def of(self, kind: str) -> list[Node]:
        """The nodes of a kind."""
        return [n for n in self.nodes if n.kind == kind]

    def allows_type(self, name: str) -> bool:
        """Whether values of a type may be valid; "number" includes integers."""
        mask = 12 if name == "number" else TYPE_BITS[name]
        return bool(self.types & mask)

    def allows_word(self, name: str) -> bool:
        """Whether null, true or false is valid."""
        kind = "null" if name == "null" else "boolean"
        bit = {"null": 1, "false": 2, "true": 4}[name]
        return self.allows_type(kind) and all(n.literals & bit for n in self.of("ENUM"))

    def numbers(self) -> NumberSet:
        """The numbers that are valid (if the type is)."""
        values: frozenset[Fraction] | None = None
        for node in self.of("ENUM"):
            named = frozenset(map(Fraction, node.numbers))
            values = named if values is None else values & named
        bounds = self.of("NUMBER")
        lows = tuple(Bound(Fraction(n.low), n.low_exclusive) for n in bounds if n.low is not None)
        highs = tuple(
            Bound(Fraction(n.high), n.high_exclusive) for n in bounds if n.high is not None
        )
        divisors = tuple(Fraction(n.divisor) for n in self.of("MULTIPLE_OF"))
        return NumberSet(not self.types & 8, lows, highs, values, divisors)

    def string_choices(self) -> list[str] | None:
        """The strings that ENUM nodes name; None if there is no ENUM."""
        choices: list[str] | None = None
        for node in self.of("ENUM"):
            named = list(dict.fromkeys(node.strings))
            choices = named if choices is None else [s for s in choices if s in named]
        return choices

    def string_bounds(self) -> tuple[int, int | None]:
        """The least and the greatest number of code points."""
        return _range(self.of("STRING_LENGTH"))

    def string_terms(self) -> list[Term]:
        """The languages that the code points must be in."""
        return [self.lowering.term(n.expression) for n in self.of("STRING_LANGUAGE")]

    def item_counts(self) -> tuple[int, int | None]:
        """The least and the greatest number of items."""
        return _range(self.of("ITEM_COUNT"))

    def member_counts(self) -> tuple[int, int | None]:
        """The least and the greatest number of members."""
        return _range(self.of("MEMBER_COUNT"))

    def longest_prefix(self) -> int:
        """From this index on all items are alike."""
        return max((len(n.prefix) for n in self.of("ARRAY")), default=0)

    def item(self, index: int) -> Conjunction | None:
        """What applies to an item; None if there must be none."""
        arrays = self.of("ARRAY")
        found: list[int] = []
        covered = False
        for node in arrays:
            if index < len(node.prefix):
                found.append(node.prefix[index])
                covered = True
            elif node.rest is not None:
                found.append(node.rest)
                covered = True
        if self.strict and not covered and any(n.prefix for n in arrays):
            return None
        return _unique(found)

    def declared(self) -> list[str]:
        """The keys that OBJECT nodes name, in order."""
        return list(dict.fromkeys(k for n in self.of("OBJECT") for k in n.members))

    def required(self) -> list[str]:
        """The keys that must be there."""
        return list(dict.fromkeys(k for n in self.of("REQUIRED") for k in n.keys))

    def member(self, key: str | None) -> Conjunction | None:
        """What applies to a member; key None: one that no node names. None: must not be there."""
        objects = self.of("OBJECT")
        found: list[int] = []
        covered = False
        for node in objects:
            if key is not None and key in node.members:
                found.append(node.members[key])
                covered = True
            elif node.additional is not None:
                found.append(node.additional)
                covered = True
        if self.strict and not covered and any(n.members for n in objects):
            return None
        return _unique(found)


def _unique(ids: list[int]) -> Conjunction:
    return tuple(dict.fromkeys(ids))


def _range(nodes: list[Node]) -> tuple[int, int | None]:
    low = max((n.min for n in nodes), default=0)
    high = min((n.max for n in nodes if n.max is not None), default=None)
    return low, high


class Graph:
    """The cases of conjunctions, and the keys that a location names."""

    def __init__(self, ir: FlatIr, *, strict: bool) -> None:
        self._ir = ir
        self._strict = strict
        self._lowering = Lowering(ir, over_bytes=False)
        self._cases: dict[Conjunction, list[Case]] = {}

    def cases(self, conjunction: Conjunction) -> list[Case]:
        """The alternatives of a conjunction; none if it is never satisfied."""
        if conjunction not in self._cases:
            found = {}
            for nodes in self._product(conjunction, frozenset()):
                if len(found) > MAX_CASES:
                    raise ReferenceLimitError("too many alternatives at one location")
                found[tuple(map(id, nodes))] = Case(list(nodes), self._strict, self._lowering)
            self._cases[conjunction] = list(found.values())
        return self._cases[conjunction]

    def named_keys(self, conjunction: Conjunction) -> set[str]:
        """All keys that OBJECT and REQUIRED nodes at a location name, in whatever case."""
        named: set[str] = set()
        seen = set(conjunction)
        work = list(conjunction)
        while work:
            node = self._ir.nodes[work.pop()]
            if node.kind == "OBJECT":
                named.update(node.members)
            elif node.kind == "REQUIRED":
                named.update(node.keys)
            below = node.fields.get("items") or (node.nodes if node.kind == "ENUM" else ())
            work.extend(x for x in below if x not in seen)
            seen.update(below)
        return named

    def _product(
        self, ids: Conjunction | list[int], path: frozenset[int]
    ) -> Iterator[tuple[Node, ...]]:
        """Every way to satisfy all of some nodes, as tuples of simple nodes."""
        if not ids:
            yield ()
            return
        firsts = list(self._ways(ids[0], path))
        if firsts:
            for rest in self._product(ids[1:], path):
                for first in firsts:
                    yield (*first, *(n for n in rest if n not in first))

    def _ways(self, node_id: int, path: frozenset[int]) -> Iterator[tuple[Node, ...]]:
        node = self._ir.nodes[node_id]
        if node.kind in ("ALL_OF", "ANY_OF") and node_id in path:
            return  # needs itself: no way of least size goes through here
        path = path | {node_id}
        if node.kind in UNJUDGED or (node.kind == "OBJECT" and node.patterns):
            raise ReferenceLimitError(f"the reference does not judge {node.kind}")
        if node.kind == "NEVER":
            return
        if node.kind == "ANY":
            yield ()
        elif node.kind == "ALL_OF":
            yield from self._product(node.items, path)
        elif node.kind == "ANY_OF":
            for branches in self._branch_sets(node.items):
                yield from self._product(branches, path)
        elif node.kind == "ENUM":
            if node.literals or node.numbers or node.strings:
                yield (node,)
            for constant in node.nodes:
                yield from self._ways(constant, path)
        else:
            yield (node,)

    def _branch_sets(self, branches: list[int]) -> Iterator[list[int]]:
        """The sets of branches that may be meant to hold.

        One at a time is enough, except where strictness closes a location over the branches that
        hold: there two valid branches together allow the keys of both.
        """
        naming = [b for b in branches if self._strict and self._names(b)]
        for branch in branches:
            yield [branch]
        for size in range(2, len(naming) + 1):
            for chosen in itertools.combinations(naming, size):
                yield list(chosen)

    def _names(self, node_id: int) -> bool:
        """Whether a branch names members or prefix items (at its own location)."""
        seen = {node_id}
        work = [node_id]
        while work:
            node = self._ir.nodes[work.pop()]
            if (node.kind == "OBJECT" and node.members) or (node.kind == "ARRAY" and node.prefix):
                return True
            below = node.fields.get("items") or (node.nodes if node.kind == "ENUM" else ())
            work.extend(x for x in below if x not in seen)
            seen.update(below)
        return False
