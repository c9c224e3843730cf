"""The one way to make IR: a builder that writes the flat buffer of ``maskwright.ir.format``.

Idea: front-ends call one method per expression or schema node and get an id back; the record goes
straight into the word pool, nothing is kept as objects, and ``finish`` only joins the pools.
Cost: a few list and dict operations per call; no recursion. Arguments are checked cheaply, and a
wrong one is a programming error of the front-end (ValueError), never a user's. The core, and the
reader, validate the buffer in full.
"""

from __future__ import annotations

import sys
from array import array

from . import format as f
from ._expr_builder import ExpressionBuilder
from ._node_builder import NodeBuilder

__all__ = ["Builder"]


class Builder(ExpressionBuilder, NodeBuilder):
    """Writes expressions, rules and schema nodes; all methods return integer ids.

    Example:
        >>> builder = Builder()
        >>> root = builder.rule("root")
        >>> builder.define(root, builder.repeat(builder.literal(b"ab"), 0, None))
        >>> buffer = builder.finish(root)
        >>> buffer[:4]
        b'MWIR'
    """

    def finish(self, root: int) -> bytes:
        """Return the buffer, with rule ``root`` as the start symbol.

        Raises:
            ValueError: A rule or a reserved node is undefined, or a number is beyond 32 bits.
        """
        if not 0 <= root < len(self._rule_exprs):
            raise ValueError(f"unknown rule id {root}")
        if f.NONE in self._rule_exprs:
            names = list(self._rule_names)
            raise ValueError(f"rule {names[self._rule_exprs.index(f.NONE)]!r} is not defined")
        if f.NONE in self._node_offsets:
            raise ValueError(f"node id {self._node_offsets.index(f.NONE)} is reserved, not defined")
        rules: list[int] = []
        for name, expr in zip(self._rule_names, self._rule_exprs, strict=True):
            rules += (expr, *self._text_ref(name))
        counts = (len(self._expr_offsets), len(self._rule_exprs), len(self._node_offsets))
        pools = (len(self._words), len(self._bytes))
        header = (f.MAGIC, f.VERSION, *counts, *pools, root, 0, 0, 0, 0)
        try:
            words = array(
                f.WORD_TYPE,
                [*header, *self._expr_offsets, *self._node_offsets, *rules, *self._words],
            )
        except (OverflowError, TypeError) as error:
            raise ValueError(
                f"a number in the IR is not an unsigned 32-bit word: {error}"
            ) from None
        if sys.byteorder == "big":
            words.byteswap()
        return words.tobytes() + bytes(self._bytes)
