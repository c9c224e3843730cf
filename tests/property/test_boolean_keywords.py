"""oneOf, not, if/then/else and dependent schemas over small worlds: see json_worlds.py."""

from __future__ import annotations

import random

import pytest

from json_worlds import check_world

KEYS = ("a", "b", "c")
KEYWORDS = ("oneOf", "not", "'if'", "dependentSchemas")


def random_leaf(rng):
    """One assertion, or a few about one type."""
    return rng.choice(
        [
            lambda: {"type": rng.choice(["string", "integer", "number", "object", "array"])},
            lambda: {"type": rng.sample(["string", "null", "boolean", "object", "array"], 2)},
            lambda: {"const": rng.choice(["a", "b", None, True, 1, [], {"a": 1}])},
            lambda: {"enum": rng.sample(["a", "b", "ab", None, False, 1, 2, [1], {}], 3)},
            lambda: {"minLength": rng.randint(0, 2)},
            lambda: {"maxLength": rng.randint(0, 2)},
            lambda: {"pattern": rng.choice(["^a", "b$", "^$", "a"])},
            lambda: {"minimum": rng.randint(0, 2)},
            lambda: {"maximum": rng.randint(0, 2)},
            lambda: {"required": rng.sample(KEYS, rng.randint(1, 2))},
            lambda: {"minProperties": rng.randint(0, 2)},
            lambda: {"maxProperties": rng.randint(0, 2)},
            lambda: {"minItems": rng.randint(0, 2)},
            lambda: {"maxItems": rng.randint(0, 2)},
            lambda: rng.choice([True, False, {}]),
        ]
    )()


def random_shape(rng, depth):
    """An object or array schema, typed as often as not."""
    if rng.random() < 0.7:
        names = rng.sample(KEYS, rng.randint(1, 2))
        schema = {"properties": {name: random_schema(rng, depth - 1) for name in names}}
        if rng.random() < 0.5:
            schema["required"] = rng.sample(KEYS, rng.randint(1, 2))
        if rng.random() < 0.3:
            schema["additionalProperties"] = rng.choice([False, True, {"type": "string"}])
    else:
        schema = {"prefixItems": [random_schema(rng, depth - 1) for _ in range(rng.randint(1, 2))]}
        if rng.random() < 0.3:
            schema["items"] = rng.choice([False, True, {"type": "string"}])
    if rng.random() < 0.5:
        schema["type"] = "object" if "properties" in schema else "array"
    return schema


def random_choice(rng, depth):
    """One of the keywords that this file is about."""

    def some(n):
        return [random_schema(rng, depth - 1) for _ in range(n)]

    kind = rng.choice(["oneOf", "not", "if", "dependentSchemas", "anyOf", "allOf"])
    if kind == "not":
        return {"not": random_schema(rng, depth - 1)}
    if kind == "if":
        parts = dict(zip(("if", "then", "else"), some(3), strict=True))
        if rng.random() < 0.3:
            del parts[rng.choice(["then", "else"])]
        return parts
    if kind == "dependentSchemas":
        return {kind: {name: random_schema(rng, depth - 1) for name in rng.sample(KEYS, 1)}}
    return {kind: some(rng.randint(1, 3))}


def random_schema(rng, depth):
    """A schema; keywords of several kinds stand side by side."""
    if depth <= 0:
        return random_leaf(rng)
    schema = {}
    for make in rng.sample([random_leaf, random_shape, random_choice], rng.randint(1, 2)):
        part = make(rng) if make is random_leaf else make(rng, depth)
        if isinstance(part, bool):
            return part
        schema.update(part)
    return schema


def a_schema(seed):
    """A schema with one of the keywords that this file is about."""
    rng = random.Random(seed)
    while True:
        schema = random_schema(rng, 3)
        if isinstance(schema, dict) and any(word in str(schema) for word in KEYWORDS):
            return schema


@pytest.mark.parametrize("seed", range(100))
def test_random_schemas(seed):
    check_world(a_schema(seed), seed=seed, length=5, limit=6, n_walks=2)


@pytest.mark.parametrize(
    "options",
    [{"strict_mode": True}, {"any_order": False}, {"strict_mode": True, "any_order": False}],
    ids=["strict", "declared order", "both"],
)
@pytest.mark.parametrize("seed", range(1000, 1025))
def test_random_schemas_where_naming_members_matters(seed, options):
    check_world(
        a_schema(seed), seed=seed, options=options, exact=False, length=4, limit=4, n_walks=2
    )
