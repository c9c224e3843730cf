r"""``^`` and ``$`` anywhere, repetitions included, turned into plain nodes.

Idea: for every node keep up to four plain nodes, by two flags: START, the match must begin where
the text begins, and END, it must end where the text ends. ``^`` is the empty string under START,
``$`` the empty string under END. Joining two nodes, a START on the right (an END on the left) can
only hold if the other side is empty there, so ``a^b`` has no match, ``a?^b`` is ``b`` under START.
The rules for a repetition follow from the same: one START iteration may come first, one END
iteration last, and iterations that a minimum asks for may be empty where the flags allow it.
Cost: linear for a bounded number of anchors per sequence; four plain nodes per node at most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import ast
from .ast import EMPTY, Alternation, Concat, Edge, Node, Repeat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .analysis import Analysis

Variants = tuple["Node | None", "Node | None", "Node | None", "Node | None"]
START, END = 1, 2


def resolve(root: Node, analysis: Analysis) -> Variants:
    """Return the plain nodes of a tree whose only assertions are text anchors.

    Args:
        root: The tree.
        analysis: Facts about plain nodes.

    Returns:
        The node (or None: no match) for each sum of the flags START and END.
    """

    def visit(node: Node, values: Sequence[Variants]) -> Variants:
        if isinstance(node, Edge):
            return (None, None, EMPTY, None) if not node.behind else (None, EMPTY, None, None)
        below = ast.children(node)
        if all(
            _is_plain(value) and value[0] is child
            for child, value in zip(below, values, strict=True)
        ):
            return (node, None, None, None)
        if isinstance(node, Concat):
            return _join(values, analysis)
        if isinstance(node, Alternation):
            return _gather([[value[flags] for value in values] for flags in range(4)])
        if isinstance(node, Repeat):
            return _repeat(values[0], node.minimum, node.maximum, analysis)
        raise AssertionError("only text anchors can be resolved here")

    return ast.fold(root, visit, {})


def _is_plain(variants: Variants) -> bool:
    return variants[0] is not None and variants[1:] == (None, None, None)


def _gather(options: Sequence[Sequence[Node | None]]) -> Variants:
    merged: list[Node | None] = []
    for group in options:
        known = [node for node in group if node is not None and not ast.is_never(node)]
        merged.append(ast.alternation(known) if known else None)
    return merged[0], merged[1], merged[2], merged[3]


def _join(values: Sequence[Variants], analysis: Analysis) -> Variants:
    """Join the items of a sequence; runs of plain items are joined in one step."""
    result: Variants = (EMPTY, None, None, None)
    run: list[Node] = []
    for value in values:
        if _is_plain(value):
            run.append(value[0] or EMPTY)
            continue
        if run:
            result = _join_two(result, (ast.concat(run), None, None, None), analysis)
            run = []
        result = _join_two(result, value, analysis)
    if run:
        result = _join_two(result, (ast.concat(run), None, None, None), analysis)
    return result


def _join_two(left: Variants, right: Variants, analysis: Analysis) -> Variants:
    out: list[list[Node | None]] = [[], [], [], []]
    for i, a in enumerate(left):
        if a is None:
            continue
        for j, b in enumerate(right):
            if b is None:
                continue
            end_in_the_middle, start_in_the_middle = i & END, j & START
            if not end_in_the_middle and not start_in_the_middle:
                out[i | j].append(ast.concat((a, b)))
            elif end_in_the_middle and start_in_the_middle:
                if analysis.nullable(a) and analysis.nullable(b):
                    out[START | END].append(EMPTY)
            elif end_in_the_middle:
                if analysis.nullable(b):
                    out[i].append(a)
            elif analysis.nullable(a):
                out[j].append(b)
    return _gather(out)


def _repeat(body: Variants, minimum: int, maximum: int | None, analysis: Analysis) -> Variants:
    plain, start, end, both = body
    empty_plain, empty_start, empty_end, empty_both = (
        node is not None and analysis.nullable(node) for node in body
    )

    def inner(others: int, *, padded: bool) -> Node | None:
        """Plain iterations beside others; padded: missing ones may be empty at an edge."""
        if maximum is not None and maximum < others:
            return None
        low = 0 if padded else max(0, minimum - others)
        if plain is None:
            return EMPTY if low == 0 else None
        return ast.repeat(plain, low, None if maximum is None else maximum - others)

    def sequence(*items: Node | None) -> Node | None:
        known = [item for item in items if item is not None]
        return ast.concat(known) if len(known) == len(items) else None

    whole: list[Node | None] = []
    if start is not None and end is not None:
        whole.append(sequence(start, inner(2, padded=empty_start or empty_end), end))
    if both is not None:
        if minimum <= 1 or empty_plain or empty_start or empty_end:
            whole.append(both)
        elif empty_both:
            whole.append(EMPTY)
    return _gather(
        [
            [inner(0, padded=False)],
            [sequence(start, inner(1, padded=empty_start))] if start is not None else [],
            [sequence(inner(1, padded=empty_end), end)] if end is not None else [],
            whole,
        ]
    )
