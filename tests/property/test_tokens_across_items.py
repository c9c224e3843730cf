"""Tokens that hold several items of arrays of unique items, and what is around them.

Masks are shared by arrays with the same shape, which items they have left aside; a repeated item is
taken out afterwards. So every token is asked at every step, with tokens that end an item and go on,
where some alternatives ask for unique items and others do not.
"""

from __future__ import annotations

import json
import random

import pytest

from core_adapter import CoreMatcher
from json_worlds import refused_features
from maskwright.errors import UnsatisfiableGrammarError, UnsupportedFeatureError
from maskwright.frontends.json_schema import compile_json_schema
from oracle import Oracle
from vocabularies import make_vocabulary

BYTES = [bytes([b]) for b in range(256)]
OPTIONS = {"strict_mode": False, "max_whitespace_cnt": 1}


def matcher_of(schema, tokens):
    """A matcher over all bytes and some longer tokens."""
    v = make_vocabulary("spanning", [*BYTES, *tokens])
    return CoreMatcher.compile(compile_json_schema(schema, **OPTIONS)[0], v)


def check_masks(matcher):
    """Returns the allowed texts, after asking for each token."""
    v = matcher.vocabulary
    accepted = {t for t in range(v.vocab_size) if matcher.fork().accept_token(t)}
    assert matcher.allowed_tokens() == accepted
    return {v.tokens[t] for t in accepted}


# --- single places --------------------------------------------------------------------------------

SPANNING = [
    b"1]",
    b"1,",
    b"1.0]",
    b"1e1]",
    b"-0,",
    b"0]",
    b"2]",
    b"1 ]",
    b",1]",
    b"1,1",
    b'"a"]',
    b'a",',
    b"]]",
    b"1]]",
]


@pytest.mark.parametrize(
    "text", ["[1,", "[10,", "[1,2,", "[0,", "[-0,", "[1, ", "[[1],[", "[1", "[1,1"]
)
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array"},
        {},
        {"items": {"type": "integer", "minimum": 0, "maximum": 10}},
        {"prefixItems": [{"type": "integer"}, {"type": "integer"}], "items": {"type": "number"}},
        {"type": ["object", "array"], "items": {"enum": [0, 1, 2, 10, [1], [2]]}},
    ],
    ids=json.dumps,
)
def test_tokens_that_span_the_end_of_an_item(schema, text):
    matcher = matcher_of({"uniqueItems": True, **schema}, SPANNING)
    if matcher.accept_bytes(text.encode()):
        check_masks(matcher)


UNIQUE = {"type": "array", "uniqueItems": True, "items": {"type": ["string", "integer"]}}
LONG = {"anyOf": [UNIQUE, {"type": "array", "items": {"type": "string"}, "minItems": 3}]}
SHORT = {"anyOf": [UNIQUE, {"type": "array", "items": {"type": "string"}, "maxItems": 2}]}
NUMBERS = {"anyOf": [UNIQUE, {"type": "array", "items": {"type": "integer"}}]}

# After a repeated item only the other alternative is left.
ONLY_WHILE_UNIQUE = [
    (LONG, '["a","', b'b"]', b'a"]'),
    (SHORT, '["a","', b'b",', b'a",'),
    (NUMBERS, "[1,", b'2,"', b'1,"'),
    (NUMBERS, "[10,", b'1,"', b'1e1,"'),
    ({"type": "array", "items": LONG}, '[["a","', b'b"]]', b'a"]]'),
    ({"type": "array", "items": SHORT}, '[["a","', b'b","', b'a","'),
    ({"type": "object", "properties": {"x": LONG}}, '{"x":["a","', b'b"]}', b'a"]}'),
    ({"type": "array", "uniqueItems": True, "items": LONG}, '[[],["a","', b'b"],', b'a"],'),
    ({"anyOf": [{"type": "array", "items": LONG}, LONG]}, '[["a","', b'b"]]', b'a"]]'),
]


@pytest.mark.parametrize(("schema", "text", "good", "bad"), ONLY_WHILE_UNIQUE)
def test_what_only_the_array_without_the_repeated_item_allows(schema, text, good, bad):
    matcher = matcher_of(schema, [good, bad])
    assert matcher.accept_bytes(text.encode())
    allowed = check_masks(matcher)
    assert good in allowed
    assert bad not in allowed


@pytest.mark.parametrize("text", ["[[1],[", "[[1], [", "[{},[", "[[[2]],[["])
def test_whitespace_before_the_first_item_of_an_item(text):
    tokens = [b" [1]", b" 1", b" {}", b" ]", b" 1]", b" 2]]", b" 2,1]"]
    matcher = matcher_of({"type": "array", "uniqueItems": True}, tokens)
    assert matcher.accept_bytes(text.encode())
    allowed = check_masks(matcher)
    assert b" 1" in allowed
    assert (b" 1]" in allowed) == (text[:4] != "[[1]")


# --- random schemas -------------------------------------------------------------------------------

