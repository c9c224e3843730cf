"""A naive validator over the schema nodes of IR: what the nodes mean, without automata or states.

It judges parsed JSON values (numbers as int or Decimal), recursively, and is not for strict mode.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from maskwright.ir import format as f
from maskwright.ir import nodes as n
from maskwright.ir.reader import read


def types_of(value):
    if value is None:
        return f.TYPE_NULL
    if isinstance(value, bool):
        return f.TYPE_BOOLEAN
    if isinstance(value, (int, Decimal)):
        integral = value == int(value)
        return f.TYPE_NUMBER | (f.TYPE_INTEGER if integral else 0)
    if isinstance(value, str):
        return f.TYPE_STRING
    return f.TYPE_ARRAY if isinstance(value, list) else f.TYPE_OBJECT


def canonical(value):
    """A hashable form that equal JSON values share."""
    if isinstance(value, dict):
        return "object", frozenset((key, canonical(item)) for key, item in value.items())
    if isinstance(value, list):
        return "array", tuple(map(canonical, value))
    if types_of(value) & f.TYPE_NUMBER:
        return "number", Fraction(value)
    return type(value).__name__, value


class Judge:
    def __init__(self, ir):
        self.program = read(ir)
        self.json = self.program.exprs[self.program.rules[self.program.root].expr]
        assert isinstance(self.json, n.Json)

    @property
    def root(self):
        return self.node(self.json.node)

    def node(self, index):
        """The node, with the aliases of reserved nodes resolved."""
        node = self.program.nodes[index]
        while isinstance(node, n.AllOf) and len(node.items) == 1:
            node = self.program.nodes[node.items[0]]
        return node

    def accepts(self, value):
        return self.judge(self.json.node, value)

    def judge(self, index, value):
        node = self.program.nodes[index]
        return getattr(self, f"on_{type(node).__name__.lower()}")(node, value)

    def on_any(self, _node, _value):
        return True

    def on_never(self, _node, _value):
        return False

    def on_types(self, node, value):
        return bool(node.mask & types_of(value))

    def on_number(self, node, value):
        if not types_of(value) & f.TYPE_NUMBER:
            return True
        value = Decimal(value)
        if node.lo is not None:
            lo = Decimal(node.lo)
            if value < lo or (node.lo_exclusive and value == lo):
                return False
        if node.hi is not None:
            hi = Decimal(node.hi)
            if value > hi or (node.hi_exclusive and value == hi):
                return False
        return True

    def on_multipleof(self, node, value):
        if not types_of(value) & f.TYPE_NUMBER:
            return True
        return (Fraction(value) / Fraction(node.divisor)).denominator == 1

    def on_stringlength(self, node, value):
        return not isinstance(value, str) or within(len(value), node)

    def on_itemcount(self, node, value):
        return not isinstance(value, list) or within(len(value), node)

    def on_membercount(self, node, value):
        return not isinstance(value, dict) or within(len(value), node)

    def on_stringlanguage(self, node, value):
        if not isinstance(value, str):
            return True
        return len(value) in self.ends(node.expr, value, 0)

    def on_enum(self, node, value):
        kind = types_of(value)
        if value is None:
            return bool(node.literals & f.LITERAL_NULL)
        if isinstance(value, bool):
            return bool(node.literals & (f.LITERAL_TRUE if value else f.LITERAL_FALSE))
        if kind & f.TYPE_NUMBER:
            return any(Decimal(text) == value for text in node.numbers)
        if kind == f.TYPE_STRING:
            return value in node.strings
        return any(self.judge(child, value) for child in node.nodes)

    def on_array(self, node, value):
        if not isinstance(value, list):
            return True
        for index, item in enumerate(value):
            child = node.prefix[index] if index < len(node.prefix) else node.rest
            if child is not None and not self.judge(child, item):
                return False
        return True

    def on_contains(self, node, value):
        if not isinstance(value, list):
            return True
        found = sum(self.judge(node.node, item) for item in value)
        return node.minimum <= found and (node.maximum is None or found <= node.maximum)

    def on_uniqueitems(self, _node, value):
        if not isinstance(value, list):
            return True
        forms = [canonical(item) for item in value]
        return len(set(forms)) == len(forms)

    def on_object(self, node, value):
        if not isinstance(value, dict):
            return True
        members = dict(node.members)
        for key, item in value.items():
            nodes = [members[key]] if key in members else []
            nodes += [child for expr, child in node.patterns if len(key) in self.ends(expr, key, 0)]
            if not nodes and node.additional is not None:
                nodes = [node.additional]
            for child in nodes:
                if not self.judge(child, item):
                    return False
        return True

    def on_membernames(self, node, value):
        return not isinstance(value, dict) or all(self.judge(node.node, key) for key in value)

    def on_required(self, node, value):
        return not isinstance(value, dict) or all(key in value for key in node.keys)

    def on_allof(self, node, value):
        return all(self.judge(child, value) for child in node.items)

    def on_anyof(self, node, value):
        return any(self.judge(child, value) for child in node.items)

    def on_oneof(self, node, value):
        return sum(self.judge(child, value) for child in node.items) == 1

    def on_not(self, node, value):
        return not self.judge(node.node, value)

    def on_dependentrequired(self, node, value):
        if not isinstance(value, dict) or node.key not in value:
            return True
        return all(key in value for key in node.needed)

    # Regular expressions: the set of positions where a match from `start` may end.

    def ends(self, index, text, start):
        expr = self.program.exprs[index]
        return getattr(self, f"ends_{type(expr).__name__.lower()}")(expr, text, start)

    def ends_empty(self, _expr, _text, start):
        return {start}

    def ends_literal(self, expr, text, start):
        literal = expr.data.decode("utf-8")
        return {start + len(literal)} if text.startswith(literal, start) else set()

    def ends_literalset(self, expr, text, start):
        decoded = (item.decode("utf-8") for item in expr.items)
        return {start + len(item) for item in decoded if text.startswith(item, start)}

    def ends_charclass(self, expr, text, start):
        point = ord(text[start]) if start < len(text) else -1
        return {start + 1} if any(lo <= point <= hi for lo, hi in expr.ranges) else set()

    def ends_sequence(self, expr, text, start):
        at = {start}
        for item in expr.items:
            at = {end for position in at for end in self.ends(item, text, position)}
        return at

    def ends_choice(self, expr, text, start):
        return {end for item in expr.items for end in self.ends(item, text, start)}

    def ends_repeat(self, expr, text, start):
        at, found = {start}, set()
        seen = set()
        for count in range(expr.minimum + len(text) + 2):
            if count >= expr.minimum:
                found |= at
            key = frozenset(at)
            if not at or count == expr.maximum or (count >= expr.minimum and key in seen):
                break
            seen.add(key)
            at = {end for position in at for end in self.ends(expr.body, text, position)}
        return found

    def ends_ref(self, expr, text, start):
        return self.ends(self.program.rules[expr.rule].expr, text, start)

    def ends_intersect(self, expr, text, start):
        return set.intersection(*(self.ends(item, text, start) for item in expr.items))

    def ends_complement(self, expr, text, start):
        return set(range(start, len(text) + 1)) - self.ends(expr.body, text, start)


def within(count, node):
    return node.minimum <= count and (node.maximum is None or count <= node.maximum)
