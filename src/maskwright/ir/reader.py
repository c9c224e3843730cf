"""Reads an IR buffer into the dataclasses of ``maskwright.ir.nodes``, validating it in full.

Idea: one cursor over the word pool, one small function per kind; then two passes over the
expression graph by counting unresolved children (Kahn): it must be acyclic except through rules,
and the operands of the regular-only expressions must not reach a recursive rule, JSON or a token
set. Cost: linear in the buffer, no recursion. Each fault is a ``MalformedIRError`` with its offset.
"""

from __future__ import annotations

import sys
from array import array
from typing import TYPE_CHECKING

from ..errors import MalformedIRError
from . import format as f
from . import nodes as n

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["read"]


class _Cursor:
    """Reads the payload of one record; every read is checked against the pools."""

    def __init__(
        self, words: array[int], pool: bytes, start: int, counts: tuple[int, int, int]
    ) -> None:
        self.words = words
        self.pool = pool
        self.start = start  # index of the word pool's first word in the buffer
        self.n_exprs, self.n_rules, self.n_nodes = counts
        self.position = start
        self._slices: dict[tuple[int, int], bytes] = {}
        self._unread = len(pool)

    def fail(self, message: str) -> MalformedIRError:
        return MalformedIRError(message, offset=4 * max(0, self.position - 1))

    def seek(self, offset: int, entry: int) -> None:
        """Go to a record; ``entry`` is the place of ``offset`` in the offset tables."""
        if self.start + offset >= len(self.words):
            self.position = f.HEADER_WORDS + entry + 1
            raise self.fail(f"record offset {offset} is outside the word pool")
        self.position = self.start + offset

    def spend(self, unread: int, offset: int) -> int:
        """Return what is left of the word pool after the record; records may not overlap."""
        unread -= self.position - self.start - offset
        if unread < 0:
            raise self.fail("records in the word pool overlap")
        return unread

    def word(self) -> int:
        if self.position >= len(self.words):
            raise self.fail("a record runs past the end of the word pool")
        self.position += 1
        return self.words[self.position - 1]

    def many(self, per_item: int = 1) -> list[int]:
        count = self.word()
        end = self.position + count * per_item
        if end > len(self.words):
            raise self.fail(f"a list of {count} items runs past the end of the word pool")
        items = self.words[self.position : end].tolist()
        self.position = end
        return items

    def flags(self, allowed: int) -> int:
        flags = self.word()
        if flags & ~allowed:
            raise self.fail(f"flags {flags:#x} have bits outside {allowed:#x}")
        return flags

    def bounds(self) -> tuple[int, int | None]:
        minimum, maximum = self.word(), self.word()
        if minimum == f.NONE or minimum > maximum:
            raise self.fail(f"bounds {minimum}..{maximum} are reversed")
        return minimum, None if maximum == f.NONE else maximum

    def slice(self, offset: int, length: int) -> bytes:
        """Return bytes of the pool; distinct refs may not overlap, which bounds the memory."""
        data = self._slices.get((offset, length))
        if data is None:
            if offset + length > len(self.pool):
                raise self.fail(f"bytes {offset}+{length} are outside the byte pool")
            self._unread -= length
            if self._unread < 0:
                raise self.fail("references into the byte pool overlap")
            data = self._slices[offset, length] = self.pool[offset : offset + length]
        return data

    def data(self) -> bytes:
        return self.slice(self.word(), self.word())

    def data_list(self) -> tuple[bytes, ...]:
        refs = self.many(2)
        return tuple(self.slice(a, b) for a, b in zip(refs[::2], refs[1::2], strict=True))

    def text(self, data: bytes) -> str:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise self.fail(f"{data[:40]!r} is not valid UTF-8") from None

    def decimal(self, data: bytes) -> str:
        text = self.text(data)
        if not f.is_decimal(text):
            raise self.fail(f"{text[:40]!r} is not a normalised plain decimal")
        return text

    def ids(self, items: Iterable[int], count: int, what: str) -> tuple[int, ...]:
        result = tuple(items)
        if result and max(result) >= count:
            raise self.fail(f"{what} id {max(result)} is not below {count}")
        return result

    def expr_ids(self, at_least: int = 0) -> tuple[int, ...]:
        items = self.ids(self.many(), self.n_exprs, "expression")
        if len(items) < at_least:
            raise self.fail(f"{len(items)} operands where at least {at_least} are needed")
        return items

    def expr_id(self) -> int:
        return self.ids((self.word(),), self.n_exprs, "expression")[0]

    def node_id(self) -> int:
        return self.ids((self.word(),), self.n_nodes, "node")[0]

    def node_ids(self, at_least: int = 0) -> tuple[int, ...]:
        items = self.ids(self.many(), self.n_nodes, "node")
        if len(items) < at_least:
            raise self.fail(f"{len(items)} nodes where at least {at_least} are needed")
        return items

    def optional_node(self) -> int | None:
        word = self.word()
        return None if word == f.NONE else self.ids((word,), self.n_nodes, "node")[0]


