"""Grammar: the front-ends behind it, printing, combination, identity."""

from __future__ import annotations

import pickle

import pytest

from maskwright import (
    Certificate,
    Grammar,
    GrammarError,
    GrammarSyntaxError,
    InvalidSchemaError,
    Loosened,
    UnsupportedFeatureError,
)
from maskwright.testing import _is_grammar_accept_string as accepts


def test_from_ebnf():
    grammar = Grammar.from_ebnf('root ::= "a" other\nother ::= [0-9]')
    assert accepts(grammar, "a7")
    assert not accepts(grammar, "a")
    assert grammar.certificate == Certificate()


def test_another_root_rule():
    text = 'root ::= "a"\nstart ::= "b"'
    assert accepts(Grammar.from_ebnf(text, root_rule_name="start"), "b")
    with pytest.raises(GrammarSyntaxError, match="nowhere"):
        Grammar.from_ebnf(text, root_rule_name="nowhere")


def test_syntax_errors_point_at_the_fault():
    with pytest.raises(GrammarSyntaxError) as caught:
        Grammar.from_ebnf('root ::= "a"\nroot ::= missing')
    assert caught.value.line == 2
    assert "^" in str(caught.value)


def test_text_parses_back_to_the_same_language():
    grammar = Grammar.from_ebnf('root ::= ("a" | [^"]{2,3})* "\\u00e9"')
    again = Grammar.from_ebnf(str(grammar))
    for text in ("\u00e9", "a\u00e9", "xy\u00e9", "x\u00e9", "a", 'x"\u00e9'):
        assert accepts(grammar, text) == accepts(again, text)


def test_from_regex():
    grammar = Grammar.from_regex("ab|cd")
    assert [accepts(grammar, text) for text in ("ab", "cd", "abd", "xab")] == [
        True,
        True,
        False,
        False,
    ]
    with pytest.raises(GrammarSyntaxError):
        Grammar.from_regex("(")


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Grammar.from_regex("a", print_converted_ebnf=True), 'root ::= "a"\n'),
        (
            lambda: Grammar.from_json_schema(True, print_converted_ebnf=True),
            str(Grammar.from_json_schema(True)),
        ),
        (lambda: Grammar.from_regex("a"), ""),
        (lambda: Grammar.from_json_schema(True), ""),
    ],
)
def test_printing_on_request(capsys, make, text):
    make()
    assert capsys.readouterr().out == text


def test_from_json_schema_in_every_form():
    pydantic = pytest.importorskip("pydantic")

    class Point(pydantic.BaseModel):
        x: int

    schema = Point.model_json_schema()
    from_dict = Grammar.from_json_schema(schema)
    assert Grammar.from_json_schema(Point) == from_dict
    assert Grammar.from_json_schema(pydantic.TypeAdapter(Point).json_schema()) == from_dict
    text = '{"properties":{"x":{"title":"X","type":"integer"}},"required":["x"],"type":"object"}'
    assert Grammar.from_json_schema(text) == from_dict


def test_schema_options_reach_the_front_end():
    schema = {"type": "object", "properties": {"a": {"type": "string", "format": "date-x"}}}
    plain = Grammar.from_json_schema(schema)
    variants = [
        {"any_whitespace": False},
        {"any_whitespace": False, "separators": (",", ":")},
        {"strict_mode": False},
        {"max_whitespace_cnt": 1},
        {"any_order": True},
        {"number_spelling": "plain"},
    ]
    grammars = {Grammar.from_json_schema(schema, **options) for options in variants}
    assert len(grammars) == len(variants)
    assert plain not in grammars
    assert plain.certificate.exact
    assert any(entry.startswith("key-order") for entry in plain.certificate.narrowed)


def test_schema_options_that_are_refused():
    with pytest.raises(UnsupportedFeatureError, match="indent"):
        Grammar.from_json_schema({}, any_whitespace=False, indent=2)
    with pytest.raises(GrammarError, match="draft99"):
        Grammar.from_json_schema({}, dialect="draft99")
    with pytest.raises(TypeError, match="no_such_option"):
        Grammar.from_json_schema({}, no_such_option=1)
    with pytest.raises(InvalidSchemaError) as caught:
        Grammar.from_json_schema({"properties": {"a": {"type": 5}}})
    assert caught.value.pointer.startswith("#/properties/a")


