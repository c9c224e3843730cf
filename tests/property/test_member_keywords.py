"""Key patterns, key languages, dependencies and their negations over small worlds of objects."""

from __future__ import annotations

import itertools
import json
import random
from decimal import Decimal

import pytest

from core_adapter import CoreMatcher, compile_core
from corpus import compile_source
from json_worlds import World, check_world, refused_features
from maskwright.errors import LimitExceededError, UnsupportedFeatureError
from oracle import Oracle
from vocabularies import make_vocabulary, vocabulary

KEYS = ("a", "b", "ab", "ba", "", "c")
VALUES = (1, "a", None)


def objects():
    """Objects of up to three members in every order, and a value that is none."""
    yield "a"
    for n in range(4):
        for names in itertools.permutations(KEYS, n):
            choices = itertools.product(VALUES, repeat=n) if n < 3 else [(1, "a", 1), (None,) * 3]
            for items in choices:
                yield dict(zip(names, items, strict=True))


OBJECTS = list(objects())


def some_objects(rng):
    """A part of the universe that always has the small ones."""
    return OBJECTS[:20] + rng.sample(OBJECTS[20:], 150)


def random_value(rng):
    return rng.choice(
        [True, True, False, {"type": "string"}, {"type": "null"}, {"enum": ["a", None]}]
    )


def random_names(rng):
    return rng.choice(
        [
            {"pattern": "^a"},
            {"pattern": "b$"},
            {"maxLength": rng.randint(0, 2)},
            {"minLength": 1},
            {"enum": rng.sample(KEYS, 3)},
            {"not": {"const": rng.choice(KEYS)}},
            {"type": "string"},
            False,
        ]
    )


PATTERNS = ("^a", "b", "^$", "^[ab]$", "^a$|^b", "^[ab]{2}$", "c|a", ".*")


def random_part(rng):
    """One keyword, or two that belong together."""
    kind = rng.randrange(7)
    if kind <= 1:
        patterns = rng.sample(PATTERNS, rng.randint(1, 2))
        part = {"patternProperties": {pattern: random_value(rng) for pattern in patterns}}
        if rng.random() < 0.6:
            part["additionalProperties"] = random_value(rng)
        return part
    if kind == 2:
        return {"propertyNames": random_names(rng)}
    if kind == 3:
        names = rng.sample(KEYS, rng.randint(1, 2))
        return {"dependentRequired": {n: rng.sample(KEYS, rng.randint(0, 2)) for n in names}}
    if kind == 4:
        names = rng.sample(KEYS, rng.randint(1, 3))
        part = {"properties": {name: random_value(rng) for name in names}}
        if rng.random() < 0.4:
            part["additionalProperties"] = random_value(rng)
        return part
    if kind == 5:
        return {"required": rng.sample(KEYS, rng.randint(1, 2))}
    least = rng.randint(0, 2)
    return {"minProperties": least, "maxProperties": least + rng.randint(0, 2)}


def random_object(rng):
    schema = {"type": "object"} if rng.random() < 0.8 else {}
    for _ in range(rng.randint(1, 4)):
        schema.update(random_part(rng))
    return schema


def random_schema(rng):
    """An object schema; sometimes a combination, or one beside a negation."""
    kind = rng.random()
    if kind < 0.6:
        return random_object(rng)
    if kind < 0.75:
        return {**random_object(rng), "not": random_object(rng)}
    keyword = rng.choice(["anyOf", "allOf", "oneOf"])
    return {keyword: [random_object(rng) for _ in range(2)]}


@pytest.mark.parametrize("seed", range(150))
def test_random_schemas(seed):
    rng = random.Random(seed)
    check_world(
        random_schema(rng),
        seed=seed,
        values=some_objects(rng),
        alphabet=b'{}",:ab1n',
        length=7,
        limit=6,
        n_walks=2,
    )


def in_declared_order(schema, value):
    """Declared members come first, in their order; all others behind them."""
    declared = list(schema.get("properties", ()))
    places = [declared.index(key) if key in declared else len(declared) for key in value]
    return places == sorted(places)


@pytest.mark.parametrize("seed", range(1000, 1100))
def test_random_schemas_in_declared_order(seed):
    rng = random.Random(seed)
    schema = {**random_object(rng), "type": "object"}
    if rng.random() < 0.3:
        schema["not"] = random_object(rng)
    world = World(schema, options={"any_order": False})
    matcher = None if world.empty else CoreMatcher.compile(world.ir, vocabulary("bytes"))
    for value in some_objects(rng):
        valid = world.valid(value) and in_declared_order(schema, value or {})
        text = json.dumps(value, separators=(",", ":"))
        fork = matcher.fork() if matcher is not None else None
        got = fork is not None and fork.accept_bytes(text.encode()) and fork.is_completed()
        if got != valid:
            world.fail(f"{text} is {'valid' if valid else 'invalid'}, the core disagrees")
    world.check_ends(b'{}",:ab1n', 7, rng, 6)
    world.check_walks(rng, 3)