def _literal(c: _Cursor) -> n.Expr:
    data = c.data()
    if not data:
        raise c.fail("a literal is empty")
    return n.Literal(data)


def _char_class(c: _Cursor) -> n.Expr:
    flat = c.many(2)
    ranges = tuple(zip(flat[::2], flat[1::2], strict=True))
    previous = -2
    for lo, hi in ranges:
        if lo <= previous + 1 or lo > hi or hi > f.MAX_CODE_POINT:
            raise c.fail(f"range {lo:#x}..{hi:#x} is out of order or out of bounds")
        if lo <= f.SURROGATES[1] and hi >= f.SURROGATES[0]:
            raise c.fail(f"range {lo:#x}..{hi:#x} contains surrogates")
        previous = hi
    return n.CharClass(ranges)


def _repeat(c: _Cursor) -> n.Expr:
    return n.Repeat(c.expr_id(), *c.bounds())


def _ref(c: _Cursor) -> n.Expr:
    return n.Ref(c.ids((c.word(),), c.n_rules, "rule")[0])


def _literal_set(c: _Cursor) -> n.Expr:
    items = c.data_list()
    if not items:
        raise c.fail("a literal set is empty")
    return n.LiteralSet(items)


def _text_until(c: _Cursor) -> n.Expr:
    stops, excludes = c.data_list(), c.data_list()
    if not stops or not all(stops) or not all(excludes):
        raise c.fail("free text needs a stop, and no stop or exclude may be empty")
    return n.TextUntil(stops, excludes)


def _token_set(c: _Cursor) -> n.Expr:
    return n.TokenSet(bool(c.flags(1)), tuple(c.many()))


def _json(c: _Cursor) -> n.Expr:
    node = c.node_id()
    spellings = f.JSON_DECIMAL_NUMBERS | f.JSON_PLAIN_NUMBERS
    flags = c.flags(f.JSON_ANY_ORDER | f.JSON_ANY_WHITESPACE | f.JSON_STRICT | spellings)
    if flags & spellings == spellings:
        raise c.fail("two spellings of numbers")
    limit = c.word()
    return n.Json(
        node,
        bool(flags & f.JSON_ANY_ORDER),
        bool(flags & f.JSON_ANY_WHITESPACE),
        bool(flags & f.JSON_STRICT),
        f.NUMBER_SPELLINGS[flags & spellings],
        None if limit == f.NONE else limit,
        c.data(),
        c.data(),
    )


def _number(c: _Cursor) -> n.Node:
    flags = c.flags(15)
    lo, hi = c.data(), c.data()
    return n.Number(
        c.decimal(lo) if flags & f.NUMBER_HAS_LO else None,
        c.decimal(hi) if flags & f.NUMBER_HAS_HI else None,
        bool(flags & f.NUMBER_LO_EXCLUSIVE),
        bool(flags & f.NUMBER_HI_EXCLUSIVE),
    )


def _enum(c: _Cursor) -> n.Node:
    literals = c.flags(f.LITERAL_NULL | f.LITERAL_FALSE | f.LITERAL_TRUE)
    numbers = tuple(c.decimal(data) for data in c.data_list())
    strings = tuple(c.text(data) for data in c.data_list())
    return n.Enum(literals, numbers, strings, c.node_ids())


def _object(c: _Cursor) -> n.Node:
    flat = c.many(3)
    keys = [c.text(c.slice(a, b)) for a, b in zip(flat[::3], flat[1::3], strict=True)]
    if len(set(keys)) != len(keys):
        raise c.fail("an object names a key twice")
    ids = c.ids(flat[2::3], c.n_nodes, "node")
    flat = c.many(2)
    exprs = c.ids(flat[::2], c.n_exprs, "expression")
    values = c.ids(flat[1::2], c.n_nodes, "node")
    patterns = tuple(zip(exprs, values, strict=True))
    return n.Object(tuple(zip(keys, ids, strict=True)), c.optional_node(), patterns)


