"""contains and uniqueItems over small worlds: see json_worlds.py."""

from __future__ import annotations

import itertools
import json
import random

import pytest

from core_adapter import CoreMatcher
from json_worlds import World, check_world, refused_features
from maskwright.errors import (
    LimitExceededError,
    UnsatisfiableGrammarError,
    UnsupportedFeatureError,
)
from maskwright.frontends.json_schema import compile_json_schema
from vocabularies import vocabulary

ITEMS = (None, True, 0, 1, "", "a", "b")
SHAPES = ([], [1], [[1]], [1, 1], {}, {"a": 1}, {"a": 1, "b": 2}, {"a": "x"}, {"b": 2, "a": 1})
ALPHABET = b'{}[]",:ab1-0.tx'


def arrays():
    """Arrays of up to three scalars or two shapes, and a few other values."""
    yield from (5, "a", None, {}, {"a": [1, 1]})
    for n in range(4):
        yield from (list(items) for items in itertools.product(ITEMS, repeat=n))
    for n in range(3):
        yield from (list(items) for items in itertools.product(SHAPES, repeat=n))


ARRAYS = tuple(arrays())
INTEGER = {"type": "integer"}
STRING = {"type": "string"}
FEW = {"enum": ["a", "b", 1]}

CONTAINS = [
    {"contains": INTEGER, "minContains": 2},
    {"contains": INTEGER, "minContains": 0, "maxContains": 1, "maxItems": 3},
    {"contains": INTEGER, "minContains": 2, "maxContains": 2, "maxItems": 2},
    {"contains": INTEGER, "maxContains": 0, "minContains": 0, "maxItems": 4},
    {"type": "array", "items": {"enum": [0, 1, "a"]}, "contains": INTEGER, "maxItems": 2},
    {"type": "array", "items": {"enum": [0, 1]}, "contains": INTEGER, "maxContains": 2},
    {"prefixItems": [STRING, {"type": "boolean"}], "contains": {"const": 1}, "maxItems": 3},
    {"prefixItems": [INTEGER, INTEGER], "contains": INTEGER, "maxContains": 1, "type": "array"},
    {"contains": {"type": "array", "contains": {"const": 1}}, "maxItems": 2},
    {"allOf": [{"contains": INTEGER}, {"contains": STRING}], "maxItems": 2},
    {"allOf": [{"contains": INTEGER}, {"contains": {"const": 1}, "maxContains": 1}], "maxItems": 3},
    {
        "allOf": [
            {"contains": INTEGER, "maxContains": 1},
            {"contains": {"enum": [0, "a"]}, "minContains": 2, "maxContains": 2},
        ],
        "maxItems": 3,
    },
    {"type": "array", "not": {"contains": INTEGER}},
    {"type": "array", "not": {"items": INTEGER}},
    {"type": "array", "not": {"prefixItems": [INTEGER], "items": STRING}},
]
UNIQUE = [
    {"uniqueItems": True},
    {"uniqueItems": True, "items": STRING, "type": "array"},
    {"uniqueItems": True, "items": FEW, "minItems": 2, "type": "array"},
    {"uniqueItems": True, "items": FEW, "minItems": 3, "type": "array"},
    {"uniqueItems": True, "items": {"type": "boolean"}, "minItems": 2, "type": "array"},
    {"uniqueItems": True, "items": {"type": "string", "maxLength": 1}, "type": "array"},
    {"uniqueItems": True, "items": {"type": "string", "pattern": "^(a|b+)$"}, "type": "array"},
    {"uniqueItems": True, "items": {**INTEGER, "minimum": 0, "maximum": 2}, "type": "array"},
    {"uniqueItems": True, "items": {**INTEGER, "minimum": 9, "maximum": 11}, "minItems": 3},
    {"uniqueItems": True, "items": {"type": "number", "multipleOf": 0.5}, "type": "array"},
    {"uniqueItems": True, "prefixItems": [{"type": "boolean"}] * 2, "type": "array"},
    {"uniqueItems": True, "prefixItems": [{"type": "boolean"}] * 2, "items": False},
    {"uniqueItems": True, "prefixItems": [STRING, FEW], "minItems": 2, "type": "array"},
    {
        "uniqueItems": True,
        "items": {
            "type": "object",
            "properties": {"a": {"enum": [1, "x"]}},
            "additionalProperties": False,
        },
        "type": "array",
    },
    {
        "uniqueItems": True,
        "items": {
            "type": "object",
            "properties": {"a": {"enum": [1, "x"]}, "b": {"const": 2}},
            "required": ["a"],
            "additionalProperties": False,
        },
        "type": "array",
    },
    {"uniqueItems": True, "items": {"type": "object", "maxProperties": 1}, "maxItems": 2},
    {
        "uniqueItems": True,
        "items": {"type": "array", "items": {"enum": [1, [1]]}, "maxItems": 1},
        "type": "array",
    },
    {
        "uniqueItems": True,
        "items": {
            "type": "array",
            "items": {"enum": [1, 2]},
            "uniqueItems": True,
            "minItems": 1,
            "maxItems": 2,
        },
        "minItems": 3,
        "type": "array",
    },
    {"uniqueItems": True, "items": {"enum": [{"a": 1}, {"a": 1, "b": 2}, [1], 1]}, "minItems": 3},
    {"anyOf": [{"uniqueItems": True, "items": FEW}, {"items": STRING, "maxItems": 2}]},
    {"uniqueItems": True, "items": FEW, "contains": INTEGER, "minItems": 2, "type": "array"},
    {
        "uniqueItems": True,
        "items": {"enum": ["a", "b", 1, 0]},
        "contains": INTEGER,
        "minContains": 2,
        "type": "array",
    },
    {
        "uniqueItems": True,
        "items": {"enum": ["a", "b", 1, 0]},
        "contains": INTEGER,
        "maxContains": 1,
        "minItems": 3,
        "type": "array",
    },
]


