"""Alternatives of multiples, more than are read one by one: those are one language."""

from __future__ import annotations

import json
import random
from fractions import Fraction

import pytest

from core_adapter import CoreMatcher, compile_core
from json_worlds import OPTIONS, World
from maskwright.frontends.json_schema import compile_json_schema
from oracle import Oracle
from strategies import EFFORT
from vocabularies import make_vocabulary, vocabulary

DIGITS = [b"%d" % n for n in [*range(21), 35, 48, 64, 99, 100, 128, 210]] + [b"00", b"05"]
SIGNS = [b"-", b".", b"e", b"E", b"+", b"1,", b"e2", b".5", b"0.", b"[", b"]", b",", b"10]"]


def alternatives(rng):
    """Multiples of small numbers, some of them integers only, and sometimes what is no multiple."""
    divisors = rng.sample(range(2, 60), rng.randint(9, 20))
    parts = [{"type": "integer", "multipleOf": k} for k in divisors]
    if rng.random() < 0.5:
        some = rng.sample([0.5, 2.5, 7, 4.5, 64], 3)
        parts += [{"type": "number", "multipleOf": k} for k in some]
    if rng.random() < 0.3:
        parts.append({"type": "integer", "multipleOf": 61, "minimum": 100})
    if rng.random() < 0.3:
        parts += [{"const": 1}, {"const": 61}, {"const": 0.25}]
    rng.shuffle(parts)
    return parts


VALUES = [*range(-70, 140), 10**20, 600, 6100, 122, 183, 3721, *(n / 2 for n in range(-9, 99, 2))]


def holds(part, value):
    """Whether a number satisfies an alternative, exactly."""
    if "const" in part:
        return value == Fraction(part["const"])
    whole = part["type"] == "number" or value.denominator == 1
    multiple = (value / Fraction(part["multipleOf"])).denominator == 1
    return whole and multiple and value >= part.get("minimum", value)


@pytest.mark.parametrize("seed", range(12 * EFFORT))
def test_values_of_alternatives_of_multiples(seed):
    rng = random.Random(seed)
    parts = alternatives(rng)
    out = rng.choice([[], [12, 30]])
    schema = {"anyOf": parts, "not": {"enum": out}} if out else {"anyOf": parts}

    def judge(value):
        number = isinstance(value, (int, float, Fraction)) and not isinstance(value, bool)
        return number and value not in out and any(holds(p, Fraction(value)) for p in parts)

    def loads(text):
        return json.loads(text, parse_int=Fraction, parse_float=Fraction)

    world = World(schema, judge=judge, loads=loads)
    world.check_verdicts(VALUES)
    world.check_ends(b"0123456789.-e", 4, rng, 12)
    world.check_walks(rng, 4)


@pytest.mark.parametrize("spelling", ["any", "decimal", "plain"])
@pytest.mark.parametrize("seed", range(3 * EFFORT))
def test_every_token_on_the_way_through_multiples(seed, spelling):
    rng = random.Random(seed)
    schema = {"type": "array", "items": {"anyOf": alternatives(rng)}, "maxItems": 3}
    ir = compile_json_schema(schema, **OPTIONS, number_spelling=spelling)[0]
    words = make_vocabulary("numbers", [*DIGITS, *SIGNS])
    Oracle(ir, words, json.dumps(schema)).walk(rng, 8)


def test_multiples_take_no_more_than_their_primes():
    words = vocabulary("json")

    def grown(divisors):
        parts = [{"type": "integer", "multipleOf": k} for k in divisors]
        compiled = compile_core(compile_json_schema({"anyOf": parts}, **OPTIONS)[0], words)
        matcher = CoreMatcher.of_compiled(compiled, words)
        before = compiled.memory_bytes
        for byte in b"123456789":
            matcher.words()
            assert matcher.accept_bytes(bytes([byte]))
        return compiled.memory_bytes - before

    primes = [k for k in range(2, 100) if all(k % d for d in range(2, k))]
    assert grown(range(2, 100)) < 1.2 * grown(primes)
    assert grown(range(2, 100)) < 3 * grown([2, 3, 5, 7, 11, 13, 17, 19, 23])
