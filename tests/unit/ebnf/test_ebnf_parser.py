"""The EBNF parser: languages of accepted texts, structure, limits, robustness."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebnf_language import LANGUAGES, language
from maskwright.errors import GrammarError, LimitExceededError, MaskwrightError
from maskwright.frontends.ebnf import compile_ebnf
from maskwright.ir import nodes as n
from maskwright.ir.reader import read


@pytest.mark.parametrize("text", LANGUAGES)
def test_language(text: str) -> None:
    expected = {item.encode() for item in LANGUAGES[text]}
    assert language(compile_ebnf(text)) == expected


@pytest.mark.parametrize(
    ("escape", "character"),
    [
        *zip("\"\\/'?[]", "\"\\/'?[]", strict=True),
        *zip("nrtbfav0e", "\n\r\t\b\f\a\v\0\x1b", strict=True),
        ("x41", "A"),
        ("xfF", "\u00ff"),
        ("u20Ac", "\u20ac"),
        ("U0001f600", "\U0001f600"),
    ],
)
def test_escapes_in_strings_and_classes(escape: str, character: str) -> None:
    program = read(compile_ebnf(f'root ::= "x\\{escape}y" [\\{escape}]'))
    assert n.Literal(f"x{character}y".encode()) in program.exprs
    assert n.CharClass(((ord(character), ord(character)),)) in program.exprs


def test_octal_is_no_escape() -> None:
    assert read(compile_ebnf('root ::= "\\012"')).exprs == (n.Literal(b"\x0012"),)


def test_raw_bytes_need_no_utf8() -> None:
    assert read(compile_ebnf('root ::= Bytes("ffC3")')).exprs == (n.Literal(b"\xff\xc3"),)


def test_surrogates_are_dropped_from_ranges() -> None:
    program = read(compile_ebnf("root ::= [\\u0000-\\uffff]"))
    assert program.exprs == (n.CharClass(((0, 0xD7FF), (0xE000, 0xFFFF))),)


def test_other_root_name() -> None:
    assert language(compile_ebnf('root ::= "a"\nmain ::= "b"', root_rule_name="main")) == {b"b"}


def test_choice_of_many_strings_is_one_literal_set() -> None:
    strings = [f"s{i}" for i in range(50)]
    program = read(compile_ebnf("root ::= " + " | ".join(f'"{s}"' for s in strings)))
    expected = n.LiteralSet(tuple(s.encode() for s in strings))
    assert program.exprs[program.rules[0].expr] == expected


@pytest.mark.parametrize("other", ['""', "", '"x"*', "[x]", '("x" "y")'])
def test_choice_with_anything_else_stays_a_choice(other: str) -> None:
    text = "root ::= " + " | ".join(f'"s{i}"' for i in range(50)) + " | " + other
    program = read(compile_ebnf(text))
    assert isinstance(program.exprs[program.rules[0].expr], n.Choice)


def test_deep_nesting_works_up_to_the_limit() -> None:
    depth = 5_000
    text = "root ::= " + '("a" ' * depth + ")?" * depth
    assert len(read(compile_ebnf(text)).exprs) > depth
    with pytest.raises(LimitExceededError):
        compile_ebnf("root ::= (" + '("a" ' * depth + ")?" * depth + ")")
    assert compile_ebnf("root ::= " + "(" * 20_000 + '"a"' + ")" * 20_000, max_nesting_depth=20_000)


def test_many_rules() -> None:
    count = 5_000
    text = "".join(f'r{i} ::= "x" r{(i + 1) % count}?\n' for i in range(count))
    program = read(compile_ebnf(text, root_rule_name="r0"))
    assert len(program.rules) == count
    assert [rule.name for rule in program.rules] == [f"r{i}" for i in range(count)]


def test_wrong_type() -> None:
    with pytest.raises(TypeError, match="given as str, not bytes"):
        compile_ebnf(b'root ::= "a"')  # type: ignore[arg-type]  # the fault


FRAGMENTS = [
    *"()|?*+{}[]\\\"'#=:,.^-<>\n\r\t \0",
    "::=", "root", "root ::=", "a ::=", '"a"', "[a-z]", "{2,3}", "{9999999999}", "(=", "Bytes(",
    "Token(", "[lazy] ::=", "\\x4", "\\ud800", "\ud800", "\u00e9", '"\\u00e9"', "max_tokens=3",
]  # fmt: skip


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join) | st.text())
def test_any_text_compiles_or_raises_from_the_tree(text: str) -> None:
    for source in (text, "root ::= " + text):
        error: MaskwrightError | None = None
        try:
            read(compile_ebnf(source))
        except (GrammarError, LimitExceededError) as caught:
            error = caught
        assert error is None or error.code.startswith("ebnf-")
        assert error is None or error.message[:30] in str(error)
