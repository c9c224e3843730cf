r"""Restrict a plain node to its non-empty matches that begin (or end) with a character of a set.

Idea: where the node's shape allows it the set is intersected into its first (last) class, so that
``\bfoo`` needs no automata product; else the node is intersected with ``set . any text``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import ast, charset
from .ast import ANY_TEXT, Alternation, Concat, Node, Repeat

if TYPE_CHECKING:
    from .analysis import Analysis
    from .charset import CharRanges

_MAX_DEPTH = 20


class Confiner:
    """The restriction, for the nodes of one pattern."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis

    def confine(
        self, node: Node, ranges: CharRanges, *, at_end: bool, depth: int = 0
    ) -> Node | None:
        """Return the restricted node, or None where nothing is left.

        Args:
            node: A plain node.
            ranges: The set.
            at_end: Restrict the last character, else the first one.
            depth: How far it has descended.
        """
        analysis = self._analysis
        possible = analysis.last(node) if at_end else analysis.first(node)
        shared = charset.intersection(possible, ranges)
        if not shared:
            return None
        if shared == possible and not analysis.nullable(node):
            return node
        if ast.single_set(node) is not None:
            return ast.chars(shared)
        if depth < _MAX_DEPTH:
            found = self._descend(node, ranges, at_end, depth + 1)
            if found is not None:
                return found
        pair = (ANY_TEXT, ast.chars(shared)) if at_end else (ast.chars(shared), ANY_TEXT)
        return ast.intersect(node, ast.concat(pair))

    def _descend(self, node: Node, ranges: CharRanges, at_end: bool, depth: int) -> Node | None:
        r"""Restrict an inner node instead; None where that is not possible."""
        nullable = self._analysis.nullable
        if isinstance(node, Repeat) and not nullable(node.body):
            part = self.confine(node.body, ranges, at_end=at_end, depth=depth)
            high = None if node.maximum is None else node.maximum - 1
            rest = ast.repeat(node.body, max(0, node.minimum - 1), high)
            if part is None:
                return None
            return ast.concat((rest, part) if at_end else (part, rest))
        if isinstance(node, Concat):
            at = -1 if at_end else 0
            if nullable(node.items[at]):
                return None
            part = self.confine(node.items[at], ranges, at_end=at_end, depth=depth)
            if part is None:
                return None
            rest_items = node.items[:-1] if at_end else node.items[1:]
            return ast.concat((*rest_items, part) if at_end else (part, *rest_items))
        if isinstance(node, Alternation):
            parts = (self.confine(o, ranges, at_end=at_end, depth=depth) for o in node.options)
            return ast.alternation(part for part in parts if part is not None)
        return None
