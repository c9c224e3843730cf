"""Builder part 2: expressions of the byte-level language.

Idea: each method appends one record and returns its id; ids refer only to what exists, so that the
expression graph is acyclic except through rules. Equal small records are shared.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from . import format as f
from ._node_builder import NodeBuilder
from .bounds import check_bounds
from .ranges import normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class ExpressionBuilder(NodeBuilder):
    """Expressions."""

    __slots__ = ()

    def empty(self) -> int:
        """The empty string."""
        return self.share_expr((f.EXPR_EMPTY,))

    def literal(self, data: bytes) -> int:
        """Exactly these bytes; no bytes is the empty string."""
        if not data:
            return self.empty()
        return self.share_expr((f.EXPR_LITERAL, *self.bytes_ref(data)))

    def char_class(self, ranges: Iterable[tuple[int, int]]) -> int:
        """One code point of any of the inclusive ranges.

        The ranges are sorted and merged, surrogates dropped; what is left empty never matches.
        """
        normal = normalise(ranges)
        return self.share_expr((f.EXPR_CLASS, len(normal), *chain.from_iterable(normal)))

    def sequence(self, ids: Iterable[int]) -> int:
        """One expression after the other; of none, the empty string; of one, itself."""
        ids = list(ids)
        self.check_exprs(ids)
        if len(ids) < 2:
            return ids[0] if ids else self.empty()
        return self.add_expr((f.EXPR_SEQUENCE, len(ids), *ids))

    def choice(self, ids: Iterable[int]) -> int:
        """Any one of the expressions; of none, the class that never matches; of one, itself."""
        ids = list(ids)
        self.check_exprs(ids)
        if len(ids) < 2:
            return ids[0] if ids else self.char_class(())
        return self.add_expr((f.EXPR_CHOICE, len(ids), *ids))

    def repeat(self, expr: int, minimum: int, maximum: int | None) -> int:
        """``minimum`` to ``maximum`` times (None: without bound), kept as a counter.

        Exactly once is the expression itself, exactly zero times the empty string.
        """
        self.check_exprs((expr,))
        high = check_bounds(minimum, maximum)
        if minimum == high and high <= 1:
            return expr if high else self.empty()
        return self.add_expr((f.EXPR_REPEAT, expr, minimum, high))

    def ref(self, rule: int) -> int:
        """What the rule matches; the rule may be defined later."""
        self.check_rule(rule)
        return self.share_expr((f.EXPR_REF, rule))

    def literal_set(self, items: Iterable[bytes]) -> int:
        """Any one of many byte strings, kept implicit; duplicates are dropped."""
        unique = list(dict.fromkeys(items))
        if len(unique) < 2:
            return self.literal(unique[0]) if unique else self.char_class(())
        return self.add_expr((f.EXPR_LITERAL_SET, *self._refs(unique)))

    def intersect(self, ids: Iterable[int]) -> int:
        """The texts that all expressions match; regular operands only."""
        ids = list(ids)
        self.check_exprs(ids)
        if not ids:
            raise ValueError("intersect() needs an operand")
        if len(ids) == 1:
            return ids[0]
        return self.add_expr((f.EXPR_INTERSECT, len(ids), *ids))

    def complement(self, expr: int) -> int:
        """The strings of code points that the expression does not match; a regular operand only."""
        self.check_exprs((expr,))
        return self.add_expr((f.EXPR_COMPLEMENT, expr))

    def text_until(self, stops: Iterable[bytes], excludes: Iterable[bytes] = ()) -> int:
        """The shortest text that ends with a stop, the stop included, and contains no exclude."""
        stop_list, exclude_list = list(dict.fromkeys(stops)), list(dict.fromkeys(excludes))
        if not stop_list or b"" in stop_list or b"" in exclude_list:
            raise ValueError("text_until() needs a stop, and no stop or exclude may be empty")
        return self.add_expr((f.EXPR_TEXT_UNTIL, *self._refs(stop_list), *self._refs(exclude_list)))

    def token_set(self, ids: Iterable[int], *, exclude: bool = False) -> int:
        """One token of the ids, or of all but the ids; text never matches it."""
        tokens = sorted(set(ids))
        if tokens and not (tokens[0] >= 0 and tokens[-1] < f.NONE):
            raise ValueError("token ids must be in 0..2**32-2")
        return self.add_expr((f.EXPR_TOKEN_SET, int(exclude), len(tokens), *tokens))

    def _refs(self, items: Sequence[bytes]) -> list[int]:
        """Return the count and references of byte strings."""
        return [len(items), *chain.from_iterable(map(self.bytes_ref, items))]
