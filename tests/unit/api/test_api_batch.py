"""BatchGrammarMatcher: what it does."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

from letters import (
    COMPILER,
    STOP,
    UNTOUCHED,
    WIDE,
    B,
    mask,
    matcher,
    new_bitmask,
    some_matchers,
)
from maskwright import (
    BatchError,
    BatchGrammarMatcher,
    GrammarCompiler,
    GrammarMatcher,
    MatcherError,
    TokenizerInfo,
)


@pytest.mark.parametrize("threads", [1, 3, "auto"])
def test_fill(threads):
    batch = BatchGrammarMatcher(threads)
    matchers = some_matchers()
    bitmask = new_bitmask()
    assert batch.batch_fill_next_token_bitmask(matchers, bitmask) is None
    assert bitmask[:, 0].tolist() == [*map(mask, matchers), UNTOUCHED, UNTOUCHED]
    bitmask = new_bitmask()
    batch.batch_fill_next_token_bitmask(tuple(matchers[:3]), bitmask, indices=[5, 0, 2])
    wanted = [mask(matchers[k]) for k in (1, 2, 0)]
    assert bitmask[[0, 2, 5], 0].tolist() == wanted
    assert bitmask[[1, 3, 4], 0].tolist() == [UNTOUCHED] * 3


def test_vocabularies_of_different_sizes():
    wide = GrammarMatcher(WIDE.compile_regex("[0-9]+"))
    bitmask = new_bitmask(2, 4)
    BatchGrammarMatcher().batch_fill_next_token_bitmask([matcher("a"), wide], bitmask)
    assert bitmask[0].tolist() == [1, 0, 0, 0]
    row = new_bitmask(1, 4)
    wide.fill_next_token_bitmask(row)
    assert bitmask[1].tolist() == row[0].tolist()


def test_matchers_in_one_place():
    """Equal rows are computed once, and others are not taken for equal."""
    compiled = COMPILER.compile_regex("a[ab]*c")
    matchers = [GrammarMatcher(compiled) for _ in range(9)]
    matchers[4].accept_token(0)
    matchers += [matchers[4].fork(), GrammarMatcher(compiled, terminate_without_stop_token=True)]
    matchers.append(GrammarMatcher(compiled, override_stop_tokens=[1]))
    for done in (matchers[10], matchers[11], matchers[5]):
        assert done.accept_string("ac")
    bitmask = new_bitmask(12)
    with pytest.raises(MatcherError):  # matcher 10 has no token left
        BatchGrammarMatcher().batch_fill_next_token_bitmask(matchers, bitmask)
    matchers[10].rollback()
    BatchGrammarMatcher().batch_fill_next_token_bitmask(matchers, bitmask)
    assert bitmask[:, 0].tolist() == [mask(each) for each in matchers]


def test_accept_and_rollback():
    matchers = some_matchers()
    assert BatchGrammarMatcher.batch_accept_token(matchers, [0, 0, 1, 3]) == [
        *(True, True, True),
        False,
    ]
    assert (
        BatchGrammarMatcher().batch_accept_token(matchers, np.array([2, 1, 1, STOP])) == [True] * 4
    )
    assert matchers[3].is_terminated()
    assert BatchGrammarMatcher.batch_accept_token(matchers, [-1, 2**70, STOP, 0]) == [
        *(False, False, True),
        False,
    ]
    BatchGrammarMatcher.batch_rollback(matchers, num_tokens=[2, 0, 3, 1])
    assert [mask(each) for each in matchers] == [
        *(mask(matcher("a[ab]*")), mask(matchers[1])),
        *(mask(matcher("[bc]{1,3}")), mask(matcher("a?"))),
    ]
    BatchGrammarMatcher.batch_rollback([matchers[1]])
    BatchGrammarMatcher.batch_rollback(matchers, 0)
    BatchGrammarMatcher.batch_rollback(matchers[1:2], np.int64(1))
    assert mask(matchers[1]) == mask(matcher("(ab)+"))


def test_accept_string():
    matchers = some_matchers()
    accepted = BatchGrammarMatcher.batch_accept_string(matchers, ["ab", b"aba", "\ud800", ""])
    assert accepted == [True, True, False, True]
    BatchGrammarMatcher.batch_rollback(matchers, [1, 1, 0, 1])
    with pytest.raises(MatcherError):
        matchers[2].rollback(1)


def test_an_empty_batch():
    batch = BatchGrammarMatcher()
    batch.batch_fill_next_token_bitmask([], new_bitmask(0))
    assert batch.batch_accept_token([], []) == []
    assert batch.batch_accept_string([], []) == []
    batch.batch_rollback([], 3)
    empty = np.zeros((0, 3), dtype=np.int64)
    assert batch.batch_traverse_draft_tree([], empty, empty, empty, new_bitmask(0)) == []


def test_temperatures():
    matchers = [matcher("a", default_temperature=0.5), matcher("a"), matcher("b")]
    assert (matchers[0].temperature, matchers[1].temperature) == (0.5, None)
    assert matchers[0].fork().temperature == 0.5
    temperatures = np.full(5, 9, dtype=np.float32)
    BatchGrammarMatcher.batch_fill_temperature(matchers[:2], temperatures)
    assert temperatures.tolist() == [0.5, -1, 9, 9, 9]
    BatchGrammarMatcher().batch_fill_temperature(matchers[:2], temperatures[::2], indices=[2, 0])
    assert temperatures.tolist() == [-1, -1, 9, 9, 0.5]


def test_debug_print_logs(caplog):
    caplog.set_level(logging.DEBUG, "maskwright.matcher")
    matchers = some_matchers()
    batch = BatchGrammarMatcher()
    batch.batch_accept_token(matchers, [0, 0, 0, 0], debug_print=True)
    batch.batch_accept_string(matchers, ["", "", "", ""], debug_print=True)
    batch.batch_fill_next_token_bitmask(matchers, new_bitmask(), debug_print=True)
    texts = [record.getMessage() for record in caplog.records]
    assert texts == [
        "batch_accept_token([0, 0, 0, 0]) -> [True, True, False, True]",
        "batch_accept_string(['', '', '', '']) -> [True, True, True, True]",
        "batch_fill_next_token_bitmask(indices=None)",
    ]


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    matchers = some_matchers()
    bitmask = torch.full((8, 1), UNTOUCHED, dtype=torch.int32)
    rows = torch.tensor([3, 0, 1, 2])
    BatchGrammarMatcher().batch_fill_next_token_bitmask(matchers, bitmask[::2], rows)
    assert bitmask[::2, 0].tolist() == [mask(matchers[k]) for k in (1, 2, 3, 0)]
    assert bitmask[1::2, 0].tolist() == [UNTOUCHED] * 4
    tokens = torch.tensor([0, 0, 1, 0])
    assert BatchGrammarMatcher.batch_accept_token(matchers, tokens) == [True] * 4


def test_threads():
    assert BatchGrammarMatcher(5).max_threads == 5
    assert 1 <= BatchGrammarMatcher().max_threads <= 8
    for wrong in (0, -1, 2**40, "many"):
        with pytest.raises(BatchError) as caught:
            BatchGrammarMatcher(wrong)
        assert caught.value.code == "batch-max-threads"
        assert str(caught.value) == (
            f'max_threads is {wrong!r}; expected a number of threads, 1 or more, or "auto"'
        )
    with pytest.raises(TypeError):
        BatchGrammarMatcher(1.5)


def test_a_large_batch_of_one_grammar_and_forks():
    compiled = COMPILER.compile_regex("[ab]{0,400}c")
    origin = GrammarMatcher(compiled)
    matchers = [origin.fork() if k % 2 else GrammarMatcher(compiled) for k in range(300)]
    BatchGrammarMatcher.batch_accept_string(matchers, ["ab" * (k % 150) for k in range(300)])
    bitmask = new_bitmask(300)
    BatchGrammarMatcher(4).batch_fill_next_token_bitmask(matchers, bitmask)
    assert bitmask[:, 0].tolist() == [mask(one) for one in matchers]


BYTES = GrammarCompiler(
    TokenizerInfo([*(bytes([byte]) for byte in range(256)), b"</s>"], stop_token_ids=256)
)
SCHEMA = {
    "type": "object",
    "required": ["a", "b", "c"],
    "additionalProperties": False,
    "properties": {
        **{key: {"$ref": "#/$defs/value"} for key in "abc"},
        "u": {"type": "array", "uniqueItems": True, "items": {"enum": [1, 2, "a", "b"]}},
    },
    "$defs": {
        "value": {"type": ["integer", "array", "object"], "items": {"$ref": "#/$defs/value"}}
    },
}
DOCUMENTS = (
    b'{"a": [1, [2]], "b": {"c": [3]}, "c": 4, "u": [1, 2, "a"]}',
    b'{"b": [1, [2]], "c": {"a": [3]}, "a": 4, "u": [2, 1, "b"]}',
    b'{"c": {"k": [1, 2]}, "u": ["a", "b", 1], "a": [[1]], "b": 1}',
    b'{"u": ["b", "a", 2], "a": {"k": {"m": [2]}}, "c": [{"a": 2}], "b": 2}',
)


def test_places_that_differ_in_what_lies_around_them():
    """Equal values inside different ones, after different members and items."""
    compiled = BYTES.compile_json_schema(SCHEMA, any_order=True, strict_mode=False)
    texts = [document[:end] for document in DOCUMENTS for end in range(len(document) + 1)]
    matchers = [GrammarMatcher(compiled) for _ in texts]
    for one, text in zip(matchers, texts, strict=True):
        assert one.accept_string(text), text
    wanted = np.zeros((len(texts), 9), dtype=np.int32)
    for row, one in enumerate(matchers):
        one.fill_next_token_bitmask(wanted, row)
    rng = np.random.default_rng(1)
    for _ in range(60):  # a row is compared with the last one of its kind
        order = rng.permutation(len(texts))
        bitmask = new_bitmask(len(texts), 9)
        BatchGrammarMatcher(1).batch_fill_next_token_bitmask(
            [matchers[k] for k in order], bitmask, order
        )
        assert (bitmask == wanted).all()


def test_places_that_differ_in_what_lies_far_around_them():
    """A token that ends three frames at once."""
    tokens = [*"abcxy", "bb1", "bb2", "1", "2", "</s>"]
    compiler = GrammarCompiler(TokenizerInfo(tokens, stop_token_ids=9))
    compiled = compiler.compile_grammar('root ::= "x" s "1" | "y" s "2"\ns ::= "a" s "b" | "c"')
    matchers = [GrammarMatcher(compiled) for _ in range(8)]
    texts = ["xaac", "yaac", "xaaac", "yaaac", "yaac", "xaac", "xac", "yac"]
    assert all(BatchGrammarMatcher.batch_accept_string(matchers, texts))
    bitmask = new_bitmask(8)
    BatchGrammarMatcher().batch_fill_next_token_bitmask(matchers, bitmask)
    ends = {"x": 1 << 5, "y": 1 << 6}
    wanted = [B | (ends[text[0]] if text.count("a") == 2 else 0) for text in texts]
    assert bitmask[:, 0].tolist() == wanted == [mask(one) for one in matchers]


def test_budgets_in_one_place():
    """The same text with different budgets has different masks."""
    compiled = COMPILER.compile_regex("[ab]{1,9}")
    options: list[dict[str, Any]] = [{"token_budget": n} for n in (2, 3, 9, 2, 3)]
    matchers = [GrammarMatcher(compiled, **each) for each in [*options, {}, {}]]
    assert all(BatchGrammarMatcher.batch_accept_token(matchers, [0] * 7))
    bitmask = new_bitmask(7)
    BatchGrammarMatcher().batch_fill_next_token_bitmask(matchers, bitmask)
    assert bitmask[:, 0].tolist() == [mask(one) for one in matchers]
