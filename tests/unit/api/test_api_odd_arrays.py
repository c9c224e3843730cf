"""Every function that takes an array, with every kind of array: used in place, or refused."""

from __future__ import annotations

import re

import numpy as np
import pytest

from broken_arrays import BROKEN
from maskwright import (
    BatchGrammarMatcher,
    BitmaskError,
    DraftTreeError,
    GrammarCompiler,
    GrammarMatcher,
    TokenizerInfo,
    apply_token_bitmask_inplace,
    reset_token_bitmask,
    testing,
)
from odd_arrays import OddArray, arrays_of

# 40 words of 32 tokens, so that a row of a mask is as long as the arrays.
SHAPE = (1, 40)
WORD = -(2**31) + 5


@pytest.fixture(scope="module")
def matcher():
    tokens = [f"{k:04d}" for k in range(SHAPE[1] * 32 - 1)]
    info = TokenizerInfo([*tokens, "</s>"], stop_token_ids=len(tokens))
    return GrammarMatcher(GrammarCompiler(info).compile_regex(r"0[0-9]{2}[02468]"))


def used(odd: OddArray, call, made, base, *, reads: bool = False) -> bool:
    """Call a function; return whether it used the array, and check how it refused it if not."""
    if base is not None and (not odd.code or (reads and odd.is_readable)):
        call(made)
        return True
    with pytest.raises(BitmaskError) as caught:
        call(made)
    assert re.search(odd.code, caught.value.code), caught.value.code
    if not (reads and odd.is_readable):
        assert odd.text in str(caught.value)
    return False


@pytest.mark.parametrize("odd", arrays_of("int32"))
def test_fill(odd, matcher):
    made, base = odd.make("int32", SHAPE)
    if used(odd, matcher.fill_next_token_bitmask, made, base):
        expected = np.zeros(SHAPE, np.int32)
        matcher.fill_next_token_bitmask(expected)
        assert expected.any()
        assert np.array_equal(base, expected)


@pytest.mark.parametrize("odd", arrays_of("int32"))
def test_batch_fill(odd, matcher):
    made, base = odd.make("int32", SHAPE)
    batch = BatchGrammarMatcher(1)
    if used(odd, lambda array: batch.batch_fill_next_token_bitmask([matcher], array), made, base):
        expected = np.zeros(SHAPE, np.int32)
        matcher.fill_next_token_bitmask(expected)
        assert np.array_equal(base, expected)


@pytest.mark.parametrize("odd", arrays_of("int32"))
def test_reset(odd):
    if odd.name == "0-D":
        pytest.skip("an array of any shape is allowed everything")
    made, base = odd.make("int32", SHAPE)
    if used(odd, reset_token_bitmask, made, base):
        assert (base == -1).all()


@pytest.mark.parametrize("odd", arrays_of("float32"))
def test_apply_to(odd):
    made, base = odd.make("float32", SHAPE)
    bitmask = np.array([[WORD, 255]], dtype=np.int32)

    def apply(logits):
        apply_token_bitmask_inplace(logits, bitmask)

    if used(odd, apply, made, base):
        allowed = [0, 2, *range(31, 40)]
        assert np.flatnonzero(np.asarray(base).ravel() == 0).tolist() == allowed


@pytest.mark.parametrize("odd", arrays_of("int32"))
def test_apply_bitmask(odd):
    made, base = odd.make("int32", SHAPE)
    if base is not None and base.flags.writeable:
        base[...] = WORD
    logits = np.zeros((1, 40), dtype=np.float32)
    if used(
        odd, lambda bitmask: apply_token_bitmask_inplace(logits, bitmask), made, base, reads=True
    ):
        allowed = [0, 2, 31, 32, 34] if base.any() else []
        assert np.flatnonzero(logits[0] == 0).tolist() == allowed
    else:
        assert not logits.any()


@pytest.mark.parametrize(
    "function",
    [
        lambda bitmask: testing.bitmask_to_bool_mask(bitmask, 35),
        lambda bitmask: testing._get_masked_tokens_from_bitmask(bitmask, 35),
        lambda bitmask: testing._is_single_token_bitmask(bitmask, 35),
    ],
)
@pytest.mark.parametrize("odd", arrays_of("int32"))
def test_reading_a_bitmask(odd, function):
    made, base = odd.make("int32", SHAPE)
    if base is not None and base.flags.writeable:
        base[...] = WORD
    if used(odd, function, made, base, reads=True):
        expected = function(np.full(SHAPE, base.flat[0], np.int32))
        assert np.array_equal(np.asarray(function(made)), np.asarray(expected))


