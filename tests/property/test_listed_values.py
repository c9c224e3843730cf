"""Enums of arrays and objects, nested and many: read as lists, in any spelling and order of keys.

The judges are ``jsonschema`` for values, and the plain-Python reference of the IR for every token
at every step, with keys in any order and in declared order.
"""

from __future__ import annotations

import json
import random

import pytest

from budget_walks import allowed_tokens
from core_adapter import CoreMatcher, compile_core
from json_worlds import OPTIONS, check_world
from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.frontends.json_schema import compile_json_schema
from oracle import Oracle
from strategies import EFFORT
from vocabularies import make_vocabulary, vocabulary

NUMBERS = [0, 1, 10, 100, 1000, 12, -1, -10, 1.5, 15, 0.15, 0.1, 1e-7, 10**20, 123.456]
TEXTS = ["", "a", "b", "ab", "ba", 'a"b', "\\", "é", "aa", "\n", "\U0001f600", "name", "id"]
KEYS = ["a", "b", "ab", "é", 'q"']


def a_value(rng, depth):
    """A scalar, array or object; scalars are of few kinds, so that values have much in common."""
    if depth == 0 or rng.random() < 0.4:
        number = rng.choice(NUMBERS[:6] if rng.random() < 0.5 else NUMBERS)
        return rng.choice([None, True, False, number, number, *TEXTS[:4]])
    if rng.random() < 0.5:
        return [a_value(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    keys = rng.sample(KEYS, rng.randint(0, 3))
    return {key: a_value(rng, depth - 1) for key in keys}


def near(rng, value):
    """A value that differs in one place, or has one place more or less."""
    if isinstance(value, list):
        if not value or rng.random() < 0.3:
            return [*value, rng.choice(NUMBERS)]
        at = rng.randrange(len(value))
        changed = [near(rng, value[at])] if rng.random() < 0.7 else []
        return value[:at] + changed + value[at + 1 :]
    if isinstance(value, dict):
        if not value or rng.random() < 0.3:
            return {**value, rng.choice(KEYS): rng.choice(NUMBERS)}
        key = rng.choice(list(value))
        rest = {name: inner for name, inner in value.items() if name != key}
        return {**rest, key: near(rng, value[key])} if rng.random() < 0.7 else rest
    return rng.choice([*NUMBERS, *TEXTS, None, True])


def some_values(rng):
    """A list with relatives: members or items that were changed, or dropped."""
    values = [a_value(rng, 3) for _ in range(rng.randint(2, 12))]
    values += [near(rng, value) for value in rng.sample(values, rng.randint(1, len(values)))]
    return [*values, rng.choice([[1], {"a": 1}, {"b": [1, {"a": 1}]}])]


def forms(rng, values, others, *, with_unjudged=True):
    """A schema with the list: alone, with types, in members and items, beside shapes and lists."""
    listed = {"enum": values}
    unjudged = [
        {"oneOf": [listed, {"enum": others}]},
        {**listed, "not": {"enum": others}},
        {"type": "array", "items": listed, "uniqueItems": True, "maxItems": 2},
        {"type": "array", "contains": listed, "maxItems": 2, "maxContains": 1},
    ]
    return rng.choice(
        [
            *(unjudged if with_unjudged else []),
            listed,
            {**listed, "type": ["object", "number"]},
            {**listed, "type": ["array", "string"]},
            {"type": "array", "items": listed, "maxItems": 2},
            {"type": "object", "properties": {"a": listed}, "additionalProperties": False},
            {"anyOf": [listed, {"enum": others}]},
            {"anyOf": [listed, {"type": "object", "properties": {"a": {"enum": others}}}]},
            {"anyOf": [{"type": "array", "items": {"type": "integer"}}, listed]},
            {"anyOf": [{"properties": {"a": listed}}, {"properties": {"a": {"type": "object"}}}]},
            {"allOf": [listed, {"enum": [*others, *values[:3]]}]},
            {**listed, "minProperties": 1, "minItems": 1},
        ]
    )


def in_place(schema, values):
    """The values where the schema has its list."""
    if "items" in schema or "contains" in schema:
        return [[], *([value] for value in values), *([value, values[0]] for value in values)]
    if "properties" in schema or "properties" in schema.get("anyOf", [{}])[0]:
        return [{"a": value} for value in values]
    return values


@pytest.mark.parametrize("seed", range(30 * EFFORT))
def test_values_of_a_list_and_their_relatives(seed):
    rng = random.Random(seed)
    values = some_values(rng)
    others = [*rng.sample(values, len(values) // 2), *(a_value(rng, 2) for _ in range(3))]
    schema = forms(rng, values, others)
    asked = [*values, *others, *(near(rng, value) for value in values)]
    placed = in_place(schema, asked)
    check_world(schema, seed=seed, values=[*asked, *placed], length=4, limit=10, n_walks=2)


@pytest.mark.parametrize("seed", range(24 * EFFORT))
def test_every_token_on_the_way_through_values(seed):
    rng = random.Random(seed)
    values = some_values(rng)
    options = {
        "any_order": seed % 2 == 0,
        "strict_mode": False,
        "max_whitespace_cnt": rng.choice([0, 1]),
        "number_spelling": rng.choice(["any", "decimal", "plain"]),
    }
    if rng.random() < 0.3:
        options = {**options, "any_whitespace": False, "separators": (", ", ": ")}
    ir = compile_json_schema(forms(rng, values, values[::2], with_unjudged=False), **options)[0]
    tokens = make_vocabulary("listed", [bytes([b]) for b in range(256)] + [*TOKENS, b'": ', b" 1"])
    for _ in range(2):
        Oracle(ir, tokens, json.dumps({"enum": values})).walk(rng, 10, every=2)


TOKENS = rb"""
{" ": "," "} [[ ]] }, "}, ":[ 1e .0 10 00 e0 {"a":1 "a": ","b": ,"ab 1, [1, \u00 e-1 0} 1] "b"
null true} 1.5 150e-1 [] {} [], ": .5 0,"
""".split()


def read(values, texts, **options):
    """Whether each text is one of an enum."""
    ir = compile_json_schema({"enum": values}, **{**OPTIONS, **options})[0]
    words = vocabulary("bytes")
    matcher = CoreMatcher.of_compiled(compile_core(ir, words), words)
    forks = [(matcher.fork(), text.encode()) for text in texts]
    return [fork.accept_bytes(text) and fork.is_completed() for fork, text in forks]


def test_numbers_are_told_by_value_and_texts_by_characters():
    values = [{"n": 1, "t": "a"}, {"n": 10, "t": "b"}, {"n": 1.5, "t": "\u00e9"}, {"n": 0, "t": ""}]
    good = ['{"n":1.0,"t":"a"}', '{"n":10e-1,"t":"\\u0061"}', '{"t":"a","n":0.1e1}']
    good += ['{"n":1e1,"t":"b"}', '{"n":15e-1,"t":"\\u00E9"}', '{"n":-0.00e7,"t":""}']
    bad = ['{"n":1,"t":"b"}', '{"n":1e1,"t":"a"}', '{"n":10e-1,"t":"b"}', '{"n":1,"n":1,"t":"a"}']
    bad += ['{"n":1}', '{"t":"a","t":"a"}', '{"n":0,"t":"a"}', '{"n":1,"t":"a","u":1}', '{"n":"1"']
    assert read(values, good) == [True] * len(good)
    assert not any(read(values, bad))


def test_declared_order_is_that_of_each_value():
    values = [{"a": 1, "b": 2}, {"b": 2, "a": 1, "c": 3}, {"a": 1, "b": 3}]
    texts = ['{"a":1,"b":2}', '{"b":2,"a":1,"c":3}', '{"a":1,"b":3}', '{"b":2,"a":1}']
    texts += ['{"b":3,"a":1}', '{"a":1,"b":2,"c":3}']
    assert read(values, texts, any_order=False) == [True, True, True, False, False, False]
    assert read(values, texts) == [True, True, True, True, True, True]


def grown(values, text):
    """What was built for the masks on the way through a text."""
    ir = compile_json_schema({"enum": values}, **OPTIONS)[0]
    words = vocabulary("json")
    compiled = compile_core(ir, words)
    matcher = CoreMatcher.of_compiled(compiled, words)
    for byte in text:
        matcher.words()
        assert matcher.accept_bytes(bytes([byte]))
    return compiled.counters()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (lambda k: {"id": k, "kind": f"k{k % 7}"}, b'{"id":4321,"kind":"k2"}'),
        (lambda k: {"kind": k % 7, "id": k, "in": [k, {"a": k}]}, b'{"id":4321,"in":[4321,{"a'),
        (lambda k: [k % 10, k], b"[1,4321]"),
        (lambda k: {f"key{k}": k}, b'{"key4321":4321}'),
    ],
)
def test_masks_do_not_cost_what_there_are_values(value, text):
    few = grown([value(k) for k in range(4000, 5000)], text)
    many = grown([value(k) for k in range(16_000)], text)
    for what in ("states", "rows", "visited_nodes"):
        assert many[what] < 2.5 * few[what], what
    assert many["states"] < 4000


@pytest.mark.parametrize("count", [5, 600])
def test_a_budget_knows_the_ends_of_lists(count):
    words = vocabulary("json")
    info = TokenizerInfo(
        list(words.tokens), vocab_size=words.vocab_size, stop_token_ids=list(words.stop_ids)
    )
    values = [{"id": k, "in": [f"n{k}", {"a": k}]} for k in range(count)]
    compiled = GrammarCompiler(info).compile_json_schema(
        json.dumps({"enum": values}), any_order=True, strict_mode=False
    )
    least = GrammarMatcher(compiled).min_tokens_to_finish()
    matcher = GrammarMatcher(compiled, token_budget=least)
    text = b""
    rng = random.Random(count)
    while not matcher.is_terminated():
        token = rng.choice(allowed_tokens(matcher))
        assert matcher.accept_token(token)
        text += b"" if token in words.stop_ids else words.tokens[token]
    assert json.loads(text) in values
