"""Fragments: expressions that are copied into builders."""

from __future__ import annotations

import pytest

from maskwright.errors import MalformedIRError
from maskwright.ir import Builder, Fragment
from maskwright.ir import format as f
from maskwright.ir.printer import to_ebnf


def write_everything(builder):
    """One expression of each kind that a fragment may hold, some of them by name and content."""
    texts = builder.literal_set([b"one", b"two"])
    letters = builder.char_class([(0x61, 0x7A)])
    joined = builder.sequence([builder.literal(b"x"), letters, builder.empty(), texts])
    repeated = builder.repeat(joined, 2, None)
    return builder.intersect([builder.choice([repeated, letters]), builder.complement(texts)])


def buffer_of(write):
    builder = Builder()
    root = builder.rule("root")
    builder.define(root, write(builder))
    return builder.finish(root)


def test_a_copied_fragment_is_what_was_written():
    fragment = Fragment(buffer_of(write_everything))
    printed = set()
    for copies in (0, 1, 2):
        builder = Builder()
        root = builder.rule("root")
        builder.define(builder.rule("other"), builder.literal(b"before"))
        made = [builder.copy(fragment) for _ in range(copies)]
        builder.define(root, made[-1] if made else write_everything(builder))
        printed.add(to_ebnf(builder.finish(root)))
    assert len(printed) == 1


@pytest.mark.parametrize(
    ("kind", "write"),
    [
        (f.EXPR_REF, lambda b: b.ref(b.rule("r"))),
        (f.EXPR_TOKEN_SET, lambda b: b.token_set([1])),
        (f.EXPR_TEXT_UNTIL, lambda b: b.text_until([b"x"])),
        (f.EXPR_JSON, lambda b: b.json(b.any())),
    ],
)
def test_a_fragment_holds_only_text(kind, write):
    def write_with_rule(builder):
        expr = write(builder)
        if kind == f.EXPR_REF:
            builder.define(1, builder.empty())
        return expr

    with pytest.raises(ValueError, match=f"kind {kind} cannot be part of a fragment"):
        Fragment(buffer_of(write_with_rule))


def test_a_fragment_is_validated():
    with pytest.raises(MalformedIRError):
        Fragment(buffer_of(write_everything)[:-1])
