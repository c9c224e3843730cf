"""Builder to bytes to reading form, and the builder's own checks."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any

import pytest

from maskwright.ir import Builder
from maskwright.ir import nodes as n
from maskwright.ir.reader import read


def read_expr(make: Callable[[Builder], int]) -> n.Expr:
    builder = Builder()
    root = builder.rule("root")
    builder.define(root, make(builder))
    program = read(builder.finish(root))
    return program.exprs[program.rules[0].expr]


def read_node(make: Callable[[Builder], int]) -> n.Node:
    builder = Builder()
    root = builder.rule("root")
    node = make(builder)
    builder.define(root, builder.json(node))
    return read(builder.finish(root)).nodes[node]


EXPRS: dict[str, tuple[Callable[[Builder], int], n.Expr]] = {
    "empty": (lambda b: b.empty(), n.Empty()),
    "literal": (lambda b: b.literal(b"a\xff"), n.Literal(b"a\xff")),
    "literal of nothing": (lambda b: b.literal(b""), n.Empty()),
    "class": (
        lambda b: b.char_class([(9, 9), (3, 5), (4, 7), (8, 8), (20, 30)]),
        n.CharClass(((3, 9), (20, 30))),
    ),
    "class of nothing": (lambda b: b.char_class([(0xD800, 0xDFFF)]), n.CharClass(())),
    "class over surrogates": (
        lambda b: b.char_class([(0, 0x10FFFF)]),
        n.CharClass(((0, 0xD7FF), (0xE000, 0x10FFFF))),
    ),
    "class up to surrogates": (
        lambda b: b.char_class([(0xD7FF, 0xD801), (0xDFFE, 0xE000)]),
        n.CharClass(((0xD7FF, 0xD7FF), (0xE000, 0xE000))),
    ),
    "sequence": (lambda b: b.sequence([b.literal(b"x"), b.empty()]), n.Sequence((0, 1))),
    "sequence of one": (lambda b: b.sequence([b.literal(b"x")]), n.Literal(b"x")),
    "sequence of none": (lambda b: b.sequence([]), n.Empty()),
    "choice": (lambda b: b.choice([b.literal(b"x"), b.empty()]), n.Choice((0, 1))),
    "choice of one": (lambda b: b.choice(iter([b.literal(b"x")])), n.Literal(b"x")),
    "choice of none": (lambda b: b.choice([]), n.CharClass(())),
    "repeat": (lambda b: b.repeat(b.literal(b"x"), 2, 5), n.Repeat(0, 2, 5)),
    "repeat unbounded": (lambda b: b.repeat(b.literal(b"x"), 0, None), n.Repeat(0, 0, None)),
    "repeat once": (lambda b: b.repeat(b.literal(b"x"), 1, 1), n.Literal(b"x")),
    "repeat never": (lambda b: b.repeat(b.literal(b"x"), 0, 0), n.Empty()),
    "ref": (lambda b: b.ref(0), n.Ref(0)),
    "literal set": (lambda b: b.literal_set([b"x", b"", b"x"]), n.LiteralSet((b"x", b""))),
    "literal set of one": (lambda b: b.literal_set([b"x", b"x"]), n.Literal(b"x")),
    "literal set of none": (lambda b: b.literal_set([]), n.CharClass(())),
    "intersect": (lambda b: b.intersect([b.literal(b"x"), b.empty()]), n.Intersect((0, 1))),
    "complement": (lambda b: b.complement(b.literal(b"x")), n.Complement(0)),
    "text until": (
        lambda b: b.text_until([b"<", b"<"], [b"x", b"yy"]),
        n.TextUntil((b"<",), (b"x", b"yy")),
    ),
    "token set": (lambda b: b.token_set([9, 2, 9]), n.TokenSet(False, (2, 9))),
    "token set, all": (lambda b: b.token_set([], exclude=True), n.TokenSet(True, ())),
    "json": (
        lambda b: b.json(b.any(), any_order=True, any_whitespace=True, max_whitespace=8),
        n.Json(0, True, True, True, "any", 8, b",", b":"),
    ),
    "json, compact": (
        lambda b: b.json(
            b.any(), any_whitespace=False, strict=False, item_separator=b", ", key_separator=b": "
        ),
        n.Json(0, False, False, False, "any", None, b", ", b": "),
    ),
    "json, plain numbers": (
        lambda b: b.json(b.any(), number_spelling="plain"),
        n.Json(0, False, True, True, "plain", None, b",", b":"),
    ),
}

NODES: dict[str, tuple[Callable[[Builder], int], n.Node]] = {
    "any": (lambda b: b.any(), n.Any()),
    "never": (lambda b: b.never(), n.Never()),
    "types": (lambda b: b.types(5), n.Types(5)),
    "number": (lambda b: b.number("-1.5", "20"), n.Number("-1.5", "20", False, False)),
    "number, exclusive": (
        lambda b: b.number(None, "0", hi_exclusive=True),
        n.Number(None, "0", False, True),
    ),
    "string length": (lambda b: b.string_length(2, None), n.StringLength(2, None)),
    "string language": (lambda b: b.string_language(b.literal(b"x")), n.StringLanguage(0)),
    "enum": (
        lambda b: b.enum(literals=5, numbers=["1", "1"], strings=["x", "\0"], nodes=[b.any()]),
        n.Enum(5, ("1",), ("x", "\0"), (0,)),
    ),
    "array": (lambda b: b.array([b.any(), b.never()], b.any()), n.Array((0, 1), 0)),
    "array, open": (lambda b: b.array([], None), n.Array((), None)),
    "item count": (lambda b: b.item_count(0, 3), n.ItemCount(0, 3)),
    "object": (
        lambda b: b.object([("b", b.any()), ("", b.any())], b.never()),
        n.Object((("b", 0), ("", 0)), 1),
    ),
    "object, open": (lambda b: b.object([], None), n.Object((), None)),
    "required": (lambda b: b.required(["b", "a", "b"]), n.Required(("b", "a"))),
    "member count": (lambda b: b.member_count(1, 1), n.MemberCount(1, 1)),
    "all of": (lambda b: b.all_of([b.any(), b.never()]), n.AllOf((0, 1))),
    "all of one": (lambda b: b.all_of([b.types(1)]), n.Types(1)),
    "all of none": (lambda b: b.all_of([]), n.Any()),
    "any of": (lambda b: b.any_of([b.any(), b.never()]), n.AnyOf((0, 1))),
    "any of none": (lambda b: b.any_of([]), n.Never()),
    "object, patterns": (
        lambda b: b.object([("b", b.any())], b.never(), [(b.literal(b"x"), b.any())]),
        n.Object((("b", 0),), 1, ((0, 0),)),
    ),
    "one of": (lambda b: b.one_of([b.any(), b.never()]), n.OneOf((0, 1))),
    "one of one": (lambda b: b.one_of([b.types(1)]), n.Types(1)),
    "not": (lambda b: b.negation(b.any()), n.Not(0)),
    "multiple of": (lambda b: b.multiple_of("0.01"), n.MultipleOf("0.01")),
    "contains": (lambda b: b.contains(b.any(), 1, None), n.Contains(0, 1, None)),
    "unique items": (lambda b: b.unique_items(), n.UniqueItems()),
    "member names": (lambda b: b.member_names(b.any()), n.MemberNames(0)),
    "dependent required": (
        lambda b: b.dependent_required("a", ["c", "b", "c"]),
        n.DependentRequired("a", ("c", "b")),
    ),
}


@pytest.mark.parametrize("name", EXPRS)
def test_expression_round_trips(name: str) -> None:
    make, expected = EXPRS[name]
    assert read_expr(make) == expected


@pytest.mark.parametrize("name", NODES)
def test_node_round_trips(name: str) -> None:
    make, expected = NODES[name]
    assert read_node(make) == expected


def test_layout_is_the_documented_one() -> None:
    builder = Builder()
    root = builder.rule("r")
    builder.define(root, builder.sequence([builder.literal(b"ab"), builder.json(builder.any())]))
    buffer = builder.finish(root)
    header = struct.unpack_from("<12I", buffer)
    assert header == (0x5249574D, 2, 3, 1, 1, 16, 5, 0, 0, 0, 0, 0)
    pool = (1, 0, 2, 0, 12, 0, 6, 0xFFFFFFFF, 2, 1, 3, 1, 3, 2, 0, 1)
    expected = struct.pack("<23I", 0, 4, 12, 3, 2, 4, 1, *pool) + b"ab,:r"
    assert buffer[48:] == expected


def test_small_records_are_shared() -> None:
    b = Builder()
    assert b.literal(b"x") == b.literal(b"x")
    assert b.char_class([(1, 2)]) == b.char_class([(1, 1), (2, 2)])
    assert b.empty() == b.sequence([])
    assert b.types(3) == b.types(3)
    assert b.number("1") == b.number("1")
    # Equal words, but another kind of record.
    assert b.empty() == 2
    assert b.any() == 2
    rule = b.rule("r")
    assert b.ref(rule) == b.ref(rule)


def test_reserved_nodes_make_cycles() -> None:
    builder = Builder()
    root = builder.rule("root")
    item = builder.reserve()
    builder.define_node(item, builder.array([], item))
    builder.define(root, builder.json(item))
    assert read(builder.finish(root)).nodes == (n.AllOf((1,)), n.Array((), 0))


def define_twice(b: Builder) -> None:
    rule = b.rule("a")
    b.define(rule, b.empty())
    b.define(rule, b.empty())


def leave_reserved(b: Builder) -> None:
    b.reserve()
    rule = b.rule("a")
    b.define(rule, b.empty())
    b.finish(rule)


WRONG: list[tuple[str, Callable[[Builder], Any]]] = [
    ("unknown expression id", lambda b: b.sequence([0, 1])),
    ("unknown expression id", lambda b: b.choice([-1])),
    ("unknown expression id", lambda b: b.complement(0)),
    ("unknown expression id", lambda b: b.string_language(7)),
    ("unknown node id", lambda b: b.json(0)),
    ("unknown node id", lambda b: b.array([], 0)),
    ("unknown node id", lambda b: b.object([("a", 3)], None)),
    ("unknown node id", lambda b: b.enum(nodes=[1])),
    ("unknown rule id", lambda b: b.ref(0)),
    ("unknown rule id", lambda b: b.define(0, b.empty())),
    ("unknown rule id", lambda b: b.finish(0)),
    ("bad code point range", lambda b: b.char_class([(5, 4)])),
    ("bad code point range", lambda b: b.char_class([(0, 0x110000)])),
    ("bad code point range", lambda b: b.char_class([(-1, 4)])),
    ("maximum 1 is outside", lambda b: b.repeat(b.empty(), 2, 1)),
    ("minimum -1 is outside", lambda b: b.repeat(b.empty(), -1, 1)),
    ("maximum 4294967295 is outside", lambda b: b.item_count(0, 2**32 - 1)),
    ("needs an operand", lambda b: b.intersect([])),
    ("needs a stop", lambda b: b.text_until([])),
    ("needs a stop", lambda b: b.text_until([b""])),
    ("needs a stop", lambda b: b.text_until([b"x"], [b""])),
    ("token ids must be", lambda b: b.token_set([-1])),
    ("empty or taken", lambda b: b.rule("")),
    ("empty or taken", lambda b: (b.rule("a"), b.rule("a"))),
    ("defined twice", define_twice),
    ("rule 'a' is not defined", lambda b: b.finish(b.rule("a"))),
    ("type mask 128", lambda b: b.types(128)),
    ("literal mask 8", lambda b: b.enum(literals=8)),
    ("names a key twice", lambda b: b.object([("a", b.any()), ("a", b.any())], None)),
    ("is not reserved", lambda b: b.define_node(b.any(), b.any())),
    ("node id 0 is reserved", leave_reserved),
]


@pytest.mark.parametrize(("message", "call"), WRONG)
def test_programming_errors(message: str, call: Callable[[Builder], Any]) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        call(Builder())


@pytest.mark.parametrize(
    "text", ["", "+1", "01", "-0", "1.0", "1.", ".5", "1e2", "-0.0", "1\n", "0x1", "\u0661"]
)
def test_decimals_must_be_normalised(text: str) -> None:
    with pytest.raises(ValueError, match="is not a normalised plain decimal"):
        Builder().number(text)
    with pytest.raises(ValueError, match="is not a normalised plain decimal"):
        Builder().enum(numbers=[text])


@pytest.mark.parametrize("text", ["0", "-1", "10", "0.5", "-0.05", "100.001", "9" * 400])
def test_normalised_decimals(text: str) -> None:
    assert read_node(lambda b: b.number(text, text, lo_exclusive=True)) == n.Number(
        text, text, True, False
    )
