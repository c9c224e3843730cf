"""Loaded grammars against compiled ones, over the corpus: masks, forced text, ends, refusals."""

from __future__ import annotations

import random

import pytest

from core_adapter import CoreMatcher, compile_core, stored_and_loaded
from corpus import corpus_cases, greedy_tokens
from maskwright.errors import MatcherError
from oracle import Oracle

GOOD = [case for case in corpus_cases() if case.error is None]


@pytest.mark.parametrize("case", [pytest.param(c, id=f"{c.kind}-{c.name}") for c in GOOD])
def test_a_loaded_grammar_answers_as_the_compiled_one(case):
    v = case.tokens()
    ir = case.ir()
    compiled = compile_core(ir, v)
    loaded = stored_and_loaded(compiled, ir, v)
    for text in [*case.accepts, *case.rejects, *case.dead]:
        follow_text(text.encode(), CoreMatcher.of_compiled(loaded, v), compiled, v)
    oracle = Oracle(ir, v, case.describe(), with_reference=False, compiled=loaded)
    rng = random.Random(7)
    for _ in range(2):
        oracle.core.reset()
        oracle.history.clear()
        oracle.rows.clear()
        oracle.walk(rng, 6)


def follow_text(text, matcher, compiled, v):
    """Reads a text with both, token by token where tokens spell it, and compares every answer."""
    other = CoreMatcher.of_compiled(compiled, v)
    compare(matcher, other)
    for token in greedy_tokens(text, v) or ():
        accepted = matcher.accept_token(token)
        assert accepted == other.accept_token(token)
        if not accepted:
            return
        compare(matcher, other)
    matcher.reset()
    other.reset()
    assert matcher.accept_bytes(text) == other.accept_bytes(text)
    compare(matcher, other)
    if matcher.is_completed():
        assert matcher.accept_token(v.stop_ids[0])
        assert other.accept_token(v.stop_ids[0])
        assert message(matcher) == message(other)


def compare(a, b):
    assert a.words().tobytes() == b.words().tobytes()
    assert a.is_completed() == b.is_completed()
    assert a.raw.forced_bytes(64) == b.raw.forced_bytes(64)


def message(matcher):
    """What a terminated matcher says when it is asked for a mask."""
    with pytest.raises(MatcherError) as raised:
        matcher.words()
    return str(raised.value), raised.value.code
