"""Schemas without a value: the error names the smallest part that has none."""

from __future__ import annotations

import pytest

from maskwright import GrammarCompiler, TokenizerInfo
from maskwright.errors import UnsatisfiableGrammarError, UnsupportedFeatureError

INFO = TokenizerInfo([*(bytes((i,)) for i in range(256)), b""], stop_token_ids=256)


def refused(schema, error=UnsatisfiableGrammarError, **options):
    compiler = GrammarCompiler(INFO)
    with pytest.raises(error) as caught:
        compiler.compile_json_schema(schema, **{"any_order": True, "strict_mode": False, **options})
    return caught.value


TEXT_OF_3_TO_2 = {"type": "string", "minLength": 3, "maxLength": 2}
LIST_OF_X = {"type": "array", "items": {"$ref": "#/$defs/x"}, "minItems": 1}
RECURSIVE = {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}


def an_object(value):
    return {"type": "object", "properties": {"a": value}, "required": ["a"]}


@pytest.mark.parametrize(
    ("schema", "pointer", "keywords"),
    [
        (TEXT_OF_3_TO_2, "#", ("type", "minLength", "maxLength")),
        (an_object({"type": "string", "enum": [1, 2]}), "#/properties/a", ("type", "enum")),
        (an_object(an_object({"enum": []})), "#/properties/a/properties/a/enum", ("enum",)),
        (an_object(False), "#", ("type", "properties", "required")),
        (RECURSIVE, "#", ("type", "properties", "required")),
        (
            {**LIST_OF_X, "$defs": {"x": TEXT_OF_3_TO_2}},
            "#/$defs/x",
            ("type", "minLength", "maxLength"),
        ),
        (
            {"type": "array", "prefixItems": [{}, an_object({"not": {}})], "minItems": 2},
            "#/prefixItems/1/properties/a/not",
            ("not",),
        ),
        ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "#/allOf", ("allOf",)),
        ({"allOf": [True, {"enum": []}]}, "#/allOf/1/enum", ("enum",)),
        ({"oneOf": [True, True]}, "#/oneOf", ("oneOf",)),
        ({"anyOf": [TEXT_OF_3_TO_2, {"enum": []}]}, "#/anyOf", ("anyOf",)),
    ],
)
def test_the_smallest_part_without_a_value_is_named(schema, pointer, keywords):
    error = refused(schema)
    assert error.code == "schema-unsatisfiable"
    assert error.pointer == pointer
    said = ", ".join(f'"{keyword}"' for keyword in keywords)
    assert f"no value is valid under the schema at {pointer}: {said}" in str(error)
    assert "allow that place to be missing" in str(error)


def test_the_place_is_found_with_all_options():
    error = refused(an_object({"enum": []}), any_order=False, strict_mode=True, dialect="draft7")
    assert error.pointer == "#/properties/a/enum"


def test_a_grammar_that_is_no_schema_has_no_pointer():
    with pytest.raises(UnsatisfiableGrammarError) as caught:
        GrammarCompiler(INFO).compile_grammar('root ::= "a" root')
    assert (caught.value.pointer, caught.value.node) == (None, None)
    assert refused(False).pointer is None


def test_what_the_core_refuses_is_named_with_its_place():
    error = refused({"items": {"not": {"uniqueItems": True}}}, UnsupportedFeatureError)
    assert error.pointer.startswith("#/items/not")
