"""The reference against sets of words, for all small grammars and for random ones."""

from __future__ import annotations

import random

import pytest
from hypothesis import given

from grammar_specs import all_specs, all_words, short_words, to_ir, to_text
from oracle import reference_matcher, reference_walk
from strategies import EFFORT, examples, grammars
from vocabularies import listed_vocabulary, vocabulary
from reference import ReferenceMatcher

BYTES = listed_vocabulary("ab")
MAX_LENGTH = 6


def check_words(grammar, max_length=MAX_LENGTH):
    """Completeness of every word, viability of every beginning of one, and no dead ends."""
    matcher = reference_matcher(to_ir(grammar), BYTES)
    wanted = short_words(grammar, "ab", max_length)
    beginnings = {w[:n] for w in wanted for n in range(len(w) + 1)}
    assert matcher.is_empty_language or matcher.allowed_tokens(), to_text(grammar)
    work = [] if matcher.is_empty_language else [b""]
    viable, complete = set(work), set()
    while work:
        prefix = work.pop()
        matcher.reset()
        assert prefix == b"" or matcher.accept_bytes(prefix)
        if matcher.is_completed():
            complete.add(prefix)
        letters = (b"a", b"b")
        following = [prefix + x for x in letters if matcher.fork().accept_bytes(x)]
        if not following and prefix not in complete:
            raise AssertionError(f"dead end after {prefix!r} of {to_text(grammar)}")
        viable.update(following)
        work.extend(p for p in following if len(p) <= max_length)
    assert complete == wanted, to_text(grammar)
    assert beginnings <= viable, to_text(grammar)


@pytest.mark.parametrize("size", range(1, 4 + (EFFORT > 5)))
def test_all_small_grammars(size):
    leaves = ("a", "b", "", ("ref", 0))
    for spec in all_specs(size, leaves):
        check_words((spec,), 5)


@given(grammars())
@examples(60)
def test_random_grammars(grammar):
    check_words(grammar)


@pytest.mark.parametrize(
    ("grammar", "inside", "outside"),
    [
        ((("alt", ("seq", ("ref", 0), "+a"), "a"),), b"a+a+a", b"a+"),
        ((("alt", ("seq", ("ref", 1), "b"), "a"), ("ref", 0)), b"abb", b"b"),
        ((("alt", ("seq", ("rep", "-", 0, 1), ("seq", ("ref", 0), "b")), "a"),), b"--abb", b"-a"),
        ((("alt", ("seq", ("ref", 0), ("ref", 0)), "a"),), b"aaaa", b""),
        ((("rep", ("rep", "a", 0, None), 0, None),), b"aaa", b"b"),
        ((("rep", ("rep", "a", 0, 3), 2, 3),), b"a" * 9, b"a" * 10),
        ((("seq", ("rep", ("class", "ab"), 0, None), ("seq", "a", ("rep", ("class", "ab"), 4, 4))),),
         b"abbbb", b"babbb"),
    ],
)
def test_traps(grammar, inside, outside):
    matcher = reference_matcher(to_ir(grammar), vocabulary("ascii"))
    assert matcher.accept_bytes(inside), to_text(grammar)
    assert matcher.is_completed()
    matcher.reset()
    assert not (matcher.accept_bytes(outside) and matcher.is_completed())


def test_what_no_token_spells_is_not_allowed():
    grammar = (("alt", ("seq", "a", "c"), ("seq", "b", "b")),)
    matcher = reference_matcher(to_ir(grammar), BYTES)
    assert {BYTES.tokens[t] for t in matcher.allowed_tokens()} == {b"b"}
    assert reference_matcher(to_ir((("seq", "a", "c"),)), BYTES).is_empty_language
    assert reference_matcher(to_ir((("seq", "a", ("ref", 0)),)), BYTES).is_empty_language


def test_stop_tokens_rollback_and_fork():
    v = vocabulary("ab")
    matcher = reference_matcher(to_ir((("rep", "ab", 1, None),)), v)
    before = matcher.allowed_tokens()
    assert matcher.accept_token(v.ids[b"a"])
    assert not matcher.accept_token(v.stop_ids[0])
    twin = matcher.fork()
    assert matcher.accept_token(v.ids[b"b"])
    assert set(v.stop_ids) < matcher.allowed_tokens()
    assert matcher.accept_token(v.stop_ids[1])
    assert matcher.is_terminated()
    assert matcher.allowed_tokens() == set()
    assert not twin.is_completed()
    matcher.rollback(3)
    assert matcher.allowed_tokens() == before
    assert twin.accept_token(v.ids[b"ba"])


def test_token_sets_are_symbols_of_their_own():
    from maskwright.ir import Builder

    v = vocabulary("ab")
    special = v.tokens.index(b"<|special|>")
    builder = Builder()
    root = builder.rule("root")
    listed = builder.token_set([special, v.ids[b"ab"], 10_000])
    others = builder.token_set([special], exclude=True)
    builder.define(root, builder.sequence([builder.literal(b"a"), listed, others]))
    matcher = reference_matcher(builder.finish(root), v)
    assert {v.tokens[t] for t in matcher.allowed_tokens()} == {b"a"}
    assert matcher.accept_token(v.ids[b"a"])
    assert matcher.allowed_tokens() == {special, v.ids[b"ab"]}
    assert matcher.accept_token(special)
    assert matcher.allowed_tokens() == set(range(v.vocab_size)) - {special, *v.stop_ids}


def test_walks_end():
    rng = random.Random(3)
    grammar = (("alt", ("seq", ("ref", 0), ("seq", "b", ("ref", 0))), "a"),)
    for _ in range(20):
        matcher = reference_matcher(to_ir(grammar), vocabulary("ab"))
        assert reference_walk(matcher, rng, 10)
    assert isinstance(matcher, ReferenceMatcher)
