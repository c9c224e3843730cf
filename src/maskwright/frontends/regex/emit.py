"""Write a plain tree into the IR builder.

Idea: one bottom-up fold; a node object that is shared is written once. Texts are UTF-8 literals,
the texts of an alternation one literal set, repeats stay counters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import ast
from .ast import Alternation, Chars, Complement, Concat, Intersect, Node, Repeat, Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...ir import Builder


def emit(builder: Builder, root: Node) -> int:
    """Write the tree and return the id of its expression."""

    def visit(node: Node, ids: Sequence[int]) -> int:
        if isinstance(node, Text):
            return builder.literal(node.value.encode())
        if isinstance(node, Chars):
            return builder.char_class(node.ranges)
        if isinstance(node, Concat):
            return builder.sequence(ids)
        if isinstance(node, Alternation):
            return _alternation(builder, node, ids)
        if isinstance(node, Repeat):
            return builder.repeat(ids[0], node.minimum, node.maximum)
        if isinstance(node, Intersect):
            return builder.intersect(ids)
        if isinstance(node, Complement):
            return builder.complement(ids[0])
        raise AssertionError("assertions are resolved before")

    return ast.fold(root, visit, {})


def _alternation(builder: Builder, node: Alternation, ids: Sequence[int]) -> int:
    texts = [
        option.value.encode()
        for option in node.options
        if isinstance(option, Text) and option.value
    ]
    if len(texts) < 2:
        return builder.choice(ids)
    others = [
        expr
        for option, expr in zip(node.options, ids, strict=True)
        if not (isinstance(option, Text) and option.value)
    ]
    return builder.choice([builder.literal_set(texts), *others])