@pytest.mark.parametrize("schema", CONTAINS + UNIQUE, ids=json.dumps)
def test_small_worlds(schema):
    check_world(schema, values=ARRAYS, alphabet=ALPHABET, length=7, limit=12, n_walks=6)


@pytest.mark.parametrize(
    "options",
    [{"strict_mode": True}, {"any_order": False}, {"max_whitespace_cnt": 0}],
    ids=["strict", "declared order", "no whitespace"],
)
def test_options(options):
    schema = {
        "type": "array",
        "uniqueItems": True,
        "contains": {"type": "object", "required": ["a"]},
        "items": {
            "type": "object",
            "properties": {"a": {"enum": [1, 2]}, "b": {"type": "boolean"}},
            "additionalProperties": False,
        },
    }
    world = World(schema, options=options)
    rng = random.Random(1)
    world.check_ends(ALPHABET, 9, rng, 16)
    world.check_walks(rng, 6)


# --- random schemas -------------------------------------------------------------------------------


def random_item(rng, depth):
    """A schema of items, mostly scalar and mostly with few values."""
    kind = rng.random()
    if depth > 0 and kind < 0.2:
        return random_array(rng, depth - 1)
    if depth > 0 and kind < 0.4:
        members = {"a": random_item(rng, 0), "b": random_item(rng, 0)}
        required = rng.sample(["a", "b"], rng.randint(0, 1))
        return {
            "type": "object",
            "properties": members,
            "required": required,
            "additionalProperties": False,
        }
    if depth > 0 and kind < 0.5:
        return {"anyOf": [random_item(rng, 0), random_item(rng, depth - 1)]}
    return rng.choice(
        [
            {"enum": rng.sample(["a", "b", "ab", "", 1, 0, None, True, 1.5, 10], 3)},
            {"enum": rng.sample([[1], {"a": 1}, "a", [], {}, {"a": 1, "b": "a"}, 1], 2)},
            {"type": rng.sample(["string", "boolean", "null", "integer", "number"], 2)},
            {"type": "string", "maxLength": rng.randint(0, 2)},
            {"type": "string", "pattern": rng.choice(["^a", "^(a|b)$", "^a?b?$"])},
            {"type": "integer", "minimum": 0, "maximum": rng.randint(0, 12)},
            {"type": "integer", "multipleOf": 5, "maximum": 10, "minimum": 0},
            {"type": "number", "minimum": 0, "maximum": 1},
            {"not": {"enum": [1, "a"]}, "type": ["integer", "string"]},
        ]
    )


def random_array(rng, depth):
    """An array schema with one of the keywords that this file is about, or several."""
    schema = {"type": "array", "items": random_item(rng, depth)}
    if rng.random() < 0.25:
        schema["prefixItems"] = [random_item(rng, 0) for _ in range(rng.randint(1, 2))]
    if rng.random() < 0.6:
        schema["uniqueItems"] = True
    if rng.random() < 0.5:
        schema["contains"] = rng.choice([schema["items"], random_item(rng, 0), {"const": "a"}])
        schema["minContains"] = rng.randint(0, 2)
        if rng.random() < 0.5:
            schema["maxContains"] = rng.randint(0, 3)
    if rng.random() < 0.4:
        schema["minItems"] = rng.randint(0, 3)
    if rng.random() < 0.5:
        schema["maxItems"] = rng.randint(0, 4)
    return schema


def random_schema(seed):
    """An array schema, sometimes one of two."""
    rng = random.Random(seed)
    schema = random_array(rng, 2)
    if rng.random() < 0.2:
        schema = {"anyOf": [schema, random_array(rng, 1)]}
    return schema


SEEDS = range(120)


def test_few_schemas_are_refused():
    assert len(refused_features(random_schema(seed) for seed in SEEDS)) <= 3


@pytest.mark.parametrize("seed", SEEDS)
def test_random_schemas(seed):
    try:
        check_world(
            random_schema(seed), seed=seed, values=ARRAYS, alphabet=ALPHABET, limit=8, n_walks=3
        )
    except UnsupportedFeatureError as error:
        pytest.skip(f"not supported: {error.feature}")