# Names of which there are many, but finitely many, run out: prefix by prefix.

MANY = [
    {"patternProperties": {"^[ab]{9}$": {"type": "null"}}, "additionalProperties": False},
    {"propertyNames": {"pattern": "^[ab]{9}$"}, "additionalProperties": {"type": "null"}},
    {
        "patternProperties": {"^[ab]{9}$": {"type": "null"}, "^a*$": {"type": "null"}},
        "additionalProperties": False,
        "maxProperties": 6,
    },
    {
        "anyOf": [
            {"patternProperties": {"^[ab]{9}$": {"type": "null"}}, "additionalProperties": False},
            {"patternProperties": {"^aab": {"type": "null"}}, "additionalProperties": False},
        ]
    },
]


@pytest.mark.parametrize("schema", MANY, ids=range(len(MANY)))
@pytest.mark.parametrize("any_order", [False, True], ids=["declared", "any order"])
@pytest.mark.parametrize("seed", range(3))
def test_names_run_out(schema, any_order, seed):
    rng = random.Random(seed)
    options = {"any_order": any_order, "strict_mode": False, "max_whitespace_cnt": 1}
    ir = compile_source("json_schema", {"type": "object", **schema}, options)
    parts = [
        "aab",
        "aabaa",
        "aaaa",
        "aaab",
        "aa",
        'a"',
        'b"',
        'aa"',
        'ab":null',
        '"a',
        '{"aaba',
        ',"',
    ]
    used = [bytes([byte]) for byte in range(0x20, 0x7F)]
    tokens = make_vocabulary("names", used + [part.encode() for part in parts])
    compiled = compile_core(ir, tokens)
    # All names that begin with seven letters, but one, in some order.
    names = ["aabaaaa" + "".join(end) for end in itertools.product("ab", repeat=2)]
    rng.shuffle(names)
    text = "{" + ",".join(f'"{name}":null' for name in names[:3]) + ',"aabaaaa'
    oracle = Oracle(ir, tokens, f"{schema} after {text}", with_reference=False, compiled=compiled)
    for byte in text.encode():
        oracle.accept(tokens.ids[bytes([byte])])
        oracle.check_step()
    allowed = {tokens.tokens[token] for token in oracle.check_step()}
    left = names[3][7:]
    assert left[:1].encode() in allowed
    if "anyOf" not in schema:
        other = names[0][7:] if names[0][7] != left[0] else names[1][7:]
        both_used = sum(name[7] == other[0] for name in names[:3]) == 2
        assert (other[:1].encode() in allowed) == (not both_used)
    oracle.accept(tokens.ids[left[:1].encode()])
    oracle.check_step()


def test_all_names_of_an_object_can_be_used():
    schema = {"type": "object", "propertyNames": {"pattern": "^[ab]{9}$"}, "minProperties": 512}
    ir = compile_source("json_schema", schema, {"strict_mode": False})
    names = ["".join(name) for name in itertools.product("ab", repeat=9)]
    matcher = CoreMatcher.compile(ir, vocabulary("bytes"))
    text = "{" + ",".join(f'"{name}":1' for name in names)
    assert matcher.accept_bytes(text[:-4].encode())
    assert not matcher.fork().accept_bytes(b"}")
    assert matcher.accept_bytes(text[-4:].encode())
    assert not matcher.fork().accept_bytes(b",")
    assert vocabulary("bytes").ids[b","] not in matcher.allowed_tokens()
    assert matcher.accept_bytes(b"}")
    assert matcher.is_completed()


@pytest.mark.parametrize("count", [513, 600])
def test_more_members_than_names_have_no_value(count):
    schema = {"type": "object", "propertyNames": {"pattern": "^[ab]{9}$"}, "minProperties": count}
    assert World(schema).empty


def exact_loads(text):
    """Reads JSON with integers as such, also where they are spelled with an exponent."""

    def number(digits):
        value = Decimal(digits)
        small = value.adjusted() <= 500  # where any number may come, exponents have no bound
        return int(value) if small and value == value.to_integral_value() else float(value)

    return json.loads(text, parse_float=number)


