"""Forced text against brute force: the only byte with which some completion goes on, step by step.

The brute force follows the reference through every token that it allows, so it knows nothing of
states: neither where a guard refuses a member name, nor how a vocabulary without single bytes is
searched.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import maskwright.errors
from core_adapter import CoreMatcher
from corpus import compile_source, corpus_cases, greedy_tokens
from grammar_specs import all_specs, to_ir, to_text
from oracle import reference_matcher
from schema_specs import schema_ir
from strategies import EFFORT, examples, grammars, schemas
from vocabularies import TestVocabulary, make_vocabulary, vocabulary

LIMIT = 12
AB = vocabulary("ab")
#: Vocabularies in which some byte is no token of its own.
SPARSE = [
    make_vocabulary("pairs", [b"aa", b"ab", b"ba", b"bb"]),
    make_vocabulary("no b", [b"a", b"ab", b"aab", b"bba"]),
    make_vocabulary("long", [b"abab", b"b", b"ba", b"aab"]),
]


def brute_force(reference, v: TestVocabulary) -> bytes:
    """The forced bytes, at most LIMIT."""
    places = {b"": reference}  # a token's bytes that are not forced yet, and the state behind it
    forced = b""
    while len(forced) < LIMIT:
        between = places.pop(b"", None)
        if between is not None:
            if between.is_completed():
                break
            for token in between.allowed_tokens():
                after = between.fork()
                assert after.accept_token(token)
                places[v.tokens[token]] = after
        following = {rest[:1] for rest in places}
        if len(following) != 1:
            break
        forced += following.pop()
        places = {rest[1:]: after for rest, after in places.items()}
    return forced


def check(core: CoreMatcher, reference, v: TestVocabulary, where: str) -> int:
    """Compares at one place; returns how many bytes are forced."""
    row = core.words().tobytes()
    wanted = brute_force(reference, v)
    assert core.raw.forced_bytes(LIMIT) == wanted, where
    assert core.raw.forced_bytes(3) == wanted[:3], where
    assert core.words().tobytes() == row, f"{where}: looking ahead changed the state"
    return len(wanted)


def check_walks(ir: bytes, v: TestVocabulary, source: str, rng: random.Random, n_steps: int) -> int:
    """Compares on the way through a random text; returns how many bytes were forced in all."""
    reference = reference_matcher(ir, v)
    try:
        core = CoreMatcher.compile(ir, v)
    except maskwright.errors.UnsatisfiableGrammarError:
        return 0
    text, total = b"", 0
    for _ in range(n_steps):
        total += check(core, reference, v, f"{source}, {v.name}, after {text!r}")
        tokens = sorted(core.allowed_tokens() - set(v.stop_ids))
        if not tokens:
            break
        token = rng.choice(tokens)
        assert core.accept_token(token)
        assert reference.accept_token(token)
        text += v.tokens[token]
    return total


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("v", [AB, *SPARSE], ids=lambda v: v.name)
def test_all_small_grammars(size, v):
    rng, total = random.Random(size), 0
    specs = list(all_specs(size, ("a", "b", "", ("ref", 0))))
    for spec in specs if EFFORT > 1 else rng.sample(specs, min(len(specs), 30)):
        total += check_walks(to_ir((spec,)), v, to_text((spec,)), rng, 3)
    assert total > 0 or v.name == "pairs"


# Only over the bytes: the reference's search for whole tokens has no bound for these.
@given(grammars(), st.integers(0, 10**6))
@examples(40)
def test_random_grammars(grammar, seed):
    ir = to_ir(grammar)
    if not reference_matcher(ir, AB).is_empty_language:
        check_walks(ir, AB, to_text(grammar), random.Random(seed), 5)


@pytest.mark.parametrize(
    "case", [c for c in corpus_cases() if c.error is None], ids=lambda c: f"{c.kind}-{c.name}"
)
def test_corpus(case):
    v = case.tokens()
    ir = case.ir()
    core, reference = CoreMatcher.compile(ir, v), reference_matcher(ir, v)
    check(core, reference, v, f"{case.describe()}, at the start")
    for text in [t for t in case.accepts if len(t) <= 24][:1]:
        ids = greedy_tokens(text.encode(), v) or []
        for n, token in enumerate(ids):
            assert core.accept_token(token)
            assert reference.accept_token(token)
            check(core, reference, v, f"{case.describe()}, after {n + 1} tokens of {text!r}")


@given(schemas(), st.integers(0, 10**6), st.booleans(), st.booleans())
@examples(12)
def test_random_schemas(schema, seed, any_order, any_whitespace):
    v = vocabulary("ascii")
    ir = schema_ir(schema, any_order=any_order, strict=True, any_whitespace=any_whitespace)
    if not reference_matcher(ir, v).is_empty_language:
        check_walks(ir, v, str(schema), random.Random(seed), 6)


@pytest.mark.parametrize("names", [["a"], ["aa", "ab"], ["abc", "abd", "x"]])
@pytest.mark.parametrize("more", [False, {"const": 2}], ids=["closed", "open"])
def test_members_that_were_used(names, more):
    """Names that are left over are forced; those that were used don't count."""
    v = vocabulary("ascii")
    options = {"any_order": True, "strict_mode": False, "any_whitespace": False}
    schema = {
        "type": "object",
        "properties": {name: {"const": 1} for name in names},
        "required": names,
        "additionalProperties": more,
    }
    ir = compile_source("json_schema", schema, options)
    rng = random.Random(len(names))
    assert sum(check_walks(ir, v, str(schema), rng, 25) for _ in range(6 * EFFORT)) > 0


def test_forced_text_ends_before_a_token_that_is_no_text():
    from maskwright.ir import Builder

    v = make_vocabulary("letters", [b"a", b"b"])
    builder = Builder()
    root = builder.rule("root")
    special = v.special_ids[1]
    parts = [builder.literal(b"aab"), builder.token_set([special]), builder.literal(b"b")]
    builder.define(root, builder.sequence(parts))
    core = CoreMatcher.compile(builder.finish(root), v)
    assert core.raw.forced_bytes(LIMIT) == b"aab"
    assert core.accept_bytes(b"aab")
    assert core.raw.forced_bytes(LIMIT) == b""
    assert core.accept_token(special)
    assert core.raw.forced_bytes(LIMIT) == b"b"
    assert core.raw.recent_text(9) == b""
