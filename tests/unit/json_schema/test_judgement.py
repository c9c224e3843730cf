"""The nodes judge instances as the `jsonschema` package does, on written and on random schemas."""

from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from maskwright.errors import InvalidSchemaError
from maskwright.frontends.json_schema import compile_json_schema
from maskwright.frontends.json_schema.json_text import parse_json
from unit.json_schema.judge import Judge

OPTIONS = {"strict_mode": False, "any_order": True}

INSTANCES = [
    "null", "true", "false", "0", "-0", "1", "1.0", "1.5", "2", "-3", "1e2", "100", "1e-1", "0.1",
    '""', '"a"', '"ab"', '"abc"', '"\u00e9"', '"\U0001f600"', '"\\ud83d\\ude00"', '"1"', "[]",
    "[1]", "[true]", "[1.0]", '["a"]', "[1, 2]", '["a", 1, null]', "[[]]", "[[1]]", "[{}]", "{}",
    '{"a": 1}', '{"a": 2}', '{"a": true}', '{"a": "x"}', '{"b": 1}', '{"a": 1, "b": 2}',
    '{"b": 2, "a": 1.0}', '{"a": 1, "b": 2, "c": 3}', '{"a": {"a": 1}}',
    '{"a": {"a": {"a": null}}}', '{"": 0}', '{"a": [1, {"b": null}]}',
]  # fmt: skip

SCHEMAS = [
    {"type": "integer"},
    {"type": ["number", "null"]},
    {"type": "object", "required": ["a"]},
    {"required": ["zz"]},
    {"properties": {"a": {"type": "integer"}, "b": {"maximum": 1}}},
    {"properties": {"a": True}, "additionalProperties": False},
    {"properties": {"a": False}},
    {"additionalProperties": {"type": "integer"}, "minProperties": 1, "maxProperties": 2},
    {"additionalProperties": False},
    {"items": {"type": "integer"}, "minItems": 1},
    {"prefixItems": [{"type": "string"}, {"type": "integer"}]},
    {"prefixItems": [{"type": "integer"}], "items": {"type": "integer", "minimum": 2}},
    {"prefixItems": [True], "items": False},
    {"items": False},
    {"minLength": 2},
    {"maxLength": 1, "type": "string"},
    {"minLength": 3, "maxLength": 1},
    {"minimum": 0.1, "maximum": 1},
    {"exclusiveMinimum": 0.1, "exclusiveMaximum": 100},
    {"exclusiveMinimum": 1, "minimum": 1.5},
    {"enum": [1, "a", None, [], {}]},
    {"enum": [True, [1], {"a": 1}]},
    {"enum": [False, 0.10, "\U0001f600"]},
    {"const": 1},
    {"const": 100},
    {"const": {"b": 2, "a": 1}},
    {"const": [True]},
    {"const": {"a": [1, {"b": None}]}},
    {"enum": ["a", 1, 2], "type": "integer", "minimum": 2},
    {"anyOf": [{"type": "string", "maxLength": 1}, {"minimum": 2}]},
    {"anyOf": [{"required": ["a"]}, {"type": "array"}], "properties": {"a": {"type": "string"}}},
    {"allOf": [{"required": ["a"]}, {"maxProperties": 1}], "type": "object"},
    {"allOf": [{"properties": {"a": {"minimum": 1}}}, {"properties": {"a": {"maximum": 1}}}]},
    {"type": "object", "additionalProperties": {"$ref": "#"}},
    {
        "$defs": {"t": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/o"}]}, "o": {
            "type": "object", "properties": {"a": {"$ref": "#/$defs/t"}}}},
        "$ref": "#/$defs/t",
    },
    {"$ref": "#/$defs/x", "minimum": 1, "$defs": {"x": {"type": "integer"}}},
]  # fmt: skip


