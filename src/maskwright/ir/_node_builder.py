"""Builder part 1: schema nodes of the JSON graph.

Idea: one record per node; cycles are allowed, through ``reserve`` and ``define_node``. Equal simple
nodes are shared. As in JSON Schema, an assertion constrains only the values of its own type. Nodes
that most schemas have are written by the native builder, the others here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._native import IrBuilder
from . import format as f
from .bounds import check_bounds

if TYPE_CHECKING:
    from collections.abc import Iterable


def _not_decimal(text: str) -> str:
    return f"{text!r} is not a normalised plain decimal"


def _decimal(text: str) -> str:
    if not f.is_decimal(text):
        raise ValueError(_not_decimal(text))
    return text


class NodeBuilder(IrBuilder):
    """Schema nodes."""

    __slots__ = ()

    def number(
        self,
        lo: str | None = None,
        hi: str | None = None,
        lo_exclusive: bool = False,
        hi_exclusive: bool = False,
    ) -> int:
        """Bounds on numbers, as normalised plain decimals such as ``"-12.5"``."""
        flags, refs = 0, [0, 0, 0, 0]
        if lo is not None:
            flags |= f.NUMBER_HAS_LO | (f.NUMBER_LO_EXCLUSIVE if lo_exclusive else 0)
            refs[:2] = self.text_ref(_decimal(lo))
        if hi is not None:
            flags |= f.NUMBER_HAS_HI | (f.NUMBER_HI_EXCLUSIVE if hi_exclusive else 0)
            refs[2:] = self.text_ref(_decimal(hi))
        return self.share_node((f.NODE_NUMBER, flags, *refs))

    def string_length(self, minimum: int, maximum: int | None) -> int:
        """Bounds on the length of strings in code points; None: no upper bound."""
        return self.share_node((f.NODE_STRING_LENGTH, minimum, check_bounds(minimum, maximum)))

    def string_language(self, expr: int) -> int:
        """Strings whose decoded code points the regular expression matches as a whole."""
        self.check_exprs((expr,))
        return self.share_node((f.NODE_STRING_LANGUAGE, expr))

    def enum(
        self,
        *,
        literals: int = 0,
        numbers: Iterable[str] = (),
        strings: Iterable[str] = (),
        nodes: Iterable[int] = (),
    ) -> int:
        """Any one of the values.

        Args:
            literals: Mask of null (1), false (2) and true (4).
            numbers: Normalised plain decimals; equal in value, so 1 stands for 1.0 too.
            strings: The strings, decoded.
            nodes: Structured constants, each a node that accepts exactly that constant.
        """
        if not 0 <= literals <= f.LITERAL_NULL | f.LITERAL_FALSE | f.LITERAL_TRUE:
            raise ValueError(f"literal mask {literals} is outside 0..7")
        decimals = numbers and [*dict.fromkeys(numbers)]
        if not all(map(f.is_decimal, decimals)):
            wrong = next(text for text in decimals if not f.is_decimal(text))
            raise ValueError(_not_decimal(wrong))
        return self.enum_node(literals, decimals, strings, nodes)

    def item_count(self, minimum: int, maximum: int | None) -> int:
        """Bounds on the number of items of arrays; None: no upper bound."""
        return self.share_node((f.NODE_ITEM_COUNT, minimum, check_bounds(minimum, maximum)))

    def member_count(self, minimum: int, maximum: int | None) -> int:
        """Bounds on the number of members of objects; None: no upper bound."""
        return self.share_node((f.NODE_MEMBER_COUNT, minimum, check_bounds(minimum, maximum)))

    def negation(self, node: int) -> int:
        """Values that the node does not accept."""
        self.check_nodes((node,))
        return self.share_node((f.NODE_NOT, node))

    def multiple_of(self, divisor: str) -> int:
        """Numbers that are an integer times the divisor, a positive normalised plain decimal."""
        if divisor.startswith("-") or divisor == "0":
            raise ValueError(f"divisor {divisor!r} is not positive")
        return self.share_node((f.NODE_MULTIPLE_OF, *self.text_ref(_decimal(divisor))))

    def contains(self, node: int, minimum: int, maximum: int | None) -> int:
        """Arrays of which so many items satisfy the node; None: no upper bound."""
        self.check_nodes((node,))
        return self.share_node((f.NODE_CONTAINS, node, minimum, check_bounds(minimum, maximum)))

    def unique_items(self) -> int:
        """Arrays without two equal items."""
        return self.add_node((f.NODE_UNIQUE_ITEMS,))

    def member_names(self, node: int) -> int:
        """Objects whose keys, as strings, all satisfy the node."""
        self.check_nodes((node,))
        return self.share_node((f.NODE_MEMBER_NAMES, node))

    def dependent_required(self, key: str, needed: Iterable[str]) -> int:
        """Objects that have each of the needed keys if they have ``key``."""
        return self.add_node(
            (f.NODE_DEPENDENT_REQUIRED, *self.text_ref(key), *self.counted_texts(needed))
        )
