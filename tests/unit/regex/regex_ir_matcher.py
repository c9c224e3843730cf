"""A naive matcher over the reading form of IR, written only from the meaning of each node.

For an expression and a start it computes the set of end positions, over code points. It shares no
code with the front-end, so that both must be wrong in the same way to hide a fault.
"""

from __future__ import annotations

import sys

from maskwright.frontends.regex import lower
from maskwright.ir import Builder, nodes
from maskwright.ir.reader import read

sys.setrecursionlimit(20_000)


class IrMatcher:
    """The language of one pattern."""

    def __init__(self, pattern: str, **options) -> None:
        builder = Builder()
        rule = builder.rule("root")
        builder.define(rule, lower(builder, pattern, **options))
        self.program = read(builder.finish(rule))
        self.root = self.program.rules[self.program.root].expr

    def accepts(self, text: str) -> bool:
        """Tell whether the whole text is in the language."""
        self._text = text
        self._memo: dict[tuple[int, int], frozenset[int]] = {}
        return len(text) in self._ends(self.root, 0)

    def _ends(self, expr: int, start: int) -> frozenset[int]:
        key = expr, start
        if key not in self._memo:
            self._memo[key] = frozenset(self._compute(self.program.exprs[expr], start))
        return self._memo[key]

    def _compute(self, node, start: int):
        text = self._text
        if isinstance(node, nodes.Empty):
            return {start}
        if isinstance(node, (nodes.Literal, nodes.LiteralSet)):
            items = node.items if isinstance(node, nodes.LiteralSet) else (node.data,)
            decoded = [item.decode() for item in items]
            return {start + len(item) for item in decoded if text.startswith(item, start)}
        if isinstance(node, nodes.CharClass):
            here = ord(text[start]) if start < len(text) else -1
            return {start + 1 for lo, hi in node.ranges if lo <= here <= hi}
        if isinstance(node, nodes.Sequence):
            ends = {start}
            for item in node.items:
                ends = {end for at in ends for end in self._ends(item, at)}
            return ends
        if isinstance(node, nodes.Choice):
            return {end for item in node.items for end in self._ends(item, start)}
        if isinstance(node, nodes.Repeat):
            return self._repeat(node, start)
        if isinstance(node, nodes.Intersect):
            return set.intersection(*(set(self._ends(item, start)) for item in node.items))
        if isinstance(node, nodes.Complement):
            return set(range(start, len(text) + 1)) - self._ends(node.body, start)
        raise AssertionError(f"a regular expression holds no {type(node).__name__}")

    def _repeat(self, node: nodes.Repeat, start: int):
        """Positions after each number of rounds, until the maximum or a state seen before."""
        ends, found, seen, rounds = frozenset({start}), set(), set(), 0
        while True:
            if rounds >= node.minimum:
                found |= ends
                if ends in seen:
                    return found
                seen.add(ends)
            if rounds == node.maximum or not ends:
                return found
            ends = frozenset(end for at in ends for end in self._ends(node.body, at))
            rounds += 1