def test_a_limit_reaches_the_front_end():
    with pytest.raises(ValueError, match="max_constant_values"):
        Grammar.from_json_schema({"enum": [1, 2, 3]}, max_constant_values=2)


def test_builtin_json_grammar():
    grammar = Grammar.builtin_json_grammar()
    assert grammar.certificate.exact
    for text in ('{"b": [1, null, true], "a": "x"}', "[ ]", "-1.5e3", '"\\u0041"'):
        assert accepts(grammar, text)
    for text in ("", "[1,]", "{a:1}", "01", " 1"):
        assert not accepts(grammar, text)
    plain = Grammar.builtin_json_grammar(number_spelling="plain")
    assert accepts(plain, '{"b": [1, -0.5]}')
    assert not accepts(plain, "-1.5e3")


def test_concat():
    grammar = Grammar.concat(
        Grammar.from_ebnf('root ::= "a" x\nx ::= "1"'),
        Grammar.from_regex("b*"),
        Grammar.from_ebnf('root ::= "c" x\nx ::= "2"'),
    )
    assert [accepts(grammar, text) for text in ("a1c2", "a1bbc2", "a1", "a1c1", "c2")] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert accepts(Grammar.from_ebnf(str(grammar)), "a1bc2")


def test_union():
    grammar = Grammar.union(
        Grammar.from_ebnf('root ::= "a" root | "1"'), Grammar.from_ebnf('root ::= "b" root | "2"')
    )
    assert [accepts(grammar, text) for text in ("1", "aa1", "bb2", "ab1", "a2")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_combining_schemas():
    city = Grammar.from_json_schema({"type": "object", "properties": {"city": {"type": "string"}}})
    number = Grammar.from_json_schema({"type": "integer"})
    grammar = Grammar.concat(Grammar.from_regex("call "), Grammar.union(city, number))
    assert accepts(grammar, 'call {"city": "Rome"}')
    assert accepts(grammar, "call 12")
    assert not accepts(grammar, 'call {"town": "Rome"}')
    assert not accepts(grammar, "12")


@pytest.mark.parametrize("combine", [Grammar.concat, Grammar.union])
def test_operands(combine):
    with pytest.raises(GrammarError, match="at least one") as caught:
        combine()
    assert caught.value.code == "grammar-no-operands"
    with pytest.raises(TypeError, match="argument 1 of"):
        combine(Grammar.from_regex("a"), "b")
    assert accepts(combine(Grammar.from_regex("a")), "a")


def test_the_certificate_of_a_combination_says_what_each_part_says():
    loosened = Loosened("#", "not", "why")
    ir = Grammar.from_regex("a").ir
    parts = [
        Grammar(ir, Certificate(exact=False, narrowed=("n1",), loosened=(loosened,))),
        Grammar(ir, Certificate(narrowed=("n2", "n1"), ignored=("#/title",))),
    ]
    for combine in (Grammar.concat, Grammar.union):
        assert combine(*parts).certificate == Certificate(
            exact=False, narrowed=("n1", "n2"), loosened=(loosened,), ignored=("#/title",)
        )
    assert Grammar.union(parts[1]).certificate.exact


def test_equality_is_by_ir():
    a, b = Grammar.from_regex("a"), Grammar.from_regex("a")
    assert a == b
    assert hash(a) == hash(b)
    assert a != Grammar.from_regex("b")
    assert a != 'root ::= "a"'


def test_grammars_are_immutable_and_pickle():
    grammar = Grammar.from_json_schema({"title": "x"})
    with pytest.raises(AttributeError):
        grammar.ir = b""
    again = pickle.loads(pickle.dumps(grammar))
    assert again == grammar
    assert again.certificate == grammar.certificate
    assert "bytes of IR" in repr(grammar)
