"""GrammarMatcher: acceptance, masks, steps back, refusals that change nothing."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from maskwright import (
    BitmaskError,
    CompiledGrammar,
    GrammarCompiler,
    GrammarMatcher,
    MatcherError,
    TokenizerError,
    TokenizerInfo,
)

TOKENS = ["a", "b", "ab", "<s>", "</s>", "\n", "\u00e9"]
STOP = 4
INFO = TokenizerInfo(TOKENS, stop_token_ids=STOP, special_token_ids=[3], vocab_size=40)


def compiled(ebnf: str, info: TokenizerInfo = INFO) -> CompiledGrammar:
    return GrammarCompiler(info).compile_grammar(ebnf)


def allowed(matcher: GrammarMatcher) -> list[int]:
    bitmask = np.full((1, 2), 0x5A5A5A5A, dtype=np.int32)
    must_apply = matcher.fill_next_token_bitmask(bitmask)
    bits = np.unpackbits(bitmask.view(np.uint8), bitorder="little")
    size = matcher.compiled_grammar.tokenizer_info.vocab_size
    assert not bits[size:].any()
    assert must_apply == (not bits[:size].all())
    return [int(token) for token in bits.nonzero()[0]]


def test_a_walk():
    matcher = GrammarMatcher(compiled('root ::= "ab" "b"?'))
    assert allowed(matcher) == [0, 2]
    assert not matcher.is_completed()
    assert matcher.accept_token(2) is True
    assert allowed(matcher) == [1, STOP]
    assert matcher.is_completed()
    assert not matcher.is_terminated()
    assert matcher.accept_token(1)
    assert allowed(matcher) == [STOP]
    assert matcher.accept_token(STOP)
    assert matcher.is_terminated()
    assert matcher.is_completed()


def test_the_mask_is_what_accept_token_says():
    matcher = GrammarMatcher(compiled('root ::= ([a-b] | "\\u00e9")* "\\n"?'))
    for token in (0, 2, 6, 5):
        assert allowed(matcher) == [i for i in range(-3, 50) if matcher.fork().accept_token(i)]
        assert matcher.accept_token(token)
    assert allowed(matcher) == [STOP]


@pytest.mark.parametrize("token", [1, 3, STOP, 7, 39, 40, -1, 2**31, 2**64, -(2**70)])
def test_a_refused_token_changes_nothing(token):
    matcher = GrammarMatcher(compiled('root ::= "a" "b"'))
    assert matcher.accept_token(token) is False
    assert allowed(matcher) == [0, 2]
    with pytest.raises(MatcherError):
        matcher.rollback(1)


@pytest.mark.parametrize("token", ["x", None, 1.0, b"a", [0]])
def test_a_token_that_is_no_integer_raises(token):
    matcher = GrammarMatcher(compiled('root ::= "a"'))
    with pytest.raises(TypeError):
        matcher.accept_token(token)
    assert allowed(matcher) == [0]


def test_integers_of_other_types():
    matcher = GrammarMatcher(compiled('root ::= "aba"'))
    assert matcher.accept_token(np.int32(2))
    assert matcher.accept_token(np.uint64(0))


def test_after_a_stop_token():
    matcher = GrammarMatcher(compiled('root ::= "a"*'))
    assert matcher.accept_token(STOP)
    assert [matcher.accept_token(token) for token in (0, STOP)] == [False, False]
    assert matcher.accept_string("a") is False
    bitmask = np.full((1, 2), 7, dtype=np.int32)
    with pytest.raises(MatcherError, match="terminated") as caught:
        matcher.fill_next_token_bitmask(bitmask)
    assert caught.value.code == "matcher-terminated"
    matcher.rollback()
    assert not matcher.is_terminated()
    assert allowed(matcher) == [0, STOP]


def test_accept_string():
    # The bytes of the last character as tokens of their own: a text may end between them.
    info = TokenizerInfo(
        [*(token.encode() for token in TOKENS), b"\xc3", b"\xa9"],
        stop_token_ids=STOP,
        special_token_ids=[3],
        vocab_size=40,
    )
    matcher = GrammarMatcher(compiled('root ::= "ab\\u00e9"', info))
    assert matcher.accept_string("b") is False
    assert matcher.accept_string("a\ud800") is False
    assert matcher.accept_string("abx") is False
    assert matcher.accept_string("ab") is True
    assert matcher.accept_string(b"\xc3") is True
    assert matcher.accept_string("") is True
    assert matcher.accept_string(b"\xa9") is True
    assert matcher.is_completed()
    matcher.rollback(4)
    assert allowed(matcher) == [0, 2]
    for wrong in (1, None, ["a"]):
        with pytest.raises(TypeError):
            matcher.accept_string(wrong)


def test_rollback():
    matcher = GrammarMatcher(compiled('root ::= "a" "b" "a"'))
    masks = []
    for token in (0, 1, 0, STOP):
        masks.append(allowed(matcher))
        assert matcher.accept_token(token)
    matcher.rollback(2)
    assert allowed(matcher) == masks[2]
    matcher.rollback(num_tokens=1)
    assert allowed(matcher) == masks[1]
    matcher.rollback(0)
    with pytest.raises(MatcherError, match="only 1 ") as caught:
        matcher.rollback(2)
    assert caught.value.code == "matcher-rollback-too-far"
    with pytest.raises(MatcherError, match="0 or more") as caught:
        matcher.rollback(-1)
    assert caught.value.code == "matcher-rollback-negative"
    assert allowed(matcher) == masks[1]
    matcher.rollback()
    assert allowed(matcher) == masks[0]


def test_reset():
    matcher = GrammarMatcher(compiled('root ::= "a"'))
    assert matcher.accept_token(0)
    assert matcher.accept_token(STOP)
    matcher.reset()
    assert allowed(matcher) == [0]
    with pytest.raises(MatcherError):
        matcher.rollback()


def test_forks_are_independent():
    matcher = GrammarMatcher(compiled("root ::= [ab]{3}"), default_temperature=0.5)
    assert matcher.accept_token(0)
    fork = matcher.fork()
    assert type(fork) is GrammarMatcher
    assert fork.temperature == 0.5
    assert fork.compiled_grammar is matcher.compiled_grammar
    assert fork.accept_string("bb")
    assert fork.is_completed()
    assert not matcher.is_completed()
    assert matcher.accept_token(2)
    fork.rollback(2)
    assert allowed(fork) == [0, 1, 2]
    assert allowed(matcher) == [STOP]
    del matcher
    assert fork.accept_token(1)


def test_override_stop_tokens():
    grammar = compiled('root ::= "a"')
    for override, ids in ((5, [5]), ([6, 5, 5], [5, 6]), (np.array([39]), [39])):
        matcher = GrammarMatcher(grammar, override_stop_tokens=override)
        assert matcher.stop_token_ids == ids
        assert matcher.accept_token(0)
        assert allowed(matcher) == ids
    assert GrammarMatcher(grammar).stop_token_ids == [STOP]


@pytest.mark.parametrize("stop", [40, -1, [4, 2**40]])
def test_stop_tokens_outside_the_vocabulary(stop):
    with pytest.raises(TokenizerError, match="outside the vocabulary of 40 ids of the") as caught:
        GrammarMatcher(compiled('root ::= "a"'), override_stop_tokens=stop)
    assert caught.value.code == "tokenizer-id-out-of-range"


def test_a_bool_is_no_stop_token():
    with pytest.raises(TypeError, match="a token id is True, a bool"):
        GrammarMatcher(compiled('root ::= "a"'), override_stop_tokens=[1, True])


def test_without_any_stop_token():
    grammar = compiled('root ::= "a"', TokenizerInfo(["a"]))
    for options in ({}, {"override_stop_tokens": []}):
        with pytest.raises(MatcherError, match="stop_token_ids") as caught:
            GrammarMatcher(grammar, **options)
        assert caught.value.code == "matcher-no-stop-token"
    grammar = compiled('root ::= "a"', TokenizerInfo(["a", "b"]))
    assert GrammarMatcher(grammar, override_stop_tokens=1).stop_token_ids == [1]


def test_terminate_without_stop_token():
    matcher = GrammarMatcher(compiled('root ::= "a" "b"?'), terminate_without_stop_token=True)
    assert not matcher.is_terminated()
    assert matcher.accept_token(STOP) is False
    assert matcher.accept_token(0)
    assert matcher.is_terminated()
    assert allowed(matcher) == [1]
    assert matcher.accept_token(1)
    assert matcher.is_terminated()
    with pytest.raises(MatcherError) as caught:
        allowed(matcher)
    assert caught.value.code == "matcher-terminated"


def test_accepted_for_compatibility():
    matcher = GrammarMatcher(compiled('root ::= "a"'), max_rollback_tokens=0)
    assert matcher.max_rollback_tokens == -1
    assert matcher.temperature is None
    assert matcher.accept_token(0)
    matcher.rollback()


def test_debug_print_logs(caplog):
    caplog.set_level(logging.DEBUG, logger="maskwright.matcher")
    matcher = GrammarMatcher(compiled('root ::= "ab"'))
    matcher.accept_token(0, debug_print=True)
    matcher.accept_string("b", debug_print=True)
    matcher.fill_next_token_bitmask(np.zeros((1, 2), np.int32), 0, debug_print=True)
    assert [record.getMessage() for record in caplog.records] == [
        "accept_token(0) -> True",
        "accept_string('b') -> True",
        "fill_next_token_bitmask(index=0) -> True",
    ]


def test_wrong_arguments():
    with pytest.raises(TypeError, match="expected a CompiledGrammar"):
        GrammarMatcher('root ::= "a"')
    with pytest.raises(TypeError):
        GrammarMatcher(compiled('root ::= "a"'), override_stop_tokens="4")
    with pytest.raises(TypeError, match="input_str is a int; expected a str or bytes"):
        GrammarMatcher(compiled('root ::= "a"')).accept_string(5)
    with pytest.raises(TypeError):
        GrammarMatcher(compiled('root ::= "a"')).fill_next_token_bitmask(
            np.zeros((1, 2), np.int32), "0"
        )


# Bitmask arrays -----------------------------------------------------------------------------------


def test_only_the_row_is_written():
    matcher = GrammarMatcher(compiled('root ::= "a"'))
    wide = np.full((3, 5), 9, dtype=np.int32)
    assert matcher.fill_next_token_bitmask(wide, 1)
    assert wide.tolist() == [[9] * 5, [1, 0, 0, 0, 0], [9] * 5]
    flat = np.full(2, 9, dtype=np.int32)
    matcher.fill_next_token_bitmask(flat, index=0)
    assert flat.tolist() == [1, 0]


def test_views_are_written_in_place():
    matcher = GrammarMatcher(compiled('root ::= "a"'))
    base = np.full((4, 6), 9, dtype=np.int32)
    matcher.fill_next_token_bitmask(base[::2, 2:4], 1)
    assert base[2].tolist() == [9, 9, 1, 0, 9, 9]
    assert (base != 9).sum() == 2


def _read_only() -> np.ndarray:
    bitmask = np.zeros((2, 2), dtype=np.int32)
    bitmask.flags.writeable = False
    return bitmask


@pytest.mark.parametrize(
    ("bitmask", "index", "code"),
    [
        (np.zeros((2, 2), dtype=np.int64), 0, "bitmask-dtype"),
        (np.zeros((2, 2), dtype=np.uint32), 0, "bitmask-dtype"),
        (np.zeros((2, 2), dtype=np.float32), 0, "bitmask-dtype"),
        (np.zeros((2, 1), dtype=np.int32), 0, "bitmask-shape"),
        (np.zeros((1, 2, 2), dtype=np.int32), 0, "bitmask-shape"),
        (np.zeros((), dtype=np.int32), 0, "bitmask-shape"),
        (np.zeros((2, 4), dtype=np.int32)[:, ::2], 0, "bitmask-strides"),
        (np.zeros((2, 2), dtype=np.int32, order="F"), 0, "bitmask-strides"),
        (np.zeros((2, 2), dtype=np.int32)[:, ::-1], 0, "bitmask-strides"),
        (np.zeros((0, 2), dtype=np.int32), 0, "bitmask-index"),
        (np.zeros((2, 2), dtype=np.int32), 2, "bitmask-index"),
        (np.zeros((2, 2), dtype=np.int32), -1, "bitmask-index"),
        (np.zeros(2, dtype=np.int32), 1, "bitmask-index"),
        (_read_only(), 0, "bitmask-not-an-array"),
        ([[0, 0]], 0, "bitmask-not-an-array"),
        (None, 0, "bitmask-not-an-array"),
        (b"12345678", 0, "bitmask-not-an-array"),
    ],
)
def test_refused_arrays(bitmask, index, code):
    matcher = GrammarMatcher(compiled('root ::= "a"'))
    before = np.array(bitmask) if isinstance(bitmask, np.ndarray) else None
    with pytest.raises(BitmaskError) as caught:
        matcher.fill_next_token_bitmask(bitmask, index)
    assert caught.value.code == code
    assert "bitmask" in str(caught.value)
    if before is not None:
        assert (bitmask == before).all()
    assert allowed(matcher) == [0]


def test_arrays_are_looked_at_each_time():
    matcher = GrammarMatcher(compiled('root ::= "a"'))
    bitmask = np.zeros((2, 3), dtype=np.int32)
    for view in (bitmask, bitmask.view(np.recarray), memoryview(bitmask), bitmask[::-1]):
        bitmask[:] = 9
        assert matcher.fill_next_token_bitmask(view, 1)
        row = 0 if view is not bitmask and np.asarray(view).strides[0] < 0 else 1
        assert bitmask[row].tolist() == [1, 0, 0]
        assert bitmask[1 - row].tolist() == [9, 9, 9]
    bitmask.flags.writeable = False
    with pytest.raises(BitmaskError) as caught:
        matcher.fill_next_token_bitmask(bitmask, 1)
    assert caught.value.code == "bitmask-not-an-array"
    bitmask.flags.writeable = True
    bitmask.dtype = np.uint32
    with pytest.raises(BitmaskError) as caught:
        matcher.fill_next_token_bitmask(bitmask, 1)
    assert caught.value.code == "bitmask-dtype"


def test_torch_tensors():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    matcher = GrammarMatcher(compiled('root ::= "a"'))
    bitmask = torch.full((2, 3), 9, dtype=torch.int32)
    assert matcher.fill_next_token_bitmask(bitmask[:, 1:], 1)
    assert bitmask.tolist() == [[9, 9, 9], [9, 1, 0]]
    with pytest.raises(BitmaskError) as caught:
        matcher.fill_next_token_bitmask(bitmask.long(), 0)
    assert caught.value.code == "bitmask-dtype"
    with pytest.raises(BitmaskError) as caught:
        matcher.fill_next_token_bitmask(torch.empty(2, 2, dtype=torch.int32, device="meta"), 0)
    assert caught.value.code == "bitmask-device"


# Threads ------------------------------------------------------------------------------------------


def test_matchers_of_one_grammar_in_many_threads():
    grammar = compiled('root ::= [ab]{2,9} "\\n" root?')
    barrier = threading.Barrier(8)
    walk = [0, 2, 1, 5, 2, 2, 5, STOP]

    def work(_: int) -> list[list[int]]:
        matcher = GrammarMatcher(grammar)
        barrier.wait(30)
        masks = []
        for token in walk:
            masks.append(allowed(matcher))
            assert matcher.accept_token(token)
        return masks

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(work, range(8)))
    assert all(result == results[0] for result in results)


def test_forks_in_many_threads():
    matcher = GrammarMatcher(compiled("root ::= [ab]{1,40}"))
    assert matcher.accept_token(0)
    forks = [matcher.fork() for _ in range(8)]
    barrier = threading.Barrier(8)

    def work(number: int) -> int:
        barrier.wait(30)
        for step in range(30):
            assert forks[number].accept_token(step % 2)
            if step % 3 == 0:
                forks[number].rollback()
        count = 0
        while forks[number].accept_token(0):
            count += 1
        return count

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == [40 - 1 - 20] * 8
