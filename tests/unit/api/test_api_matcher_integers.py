"""Token ids and counts as any integers; validate_tokens; what changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from maskwright import BitmaskError, GrammarCompiler, GrammarMatcher, MatcherError, TokenizerInfo

STOP = 3
INFO = TokenizerInfo(["a", "b", "ab", "</s>"], stop_token_ids=STOP, vocab_size=6)
HUGE = [2**31, 2**32, 2**63 - 1, 2**63, 2**64, 10**40, -1, -(2**63), -(2**64)]


def matcher_of(ebnf: str) -> GrammarMatcher:
    return GrammarMatcher(GrammarCompiler(INFO).compile_grammar(ebnf))


@pytest.mark.parametrize(
    "kind",
    [int, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64],
)
def test_integers_of_any_type(kind):
    matcher = matcher_of('root ::= "aba"')
    bitmask = np.zeros((2, 1), dtype=np.int32)
    assert matcher.validate_tokens([kind(2), kind(0), kind(STOP), kind(0)]) == 3
    assert matcher.accept_token(kind(2)) is True
    assert matcher.accept_token(kind(5)) is False
    matcher.fill_next_token_bitmask(bitmask, kind(1))
    assert bitmask.tolist() == [[0], [1]]
    matcher.rollback(kind(1))
    assert GrammarMatcher(
        matcher.compiled_grammar, override_stop_tokens=kind(1)
    ).stop_token_ids == [1]
    assert matcher.accept_token(np.array(2, dtype=kind))  # without dimensions


def test_a_bool_is_an_integer():
    matcher = matcher_of('root ::= "ab"')
    assert matcher.accept_token(True) is False
    assert matcher.accept_token(False) is True
    assert matcher.accept_token(True) is True


@pytest.mark.parametrize("token", HUGE)
def test_huge_ids_are_refused(token):
    matcher = matcher_of('root ::= "ab"')
    assert matcher.accept_token(token) is False
    assert matcher.validate_tokens([0, token, 1]) == 1
    assert matcher.accept_token(2)


@pytest.mark.parametrize("count", HUGE)
def test_huge_counts_and_rows_are_refused(count):
    matcher = matcher_of('root ::= "ab"')
    assert matcher.accept_token(0)
    with pytest.raises(MatcherError) as caught:
        matcher.rollback(count)
    wanted = "matcher-rollback-too-far" if count > 0 else "matcher-rollback-negative"
    assert caught.value.code == wanted
    with pytest.raises(BitmaskError) as caught:
        matcher.fill_next_token_bitmask(np.zeros((1, 1), dtype=np.int32), count)
    assert caught.value.code == "bitmask-index"
    assert matcher.accept_token(1)


@pytest.mark.parametrize("wrong", ["0", b"0", None, 0.0, np.float32(0), [0], np.array([0, 1])])
def test_what_is_no_integer_raises_before_anything(wrong):
    matcher = matcher_of('root ::= "a"+')
    with pytest.raises(TypeError):
        matcher.accept_token(wrong)
    for ids in ([wrong], [0, 0, wrong], [STOP, 1, wrong]):
        with pytest.raises(TypeError):
            matcher.validate_tokens(ids)
    with pytest.raises(TypeError):
        matcher.rollback(wrong)
    with pytest.raises(TypeError):
        matcher.fill_next_token_bitmask(np.zeros((1, 1), dtype=np.int32), wrong)
    with pytest.raises(MatcherError):
        matcher.rollback()


@pytest.mark.parametrize("make", [list, tuple, iter, np.array, lambda ids: (i for i in ids)])
def test_any_iterable_of_tokens(make):
    matcher = matcher_of('root ::= "ab"+')
    for ids, count in (([], 0), ([2, 0, 1], 3), ([2, 2, STOP, 2], 3), ([STOP], 0), ([0, 0], 1)):
        assert matcher.validate_tokens(make(ids)) == count
    assert matcher.accept_token(0)
    assert matcher.validate_tokens(make([1, STOP, STOP])) == 2


def test_tokens_that_are_not_iterable():
    with pytest.raises(TypeError):
        matcher_of('root ::= "a"').validate_tokens(0)


def test_after_the_end_no_token_is_valid():
    matcher = matcher_of('root ::= "a"?')
    assert matcher.accept_token(STOP)
    assert matcher.validate_tokens([0, STOP]) == 0
    matcher.rollback()
    assert matcher.validate_tokens([0, STOP]) == 2


def test_refusals_while_forks_are_alive_change_nothing():
    matcher = matcher_of('root ::= ("ab" | "b")*')
    forks = [matcher.fork() for _ in range(3)]
    for fork in forks:
        assert fork.accept_token(0)
        assert not fork.accept_token(0)
        assert matcher.validate_tokens([2, 1, 0, 0]) == 3
        assert fork.accept_token(1)
        assert not fork.accept_token(7)
    for fork in forks:
        fork.rollback()
        assert fork.validate_tokens([0]) == 0
        assert fork.validate_tokens([1, 2, STOP]) == 3
