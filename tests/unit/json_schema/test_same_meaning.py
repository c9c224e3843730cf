"""Schemas that mean the same become the same IR, so that a cache finds the one by the other."""

from __future__ import annotations

import json
import random

import pytest

import keyword_grammar
from maskwright.errors import MaskwrightError
from maskwright.frontends.json_schema import compile_json_schema
from schema_spellings import respelled, retyped

SCHEMA = {
    "type": "object",
    "title": "Order",
    "properties": {
        "kind": {"description": "what", "enum": ["a", "b"]},
        "size": {"minimum": 1, "maximum": 9, "type": "integer"},
        "tags": {"items": {"$ref": "#/$defs/tag"}, "maxItems": 3, "type": "array", "minItems": 1},
    },
    "required": ["kind"],
    "additionalProperties": False,
    "$defs": {
        "tag": {"pattern": "^[a-z]+$", "type": "string", "maxLength": 9},
        "unused": {"type": "null"},
    },
}


def ir_of(schema, **options):
    try:
        return compile_json_schema(schema, **options)[0]
    except MaskwrightError as error:
        return type(error)


@pytest.mark.parametrize("seed", range(30))
def test_order_annotations_and_text(seed):
    rng = random.Random(seed)
    assert ir_of(respelled(SCHEMA, rng)) == ir_of(SCHEMA)
    assert ir_of(retyped(respelled(SCHEMA, rng), rng)) == ir_of(SCHEMA)


def test_random_schemas():
    rng = random.Random(7)
    made = 0
    for _ in range(400):
        schema = json.loads(keyword_grammar.random_schema(rng))
        expected = ir_of(schema)
        made += isinstance(expected, bytes)
        if isinstance(expected, bytes):
            assert ir_of(respelled(schema, rng)) == expected, schema
            other = respelled(schema, rng, any_order=True)
            assert ir_of(other, any_order=True) == ir_of(schema, any_order=True), schema
    assert made > 100


def test_a_definition_that_nothing_refers_to_does_not_count():
    without = {**SCHEMA, "$defs": {"tag": SCHEMA["$defs"]["tag"]}}
    assert ir_of(without) == ir_of(SCHEMA)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"properties": {"a": {}, "b": {}}}, {"properties": {"b": {}, "a": {}}}),
        (
            {"properties": {"a": {}}, "allOf": [{"properties": {"b": {}}}]},
            {"allOf": [{"properties": {"b": {}}}], "properties": {"a": {}}},
        ),
        ({"const": 1}, {"const": True}),
        ({"minLength": 1}, {"minLength": 1, "default": "", "maxLength": 5}),
    ],
)
def test_what_counts(one, other):
    """The order of members does, in `properties` and where several keywords name some."""
    assert ir_of(one) != ir_of(other)


@pytest.mark.parametrize("patterns", [{}, {"patternProperties": {"^c": {}}}])
def test_the_order_of_members_does_not_count_in_any_order(patterns):
    rng = random.Random(1)
    schema = {**SCHEMA, **patterns, "allOf": [{"properties": {"x": {}, "y": {}}}]}
    for _ in range(20):
        other = respelled(schema, rng, any_order=True)
        assert ir_of(other, any_order=True) == ir_of(schema, any_order=True)


def test_schemas_of_the_data_folder(test_data):
    rng = random.Random(5)
    seen = same = 0
    for path in sorted((test_data / "maskbench").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").strip().split("\n")[::20]:
            schema = json.loads(line)["schema"]
            expected = ir_of(schema)
            if isinstance(expected, bytes):
                seen += 1
                same += ir_of(respelled(schema, rng)) == expected
    assert seen > 100
    assert same == seen
