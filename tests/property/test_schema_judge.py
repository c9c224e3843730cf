"""What the tests on random schemas stand on: the judge, and the makers of schemas and instances."""

from __future__ import annotations

import json
import random
import re

import pytest

from ecmascript import NO_NODE, NODE, UnsureError, search
from json_spellings import plain
from keyword_grammar import random_schema
from maskwright.frontends.json_schema.dialects import DEFAULT
from pattern_grammar import python_pattern, random_pattern
from schema_forms import Draft7, modern
from schema_instances import mutations, near_instances, parse
from schema_judge import Judge

needs_node = pytest.mark.skipif(NODE is None, reason=NO_NODE)

# Of the supported keywords those that no random schema has: references to other documents and
# dynamic ones, which need more than a keyword.
NOT_RANDOM = {
    "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef", "$vocabulary",
    "unevaluatedItems", "unevaluatedProperties", "disallow", "divisibleBy", "extends",
}  # fmt: skip


@needs_node
@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("^.$", "😀", True),
        (r"^\u{1F600}$", "😀", True),
        ("a$", "a\n", False),
        (r"^\d$", "٣", False),
        (r"^\p{L}$", "é", True),
        (r"\-", "-", True),  # a syntax error with `u`
    ],
)
def test_patterns_are_those_of_ecmascript(pattern, text, matches):
    assert search(pattern, text) == matches


@needs_node
def test_what_node_cannot_know():
    with pytest.raises(UnsureError):
        search(r"\p{L}", "\U000e0fff")
    with pytest.raises(UnsureError):
        search("(?<!^)(?!a)", "😀a")  # found between the halves of the first character
    with pytest.raises(ValueError, match="no pattern"):
        search("(", "")


@needs_node
@pytest.mark.parametrize(
    ("schema", "text", "valid"),
    [
        ({"multipleOf": 0.01}, "19.99", True),
        ({"multipleOf": 0.3}, "0.30000000000000001", False),
        ({"type": "integer"}, "1.0", True),
        ({"type": "integer"}, "12e-1", False),
        ({"maxLength": 1}, '"\\ud83d\\ude00"', True),
        ({"uniqueItems": True}, "[1, true, 1.0]", False),
        ({"uniqueItems": True}, "[1, true, [1], [true], {}]", True),
        ({"const": 0}, "-0.0", True),
        ({"maximum": 1}, "1e999999999999999999999", None),
        ({"additionalProperties": False, "patternProperties": {"^.$": True}}, '{"😀": 1}', True),
        (
            {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "items": {"$ref": "#"},
                "patternProperties": {r"^\p{L}$": False},
            },
            '[{"é": 1}]',
            False,
        ),
    ],
)
def test_the_judge_is_exact(schema, text, valid):
    assert Judge(json.dumps(schema)).is_valid(text) is valid


def keywords_in(schema):
    if isinstance(schema, dict):
        yield from schema
        for value in schema.values():
            yield from keywords_in(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from keywords_in(value)


def random_schemas(count):
    return [json.loads(random_schema(random.Random(seed))) for seed in range(count)]


def test_random_schemas_have_all_keywords():
    found = {word for schema in random_schemas(400) for word in keywords_in(schema)}
    assert set(DEFAULT.handlers) - found == NOT_RANDOM
    assert {"$anchor", "$id", "id", "definitions"} <= found


def test_most_random_patterns_have_a_counterpart_of_python():
    rng = random.Random(1)
    failed = 0
    for _ in range(300):
        try:
            re.compile(python_pattern(random_pattern(rng)))
        except re.error:
            failed += 1
    assert failed < 15


@needs_node
def test_most_instances_are_valid_and_most_mutations_of_strict_schemas_are_not():
    counts = {True: 0, False: 0, None: 0}
    for seed, schema in enumerate(random_schemas(60)):
        judge = Judge(json.dumps(schema if "$schema" in schema else modern(schema)))
        for value in near_instances(schema, 3, seed):
            counts[judge.is_valid(plain(value))] += 1
    assert counts[True] > 60
    assert counts[True] > 5 * counts[False]
    judge = Judge('{"properties": {"a": {"const": [1, "x"]}}, "required": ["a"]}')
    value = parse('{"a": [1, "x"]}')
    changed = [*mutations(value, {}, random.Random(1), 200)]
    assert sum(judge.is_valid(plain(other)) is False for other in changed) > 100


def test_older_spellings_are_made_new_ones():
    old = {
        "items": [{"minimum": 1, "exclusiveMinimum": True}],
        "additionalItems": {"const": {"items": [1]}},
        "dependencies": {"a": ["b"], "b": {"maximum": 2, "exclusiveMaximum": False}},
    }
    assert modern(old) == {
        "prefixItems": [{"exclusiveMinimum": 1}],
        "items": {"const": {"items": [1]}},
        "allOf": [{"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"b": {"maximum": 2}}}],
    }


def test_references_are_unrolled():
    schema = {
        "$ref": "#/$defs/a~1b",
        "$defs": {"a/b": {"properties": {"next": {"$ref": "#/$defs/a~1b"}, "x": {"minLength": 1}}}},
    }
    expected = {"properties": {"next": False, "x": {"minLength": 1}}}
    assert Draft7(schema).convert(schema) == expected
