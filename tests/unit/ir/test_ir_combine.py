"""Concatenation and union of IR buffers keep what each part says."""

from __future__ import annotations

import re

import pytest

from maskwright.errors import MalformedIRError
from maskwright.frontends.ebnf import compile_ebnf
from maskwright.ir import Builder
from maskwright.ir import nodes as n
from maskwright.ir.combine import concatenate, unite
from maskwright.ir.printer import to_ebnf
from maskwright.ir.reader import read


def everything() -> bytes:
    """A program with every kind of expression and node, recursion and sharing."""
    b = Builder()
    root, loop = b.rule("root"), b.rule("loop")
    name = b.rule("na\u00efve name")
    text = b.sequence([b.literal(b"a\xff"), b.char_class([(97, 99), (0x1F600, 0x1F600)])])
    words = b.literal_set([b"x", b"yy"])
    language = b.intersect([b.repeat(words, 2, 5), b.complement(text)])
    tree = b.reserve()
    leaf = b.enum(literals=5, numbers=["1", "-2.5"], strings=["s", "\u00e9"])
    constant = b.all_of([b.types(32), b.array([leaf], b.never()), b.item_count(1, 1)])
    members = [("left", tree), ("right", tree), ("value", b.number("0", "9", True, False))]
    shape = b.all_of(
        [
            b.object(members, b.any()),
            b.required(["left", "value"]),
            b.member_count(1, None),
            b.string_length(0, 7),
            b.string_language(language),
            b.any_of([b.array([tree, leaf], None), b.enum(nodes=[constant])]),
            b.one_of([leaf, b.negation(tree), b.multiple_of("0.5"), b.unique_items()]),
            b.contains(tree, 1, 2),
            b.member_names(b.string_length(1, None)),
            b.dependent_required("left", ["right"]),
            b.object([], None, [(b.repeat(words, 0, 1), tree)]),
        ]
    )
    b.define_node(tree, shape)
    plain = b.json(tree, any_whitespace=False, item_separator=b", ", key_separator=b": ")
    free = b.json(b.any(), any_order=True, strict=False, number_spelling="plain", max_whitespace=3)
    unbounded = b.json(b.object([], None), max_whitespace=None)
    tokens = b.choice([b.token_set([3, 1]), b.token_set([2], exclude=True)])
    until = b.text_until([b"end"], [b"no"])
    b.define(loop, b.choice([b.sequence([b.ref(loop), text]), b.empty()]))
    b.define(name, b.sequence([b.ref(loop), until, tokens, language]))
    b.define(root, b.choice([b.ref(name), plain, free, unbounded, b.repeat(text, 1, None)]))
    return b.finish(root)


def renumbered(text: str) -> str:
    """The text with schema nodes numbered by their first mention."""
    numbers: dict[str, str] = {}
    return re.sub(r"\bn[0-9]+\b", lambda m: numbers.setdefault(m[0], f"n#{len(numbers)}"), text)


@pytest.mark.parametrize("combine", [concatenate, unite])
def test_one_part_says_what_it_said(combine):
    source = everything()
    first, _, rest = to_ebnf(combine([source])).partition("\n")
    assert first == "root ::= root-2"
    assert renumbered(rest) == renumbered(to_ebnf(source).replace("root ::=", "root-2 ::=", 1))


@pytest.mark.parametrize(("combine", "kind"), [(concatenate, n.Sequence), (unite, n.Choice)])
def test_parts_stay_apart(combine, kind):
    first = compile_ebnf('root ::= "a" x\nx ::= "1" | x "2"')
    second = compile_ebnf('root ::= "b" x\nx ::= "3"')
    program = read(combine([first, second, first]))
    assert isinstance(program.exprs[program.rules[program.root].expr], kind)
    assert [rule.name for rule in program.rules] == [
        "root",
        *("root-2", "x"),
        *("root-3", "x-2"),
        *("root-4", "x-3"),
    ]
    texts = to_ebnf(combine([first, second])).split("\n")
    assert 'x ::= "1" | x "2"' in texts
    assert 'x-2 ::= "3"' in texts


def test_combinations_combine():
    part = everything()
    program = read(concatenate([unite([part, part]), part]))
    assert len(program.rules) == 1 + (1 + 3 + 3) + 3
    nodes = [node for node in program.nodes if isinstance(node, n.Object) and node.members]
    assert len(nodes) == 3


def test_a_cycle_of_nodes_stays_a_cycle():
    b = Builder()
    first, second = b.reserve(), b.reserve()
    b.define_node(first, b.array([], second))
    b.define_node(second, b.array([], first))
    root = b.rule("root")
    b.define(root, b.json(first))
    program = read(unite([b.finish(root)]))
    arrays = {i: node for i, node in enumerate(program.nodes) if isinstance(node, n.Array)}
    assert len(arrays) == 2
    start = next(expr.node for expr in program.exprs if isinstance(expr, n.Json))
    seen = []
    for _ in range(4):
        while isinstance(program.nodes[start], n.AllOf):
            (start,) = program.nodes[start].items
        seen.append(start)
        start = program.nodes[start].rest
    assert seen[:2] == seen[2:]
    assert len(set(seen)) == 2


def test_a_node_that_is_only_itself():
    b = Builder()
    node = b.reserve()
    b.define_node(node, node)
    root = b.rule("root")
    b.define(root, b.json(node))
    program = read(unite([b.finish(root)]))
    assert [type(node) for node in program.nodes] == [n.AllOf]
    assert program.nodes[0].items == (0,)


def test_deep_programs_need_no_recursion():
    b = Builder()
    root = b.rule("root")
    expr, node = b.literal(b"x"), b.any()
    for _ in range(5000):
        expr = b.sequence([b.literal(b"("), expr])
        node = b.array([node], None)
    b.define(root, b.sequence([expr, b.json(node)]))
    program = read(concatenate([b.finish(root)] * 2))
    assert sum(isinstance(node, n.Array) for node in program.nodes) == 10_000


def test_malformed_parts_are_refused():
    with pytest.raises(MalformedIRError):
        unite([b"MWIR"])
