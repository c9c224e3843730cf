"""Numbers against exact rational arithmetic: bounds, divisors, enums and their negations.

Walks over the masks end in valid numbers (see json_worlds.py), and valid numbers in any spelling
are read byte by byte, so masks are neither too wide nor too narrow.
"""

from __future__ import annotations

import json
import random
from fractions import Fraction

import pytest

from core_adapter import CoreMatcher
from json_worlds import World
from number_schemas import candidates, exact, random_numbers, spelled
from vocabularies import vocabulary


@pytest.mark.parametrize("seed", range(80))
def test_random_numbers(seed):
    rng = random.Random(seed)
    schema, judge = random_numbers(rng)
    world = World(schema, judge=judge, loads=Fraction)
    matcher = None if world.empty else CoreMatcher.compile(world.ir, vocabulary("bytes"))
    for value in candidates(rng, schema):
        text = spelled(rng, value)
        assert exact(text) == value
        if matcher is None:
            assert not judge(value), (schema, text)
            continue
        fork = matcher.fork()
        got = fork.accept_bytes(text.encode()) and fork.is_completed()
        assert got == judge(value), (schema, text)
        if got and rng.random() < 0.3:
            world._check_prefixes(matcher.fork(), text.encode())
    world.check_ends(b"-0159.e+", 6, rng, 30)
    world.check_walks(rng, 3)


def test_exponents_up_to_400():
    world = World({"type": "integer"})
    matcher = CoreMatcher.compile(world.ir, vocabulary("bytes"))
    for text, valid in [
        ("1e400", True),
        ("1e0400", True),
        ("1e401", False),
        ("10e-401", False),
        (f"1{'0' * 400}e-400", True),
        (f"0.{'0' * 399}1e400", True),
        (f"0.{'0' * 400}1e400", False),
        ("0e-400", True),
        (f"1.{'0' * 3000}", True),
    ]:
        fork = matcher.fork()
        assert (fork.accept_bytes(text.encode()) and fork.is_completed()) == valid, text


@pytest.mark.parametrize(
    ("schema", "text", "bits"),
    [
        ('{"multipleOf": 0.01}', "19.99", True),
        ('{"multipleOf": 1e308}', "3e308", True),
        ('{"multipleOf": 1e-8}', "0.00000001", True),
        ('{"maximum": 9007199254740993}', "9007199254740993", True),
        ('{"maximum": 9007199254740993}', "9007199254740993.00000000000000001", False),
        ('{"minimum": 0.1000000000000000055}', "0.1", False),
        ('{"const": 1e400}', "10e399", True),
        ('{"exclusiveMinimum": 0, "maximum": 1e-300}', "1e-301", True),
    ],
)
def test_written_digits_count(schema, text, bits):
    world = World(schema, judge=bool)
    matcher = CoreMatcher.compile(world.ir, vocabulary("bytes"))
    assert (matcher.accept_bytes(text.encode()) and matcher.is_completed()) == bits


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "number", "minimum": 1, "maximum": 2, "multipleOf": 3},
        {"type": "integer", "minimum": 0.2, "maximum": 0.8},
        {"type": "integer", "not": {"multipleOf": 0.5}},
        {"type": "number", "multipleOf": 5, "exclusiveMinimum": 0, "exclusiveMaximum": 5},
        {"enum": [1, 2], "multipleOf": 3},
        {"type": "integer", "minimum": 1, "maximum": 3, "not": {"enum": [1, 2, 3]}},
        {"type": "number", "allOf": [{"not": {"minimum": 1}}, {"not": {"maximum": 1}}]},
    ],
)
def test_conjunctions_without_numbers_are_refused(schema):
    assert World(schema, judge=lambda _: False).empty, json.dumps(schema)