def _multiple_of(c: _Cursor) -> n.Node:
    divisor = c.decimal(c.data())
    if divisor.startswith("-") or divisor == "0":
        raise c.fail(f"divisor {divisor[:40]!r} is not positive")
    return n.MultipleOf(divisor)


def _dependent_required(c: _Cursor) -> n.Node:
    key = c.text(c.data())
    return n.DependentRequired(key, tuple(c.text(data) for data in c.data_list()))


_EXPRS: dict[int, Callable[[_Cursor], n.Expr]] = {
    f.EXPR_EMPTY: lambda _: n.Empty(),
    f.EXPR_LITERAL: _literal,
    f.EXPR_CLASS: _char_class,
    f.EXPR_SEQUENCE: lambda c: n.Sequence(c.expr_ids(2)),
    f.EXPR_CHOICE: lambda c: n.Choice(c.expr_ids(2)),
    f.EXPR_REPEAT: _repeat,
    f.EXPR_REF: _ref,
    f.EXPR_LITERAL_SET: _literal_set,
    f.EXPR_INTERSECT: lambda c: n.Intersect(c.expr_ids(1)),
    f.EXPR_COMPLEMENT: lambda c: n.Complement(c.expr_id()),
    f.EXPR_TEXT_UNTIL: _text_until,
    f.EXPR_TOKEN_SET: _token_set,
    f.EXPR_JSON: _json,
}

_NODES: dict[int, Callable[[_Cursor], n.Node]] = {
    f.NODE_ANY: lambda _: n.Any(),
    f.NODE_NEVER: lambda _: n.Never(),
    f.NODE_TYPES: lambda c: n.Types(c.flags(f.TYPE_ALL)),
    f.NODE_NUMBER: _number,
    f.NODE_STRING_LENGTH: lambda c: n.StringLength(*c.bounds()),
    f.NODE_STRING_LANGUAGE: lambda c: n.StringLanguage(c.expr_id()),
    f.NODE_ENUM: _enum,
    f.NODE_ARRAY: lambda c: n.Array(c.node_ids(), c.optional_node()),
    f.NODE_ITEM_COUNT: lambda c: n.ItemCount(*c.bounds()),
    f.NODE_OBJECT: _object,
    f.NODE_REQUIRED: lambda c: n.Required(tuple(c.text(data) for data in c.data_list())),
    f.NODE_MEMBER_COUNT: lambda c: n.MemberCount(*c.bounds()),
    f.NODE_ALL_OF: lambda c: n.AllOf(c.node_ids(1)),
    f.NODE_ANY_OF: lambda c: n.AnyOf(c.node_ids(1)),
    f.NODE_ONE_OF: lambda c: n.OneOf(c.node_ids(1)),
    f.NODE_NOT: lambda c: n.Not(c.node_id()),
    f.NODE_MULTIPLE_OF: _multiple_of,
    f.NODE_CONTAINS: lambda c: n.Contains(c.node_id(), *c.bounds()),
    f.NODE_UNIQUE_ITEMS: lambda _: n.UniqueItems(),
    f.NODE_MEMBER_NAMES: lambda c: n.MemberNames(c.node_id()),
    f.NODE_DEPENDENT_REQUIRED: _dependent_required,
}


def _header(buffer: bytes) -> list[int]:
    if len(buffer) < 4 * f.HEADER_WORDS:
        raise MalformedIRError(f"{len(buffer)} bytes are too few for a header", offset=len(buffer))
    header = [int.from_bytes(buffer[i : i + 4], "little") for i in range(0, 4 * f.HEADER_WORDS, 4)]
    if header[0] != f.MAGIC:
        raise MalformedIRError(f"magic {header[0]:#x} is not {f.MAGIC:#x}", offset=0)
    if header[1] != f.VERSION:
        raise MalformedIRError(
            f"format version {header[1]} is not supported, only {f.VERSION}; rebuild the grammar",
            code="ir-version",
            offset=4,
        )
    if any(header[8:]):
        raise MalformedIRError("reserved header words are not zero", offset=32)
    if header[7] >= header[3]:
        raise MalformedIRError(f"root rule {header[7]} is not below {header[3]}", offset=28)
    n_exprs, n_rules, n_nodes, n_words, n_bytes = header[2:7]
    size = 4 * (f.HEADER_WORDS + n_exprs + n_nodes + 3 * n_rules + n_words) + n_bytes
    if size != len(buffer):
        raise MalformedIRError(f"{len(buffer)} bytes where the header says {size}", offset=8)
    return header