def agree(schema, texts, validator=jsonschema.Draft202012Validator, **options):
    judge = Judge(compile_json_schema(schema, **OPTIONS, **options)[0])
    oracle = validator(schema)
    verdicts = set()
    for text in texts:
        expected = oracle.is_valid(json.loads(text))
        assert judge.accepts(parse_json(text)) == expected, (schema, text, expected)
        verdicts.add(expected)
    return verdicts


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_written_schemas(schema):
    assert len(agree(schema, INSTANCES)) == 2
    # The same from JSON text, and with the oracle of an older draft where nothing differs.
    text = json.dumps(schema)
    from_text = compile_json_schema(text, **OPTIONS)
    assert from_text[0] == compile_json_schema(schema, **OPTIONS)[0]


@pytest.mark.parametrize(
    ("schema", "validator", "dialect"),
    [
        ({"items": [{"type": "integer"}]}, jsonschema.Draft7Validator, "draft7"),
        (
            {"items": [{"type": "integer"}, True], "additionalItems": {"type": "null"}},
            jsonschema.Draft201909Validator,
            "draft2019-09",
        ),
        (
            {"minimum": 1, "exclusiveMinimum": True, "maximum": 2},
            jsonschema.Draft4Validator,
            "draft4",
        ),
        (
            {"definitions": {"a": {"type": "string"}}, "$ref": "#/definitions/a", "maxLength": 1},
            jsonschema.Draft6Validator,
            "draft6",
        ),
    ],
)
def test_older_drafts(schema, validator, dialect):
    assert len(agree(schema, INSTANCES, validator, dialect=dialect)) == 2


PATTERNS = ["a", "^a", "b$", "^[ab]*$", "^(a|bc?)+$", "[^a]", "^.{2}$", "^\\w\\d?$", "c|^$"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_are_unanchored_searches(pattern):
    pytest.importorskip("maskwright.frontends.regex")
    texts = [json.dumps(x) for x in ("", "a", "b", "ab", "ba", "abc", "bcbc", "c1", "aa", 1, None)]
    assert len(agree({"pattern": pattern}, texts)) == 2


# Random schemas over a small world, so that verdicts of both kinds are common.

keys = st.sampled_from(["a", "b", "c"])
numbers = st.sampled_from([-1, 0, 1, 1.0, 1.5, 2, 0.1, 100])
strings = st.sampled_from(["", "a", "ab", "\u00e9\U0001f600"])
scalars = st.one_of(st.none(), st.booleans(), numbers, strings)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
    max_leaves=6,
)
counts = st.integers(0, 3)
types = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])

LEAF_KEYWORDS = {
    "type": st.one_of(types, st.lists(types, min_size=1, max_size=3, unique=True)),
    "enum": st.lists(values, max_size=4),
    "const": values,
    "minLength": counts,
    "maxLength": counts,
    "minItems": counts,
    "maxItems": counts,
    "minProperties": counts,
    "maxProperties": counts,
    "minimum": numbers,
    "maximum": numbers,
    "exclusiveMinimum": numbers,
    "exclusiveMaximum": numbers,
    "required": st.lists(keys, max_size=2, unique=True),
    "$ref": st.sampled_from(["#", "#/$defs/a", "#/$defs/b"]),
    "title": st.just("ignored"),
}


def with_children(inner):
    schemas = st.lists(inner, min_size=1, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            **LEAF_KEYWORDS,
            "properties": st.dictionaries(keys, inner, max_size=3),
            "additionalProperties": inner,
            "items": inner,
            "prefixItems": schemas,
            "anyOf": schemas,
            "allOf": schemas,
        },
    )


leaves = st.one_of(
    st.booleans(), *(st.fixed_dictionaries({key: value}) for key, value in LEAF_KEYWORDS.items())
)
schemas = st.recursive(leaves, with_children, max_leaves=6)
documents = st.builds(
    lambda root, a, b: {**(root if isinstance(root, dict) else {}), "$defs": {"a": a, "b": b}},
    with_children(schemas),
    schemas,
    schemas,
)


@settings(
    max_examples=400,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)
@given(documents, st.lists(values, min_size=1, max_size=6))
def test_random_schemas(schema, instances):
    try:
        compile_json_schema(schema)
    except InvalidSchemaError as caught:
        error = caught
    else:
        error = None
    if error is not None:
        assert error.code == "schema-reference-loop"
        event("reference loop")
        return
    for verdict in agree(schema, [json.dumps(instance) for instance in instances]):
        event(f"valid: {verdict}")
