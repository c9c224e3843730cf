"""oneOf, not, if/then/else, dependent*: what the nodes mean, and what is refused as malformed."""

from __future__ import annotations

from decimal import Decimal

import pytest

from maskwright.errors import InvalidSchemaError
from maskwright.frontends.json_schema import compile_json_schema
from unit.json_schema.judge import Judge


def judge_of(schema, **options):
    return Judge(compile_json_schema(schema, strict_mode=False, **options)[0])


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, [1, "a"], [3, Decimal("1.5")]),
        ({"oneOf": [{"type": "null"}]}, [None], [1]),
        ({"not": {"type": "string"}}, [1, None], ["a"]),
        ({"not": False}, [1], []),
        (
            {"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"type": "null"}},
            ["ab", None],
            ["a", 1],
        ),
        ({"if": {"type": "string"}, "then": {"minLength": 2}}, ["ab", 1], ["a"]),
        ({"if": {"type": "string"}, "else": {"type": "null"}}, ["a", None], [1]),
        ({"if": True, "then": {"type": "null"}, "else": False}, [None], [1]),
        ({"dependentRequired": {"a": ["b", "c"]}}, [{}, {"b": 1}, 1], [{"a": 1, "b": 1}]),
        (
            {"dependentSchemas": {"a": {"required": ["b"]}, "c": False}},
            [{}, {"a": 1, "b": 1}, 1, []],
            [{"a": 1}, {"c": 1}],
        ),
        (
            {"dependencies": {"a": ["b"], "c": {"properties": {"a": False}}}},
            [{}, {"c": 1}, {"a": 1, "b": 1}, 1],
            [{"a": 1}, {"a": 1, "b": 1, "c": 1}],
        ),
    ],
)
def test_meaning(schema, valid, invalid):
    judge = judge_of(schema)
    for value in valid:
        assert judge.accepts(value), value
    for value in invalid:
        assert not judge.accepts(value), value


@pytest.mark.parametrize(
    ("schema", "pointer", "expected"),
    [
        ({"oneOf": []}, "#/oneOf", "a non-empty array of schemas"),
        ({"oneOf": [1]}, "#/oneOf/0", "a schema"),
        ({"not": "x"}, "#/not", "a schema"),
        ({"if": 1, "then": {}}, "#/if", "a schema"),
        ({"if": {}, "then": 1}, "#/then", "a schema"),
        ({"if": {}, "else": None}, "#/else", "a schema"),
        ({"dependencies": []}, "#/dependencies", "an object with an entry per member"),
        ({"dependencies": {"a": "b"}}, "#/dependencies/a", "a schema"),
        ({"dependentRequired": {"a": True}}, "#/dependentRequired/a", "an array of member names"),
        ({"dependentRequired": {"a": [1]}}, "#/dependentRequired/a/0", "a member name as a string"),
        ({"dependentSchemas": {"a": []}}, "#/dependentSchemas/a", "a schema"),
        (
            {"dependentSchemas": {"a": {"required": [1]}}},
            "#/dependentSchemas/a/required/0",
            "a member name as a string",
        ),
    ],
)
def test_malformed(schema, pointer, expected):
    with pytest.raises(InvalidSchemaError) as caught:
        compile_json_schema(schema)
    assert caught.value.pointer == pointer
    assert f"expected {expected}" in str(caught.value)


@pytest.mark.parametrize(
    "schema",
    [
        {"not": {"$ref": "#"}},
        {"oneOf": [{"$ref": "#"}, {"type": "null"}]},
        {"if": {"$ref": "#"}, "then": {}},
        {"if": {}, "else": {"$ref": "#"}},
        {"dependentSchemas": {"a": {"$ref": "#"}}},
    ],
)
def test_references_that_only_lead_back_are_refused(schema):
    with pytest.raises(InvalidSchemaError) as caught:
        compile_json_schema(schema)
    assert caught.value.code == "schema-reference-loop"


def test_keywords_without_effect_are_listed():
    def ignored(schema):
        return compile_json_schema(schema)[1].ignored

    assert ignored({"then": {}, "else": {}}) == ("#/else", "#/then")
    assert ignored({"if": {}}) == ("#/if",)
    assert ignored({"type": "string", "dependencies": {"a": ["b"]}}) == ("#/dependencies",)
    assert ignored({"if": {}, "then": {"title": "a"}}) == ("#/then/title",)