SEVERAL = [
    {"not": {"additionalProperties": {"type": "string"}}},
    {"not": {"patternProperties": {"^a": {"type": "null"}}}},
    {"not": {"patternProperties": {"b": {"enum": ["a", None]}}}},
    {"not": {"propertyNames": {"pattern": "^a"}}},
    {"not": {"propertyNames": {"not": {"const": "ab"}}}},
    {"not": {"propertyNames": {"maxLength": 1}}},
    {"not": {"properties": {"a": True, "b": True}, "additionalProperties": False}},
    {"patternProperties": {"a": {"type": ["integer", "null"]}}},
    {"properties": {"ab": {"type": ["string", "integer"]}, "b": True, "ba": {"type": "integer"}}},
    {"propertyNames": {"pattern": "^[ab]*$"}},
    {"additionalProperties": {"type": ["null", "integer"]}},
    {"required": ["ba"]},
]


def several_obligations(rng):
    schema = {"type": "object", "allOf": rng.sample(SEVERAL, 4)}
    if rng.random() < 0.8:
        schema["maxProperties"] = rng.randint(1, 3)
    return schema


SEVERAL_SEEDS = range(60)
in_any_order = pytest.mark.parametrize("any_order", [False, True], ids=["declared", "any order"])


@in_any_order
def test_few_schemas_with_several_obligations_are_refused(any_order):
    schemas = (several_obligations(random.Random(seed)) for seed in SEVERAL_SEEDS)
    assert len(refused_features(schemas, {"any_order": any_order})) <= 2


@in_any_order
@pytest.mark.parametrize("seed", SEVERAL_SEEDS)
def test_few_members_that_meet_several_obligations(seed, any_order):
    rng = random.Random(seed)
    schema = several_obligations(rng)
    try:
        world = World(schema, options={"any_order": any_order}, loads=exact_loads)
    except UnsupportedFeatureError as error:
        pytest.skip(f"not supported: {error.feature}")
    if any_order:
        world.check_verdicts(OBJECTS[:60] + rng.sample(OBJECTS[60:], 400))
    world.check_ends(b'{}",:ab1n', 9, rng, 10)
    world.check_walks(rng, 3)


CLOSED = [
    {"type": "object", "properties": dict.fromkeys(names, True), "additionalProperties": False}
    for names in (("a", "b"), ("b", "ab"), ("ab", "c"))
]


@pytest.mark.parametrize("any_order", [False, True], ids=["declared", "any order"])
def test_closed_objects_of_which_one_must_hold(any_order):
    # Each of the others is refused by a member that it does not have: several debts at once.
    schema = {"oneOf": CLOSED}
    world = World(schema, options={"any_order": any_order})
    rng = random.Random(0)
    if any_order:
        assert world.check_verdicts(OBJECTS) > 20
    world.check_ends(b'{}",:ab1n', 9, rng, 20)
    world.check_walks(rng, 10)


@pytest.mark.parametrize(
    ("schema", "feature"),
    [
        (
            {"dependentRequired": {"a": ["b"], "b": ["a"]}, "minProperties": 2, "maxProperties": 3},
            "dependentRequired",
        ),
        (
            {
                "allOf": [
                    {"not": {"patternProperties": {f"^a{i}": {"type": "null"}}}} for i in range(5)
                ],
            },
            "not",
        ),
        (
            {
                "dependentRequired": {"a": ["b"]},
                "allOf": [
                    {"not": {"additionalProperties": {"type": "string"}}},
                    {"not": {"patternProperties": {"^a": {"type": "null"}}}},
                ],
            },
            "not",
        ),
        (
            {
                "propertyNames": {"pattern": "^[ab]{9}$"},
                "not": {"additionalProperties": {"type": "string"}},
            },
            "not",
        ),
    ],
)
def test_what_is_not_decided_is_refused_by_name(schema, feature):
    with pytest.raises(UnsupportedFeatureError) as caught:
        World({"type": "object", **schema})
    assert caught.value.feature == feature
    assert f'the keyword "{feature}" is not supported here' in str(caught.value)


def test_too_many_name_states_are_a_named_limit():
    patterns = {f"{letter}.{{12}}x": True for letter in "ab"}
    with pytest.raises(LimitExceededError) as caught:
        World({"type": "object", "patternProperties": patterns})
    assert caught.value.code == "json-too-many-name-states"
    assert caught.value.limit == "max_lang_states"
    assert "simplify patternProperties and propertyNames" in str(caught.value)


def test_patterns_that_ask_the_same_do_not_multiply():
    # Each its own condition, they would have more than 2^20 states together.
    letters = "abcdefghijklmnopqrstuvwxyz"
    pairs = {letters[i : i + 2]: {"type": "null"} for i in range(20)}
    world = World({"type": "object", "patternProperties": pairs, "additionalProperties": False})
    values = [{"ab": None}, {"xcd": None}, {"ba": None}, {"ab": 1}, {"ab": None, "stu": None}]
    assert world.check_verdicts(values) == 3