# --- equality -------------------------------------------------------------------------------------


def accepts(schema, text):
    """Whether the core reads the whole text."""
    matcher = CoreMatcher.compile(compile_json_schema(schema)[0], vocabulary("bytes"))
    return matcher.accept_bytes(text.encode()) and matcher.is_completed()


EQUAL = [
    ("1", "1.0"),
    ("100", "1e2"),
    ("100", "0.1E+3"),
    ("0", "-0.00e-7"),
    ("-120", "-1.2e2"),
    ("1e5000000000000000000", "10e4999999999999999999"),
    ("1e-30", "0.001e-27"),
    ('"a/b"', r'"\u0061\/b"'),
    ('"\U0001f600"', r'"\ud83d\uDE00"'),
    ('{"a":1,"b":[2]}', '{"b":[2.0], "a":1}'),
    ("[[1]]", "[[1.0]]"),
    ("null", "null"),
]
DIFFERENT = [
    ("1", "true"),
    ("0", "false"),
    ("1", '"1"'),
    ("1", "10"),
    ("1", "-1"),
    ("1e5000000000000000000", "1e5000000000000000001"),
    ("0.1", "0.01"),
    ("[1,2]", "[2,1]"),
    ('{"a":1}', '{"a":1,"b":1}'),
    ('{"a":1}', '{"b":1}'),
    ("[]", "{}"),
    ("[1]", "1"),
    ('"a"', '"A"'),
    ("[1]", "[[1]]"),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_values(one, other):
    for text in (f"[{one},{other}]", f"[{other}, {one}]", f"[0.5,{one},7,{other}]"):
        assert not accepts({"uniqueItems": True}, text)
        assert accepts({"contains": True}, text)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_values(one, other):
    for text in (f"[{one},{other}]", f"[{other}, {one}]"):
        assert accepts({"uniqueItems": True}, text)


# --- bounds ---------------------------------------------------------------------------------------


def test_large_counts_are_registers():
    """States don't grow with the bounds, nor with what was read."""
    schema = {"items": {"enum": [0, "a"]}, "contains": {"const": 0}, "minContains": 3000}
    assert accepts({**schema, "type": "array"}, "[" + ",".join(["0", '"a"'] * 3000) + "]")
    assert not accepts(schema, "[" + ",".join(["0", '"a"'] * 2999) + "]")
    assert not accepts({**schema, "maxItems": 5999}, "[" + ",".join(['"a"', "0"] * 3000) + "]")
    numbers = list(range(2000))
    assert accepts({"uniqueItems": True}, json.dumps(numbers))
    assert not accepts({"uniqueItems": True}, json.dumps([*numbers, 1000]))


@pytest.mark.parametrize(
    "schema",
    [
        {"uniqueItems": True, "items": {"type": "boolean"}, "minItems": 3},
        {"uniqueItems": True, "items": {"enum": [1, 1.0, "a"]}, "minItems": 3},
        {"uniqueItems": True, "items": {"type": "string", "maxLength": 0}, "minItems": 2},
        {"uniqueItems": True, "items": FEW, "contains": INTEGER, "minContains": 2},
        {"contains": False},
        {"contains": INTEGER, "items": STRING},
        {"contains": INTEGER, "minContains": 3, "maxItems": 2},
        {"contains": INTEGER, "maxContains": 1, "items": INTEGER, "minItems": 2},
        {"allOf": [{"contains": INTEGER}, {"contains": STRING}], "maxItems": 1},
        {"uniqueItems": True, "minItems": 2, "items": {"$ref": "#"}},
    ],
    ids=json.dumps,
)
def test_arrays_without_values_are_refused(schema):
    with pytest.raises(UnsatisfiableGrammarError):
        accepts({"type": "array", **schema}, "[]")


def test_what_cannot_be_counted_is_refused_by_name():
    places = [{"enum": ["a"]}, {"enum": ["a", "b"]}, {"enum": ["b", "c"]}]
    schema = {"uniqueItems": True, "prefixItems": places, "minItems": 3}
    with pytest.raises(UnsupportedFeatureError, match="different items than can be counted"):
        accepts(schema, "[]")
    with pytest.raises(UnsupportedFeatureError, match="finds two equal items"):
        accepts({"type": "array", "not": {"uniqueItems": True}}, "[]")


def test_too_many_conditions_meet_a_named_limit():
    with pytest.raises(LimitExceededError) as caught:
        accepts({"allOf": [{"contains": {"const": i}} for i in range(7)]}, "[]")
    assert (caught.value.code, caught.value.limit) == ("json-too-many-contains", "max_contains")
    large = [{"contains": {"const": i}, "minContains": 10_000} for i in range(2)]
    with pytest.raises(LimitExceededError) as caught:
        accepts({"allOf": large}, "[]")
    assert (caught.value.code, caught.value.limit) == ("json-contains-too-large", "max_counts")