def _rules(c: _Cursor, table: list[int], table_start: int) -> tuple[n.Rule, ...]:
    rules: dict[str, n.Rule] = {}
    for i in range(0, len(table), 3):
        c.position = table_start + i + 1
        expr, name_offset, name_length = table[i : i + 3]
        c.ids((expr,), c.n_exprs, "expression")
        name = c.text(c.slice(name_offset, name_length))
        if not name or name in rules:
            raise c.fail(f"rule name {name!r} is empty or taken")
        rules[name] = n.Rule(name, expr)
    return tuple(rules.values())


def _resolvable(program: n.Program, *, through_rules: bool) -> list[bool]:
    """Tell which expressions have only finitely deep expansions.

    With ``through_rules``, edges go on from a reference into its rule, and JSON and token sets do
    not resolve: what resolves is regular. Without it, what does not resolve is on a cycle.
    """
    parents: list[list[int]] = [[] for _ in program.exprs]
    waiting = [0] * len(program.exprs)
    for index, expr in enumerate(program.exprs):
        children = n.child_exprs(expr)
        if through_rules:
            if isinstance(expr, n.Ref):
                children = (program.rules[expr.rule].expr,)
            elif isinstance(expr, (n.Json, n.TokenSet)):
                waiting[index] = 1  # never resolved
        for child in children:
            parents[child].append(index)
        waiting[index] += len(children)
    ready = [index for index, count in enumerate(waiting) if not count]
    while ready:
        for parent in parents[ready.pop()]:
            waiting[parent] -= 1
            if not waiting[parent]:
                ready.append(parent)
    return [not count for count in waiting]


def _check_graph(program: n.Program, expr_at: list[int], node_at: list[int]) -> None:
    acyclic = _resolvable(program, through_rules=False)
    if not all(acyclic):
        index = acyclic.index(False)
        raise MalformedIRError(f"expression {index} contains itself", offset=expr_at[index])
    operands: list[tuple[int, int]] = []
    for index, expr in enumerate(program.exprs):
        if isinstance(expr, (n.Intersect, n.Complement)):
            operands += ((child, expr_at[index]) for child in n.child_exprs(expr))
    for index, node in enumerate(program.nodes):
        operands += ((expr, node_at[index]) for expr in n.string_exprs(node))
    if not operands:
        return
    regular = _resolvable(program, through_rules=True)
    for child, offset in operands:
        if not regular[child]:
            raise MalformedIRError(
                f"operand {child} must be regular, but reaches a recursive rule, JSON or a token",
                code="ir-not-regular",
                offset=offset,
            )


def read(buffer: bytes) -> n.Program:
    """Return the reading form of an IR buffer.

    Args:
        buffer: What ``Builder.finish`` returned.

    Raises:
        MalformedIRError: The buffer breaks the format (code ``ir-malformed``), is of another
            format version (``ir-version``), or has an operand that must be regular and is not
            (``ir-not-regular``); ``offset`` is the byte offset of the fault.
    """
    n_exprs, n_rules, n_nodes, n_words, n_bytes, root = _header(buffer)[2:8]
    words = array(f.WORD_TYPE)
    words.frombytes(buffer[: len(buffer) - n_bytes])
    if sys.byteorder == "big":
        words.byteswap()
    table_start = f.HEADER_WORDS + n_exprs + n_nodes
    pool = bytes(buffer[len(buffer) - n_bytes :])
    c = _Cursor(words, pool, len(words) - n_words, (n_exprs, n_rules, n_nodes))
    rules = _rules(c, words[table_start : table_start + 3 * n_rules].tolist(), table_start)
    exprs: list[n.Expr] = []
    nodes: list[n.Node] = []
    offsets = words[f.HEADER_WORDS : table_start].tolist()
    unread = n_words
    for entry, offset in enumerate(offsets[:n_exprs]):
        c.seek(offset, entry)
        read_expr = _EXPRS.get(kind := c.word())
        if read_expr is None:
            raise c.fail(f"unknown expression kind {kind}")
        exprs.append(read_expr(c))
        unread = c.spend(unread, offset)
    for entry, offset in enumerate(offsets[n_exprs:], n_exprs):
        c.seek(offset, entry)
        read_node = _NODES.get(kind := c.word())
        if read_node is None:
            raise c.fail(f"unknown node kind {kind}")
        nodes.append(read_node(c))
        unread = c.spend(unread, offset)
    program = n.Program(tuple(exprs), tuple(nodes), rules, root)
    places = [4 * (c.start + offset) for offset in offsets]
    _check_graph(program, places[:n_exprs], places[n_exprs:])
    return program
