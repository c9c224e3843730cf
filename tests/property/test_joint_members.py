"""Choices about different members of one object: judged side by side, over small worlds.

Each schema is a conjunction of choices (anyOf, oneOf, if/then/else, dependentSchemas, not) that
concern a few names each, so that most of them fall into several parts, beside what holds anyway.
"""

from __future__ import annotations

import itertools
import random

import pytest

from core_adapter import CoreMatcher, compile_core
from json_worlds import World, check_world
from maskwright.frontends.json_schema import compile_json_schema
from vocabularies import vocabulary

KEYS = ("a", "b", "c", "ab")
VALUES = (1, "a")


def objects():
    """Objects of up to four members, some in another order, and values that are none."""
    yield from ("a", 1, [])
    for n in range(5):
        for names in itertools.combinations(KEYS, n):
            for items in itertools.product(VALUES, repeat=n):
                yield dict(zip(names, items, strict=True))
    yield {"c": 1, "b": "a", "a": 1}
    yield {"d": 1, "b": 1}


OBJECTS = list(objects())


def about(rng, names):
    """A schema that says something about some of the names."""
    kind = rng.randrange(7)
    name = rng.choice(names)
    if kind == 0:
        return {"required": [name]}
    if kind == 1:
        return {"properties": {name: {"type": rng.choice(["integer", "string"])}}}
    if kind == 2:
        return {"properties": {name: {"const": rng.choice(VALUES)}}, "required": [name]}
    if kind == 3:
        return {"not": {"required": [name]}}
    if kind == 4:
        return {"properties": {n: {"type": "string"} for n in names}}
    if kind == 5:
        return {"properties": {name: False}}
    return {"required": rng.sample(names, rng.randint(1, len(names)))}


def choice(rng, names):
    """A choice that concerns the names."""
    kind = rng.randrange(6)
    if kind == 0:
        return {"anyOf": [about(rng, names) for _ in range(rng.randint(2, 3))]}
    if kind == 1:
        return {"oneOf": [about(rng, names) for _ in range(2)]}
    if kind == 2:
        schema = {"if": about(rng, names), "then": about(rng, names)}
        return {**schema, "else": about(rng, names)} if rng.random() < 0.5 else schema
    if kind == 3:
        return {"dependentSchemas": {rng.choice(names): about(rng, names)}}
    if kind == 4:
        return {"not": {"allOf": [about(rng, names), about(rng, names)]}}
    return {"anyOf": [{"not": about(rng, names)}, {"allOf": [choice(rng, names)]}]}


def whole(rng):
    """A conjunction of choices about different names, and what holds anyway."""
    names = rng.sample(KEYS, len(KEYS))
    cuts = sorted(rng.sample(range(1, len(names)), rng.randint(1, 3)))
    groups = [names[i:j] for i, j in itertools.pairwise([0, *cuts, len(names)])]
    parts = [choice(rng, group) for group in groups for _ in range(rng.randint(1, 2))]
    schema = {"allOf": parts}
    if rng.random() < 0.6:
        schema["type"] = "object"
    if rng.random() < 0.3:
        schema["required"] = rng.sample(KEYS, 1)
    if rng.random() < 0.3:
        schema["properties"] = {rng.choice(KEYS): {"type": rng.choice(["integer", "string"])}}
        if rng.random() < 0.6:
            extra = rng.choice([False, {"type": "integer"}])
            schema["additionalProperties"] = extra
    if rng.random() < 0.2:
        schema["dependentRequired"] = {rng.choice(KEYS): rng.sample(KEYS, 1)}
    if rng.random() < 0.1:
        schema["minProperties"] = 1
    return schema


@pytest.mark.parametrize("seed", range(40))
def test_choices_about_different_members(seed):
    rng = random.Random(seed)
    check_world(whole(rng), seed=seed, values=OBJECTS, length=5, limit=12, n_walks=3)


@pytest.mark.parametrize("seed", range(12))
def test_choices_in_strict_mode(seed):
    rng = random.Random(seed)
    schema = {**whole(rng), "properties": {"a": {}}}
    options = {"strict_mode": True}
    check_world(schema, seed=seed, values=OBJECTS, length=5, limit=12, exact=False, options=options)


def implications(count):
    """`t0` asks for `v0`, an integer, and so on."""
    return {
        "type": "object",
        "dependentSchemas": {
            f"t{k}": {"properties": {f"v{k}": {"type": "integer"}}, "required": [f"v{k}"]}
            for k in range(count)
        },
    }


@pytest.mark.parametrize("count", [3, 12, 60])
def test_members_that_ask_for_others_cost_states_by_their_number(count):
    ir = compile_json_schema(implications(count), any_order=True, strict_mode=False)[0]
    core = compile_core(ir, vocabulary("bytes"))
    matcher = CoreMatcher.of_compiled(core, vocabulary("bytes"))
    text = "{" + ",".join(f'"t{k}":null,"v{k}":{k}' for k in reversed(range(count))) + "}"
    assert matcher.fork().accept_bytes(text.encode())
    assert not matcher.fork().accept_bytes(b'{"t0":1,"v1":2}')
    assert not matcher.fork().accept_bytes(b'{"t0":1,"v0":"')
    assert matcher.fork().accept_bytes(b'{"v0":"a","v1":"b"}')
    assert core.counters()["states"] < 100 + 15 * count


def test_only_what_no_part_concerns_is_left_to_the_rest():
    schema = {
        "type": "object",
        "properties": {"x": {"type": "string"}},
        "additionalProperties": {"type": "integer"},
        "allOf": [
            {"anyOf": [{"required": [f"{name}1"]}, {"properties": {f"{name}2": {"minimum": 5}}}]}
            for name in "abc"
        ],
    }
    values = [{"a2": 5, "x": "y"}, {"a2": 4}, {"a2": 4, "a1": 1}, {"z": "y"}, {"z": 1, "c2": 9}, {}]
    world = World(schema)
    assert world.check_verdicts(values) == 4
