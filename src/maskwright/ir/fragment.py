"""Expressions that many grammars hold, written once and copied into each builder.

Idea: a record names other expressions and bytes by number, so a copy adds two offsets to those
words and nothing to the others. Which words those are is found out once per fragment.
Cost: some vector operations over the words; no work per expression.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import format as f

if TYPE_CHECKING:
    from collections.abc import Callable

    from .builder import Builder

__all__ = ["Fragment"]

_LISTS = (f.EXPR_SEQUENCE, f.EXPR_CHOICE, f.EXPR_INTERSECT)
_FIRST = (f.EXPR_REPEAT, f.EXPR_COMPLEMENT)
_PLAIN = (f.EXPR_EMPTY, f.EXPR_CLASS)


class Fragment:
    """What a function writes into a builder; expressions only, without rules and tokens.

    Args:
        write: Writes the expressions, and returns the one that stands for all of them.
        builder: An empty builder.
    """

    def __init__(self, write: Callable[[Builder], int], builder: Builder) -> None:
        self.root = write(builder)
        words, offsets, data = builder.expressions()
        self.data = data
        self._words = np.array(words, dtype=np.int64)
        self._offsets = np.array(offsets, dtype=np.int64)
        self._names_expr = np.zeros(len(words), dtype=np.int64)
        self._names_bytes = np.zeros(len(words), dtype=np.int64)
        for at in offsets:
            kind = words[at]
            if kind in _LISTS:
                self._names_expr[at + 2 : at + 2 + words[at + 1]] = 1
            elif kind in _FIRST:
                self._names_expr[at + 1] = 1
            elif kind == f.EXPR_LITERAL:
                self._names_bytes[at + 1] = 1
            elif kind == f.EXPR_LITERAL_SET:
                self._names_bytes[at + 2 : at + 2 + 2 * words[at + 1] : 2] = 1
            elif kind not in _PLAIN:
                raise ValueError(f"an expression of kind {kind} cannot be part of a fragment")

    def moved(self, expr: int, word: int, byte: int) -> tuple[list[int], list[int]]:
        """Return words and offsets of a copy whose parts start at these numbers."""
        words = self._words + self._names_expr * expr + self._names_bytes * byte
        return words.tolist(), (self._offsets + word).tolist()
