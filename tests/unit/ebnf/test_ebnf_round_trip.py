"""Printer and parser together: what is printed parses back to the same language."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebnf_language import LANGUAGES, language
from maskwright.frontends.ebnf import compile_ebnf
from maskwright.ir import Builder
from maskwright.ir.printer import to_ebnf
from maskwright.ir.reader import read

LITERALS = [b"", b"a", b"b", b"ab", b"-", "\u00e9".encode(), b"\xc3", b"\xa9", b'"', b"\\", b"]"]
RANGES = [(97, 97), (97, 98), (45, 45), (0, 0x10FFFF), (0, 96), (98, 0x10FFFF), (0xD7FF, 0xE001)]
NAMES = ["root", "a", "Token", "0x", "..", "a b", "b-1", "part", "\u00e9", "-", "Bytes"]


@pytest.mark.parametrize("text", LANGUAGES)
def test_printed_text_has_the_same_language(text: str) -> None:
    first = compile_ebnf(text)
    second = compile_ebnf(to_ebnf(first))
    assert language(second) == language(first)


@pytest.mark.parametrize(
    "text",
    [
        'root ::= "a" ("b" | "c")* x{2,3}\nx ::= [a-z]+ | ("y" "z")? (("w"{2})+){0,4}\n',
        'root ::= ("a" "b") "c" | ("d" | "e") | ""\n',
        'root ::= [^] [] [^\\]a-z] [\\-\\[-\\^] "\\x00\\u200b\\n\\"\\\\"\n',
        'root ::= Bytes("ff") | "\u00e9\u4e2d"\n',
    ],
)
def test_normal_text_prints_as_itself(text: str) -> None:
    assert to_ebnf(compile_ebnf(text)) == text
    assert compile_ebnf(to_ebnf(compile_ebnf(text))) == compile_ebnf(text)


@st.composite
def buffers(draw: st.DrawFn) -> bytes:
    builder = Builder()
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    rules = [builder.rule(name) for name in names]
    exprs = [builder.ref(rule) for rule in rules]
    some = st.integers(0, 40)
    for _ in range(draw(st.integers(1, 12))):
        kind = draw(st.integers(0, 5))
        picked = [exprs[draw(some) % len(exprs)] for _ in range(draw(st.integers(0, 3)))]
        if kind == 0:
            exprs.append(builder.literal(draw(st.sampled_from(LITERALS))))
        elif kind == 1:
            exprs.append(builder.char_class(draw(st.lists(st.sampled_from(RANGES), max_size=2))))
        elif kind == 2:
            exprs.append(builder.sequence(picked))
        elif kind == 3:
            exprs.append(builder.choice(picked))
        elif kind == 4:
            low, extra = draw(st.integers(0, 2)), draw(st.sampled_from([None, 0, 1, 2]))
            high = None if extra is None else low + extra
            exprs.append(builder.repeat(exprs[draw(some) % len(exprs)], low, high))
        else:
            exprs.append(builder.literal_set(draw(st.lists(st.sampled_from(LITERALS), max_size=3))))
    for rule in rules:
        builder.define(rule, exprs[-1 - draw(some) % len(exprs)])
    return builder.finish(rules[draw(some) % len(rules)])


@settings(max_examples=200, deadline=None, derandomize=True)
@given(buffers())
def test_random_ir_prints_and_parses_to_the_same_language(first: bytes) -> None:
    text = to_ebnf(first)
    second = compile_ebnf(text)
    assert language(second, 3) == language(first, 3), text
    # Once more, and the text is settled.
    assert to_ebnf(second) == to_ebnf(compile_ebnf(to_ebnf(second)))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.binary(max_size=6) | st.text(max_size=6).map(lambda t: t.encode("utf-8")))
def test_any_literal_round_trips(data: bytes) -> None:
    builder = Builder()
    root = builder.rule("root")
    builder.define(root, builder.literal(data))
    buffer = builder.finish(root)
    assert compile_ebnf(to_ebnf(buffer)) == buffer


EDGES = [0, 1, 9, 10, 34, 45, 92, 93, 94, 97, 0x7F, 0xAD, 0xD7FE, 0xD7FF, 0xD800, 0xDFFF, 0xE000,
         0xE001, 0xFFFF, 0x10000, 0x10FFFE, 0x10FFFF]  # fmt: skip


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.sampled_from(EDGES), st.sampled_from(EDGES)), max_size=4))
def test_any_class_round_trips(pairs: list[tuple[int, int]]) -> None:
    builder = Builder()
    root = builder.rule("root")
    builder.define(root, builder.char_class((min(pair), max(pair)) for pair in pairs))
    buffer = builder.finish(root)
    assert read(compile_ebnf(to_ebnf(buffer))) == read(buffer)


def test_deep_expressions_print_within_the_parsers_limit() -> None:
    builder = Builder()
    root = builder.rule("root")
    expr = builder.literal(b"a")
    for _ in range(10_000):
        expr = builder.repeat(builder.sequence([builder.literal(b"("), expr]), 0, 1)
    builder.define(root, expr)
    buffer = builder.finish(root)
    assert language(compile_ebnf(to_ebnf(buffer), max_nesting_depth=100)) == language(buffer)


def test_shared_expressions_do_not_blow_up() -> None:
    builder = Builder()
    root = builder.rule("root")
    expr = builder.choice([builder.literal(b"a"), builder.empty()])
    for _ in range(60):
        expr = builder.sequence([expr, expr])
    builder.define(root, expr)
    text = to_ebnf(builder.finish(root))
    assert len(text) < 10_000
    assert language(compile_ebnf(text)) == {b"", b"a", b"aa", b"aaa", b"aaaa"}
