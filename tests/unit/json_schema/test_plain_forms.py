"""What the native walk converts by itself is what the keyword's handler would make of it."""

from __future__ import annotations

import json
import random
from collections import OrderedDict
from decimal import Decimal

import pytest

import keyword_grammar
from maskwright.errors import MaskwrightError
from maskwright.frontends.json_schema import compile_json_schema
from maskwright.frontends.json_schema.dialects import Dialect

A = {"type": "string"}
SCHEMAS = [
    {"type": "integer"},
    {"type": "float"},
    {"type": ["integer", "null"]},
    {"type": ("string", "null")},
    {"type": []},
    {"type": [["string"]]},
    {"type": None},
    {"type": "\ud800"},
    {"properties": {"a": A, "b": True, "c": False}},
    {"properties": {}},
    {"properties": []},
    {"properties": {"a": 5}},
    {"properties": {1: A}},
    {"properties": {"\ud800": A}},
    {"properties": {"a": A}, "additionalProperties": False},
    {"additionalProperties": A, "properties": {"a": {"properties": {"a": {"not": A}}}}},
    {"additionalProperties": True},
    {"additionalProperties": False},
    {"additionalProperties": 1},
    {"properties": {"a": A}, "additionalProperties": "x"},
    {"properties": {"a": A}, "patternProperties": {"^b": A}, "additionalProperties": False},
    {"patternProperties": {"^b": A}, "additionalProperties": A},
    {"items": A},
    {"items": True},
    {"items": False},
    {"items": [A, A]},
    {"items": [A], "additionalItems": False},
    {"items": 3},
    {"prefixItems": [A], "items": False},
    {"items": A, "prefixItems": [A]},
    {"required": ["a", "b", "a"]},
    {"required": []},
    {"required": ("a",)},
    {"required": [1]},
    {"required": "a"},
    {"required": ["\udfff"]},
    {"enum": ["a", "b", "a"]},
    {"enum": [f"v{i}" for i in range(20)] * 2},
    {"enum": []},
    {"enum": ["a", 1]},
    {"enum": ["a", None, True, [1], {"a": "b"}]},
    {"enum": {"a": 1}},
    {"enum": ["\ud83d"]},
    {"const": "a"},
    {"const": ["a"]},
    {"const": 1},
    {"allOf": [A, {"minLength": 2}]},
    {"anyOf": [A, {"type": "null"}]},
    {"oneOf": [A]},
    {"oneOf": [A, True]},
    {"anyOf": []},
    {"anyOf": [A, 1]},
    {"anyOf": A},
    {"allOf": (A, A)},
    {"minLength": 1, "maxLength": 3},
    {"maxLength": 3, "minLength": 5},
    {"minLength": 0},
    {"maxLength": 2**40},
    {"minLength": 2**40},
    {"minLength": 2.0, "maxLength": Decimal(3)},
    {"minLength": True},
    {"minLength": -1},
    {"minLength": "1"},
    {"maxItems": 0, "minItems": 0},
    {"minProperties": 2},
    {"maxProperties": 2**32 - 2},
    {"maxProperties": 2**32 - 1},
    {"$ref": "#"},
    {"$ref": "#/definitions/a", "definitions": {"a": A}, "title": "t"},
    {"$ref": "#/definitions/a/properties/b", "definitions": {"a": {"properties": {"b": A}}}},
    {"properties": {"x": {"$ref": "#/definitions/n"}, "y": {"$ref": "#/definitions/n"}},
     "definitions": {"n": {"properties": {"n": {"$ref": "#/definitions/n"}, "d": {"title": 1}}}}},
    {"$ref": "#/$defs/a~1b", "$defs": {"a/b": A}},
    {"$ref": "#/$defs/%61", "$defs": {"a": A}},
    {"$ref": "#/allOf/1", "allOf": [A, A]},
    {"$ref": "#/$defs/t", "$defs": {"t": True}},
    {"$ref": "#/$defs/t", "$defs": {"t": 1}},
    {"$ref": "#/$defs/missing", "$defs": {}},
    {"$ref": "#anchor", "$defs": {"a": {"$anchor": "anchor", "type": "null"}}},
    {"$ref": "#/$defs/a/$defs/b",
     "$defs": {"a": {"$id": "http://x.y/z", "$defs": {"b": {"$ref": "#/$defs/b"}}}}},
    {"properties": {"a": {"$id": "http://x.y/z", "properties": {"b": {"$ref": "#"}}}}},
    {"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#"}}},
    {"definitions": 1},
    {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "x": 1,
     "type": "object", "definitions": {"a": A}},
    {"title": "a/b~c", "properties": {"a/b": {"title~": 1, "\ud800x": 1}}},
    {"anyOf": [{"title": 1}, {"anyOf": [{"x": 1}, True]}], "not": {"description": ""}},
    {3: 4},
    OrderedDict(properties=OrderedDict(b=A, a=A), title="t"),
]  # fmt: skip
OPTIONS = [
    {},
    {"strict_mode": False},
    {"dialect": "draft4"},
    {"dialect": "draft7", "nullable": True},
    {"dialect": "draft2020-12", "max_constant_values": 1},
]


def outcome(schema, options):
    try:
        return compile_json_schema(schema, **options)
    except MaskwrightError as error:
        return type(error), str(error), error.code, getattr(error, "pointer", None)


def by_handlers(schema, options, monkeypatch):
    """Return the outcome where every keyword goes to its handler."""

    def without_plain_forms(handlers):
        return property(lambda self: self._table_of(handlers(self), {}))

    with monkeypatch.context() as patch:
        patch.setattr(Dialect, "table", without_plain_forms(lambda self: dict(self.handlers)))
        nullable = without_plain_forms(lambda self: dict(self.nullable_handlers))
        patch.setattr(Dialect, "nullable_table", nullable)
        return outcome(schema, options)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("schema", SCHEMAS, ids=range(len(SCHEMAS)))
def test_a_plain_form_does_what_its_handler_does(schema, options, monkeypatch):
    assert outcome(schema, options) == by_handlers(schema, options, monkeypatch)


def random_schema(rng, depth):
    """Members of the schemas above, put into each other."""
    schema = dict(rng.choice(SCHEMAS))
    for _ in range(rng.randrange(3)):
        schema |= rng.choice(SCHEMAS)
    if depth:
        below = random_schema(rng, depth - 1)
        place = rng.randrange(4)
        extra = (
            {"properties": {"p": below, "q": {}}}, {"items": below}, {"anyOf": [below, A]},
            {"additionalProperties": below},
        )[place]  # fmt: skip
        schema |= extra
    pairs = list(schema.items())
    rng.shuffle(pairs)
    return dict(pairs)


def test_random_mixtures(monkeypatch):
    rng = random.Random(3)
    made = 0
    for _ in range(1500):
        schema = random_schema(rng, rng.randrange(3))
        options = rng.choice(OPTIONS)
        found = outcome(schema, options)
        assert found == by_handlers(schema, options, monkeypatch), schema
        made += isinstance(found[0], bytes)
    assert made > 100


def test_random_keywords(monkeypatch):
    made = 0
    for seed in range(300):
        rng = random.Random(seed)
        schema = json.loads(keyword_grammar.random_schema(rng))
        options = rng.choice(OPTIONS)
        found = outcome(schema, options)
        assert found == by_handlers(schema, options, monkeypatch), schema
        made += isinstance(found[0], bytes)
    assert made > 100
