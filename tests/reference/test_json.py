"""The JSON part of the reference: against ``jsonschema`` on values, and traps by hand."""

from __future__ import annotations

import json
import random

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle import finish_reference, reference_matcher, reference_walk
from schema_specs import schema_ir
from strategies import examples, instances_near, json_values, recursive_schemas, schemas, spellings
from vocabularies import vocabulary

ASCII = vocabulary("bytes")
JSON = vocabulary("json")


def accepts(schema, text, **options):
    """Whether the reference reads a text to its end, byte by byte."""
    matcher = reference_matcher(schema_ir(schema, **options), ASCII)
    for byte in text.encode() if isinstance(text, str) else text:
        if not matcher.accept_bytes(bytes([byte])):
            return False
    return matcher.is_completed()


def is_valid(schema, value):
    """What ``jsonschema`` says."""
    return jsonschema.Draft202012Validator(schema).is_valid(value)


@given(st.data())
@examples(120)
def test_verdicts_on_values(data):
    schema = data.draw(st.one_of(schemas(), recursive_schemas()))
    value = data.draw(st.one_of(instances_near(schema), json_values()))
    text = data.draw(spellings(value))
    assert accepts(schema, text) == is_valid(schema, value), (schema, text)


@given(schemas(), st.integers(0, 1000))
@examples(40)
def test_walks_have_no_dead_ends_and_give_valid_values(schema, seed):
    check_walk(schema, seed)


@given(recursive_schemas(), st.integers(0, 1000))
@examples(15)
def test_walks_of_recursive_schemas(schema, seed):
    check_walk(schema, seed)


def check_walk(schema, seed):
    matcher = reference_matcher(schema_ir(schema), JSON)
    if matcher.is_empty_language:
        return
    rng = random.Random(seed)
    tokens = reference_walk(matcher, rng, 8)
    tokens += finish_reference(matcher, rng, JSON, json.dumps(schema, ensure_ascii=False))
    if matcher.is_terminated():  # if not, the walk has not found the end, which proves nothing
        text = b"".join(JSON.tokens[t] for t in tokens if t not in JSON.special_ids)
        assert is_valid(schema, json.loads(text)), (schema, text)


CLOSED = {"type": "object", "properties": {"a": {"type": "integer"}, "ab": {"type": "string"}}}
TRAPS = [
    (CLOSED, '{"a\\u0062":"x"}', True),
    (CLOSED, '{"a\\u0062":1}', False),
    (CLOSED, '{"a":1,"\\u0061":2}', False),
    ({"maxLength": 1}, '"\\ud83d\\ude00"', True),
    ({"maxLength": 1}, '"😀"', True),
    ({"maxLength": 1}, '"\\ud83d"', False),
    ({}, '"\\ude00"', False),
    ({}, '"\\ud83d\\u0041"', False),
    ({}, '"a\nb"', False),
    ({}, '"\x7f"', True),
    ({"type": "integer"}, "1.00", True),
    ({"type": "integer"}, "1e2", True),
    ({"type": "integer"}, "-0", True),
    ({"type": "integer"}, "1.5", False),
    ({"type": "integer"}, "01", False),
    ({"type": "number"}, "-0.0E+1", True),
    ({"type": "number"}, "1.", False),
    ({"minimum": 10, "maximum": 12}, "11.50", True),
    ({"minimum": 10, "maximum": 12}, "1.15e1", True),
    ({"exclusiveMinimum": 1, "exclusiveMaximum": 2}, "1.0", False),
    ({"exclusiveMinimum": 1, "exclusiveMaximum": 2}, "1.000001", True),
    ({"enum": [1, "x", None, {"a": [1]}]}, '{ "a" : [ 1.0 ] }', True),
    ({"enum": [1, "x", None, {"a": [1]}]}, '{"a":[1,1]}', False),
    ({"const": 100}, "100.0", True),
    ({"const": 0}, "-0.0", True),
    ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, "1e2", True),
    ({"type": "array", "prefixItems": [{"type": "null"}, {"type": "null"}]}, "[null]", True),
    ({"type": "array"}, "[ ]", True),
    ({"type": "array"}, "[   ]", False),
    ({"type": "array"}, " []", False),
    ({"type": "array"}, "[] ", False),
    ({"required": ["z"], "additionalProperties": False}, "{}", False),
    ({"required": ["z"], "properties": {"a": True}}, '{"z":1}', True),
    ({"pattern": "^[ab]{2,3}$", "minLength": 3}, '"ab"', False),
    ({"pattern": "^[ab]{2,3}$", "minLength": 3}, '"\\u0061ba"', True),
    (False, "null", False),
]


@pytest.mark.parametrize(("schema", "text", "expected"), TRAPS)
def test_traps(schema, text, expected):
    assert accepts(schema, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1, "ab": "x"}', True),
        ('{"ab": "x", "a": 1}', False),
        ('{"a":1}', False),
        ('{"a": 1,"ab": "x"}', False),
        ('{"a": 1, "z": 1}', False),
        ("{}", True),
        ("{ }", False),
    ],
)
def test_declared_order_closed_and_fixed_separators(text, expected):
    options = {"any_order": False, "strict": True, "any_whitespace": False}
    assert accepts(CLOSED, text, **options) == expected


def test_strict_mode_is_closed_over_the_conjunction():
    both = {"allOf": [{"properties": {"a": True}}, {"properties": {"b": True}}]}
    assert accepts(both, '{"a":1,"b":2}', strict=True)
    assert not accepts(both, '{"c":1}', strict=True)
    assert accepts({"type": "object"}, '{"c":1}', strict=True)
    either = {"anyOf": both["allOf"]}
    assert accepts(either, '{"a":1,"b":2}', strict=True)
    assert accepts({"prefixItems": [True]}, "[1]", strict=True)
    assert not accepts({"prefixItems": [True]}, "[1,2]", strict=True)


def allowed_after(schema, text, **options):
    """The next bytes that the reference allows after a text."""
    matcher = reference_matcher(schema_ir(schema, **options), ASCII)
    assert matcher.accept_bytes(text.encode())
    return {ASCII.tokens[t] for t in matcher.allowed_tokens()} - {b"<|stop|>", b"<|end|>"}


def test_what_is_owed_limits_what_may_come():
    two = {"type": "object", "required": ["a", "b"], "maxProperties": 2}
    assert allowed_after(two, '{"') == {b"a", b"b", b"\\"}
    assert allowed_after(two, '{"a":1') >= {b","}
    assert b"}" not in allowed_after(two, '{"a":1')
    bounds = {"type": "integer", "minimum": 3, "maximum": 17}
    assert allowed_after(bounds, "") == {bytes([b]) for b in b"013456789"}
    assert allowed_after(bounds, "1") == {bytes([b]) for b in b"01234567.eE"}
    assert allowed_after({"const": "ab"}, '"a') == {b"b", b"\\"}
    unproductive = {"properties": {"a": {"$ref": "#"}}, "required": ["a"], "type": "object"}
    assert reference_matcher(schema_ir(unproductive), ASCII).is_empty_language