@pytest.mark.parametrize("odd", arrays_of("bool"))
def test_packing_a_bool_mask(odd):
    made, base = odd.make("bool", SHAPE)
    if base is not None and base.flags.writeable:
        base[0, ::2] = True
    if used(odd, testing.bool_mask_to_bitmask, made, base, reads=True):
        words = [0x55555555, 0x55] if base.any() else [0, 0]
        assert np.asarray(testing.bool_mask_to_bitmask(made)).tolist() == [words]


def test_columns_apart_are_read_but_not_written():
    base = np.zeros((1, 4), np.int32)
    base[0, ::2] = 5
    assert testing._get_masked_tokens_from_bitmask(base[:, ::2], 4) == [1, 3]
    assert testing._get_masked_tokens_from_bitmask(base[:, ::-1], 4) == [0, 1, 2, 3]
    reset_token_bitmask(base[:, ::2])
    assert base.tolist() == [[-1, 0, -1, 0]]
    reset_token_bitmask(base[:, ::-1])
    assert base.tolist() == [[-1] * 4]


@pytest.mark.parametrize(
    "shape", [(), (0,), (3,), (2, 0), (0, 2), (2, 3, 4), (2, 1, 2, 1, 2)], ids=str
)
def test_reset_of_any_shape(shape):
    base = np.zeros(shape, np.int32)
    reset_token_bitmask(base)
    assert (base == -1).all()
    turned = np.zeros(shape, np.int32)
    reset_token_bitmask(turned.T)
    assert (turned == -1).all()


def test_numbers_are_read_before_arrays_are_looked_at():
    """Reading a number may run code that takes an array's memory away."""
    torch = pytest.importorskip("torch")
    logits = torch.zeros(4, 64)
    bitmask = torch.zeros(4, 2, dtype=torch.int32)

    class Odd:
        def __index__(self) -> int:
            logits.set_(torch.empty(0))
            return 64

    with pytest.raises(BitmaskError):
        apply_token_bitmask_inplace(logits, bitmask, vocab_size=Odd())


def _calls(matcher):
    """Every argument that is an array, by name."""
    batch = BatchGrammarMatcher(1)
    end, node = np.full(1, -1, np.int64), np.zeros(1, np.int64)
    words, logits = np.zeros(SHAPE, np.int32), np.zeros((1, 40), np.float32)
    tree, many = matcher.traverse_draft_tree, batch.batch_traverse_draft_tree
    return {
        "fill": matcher.fill_next_token_bitmask,
        "batch fill": lambda odd: batch.batch_fill_next_token_bitmask([matcher], odd),
        "reset": reset_token_bitmask,
        "logits": lambda odd: apply_token_bitmask_inplace(odd, words),
        "applied": lambda odd: apply_token_bitmask_inplace(logits, odd),
        "next tokens": lambda odd: tree(odd, end, node, words),
        "next siblings": lambda odd: tree(end, odd, node, words),
        "draft tokens": lambda odd: tree(end, end, odd, words),
        "bitmask of a tree": lambda odd: tree(end, end, node, odd),
        "next tokens of a batch": lambda odd: many([matcher], odd, end, node[None], words),
        "next siblings of a batch": lambda odd: many([matcher], end, odd, node[None], words),
        "draft tokens of a batch": lambda odd: many([matcher], end, end, odd, words),
        "bitmask of trees": lambda odd: many([matcher], end, end, node[None], odd),
    }


@pytest.mark.parametrize("broken", BROKEN)
def test_what_is_no_array_is_refused_everywhere(broken, matcher):
    allowed = np.zeros(SHAPE, np.int32)
    matcher.fill_next_token_bitmask(allowed)
    for name, call in _calls(matcher).items():
        with pytest.raises((BitmaskError, DraftTreeError)) as caught:
            call(BROKEN[broken]())
        assert str(caught.value), name
    row = np.zeros(SHAPE, np.int32)
    matcher.fill_next_token_bitmask(row)
    assert np.array_equal(row, allowed)
