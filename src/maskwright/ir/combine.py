"""Joins several IR buffers into one: their concatenation, or their union.

Idea: each buffer is read, and what its rules reach is written again through one builder, children
first; ids move, names are made unique, and one new root rule refers to the roots. Schema nodes may
be cyclic: a node that is needed before it is written is reserved.
Cost: linear in the buffers, no recursion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import nodes as n
from .builder import Builder
from .reader import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["concatenate", "unite"]


def concatenate(buffers: Sequence[bytes]) -> bytes:
    """Return the IR of the texts of the buffers, one after the other.

    Args:
        buffers: IR buffers; at least one.

    Raises:
        MalformedIRError: A buffer is malformed.
    """
    return _combine(buffers, Builder.sequence)


def unite(buffers: Sequence[bytes]) -> bytes:
    """Return the IR of the texts of any of the buffers.

    Args:
        buffers: IR buffers; at least one.

    Raises:
        MalformedIRError: A buffer is malformed.
    """
    return _combine(buffers, Builder.choice)


def _combine(buffers: Sequence[bytes], join: Callable[[Builder, list[int]], int]) -> bytes:
    builder = Builder()
    names: set[str] = set()
    root = builder.rule(_unique("root", names))
    roots = [builder.ref(_Copier(builder, read(buffer), names).copy()) for buffer in buffers]
    builder.define(root, join(builder, roots))
    return builder.finish(root)


def _unique(name: str, taken: set[str]) -> str:
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}-{number}"
    taken.add(candidate)
    return candidate


class _Copier:
    """Writes one program into a builder."""

    def __init__(self, builder: Builder, program: n.Program, names: set[str]) -> None:
        self.builder = builder
        self.program = program
        self.rules = [builder.rule(_unique(rule.name, names)) for rule in program.rules]
        self.exprs: dict[int, int] = {}
        self.nodes: dict[int, int] = {}

    def copy(self) -> int:
        """Write all rules; returns the new id of the root rule."""
        # Expressions of schema strings hold no JSON, so no node is needed for them.
        json = [expr.node for expr in self.program.exprs if isinstance(expr, n.Json)]
        node_order = _post_order(json, lambda node: n.child_nodes(self.program.nodes[node]))
        self._copy_exprs(
            expr for node in node_order for expr in n.string_exprs(self.program.nodes[node])
        )
        for node in node_order:
            self._copy_node(node)
        self._copy_exprs(rule.expr for rule in self.program.rules)
        for new, rule in zip(self.rules, self.program.rules, strict=True):
            self.builder.define(new, self.exprs[rule.expr])
        return self.rules[self.program.root]

    def _copy_exprs(self, roots: Iterable[int]) -> None:
        exprs = self.program.exprs
        for expr in _post_order(roots, lambda expr: n.child_exprs(exprs[expr])):
            if expr not in self.exprs:
                self.exprs[expr] = self._expr(exprs[expr])

    def _expr(self, expr: n.Expr) -> int:
        builder, exprs = self.builder, self.exprs
        if isinstance(expr, n.Literal):
            return builder.literal(expr.data)
        if isinstance(expr, n.CharClass):
            return builder.char_class(expr.ranges)
        if isinstance(expr, n.Sequence):
            return builder.sequence(exprs[item] for item in expr.items)
        if isinstance(expr, n.Choice):
            return builder.choice(exprs[item] for item in expr.items)
        if isinstance(expr, n.Repeat):
            return builder.repeat(exprs[expr.body], expr.minimum, expr.maximum)
        if isinstance(expr, n.Ref):
            return builder.ref(self.rules[expr.rule])
        if isinstance(expr, n.LiteralSet):
            return builder.literal_set(expr.items)
        if isinstance(expr, n.Intersect):
            return builder.intersect(exprs[item] for item in expr.items)
        if isinstance(expr, n.Complement):
            return builder.complement(exprs[expr.body])
        if isinstance(expr, n.TextUntil):
            return builder.text_until(expr.stops, expr.excludes)
        if isinstance(expr, n.TokenSet):
            return builder.token_set(expr.ids, exclude=expr.exclude)
        return self._json(expr) if isinstance(expr, n.Json) else builder.empty()

    def _json(self, expr: n.Json) -> int:
        return self.builder.json(
            self.nodes[expr.node],
            any_order=expr.any_order,
            any_whitespace=expr.any_whitespace,
            strict=expr.strict,
            number_spelling=expr.number_spelling,
            max_whitespace=expr.max_whitespace,
            item_separator=expr.item_separator,
            key_separator=expr.key_separator,
        )

    def _copy_node(self, node: int) -> None:
        value = self.program.nodes[node]
        for child in n.child_nodes(value):
            if child not in self.nodes:  # a cycle leads back to it
                self.nodes[child] = self.builder.reserve()
        new = self._node(value)
        if node in self.nodes:
            self.builder.define_node(self.nodes[node], new)
        else:
            self.nodes[node] = new

    def _node(self, node: n.Node) -> int:
        builder, nodes = self.builder, self.nodes
        if isinstance(node, n.StringLanguage):
            return builder.string_language(self.exprs[node.expr])
        if isinstance(node, n.Enum):
            return builder.enum(
                literals=node.literals,
                numbers=node.numbers,
                strings=node.strings,
                nodes=[nodes[item] for item in node.nodes],
            )
        if isinstance(node, n.Array):
            rest = None if node.rest is None else nodes[node.rest]
            return builder.array([nodes[item] for item in node.prefix], rest)
        if isinstance(node, n.Object):
            members = [(key, nodes[child]) for key, child in node.members]
            others = None if node.additional is None else nodes[node.additional]
            patterns = [(self.exprs[expr], nodes[child]) for expr, child in node.patterns]
            return builder.object(members, others, patterns)
        if isinstance(node, n.AllOf):
            return builder.all_of([nodes[item] for item in node.items])
        if isinstance(node, n.AnyOf):
            return builder.any_of([nodes[item] for item in node.items])
        if isinstance(node, n.OneOf):
            return builder.one_of([nodes[item] for item in node.items])
        if isinstance(node, n.Not):
            return builder.negation(nodes[node.node])
        if isinstance(node, n.Contains):
            return builder.contains(nodes[node.node], node.minimum, node.maximum)
        if isinstance(node, n.MemberNames):
            return builder.member_names(nodes[node.node])
        return _leaf(builder, node)


def _leaf(builder: Builder, node: n.Node) -> int:
    """Write a node that refers to nothing."""
    if isinstance(node, n.Types):
        return builder.types(node.mask)
    if isinstance(node, n.Number):
        return builder.number(node.lo, node.hi, node.lo_exclusive, node.hi_exclusive)
    if isinstance(node, n.StringLength):
        return builder.string_length(node.minimum, node.maximum)
    if isinstance(node, n.ItemCount):
        return builder.item_count(node.minimum, node.maximum)
    if isinstance(node, n.MemberCount):
        return builder.member_count(node.minimum, node.maximum)
    if isinstance(node, n.Required):
        return builder.required(node.keys)
    if isinstance(node, n.MultipleOf):
        return builder.multiple_of(node.divisor)
    if isinstance(node, n.UniqueItems):
        return builder.unique_items()
    if isinstance(node, n.DependentRequired):
        return builder.dependent_required(node.key, node.needed)
    return builder.never() if isinstance(node, n.Never) else builder.any()


def _post_order(roots: Iterable[int], children: Callable[[int], tuple[int, ...]]) -> list[int]:
    """Return what the roots reach, children before parents where there is no cycle."""
    order: list[int] = []
    seen: set[int] = set()
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        stack: list[tuple[int, Iterator[int]]] = [(root, iter(children(root)))]
        while stack:
            current, rest = stack[-1]
            child = next(rest, None)
            if child is None:
                stack.pop()
                order.append(current)
            elif child not in seen:
                seen.add(child)
                stack.append((child, iter(children(child))))
    return order
