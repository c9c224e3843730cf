"""Facts about plain nodes (without assertions): nullable, lengths, first and last characters.

Idea: each fact is one bottom-up fold whose results are kept, so that asking for many nodes of one
tree stays linear. For ``Intersect`` and ``Complement`` nullability is exact, the lengths are bounds
and the character sets too large rather than too small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import ast, charset
from .ast import Alternation, Chars, Complement, Concat, Intersect, Node, Repeat, Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .charset import CharRanges

Lengths = tuple[int, "int | None"]


class Analysis:
    """Memo of the facts for the nodes of one pattern."""

    def __init__(self) -> None:
        self._nullable: dict[int, tuple[Node, bool]] = {}
        self._lengths: dict[int, tuple[Node, Lengths]] = {}
        self._first: dict[int, tuple[Node, CharRanges]] = {}
        self._last: dict[int, tuple[Node, CharRanges]] = {}

    def nullable(self, node: Node) -> bool:
        """Tell whether the empty string matches."""
        return ast.fold(node, _nullable, self._nullable)

    def min_length(self, node: Node) -> int:
        """Return a length that no match is shorter than."""
        return ast.fold(node, _lengths, self._lengths)[0]

    def max_length(self, node: Node) -> int | None:
        """Return a length that no match is longer than (None: no bound); assertions count 0."""
        return ast.fold(node, _lengths, self._lengths)[1]

    def first(self, node: Node) -> CharRanges:
        """Return a set that holds the first character of every match."""

        def visit(part: Node, values: Sequence[CharRanges]) -> CharRanges:
            return self._edge_set(part, values, first=True)

        return ast.fold(node, visit, self._first)

    def last(self, node: Node) -> CharRanges:
        """Return a set that holds the last character of every match."""

        def visit(part: Node, values: Sequence[CharRanges]) -> CharRanges:
            return self._edge_set(part, values, first=False)

        return ast.fold(node, visit, self._last)

    def _edge_set(self, node: Node, values: Sequence[CharRanges], *, first: bool) -> CharRanges:
        if isinstance(node, Text):
            if not node.value:
                return charset.NONE
            code_point = ord(node.value[0 if first else -1])
            return ((code_point, code_point),)
        if isinstance(node, Chars):
            return node.ranges
        if isinstance(node, Concat):
            order = range(len(values)) if first else reversed(range(len(values)))
            reachable: list[CharRanges] = []
            for i in order:
                reachable.append(values[i])
                if not self.nullable(node.items[i]):
                    break
            return charset.union(*reachable)
        if isinstance(node, Alternation):
            return charset.union(*values)
        if isinstance(node, Repeat):
            return values[0]
        if isinstance(node, Intersect):
            result = charset.ALL
            for ranges in values:
                result = charset.intersection(result, ranges)
            return result
        return charset.ALL


def _nullable(node: Node, values: Sequence[bool]) -> bool:
    if isinstance(node, Text):
        return not node.value
    if isinstance(node, (Concat, Intersect)):
        return all(values)
    if isinstance(node, Alternation):
        return any(values)
    if isinstance(node, Repeat):
        return node.minimum == 0 or values[0]
    if isinstance(node, Complement):
        return not values[0]
    return False


def _lengths(node: Node, values: Sequence[Lengths]) -> Lengths:
    if isinstance(node, Text):
        return len(node.value), len(node.value)
    if isinstance(node, Chars):
        return 1, 1
    if isinstance(node, Concat):
        highs = [high for _, high in values]
        return sum(low for low, _ in values), _total(highs)
    if isinstance(node, Alternation):
        known = [high for _, high in values if high is not None]
        longest = max(known) if len(known) == len(values) else None
        return min(low for low, _ in values), longest
    if isinstance(node, Repeat):
        low, high = values[0]
        if high == 0:
            return 0, 0
        longest = None if high is None or node.maximum is None else high * node.maximum
        return low * node.minimum, longest
    if isinstance(node, Intersect):
        known = [high for _, high in values if high is not None]
        return max(low for low, _ in values), min(known) if known else None
    return 0, None if isinstance(node, Complement) else 0


def _total(highs: list[int | None]) -> int | None:
    known = [high for high in highs if high is not None]
    return sum(known) if len(known) == len(highs) else None
