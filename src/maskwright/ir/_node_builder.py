"""Builder part 2: schema nodes of the JSON graph.

Idea: as in part 1, one record per node; here cycles are allowed, through ``reserve`` and
``define_node``. Simple nodes are shared through a dict. As in JSON Schema, an assertion constrains
only the values of its own type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from . import format as f
from ._pools import Pools, check_bounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def _not_decimal(text: str) -> str:
    return f"{text!r} is not a normalised plain decimal"


def _decimal(text: str) -> str:
    if not f.is_decimal(text):
        raise ValueError(_not_decimal(text))
    return text


def _unique(members: Mapping[str, int] | Iterable[tuple[str, int]]) -> Mapping[str, int]:
    if isinstance(members, dict):
        return members
    pairs: list[tuple[str, int]] = list(cast("Iterable[tuple[str, int]]", members))
    if len(dict(pairs)) != len(pairs):
        raise ValueError("object() names a key twice")
    return dict(pairs)


class NodeBuilder(Pools):
    """Schema nodes."""

    def _node(self, record: Iterable[int]) -> int:
        offsets = self._node_offsets
        offsets.append(len(self._words))
        self._words += record
        return len(offsets) - 1

    def _shared_node(self, record: tuple[int, ...]) -> int:
        node = self._shared_nodes.get(record)
        if node is None:
            node = self._shared_nodes[record] = self._node(record)
        return node

    def any(self) -> int:
        """Any value."""
        return self._shared_node((f.NODE_ANY,))

    def never(self) -> int:
        """No value."""
        return self._shared_node((f.NODE_NEVER,))

    def types(self, mask: int) -> int:
        """Any value of the types in the mask (``TYPE_*`` of ``maskwright.ir.format``)."""
        if not 0 <= mask <= f.TYPE_ALL:
            raise ValueError(f"type mask {mask} is outside 0..{f.TYPE_ALL}")
        return self._shared_node((f.NODE_TYPES, mask))

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
            refs[:2] = self._text_ref(_decimal(lo))
        if hi is not None:
            flags |= f.NUMBER_HAS_HI | (f.NUMBER_HI_EXCLUSIVE if hi_exclusive else 0)
            refs[2:] = self._text_ref(_decimal(hi))
        return self._shared_node((f.NODE_NUMBER, flags, *refs))

    def string_length(self, minimum: int, maximum: int | None) -> int:
        """Bounds on the length of strings in code points; None: no upper bound."""
        return self._shared_node((f.NODE_STRING_LENGTH, minimum, check_bounds(minimum, maximum)))

    def string_language(self, expr: int) -> int:
        """Strings whose decoded code points the regular expression matches as a whole."""
        self._check_exprs((expr,))
        return self._shared_node((f.NODE_STRING_LANGUAGE, expr))

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
        node_list = list(nodes)
        self._check_nodes(node_list)
        decimals = numbers and [*dict.fromkeys(numbers)]
        if not all(map(f.is_decimal, decimals)):
            wrong = next(text for text in decimals if not f.is_decimal(text))
            raise ValueError(_not_decimal(wrong))
        record = [f.NODE_ENUM, literals]
        self._add_texts(record, decimals)
        self._add_texts(record, strings)
        record.append(len(node_list))
        record += node_list
        return self._node(record)

    def array(self, prefix: Iterable[int], rest: int | None) -> int:
        """Arrays: a schema per leading item, and one for the rest (None: ``items`` absent)."""
        ids = list(prefix)
        self._check_nodes(ids if rest is None else [*ids, rest])
        return self._node((f.NODE_ARRAY, len(ids), *ids, f.NONE if rest is None else rest))

    def item_count(self, minimum: int, maximum: int | None) -> int:
        """Bounds on the number of items of arrays; None: no upper bound."""
        return self._shared_node((f.NODE_ITEM_COUNT, minimum, check_bounds(minimum, maximum)))

    def object(
        self,
        members: Mapping[str, int] | Iterable[tuple[str, int]],
        additional: int | None,
        patterns: Iterable[tuple[int, int]] = (),
    ) -> int:
        """Objects: a schema per named member, in order, per key pattern, and for all the others.

        Args:
            members: Decoded key and node of each named member; keys are unique.
            additional: Node of the members that no name and no pattern matches; None:
                ``additionalProperties`` absent.
            patterns: Regular expression (an expression id that matches whole decoded keys) and
                node of each key pattern. A member is judged by its name and all its patterns.
        """
        named, rules = _unique(members), list(patterns)
        ids = [*named.values(), *(node for _, node in rules)]
        self._check_nodes(ids if additional is None else [*ids, additional])
        self._check_exprs([expr for expr, _ in rules])
        record = [f.NODE_OBJECT, len(named)]
        text_refs = self._text_refs
        for key, node in named.items():
            record += text_refs.get(key) or self._text_ref(key)
            record.append(node)
        record.append(len(rules))
        for rule in rules:
            record += rule
        record.append(f.NONE if additional is None else additional)
        return self._node(record)

    def required(self, keys: Iterable[str]) -> int:
        """Objects must have each of the keys; duplicates are dropped."""
        record = [f.NODE_REQUIRED]
        self._add_texts(record, keys)
        return self._node(record)

    def member_count(self, minimum: int, maximum: int | None) -> int:
        """Bounds on the number of members of objects; None: no upper bound."""
        return self._shared_node((f.NODE_MEMBER_COUNT, minimum, check_bounds(minimum, maximum)))

    def all_of(self, ids: Iterable[int]) -> int:
        """Values that all nodes accept; of none, any value; of one, that node."""
        node_list = list(ids)
        self._check_nodes(node_list)
        if len(node_list) < 2:
            return node_list[0] if node_list else self.any()
        return self._shared_node((f.NODE_ALL_OF, len(node_list), *node_list))

    def any_of(self, ids: Iterable[int]) -> int:
        """Values that some node accepts; of none, no value; of one, that node."""
        node_list = list(ids)
        self._check_nodes(node_list)
        if len(node_list) < 2:
            return node_list[0] if node_list else self.never()
        return self._node((f.NODE_ANY_OF, len(node_list), *node_list))

    def one_of(self, ids: Iterable[int]) -> int:
        """Values that exactly one node accepts; of none, no value; of one, that node."""
        node_list = list(ids)
        self._check_nodes(node_list)
        if len(node_list) < 2:
            return node_list[0] if node_list else self.never()
        return self._node((f.NODE_ONE_OF, len(node_list), *node_list))

    def negation(self, node: int) -> int:
        """Values that the node does not accept."""
        self._check_nodes((node,))
        return self._shared_node((f.NODE_NOT, node))

    def multiple_of(self, divisor: str) -> int:
        """Numbers that are an integer times the divisor, a positive normalised plain decimal."""
        if divisor.startswith("-") or divisor == "0":
            raise ValueError(f"divisor {divisor!r} is not positive")
        return self._shared_node((f.NODE_MULTIPLE_OF, *self._text_ref(_decimal(divisor))))

    def contains(self, node: int, minimum: int, maximum: int | None) -> int:
        """Arrays of which so many items satisfy the node; None: no upper bound."""
        self._check_nodes((node,))
        return self._shared_node((f.NODE_CONTAINS, node, minimum, check_bounds(minimum, maximum)))

    def unique_items(self) -> int:
        """Arrays without two equal items."""
        return self._node((f.NODE_UNIQUE_ITEMS,))

    def member_names(self, node: int) -> int:
        """Objects whose keys, as strings, all satisfy the node."""
        self._check_nodes((node,))
        return self._shared_node((f.NODE_MEMBER_NAMES, node))

    def dependent_required(self, key: str, needed: Iterable[str]) -> int:
        """Objects that have each of the needed keys if they have ``key``."""
        record = [f.NODE_DEPENDENT_REQUIRED, *self._text_ref(key)]
        self._add_texts(record, needed)
        return self._node(record)

    def reserve(self) -> int:
        """Return a node id that may be used at once and is given its meaning later."""
        self._node_offsets.append(f.NONE)
        return len(self._node_offsets) - 1

    def define_node(self, node: int, target: int) -> None:
        """Make a reserved node an alias of ``target``, once."""
        self._check_nodes((node, target))
        if self._node_offsets[node] != f.NONE:
            raise ValueError(f"node id {node} is not reserved, or defined twice")
        self._node_offsets[node] = len(self._words)
        self._words += (f.NODE_ALL_OF, 1, target)
