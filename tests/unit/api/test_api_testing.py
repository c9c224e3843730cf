"""maskwright.testing: helpers that other test suites build on."""

from __future__ import annotations

import numpy as np
import pytest

from maskwright import Grammar, TokenizerInfo, testing

EBNF = 'root ::= "a" [0-9]+'


def test_accept_string():
    accepts = testing._is_grammar_accept_string
    assert accepts(EBNF, "a12")
    assert accepts(Grammar.from_ebnf(EBNF), b"a1")
    assert not accepts(EBNF, "a")
    assert not accepts(EBNF, "b")
    assert accepts(EBNF, "a", require_termination=False)
    assert not accepts(EBNF, "b", require_termination=False)


def test_print_time(capsys):
    testing._is_grammar_accept_string(EBNF, "a1", print_time=True)
    assert capsys.readouterr().out.startswith("accept_string took ")


def test_matchers():
    matcher = testing._get_matcher_from_grammar(EBNF)
    assert matcher.stop_token_ids == [256]
    assert all(matcher.accept_token(token) for token in (*b"a7", 256))
    assert not testing._get_matcher_from_grammar(
        EBNF, terminate_without_stop_token=True
    ).accept_token(256)
    info = TokenizerInfo(["a1", ""], stop_token_ids=1)
    matcher = testing._get_matcher_from_grammar_and_tokenizer_info(EBNF, info)
    assert matcher.accept_token(0)
    assert matcher.accept_token(1)


def test_masked_tokens():
    bitmask = np.array([[-1, -1], [~0b101, 0b10]], dtype=np.int32)
    assert testing._get_masked_tokens_from_bitmask(bitmask, 64) == []
    assert testing._get_masked_tokens_from_bitmask(bitmask, 35, 1) == [0, 2, 32, 34]
    assert testing._get_masked_tokens_from_bitmask(bitmask[1], 33) == [0, 2, 32]


def test_single_token():
    bitmask = np.array([[0, 0b10], [0b11, 0], [0, 0]], dtype=np.int32)
    assert testing._is_single_token_bitmask(bitmask, 40) == (True, 33)
    assert testing._is_single_token_bitmask(bitmask, 33) == (False, -1)
    assert testing._is_single_token_bitmask(bitmask, 40, 1) == (False, -1)
    assert testing._is_single_token_bitmask(bitmask, 40, 2) == (False, -1)


@pytest.mark.parametrize("size", [-1, 65])
def test_sizes_out_of_range(size):
    bitmask = np.zeros((1, 2), dtype=np.int32)
    for function in (
        testing._get_masked_tokens_from_bitmask,
        testing._is_single_token_bitmask,
        testing.bitmask_to_bool_mask,
    ):
        with pytest.raises(ValueError, match="64 bits"):
            function(bitmask, size)
    for index in (1, -1):
        with pytest.raises(IndexError, match="has 1 rows"):
            testing._is_single_token_bitmask(bitmask, 3, index)


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 100])
@pytest.mark.parametrize("rows", [0, 3])
def test_conversions_invert_each_other(rows, size):
    mask = np.random.default_rng(size).random((rows, size)) < 0.5
    bitmask = testing.bool_mask_to_bitmask(mask)
    assert bitmask.dtype == np.int32
    assert bitmask.shape == (rows, (size + 31) // 32)
    assert np.array_equal(testing.bitmask_to_bool_mask(bitmask, np.int64(size)), mask)
    rest = testing.bitmask_to_bool_mask(bitmask)[:, size:]
    assert not rest.any()
    if rows:
        assert np.array_equal(testing.bool_mask_to_bitmask(mask[0]), bitmask[:1])


def test_conversions_keep_the_library():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    mask = torch.tensor([[True, False, True]])
    bitmask = testing.bool_mask_to_bitmask(mask)
    assert bitmask.dtype is torch.int32
    assert bitmask.tolist() == [[5]]
    assert torch.equal(testing.bitmask_to_bool_mask(bitmask, 3), mask)


def test_texts():
    assert testing._regex_to_ebnf("a|b") == str(Grammar.from_regex("a|b"))
    schema = {"type": "boolean"}
    assert testing._json_schema_to_ebnf(schema, any_order=True) == str(
        Grammar.from_json_schema(schema, any_order=True)
    )
