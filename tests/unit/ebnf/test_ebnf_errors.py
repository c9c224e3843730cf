"""Every error code of the EBNF front-end: position, message and caret."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import maskwright.frontends.ebnf as package
from maskwright.errors import GrammarSyntaxError, LimitExceededError, UnsupportedFeatureError
from maskwright.frontends.ebnf import compile_ebnf

# text, code, line, column, part of the message
SYNTAX = [
    ("root ::= b", "ebnf-undefined-rule", 1, 10, "rule 'b' is not defined; add a rule b ::="),
    ('root ::= "x"\n  valeu\nvalue ::= "1"', "ebnf-undefined-rule", 2, 3, "mean 'value'"),
    ('root ::= a.\na ::= "1"', "ebnf-undefined-rule", 1, 10, "write a space before a dot"),
    ('root ::= "a"\nroot ::= "b"', "ebnf-duplicate-rule", 2, 1, "twice, first in line 1; join"),
    ('a ::= "b"', "ebnf-missing-root", 1, 1, "root rule 'root' is not defined (defined: a)"),
    ("", "ebnf-missing-root", 1, 1, "(defined: none)"),
    ("# nothing", "ebnf-missing-root", 1, 1, "(defined: none)"),
    ("root ::=", "ebnf-empty-rule", 1, 1, 'no body; write "" for the empty string'),
    ('root ::= a\na ::=\nb ::= "x"', "ebnf-empty-rule", 2, 1, "rule 'a' has no body"),
    ('"a"', "ebnf-expected-rule", 1, 1, 'expected a rule, name ::= expression, but found "a"'),
    ('root "a"', "ebnf-expected-arrow", 1, 6, "expected ::= after the rule name 'root'"),
    ("root", "ebnf-expected-arrow", 1, 5, "but found the end of the text"),
    ('root = "a"', "ebnf-wrong-arrow", 1, 6, "wrong arrow '='; a rule is written name ::="),
    ('root := "a"', "ebnf-wrong-arrow", 1, 6, "wrong arrow ':='"),
    ('root : "a"', "ebnf-wrong-arrow", 1, 6, "wrong arrow ':'"),
    ('root -> "a"', "ebnf-wrong-arrow", 1, 6, "wrong arrow '->'"),
    ('root ::= "a"\nb = "c"', "ebnf-wrong-arrow", 2, 3, "wrong arrow '='"),
    ('root ::= ::= "a"', "ebnf-unexpected-arrow", 1, 10, "a rule name must stand before it"),
    ('root ::= * "a"', "ebnf-nothing-to-repeat", 1, 10, "nothing to repeat: * must follow"),
    ('root ::= "a" | + "b"', "ebnf-nothing-to-repeat", 1, 16, "nothing to repeat: +"),
    ('root ::= (? "b")', "ebnf-nothing-to-repeat", 1, 11, "nothing to repeat: ?"),
    ("root ::= {2}", "ebnf-nothing-to-repeat", 1, 10, "nothing to repeat: {2}"),
    ('root ::= ("a" ("b")', "ebnf-unbalanced-parenthesis", 1, 10, "never closed"),
    ('root ::= ("a"\nb ::= "b"', "ebnf-unbalanced-parenthesis", 1, 10, "never closed"),
    ('root ::= "a") "b"', "ebnf-unbalanced-parenthesis", 1, 13, "closes nothing"),
    ('root ::= "abc\nb ::= "x"', "ebnf-unterminated-string", 1, 10, "string is never closed"),
    ('root ::= "abc\\"', "ebnf-unterminated-string", 1, 10, 'add a " in the same line'),
    ("root ::= [a-z\n]", "ebnf-unterminated-class", 1, 10, "class is never closed"),
    ("root ::= [a\\]", "ebnf-unterminated-class", 1, 10, "add a ] in the same line"),
    ('root ::= "a\\q"', "ebnf-bad-escape", 1, 12, "bad escape \\q: known are"),
    ('root ::= "\u20ac\\d"', "ebnf-bad-escape", 1, 12, "regex classes are not known here"),
    ("root ::= [a-z\\w]", "ebnf-bad-escape", 1, 14, "write [A-Za-z0-9_]"),
    ('root ::= "\\xg1"', "ebnf-bad-escape", 1, 11, "expected 2 hexadecimal digits after \\x"),
    ("root ::= [\\u12]", "ebnf-bad-escape", 1, 11, "expected 4 hexadecimal digits after \\u"),
    ('root ::= "\\U0001"', "ebnf-bad-escape", 1, 11, "expected 8 hexadecimal digits"),
    ('root ::= "\\ud83d\\ude00"', "ebnf-surrogate", 1, 11, "one \\UXXXXXXXX escape"),
    ("root ::= [\\udfff]", "ebnf-surrogate", 1, 11, "escape \\udfff is a surrogate"),
    ('root ::= "\ud800"', "ebnf-surrogate", 1, 11, "lone surrogate"),
    ('root ::= "\\U00110000"', "ebnf-escape-out-of-range", 1, 11, "beyond U+10FFFF"),
    ('root ::= "a\0b"', "ebnf-nul", 1, 12, "write \\0 in a string or class"),
    ("root ::= [ab z-a]", "ebnf-reversed-range", 1, 14, "U+007A is after U+0061"),
    ('root ::= "a"{3,2}', "ebnf-reversed-bounds", 1, 13, "3 is more than 2; write {2,3}"),
    ('root ::= "a"{,3}', "ebnf-bad-repetition", 1, 13, "expected {n}, {n,m} or {n,}"),
    ('root ::= "a"{-1}', "ebnf-bad-repetition", 1, 13, "expected {n}, {n,m} or {n,}"),
    ('root ::= "a"{2', "ebnf-bad-repetition", 1, 13, "expected {n}, {n,m} or {n,}"),
    ('root ::= Bytes("f")', "ebnf-bad-bytes", 1, 10, "pairs of hexadecimal digits"),
    ("root ::= Bytes(ff)", "ebnf-bad-bytes", 1, 10, "pairs of hexadecimal digits"),
    ('root ::= Bytes("ff"', "ebnf-bad-bytes", 1, 10, "pairs of hexadecimal digits"),
    ("root ::= 'a'", "ebnf-unexpected-character", 1, 10, "written with double quotes"),
    ('root ::= "a" / "b"', "ebnf-unexpected-character", 1, 14, "alternatives are written with |"),
    ('root ::= "a";', "ebnf-unexpected-character", 1, 13, "rules end without a mark"),
    ("1 ::= 2", "ebnf-unexpected-character", 1, 1, "unexpected 1"),
    ('root ::= "a"\u00a0', "ebnf-unexpected-character", 1, 13, "unexpected U+00A0"),
]


@pytest.mark.parametrize(("text", "code", "line", "column", "message"), SYNTAX)
def test_syntax_error(text: str, code: str, line: int, column: int, message: str) -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        compile_ebnf(text)
    error = caught.value
    assert (error.code, error.line, error.column) == (code, line, column)
    assert message in error.message
    head, source_line, caret = str(error).split("\n")
    assert head == f"{error.message} at line {line}, column {column}"
    expected = text.split("\n")[line - 1]
    for hidden in "\0\ud800\u00a0":
        expected = expected.replace(hidden, "\ufffd")
    assert source_line == "  " + expected
    assert caret == "  " + " " * (column - 1) + "^"
    assert error.source == text


UNSUPPORTED = [
    ("root ::= Token(1, 2)", "ebnf-unsupported-macro", "Token", "1:10"),
    ('root ::= "a"\n  TagDispatch(("t", x), loop=true)', "ebnf-unsupported-macro",
     "TagDispatch", "2:3"),
    ('root ::= Regex ("[0-9]+")', "ebnf-unsupported-macro", "Regex", "1:10"),
    ('root ::= JsonSchema("{}")', "ebnf-unsupported-macro", "JsonSchema", "1:10"),
    ('root ::= Not("a")', "ebnf-unsupported-macro", "Not", "1:10"),
    ('root ::= "a" (= "b")', "ebnf-unsupported-lookahead", "lookahead", "1:14"),
    ('root[max_tokens=3] ::= "a"', "ebnf-unsupported-rule-option", "rule option max_tokens", "1:6"),
    ('root ::= x\nx[lazy] ::= "a"', "ebnf-unsupported-rule-option", "rule option lazy", "2:3"),
    ('root ::= x\nx[capture="z-a", lazy] ::= "a"', "ebnf-unsupported-rule-option",
     "rule option capture", "2:3"),
    ('root ::= x\nx ::= "a"\nx[lazy] ::= "b"', "ebnf-unsupported-rule-option",
     "rule option lazy", "3:3"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "feature", "pointer"), UNSUPPORTED)
def test_unsupported(text: str, code: str, feature: str, pointer: str) -> None:
    with pytest.raises(UnsupportedFeatureError) as caught:
        compile_ebnf(text)
    error = caught.value
    assert (error.code, error.feature, error.pointer) == (code, feature, pointer)
    assert error.message == f"{feature} is not supported in EBNF yet; rewrite the rule without it"
    assert str(error).endswith("^")


LIMITS = [
    ("root ::= " + "(" * 9 + '"a"' + ")" * 9, {"max_nesting_depth": 8},
     "ebnf-nesting-too-deep", "max_nesting_depth", 8, "groups are nested deeper"),
    ('root ::= "a"' + "*" * 9, {"max_nesting_depth": 8},
     "ebnf-nesting-too-deep", "max_nesting_depth", 8, "quantifiers are nested deeper"),
    ('root ::= "a"{2147483647}', {},
     "ebnf-repetition-too-large", "max_repetition", 2**31 - 2, "repetition bound 2147483647"),
    ('root ::= "a"{1,' + "9" * 10_000 + "}", {},
     "ebnf-repetition-too-large", "max_repetition", 2**31 - 2, "leave the upper bound out"),
    ('root ::= "a"{11}', {"max_repetition": 10},
     "ebnf-repetition-too-large", "max_repetition", 10, "repetition bound 11"),
    ('root ::= "a"', {"max_source_length": 11},
     "ebnf-source-too-long", "max_source_length", 11, "has 12 characters"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "options", "code", "limit", "value", "message"), LIMITS)
def test_limit(
    text: str, options: dict[str, int], code: str, limit: str, value: int, message: str
) -> None:
    with pytest.raises(LimitExceededError) as caught:
        compile_ebnf(text, **options)  # type: ignore[arg-type]  # the fault
    error = caught.value
    assert (error.code, error.limit, error.value) == (code, limit, value)
    assert message in error.message
    assert limit in error.message or "max_repetition" in error.message


def test_bounds_at_the_limit() -> None:
    assert compile_ebnf('root ::= "a"{2147483646,0002147483646}')


def test_rule_option_names_are_classes_elsewhere() -> None:
    assert compile_ebnf('root ::= x[lazy]\nx ::= "a"')


def test_every_code_is_tested() -> None:
    folder = Path(package.__file__).parent
    codes = set()
    for path in folder.glob("*.py"):
        codes |= set(re.findall(r'"(ebnf-[a-z-]+)"', path.read_text(encoding="utf-8")))
    tested = (
        {row[1] for row in SYNTAX} | {row[1] for row in UNSUPPORTED} | {row[2] for row in LIMITS}
    )
    assert codes == tested