VALUES = (
    "1", '"a"', "[]", "{}", "[1]", '{"a":1}', "0", '"b"', "1.0", "[1,1]", "[0]", '{"b":0}', '""',
    "true", "null", "[[1]]",
)  # fmt: skip
# What repeats items soon, and leaves them unfinished.
LIKELY = (b"[", b"1", b'"', b'"a', b"a", b",", b'{"a":', b',"', b"]", b"}")
STRUCTURE = b'{}[]",:ab10.-entru \\x'


def random_tokens(rng, count):
    """Pieces of texts of several items, with brackets around them."""
    found = set()
    while len(found) < count:
        items = ",".join(rng.choice(VALUES) for _ in range(rng.randint(1, 5)))
        before = rng.choice(["", "[", ",", "[[", ":", '{"a":', "],", "},", " "])
        text = before + items + rng.choice(["", "]", ",", "],", "],[", "},{", "}]", "]]", "}"])
        start = rng.randrange(max(1, len(text) - 1))
        found.add(text[start : start + rng.randint(2, 9)].encode())
    return sorted(found)


VOCABULARIES = [
    make_vocabulary(f"items {seed}", [*BYTES, *random_tokens(random.Random(seed), 240)])
    for seed in range(4)
]


def random_leaf(rng):
    return rng.choice(
        [
            True,
            {"enum": ["a", "b", 1]},
            {"enum": [1, 0]},
            {"enum": ["a", 1, [1]]},
            {"enum": [1, [], {}, "a", {"a": 1}]},
            {"type": rng.choice(["integer", "string", "boolean"])},
            {"type": ["integer", "array"]},
            {"type": ["string", "integer", "null"]},
        ]
    )


def random_item(rng, depth):
    kind = rng.random()
    if depth <= 0 or kind < 0.45:
        return random_leaf(rng)
    if kind < 0.75:
        return random_choice(rng, depth - 1)
    if kind < 0.88:
        members = {"a": random_item(rng, depth - 1), "b": random_leaf(rng)}
        closed = rng.random() < 0.5
        return {"type": "object", "properties": members, "additionalProperties": not closed}
    return {"anyOf": [random_item(rng, depth - 1), random_leaf(rng)]}


def random_array(rng, depth):
    schema = {"type": "array"}
    if rng.random() < 0.85:
        schema["items"] = random_item(rng, depth)
    if rng.random() < 0.2:
        schema["prefixItems"] = [random_leaf(rng) for _ in range(rng.randint(1, 2))]
    if rng.random() < 0.6:
        schema["uniqueItems"] = True
    if rng.random() < 0.3:
        schema["minItems"] = rng.randint(0, 3)
    if rng.random() < 0.4:
        schema["maxItems"] = rng.randint(1, 4)
    if rng.random() < 0.2:
        schema["contains"] = random_leaf(rng)
    return schema


def random_pair(rng):
    """Two arrays of the same items, of which one may repeat them and has other lengths or types."""
    unique = {"type": "array", "items": {"type": ["string", "integer"]}, "uniqueItems": True}
    other = {"type": "array", "items": {"type": rng.choice(["string", "integer"])}}
    other |= rng.choice([{}, {"minItems": rng.randint(2, 4)}, {"maxItems": rng.randint(1, 3)}])
    return {"anyOf": [unique, other]}


def random_choice(rng, depth):
    """Mostly several arrays, of which some have unique items."""
    kind = rng.random()
    if kind < 0.3:
        return random_pair(rng)
    if kind < 0.8:
        return {"anyOf": [random_array(rng, depth) for _ in range(rng.randint(2, 3))]}
    return random_array(rng, depth)


def random_schema(seed):
    rng = random.Random(seed)
    schema = random_choice(rng, 2)
    if rng.random() < 0.3:
        members = {"a": schema, "b": random_choice(rng, 1)}
        return {"type": "object", "properties": members, "additionalProperties": False}
    return schema


SEEDS = range(80)


def test_few_schemas_are_refused():
    assert len(refused_features(random_schema(seed) for seed in SEEDS)) <= 5


@pytest.mark.parametrize("seed", SEEDS)
def test_random_schemas(seed):
    schema = random_schema(seed)
    v = VOCABULARIES[seed % len(VOCABULARIES)]
    asked = [t for t, text in enumerate(v.tokens) if len(text) > 1 or (text and text in STRUCTURE)]
    rng = random.Random(seed)
    try:
        start = Oracle(
            compile_json_schema(schema, **OPTIONS)[0], v, json.dumps(schema), with_reference=False
        )
    except UnsupportedFeatureError as error:
        pytest.skip(f"not supported: {error.feature}")
    except UnsatisfiableGrammarError:
        return
    for _ in range(12):
        for _ in range(12):
            allowed = start.check_step(asked)
            known = [t for t in asked if t in allowed and t not in v.stop_ids]
            likely = [t for t in known if v.tokens[t] in LIKELY]
            if not known:
                break
            start.accept(rng.choice(likely if likely and rng.random() < 0.8 else known))
        start.finish(rng, 60)
        start.rollback(len(start.history))
