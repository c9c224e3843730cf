"""Many constants at one place: as an enum, or as alternatives of one constant each."""

from __future__ import annotations

import random

import pytest

from core_adapter import CoreMatcher, compile_core
from json_worlds import OPTIONS, check_world
from maskwright.frontends.json_schema import compile_json_schema
from vocabularies import vocabulary

NUMBERS = [0, 1, 2, -1, 1.5, 10, 100, 0.25, -300, 12, 13, 123, 1000]
TEXTS = ["", "a", "b", "ab", "ba", 'a"b', "\\", "é", "aa", "bb", "abab", "\n"]
OTHERS = [None, True, [], [1], {"a": 1}, {"a": "b", "b": 1}, ["a", 1]]
VALUES = [*NUMBERS, *TEXTS, *OTHERS, 3, -2, 0.5, "abc", "c", False, [2], {"a": 2}, {}]


def one_each(rng, values):
    """Alternatives of one value each, or of a few."""
    parts = [{"const": value} for value in values]
    parts += [{"enum": rng.sample(values, 3)} for _ in range(2)]
    rng.shuffle(parts)
    return parts


@pytest.mark.parametrize("seed", range(12))
def test_alternatives_of_one_constant_each(seed):
    rng = random.Random(seed)
    numbers = rng.sample(NUMBERS, rng.randint(6, 12))
    texts = rng.sample(TEXTS, rng.randint(6, 11))
    parts = one_each(rng, [*numbers, *texts, *rng.sample(OTHERS, 3)])
    if rng.random() < 0.5:
        parts.append(
            rng.choice(
                [
                    {"type": "string", "maxLength": 1},
                    {"type": "number", "minimum": 100, "maximum": 100},
                ]
            )
        )
    combined = rng.choice(["anyOf", "oneOf"])
    schema = {combined: parts, "not": {"const": rng.choice(VALUES)}}
    check_world(schema, seed=seed, values=VALUES, length=4, limit=12, n_walks=2)


def test_alternatives_in_items_that_differ():
    parts = [{"const": value} for value in [*NUMBERS, *TEXTS]]
    schema = {"type": "array", "items": {"anyOf": parts}, "uniqueItems": True, "maxItems": 3}
    values = [[1, "a"], [1, 1], [10, 100, 1], ["a", "a"], ["ab", "b"], [3], []]
    assert check_world(schema, values=values, length=4, limit=10, n_walks=2) == 4


def test_an_enum_has_more_arrays_and_objects_than_a_place_has_alternatives():
    values = [({"id": k}, [k, k + 1], k, f"name {k}")[k % 4] for k in range(24_000)]
    ir = compile_json_schema({"enum": values}, **OPTIONS)[0]
    matcher = CoreMatcher.of_compiled(compile_core(ir, vocabulary("bytes")), vocabulary("bytes"))
    for text in (b'{"id": 4000}', b"[21,22]", b"22.0e0", b'"name 3"'):
        fork = matcher.fork()
        assert fork.accept_bytes(text)
        assert fork.is_completed()
    for text in (b'{"id":4001', b"[21,23", b'{"id":4000,', b"[22"):
        assert not matcher.fork().accept_bytes(text + b"}")


def a_composite(rng):
    """An array or object of small numbers and texts, and what asks for just that, or for more."""
    first, second = rng.choice(NUMBERS), rng.choice([*NUMBERS, *TEXTS[:4]])
    value = rng.choice([[first], [first, second], {"a": first}, {"a": first, "b": second}])
    if isinstance(value, list):
        wider = {
            "type": "array",
            "prefixItems": [{"const": first}],
            "contains": {"const": 1},
            "maxItems": 2,
        }
    else:
        wider = {"properties": {"a": {"const": first}}, "required": ["a"], "maxProperties": 2}
        wider = {**wider, "type": "object", "propertyNames": {"enum": ["a", "b"]}}
    return value, rng.choice([{"const": value}, {"const": value}, wider])


@pytest.mark.parametrize("seed", range(8))
def test_more_arrays_and_objects_than_are_gone_through_for_a_value(seed):
    rng = random.Random(seed)
    values, parts = zip(*(a_composite(rng) for _ in range(90)), strict=True)
    more = [[*value, 1] if isinstance(value, list) else {**value, "b": 2} for value in values]
    schema = {rng.choice(["anyOf", "oneOf"]): list(parts)}
    check_world(schema, seed=seed, values=[*values, *more], length=5, limit=16, n_walks=3)
