"""Numbers against exact rational arithmetic: bounds, divisors, enums and their negations.

The judge works on ``Fraction`` and knows nothing of spellings; texts are spelled here with zeros,
points and exponents moved about. Walks over the masks end in valid numbers (see json_worlds.py),
and valid numbers in any spelling are read byte by byte, so masks are neither too wide nor too
narrow.
"""

from __future__ import annotations

import json
import random
from fractions import Fraction

import pytest

from core_adapter import CoreMatcher
from json_worlds import World
from vocabularies import vocabulary

BOUNDS = [
    "0",
    "1",
    "-1",
    "2.5",
    "-0.5",
    "10",
    "100",
    "99.9",
    "1e-8",
    "12345678901234567890",
    "1e30",
]
DIVISORS = [
    "1",
    "2",
    "3",
    "7",
    "0.01",
    "0.1",
    "1.5",
    "0.25",
    "1e-8",
    "12",
    "1000",
    "1e20",
    "2.5e-7",
]


def exact(text):
    return Fraction(text)


def random_assertion(rng):
    """One keyword, with a judge of its own."""
    kind = rng.choice(["minimum", "maximum", "multipleOf", "type", "enum", "both"])
    if kind == "multipleOf":
        text = rng.choice(DIVISORS)
        return f'"multipleOf": {text}', lambda v: (v / exact(text)).denominator == 1
    if kind == "type":
        return '"type": "integer"', lambda v: v.denominator == 1
    if kind == "enum":
        texts = rng.sample(BOUNDS, 4)
        values = {exact(text) for text in texts}
        return f'"enum": [{", ".join(texts)}]', lambda v: v in values
    if kind == "both":
        low, high = sorted(rng.sample(BOUNDS, 2), key=exact)
        return (
            f'"minimum": {low}, "exclusiveMaximum": {high}',
            lambda v: exact(low) <= v < exact(high),
        )
    text = rng.choice(BOUNDS)
    exclusive = rng.random() < 0.4
    name = f"exclusive{kind.title()}" if exclusive else kind
    sign = 1 if kind == "minimum" else -1
    return (
        f'"{name}": {text}',
        lambda v: sign * v > sign * exact(text) or (not exclusive and v == exact(text)),
    )


def random_numbers(rng):
    """The text of a schema of numbers, and its judge."""
    parts = [(*random_assertion(rng), rng.random() < 0.25) for _ in range(rng.randint(1, 4))]
    schemas = [f'{{"not": {{{text}}}}}' if negated else f"{{{text}}}" for text, _, negated in parts]
    judge = [(holds, negated) for _, holds, negated in parts]
    return (
        f'{{"type": "number", "allOf": [{", ".join(schemas)}]}}',
        lambda v: (
            isinstance(v, (int, Fraction))
            and all(holds(Fraction(v)) != negated for holds, negated in judge)
        ),
    )


def spelled(rng, value):
    """A random spelling of a finite decimal."""
    sign = "-" if value < 0 or (value == 0 and rng.random() < 0.3) else ""
    scale = 0
    while (abs(value) * Fraction(10) ** scale).denominator != 1:
        scale += 1
    scale += rng.choice([0, 0, 1, 5])  # zeros at the end
    digits = str(int(abs(value) * 10**scale))
    point = rng.choice([0, 0, scale, rng.randint(0, len(digits) + 4)])
    if point:
        digits = digits.zfill(point + 1)
        text = f"{digits[:-point]}.{digits[-point:]}"
    else:
        text = digits
    exponent = point - scale
    if exponent == 0 and rng.random() < 0.6:
        return sign + text
    mark = rng.choice(["", "+"]) if exponent >= 0 else "-"
    return f"{sign}{text}{rng.choice('eE')}{mark}{'0' * rng.choice([0, 0, 2])}{abs(exponent)}"


def candidates(rng, schema):
    """Values near what the schema names."""
    named = [*rng.sample(BOUNDS, 4), *rng.sample(DIVISORS, 2)]
    named += [text for text in (*BOUNDS, *DIVISORS) if f" {text}" in schema]
    for text in named:
        for _ in range(3):
            value = exact(text) * rng.choice([1, 1, -1, 2, 3, 21, Fraction(1, 10)])
            yield value + rng.choice([0, 0, 1, -1, Fraction(1, 100), Fraction(-1, 10**8)])


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
