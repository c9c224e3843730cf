"""BatchGrammarMatcher: what it does, and that whatever it refuses has changed nothing."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from maskwright import (
    BatchError,
    BatchGrammarMatcher,
    BitmaskError,
    GrammarCompiler,
    GrammarMatcher,
    MaskwrightError,
    MatcherError,
    TokenizerInfo,
)

TOKENS = ["a", "b", "ab", "c", "</s>"]
STOP = 4
COMPILER = GrammarCompiler(TokenizerInfo(TOKENS, stop_token_ids=STOP))
WIDE = GrammarCompiler(
    TokenizerInfo([*TOKENS[:4], *map(str, range(60)), "</s>"], stop_token_ids=64)
)
REGEXES = ("a[ab]*", "(ab)+", "[bc]{1,3}", "a?")
UNTOUCHED = 0x5A5A5A5A
B = 1 << 1


def matcher(regex: str, **options: Any) -> GrammarMatcher:
    return GrammarMatcher(COMPILER.compile_regex(regex), **options)


def some_matchers() -> list[GrammarMatcher]:
    return [matcher(regex) for regex in REGEXES]


def mask(one: GrammarMatcher) -> int:
    row = np.zeros((1, 1), dtype=np.int32)
    one.fill_next_token_bitmask(row)
    return int(row[0, 0])


def new_bitmask(rows: int = 6, words: int = 1) -> Any:
    return np.full((rows, words), UNTOUCHED, dtype=np.int32)


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


# Refusals -----------------------------------------------------------------------------------------

Call = Callable[[list[Any], Any], Any]


def fill(matchers: Any, bitmask: Any, indices: Any = None) -> Any:
    return BatchGrammarMatcher(2).batch_fill_next_token_bitmask(matchers, bitmask, indices)


def ended() -> GrammarMatcher:
    one = matcher("a?")
    assert one.accept_token(STOP)
    return one


def ended_by_itself() -> GrammarMatcher:
    one = matcher("a", terminate_without_stop_token=True)
    assert one.accept_token(0)
    return one


AN_INT32 = r"bitmask is an int32 array of shape \(6, 1\), strides \(1, 1\), on cpu; expected "
#: Name -> call with four matchers and a bitmask of six rows, class, code, the whole text.
REFUSALS: dict[str, tuple[Call, type[MaskwrightError], str, str]] = {
    "fill: an object that is no matcher": (
        lambda m, b: fill([*m, "x"], b),
        *(BatchError, "batch-not-a-matcher"),
        r"matchers\[4\] is a str; expected a GrammarMatcher",
    ),
    "accept: an object that is no matcher": (
        lambda m, _: BatchGrammarMatcher.batch_accept_token([m[0], None], [0, 0]),
        *(BatchError, "batch-not-a-matcher"),
        r"matchers\[1\] is a NoneType; expected a GrammarMatcher",
    ),
    "fill: a matcher that was never initialised": (
        lambda m, b: fill([GrammarMatcher.__new__(GrammarMatcher), *m], b),
        *(BatchError, "batch-not-a-matcher"),
        r"matchers\[0\] is a .*GrammarMatcher; expected a GrammarMatcher",
    ),
    "fill: the same matcher twice": (
        lambda m, b: fill([*m, m[1]], b),
        *(BatchError, "batch-same-matcher"),
        r"matchers 1 and 4 are the same one; name each only once, or pass a fork\(\) of it",
    ),
    "accept: the same matcher twice": (
        lambda m, _: BatchGrammarMatcher.batch_accept_token([m[0], m[0]], [0, 0]),
        *(BatchError, "batch-same-matcher"),
        r"matchers 0 and 1 are the same one; name each only once, or pass a fork\(\) of it",
    ),
    "accept text: the same matcher twice": (
        lambda m, _: BatchGrammarMatcher.batch_accept_string([m[0], m[0]], ["a", "a"]),
        *(BatchError, "batch-same-matcher"),
        r"matchers 0 and 1 are the same one; name each only once, or pass a fork\(\) of it",
    ),
    "rollback: the same matcher twice": (
        lambda m, _: BatchGrammarMatcher.batch_rollback([m[0], m[0]], 0),
        *(BatchError, "batch-same-matcher"),
        r"matchers 0 and 1 are the same one; name each only once, or pass a fork\(\) of it",
    ),
    "temperature: the same matcher twice": (
        lambda m, _: BatchGrammarMatcher.batch_fill_temperature([m[0], m[0]], HEAT),
        *(BatchError, "batch-same-matcher"),
        r"matchers 0 and 1 are the same one; name each only once, or pass a fork\(\) of it",
    ),
    "fill: an index out of range": (
        lambda m, b: fill(m, b, [0, 1, 6, 2]),
        *(BatchError, "batch-index"),
        r"index 6 of matcher 2 does not exist: the bitmask has 6 rows; pass indices from 0 to 5",
    ),
    "fill: a negative index": (
        lambda m, b: fill(m, b, [0, 1, -1, 2]),
        *(BatchError, "batch-index"),
        r"index -1 of matcher 2 does not exist: the bitmask has 6 rows; pass indices from 0 to 5",
    ),
    "fill: an index beyond every integer": (
        lambda m, b: fill(m, b, [0, 1, 2**64, 2]),
        *(BatchError, "batch-index"),
        r"index \d+ of matcher 2 does not exist: the bitmask has 6 rows; pass indices from 0 to 5",
    ),
    "fill: an index twice": (
        lambda m, b: fill(m, b, [0, 1, 2, 0]),
        *(BatchError, "batch-index-twice"),
        r"index 0 is given for matcher 0 and matcher 3; each needs a row of its own",
    ),
    "fill: too few indices": (
        lambda m, b: fill(m, b, [0, 1, 2]),
        *(BatchError, "batch-lengths"),
        r"the numbers of matchers \(4\) and of indices \(3\) differ; give one for each matcher",
    ),
    "fill: too few rows": (
        lambda m, b: fill(m, b[:3]),
        *(BatchError, "batch-rows"),
        r"the bitmask has 3 rows for 4 matchers; it needs one for each",
    ),
    "fill: another dtype": (
        lambda m, b: fill(m, b.view(np.uint32)),
        *(BitmaskError, "bitmask-dtype"),
        r"bitmask is a uint32 array of shape \(6, 1\), strides \(1, 1\), on cpu; expected int32",
    ),
    "fill: three dimensions": (
        lambda m, b: fill(m, b[:, :, None]),
        *(BitmaskError, "bitmask-shape"),
        (
            r"bitmask is an int32 array of shape \(6, 1, 1\), strides \(1, 1, 1\), "
            r"on cpu; expected "
            r"1-D or 2-D with at least 1 word in each row"
        ),
    ),
    "fill: too few words": (
        lambda m, b: fill([GrammarMatcher(WIDE.compile_regex("a")), *m], b),
        *(BitmaskError, "bitmask-shape"),
        AN_INT32 + r"1-D or 2-D with at least 3 words in each row",
    ),
    "fill: rows that overlap": (
        lambda m, b: fill(m, np.lib.stride_tricks.as_strided(b, (4, 1), (0, 4))),
        *(BitmaskError, "bitmask-strides"),
        (
            r"bitmask is an int32 array of shape \(4, 1\), strides \(0, 1\), on cpu; expected "
            r"rows of words side by side that do not overlap"
        ),
    ),
    "fill: a read-only array": (
        lambda m, _: fill(m, np.broadcast_to(np.int32(0), (6, 1))),
        *(BitmaskError, "bitmask-not-an-array"),
        r"bitmask is a .*ndarray.*; expected a writable array on the CPU .*",
    ),
    "fill: a list": (
        lambda m, _: fill(m, [[0]] * 6),
        *(BitmaskError, "bitmask-not-an-array"),
        r"bitmask is a .*list.*; expected a writable array on the CPU .*",
    ),
    "fill: a terminated matcher": (
        lambda m, b: fill([*m, ended()], b),
        *(MatcherError, "matcher-terminated"),
        r"matcher 4 is terminated, so no token can follow; leave it out, or roll back or reset it",
    ),
    "fill: a matcher whose text can only end": (
        lambda m, b: fill([*m, ended_by_itself()], b),
        *(MatcherError, "matcher-terminated"),
        r"matcher 4 is terminated, so no token can follow; leave it out, or roll back or reset it",
    ),
    "accept: too few tokens": (
        lambda m, _: BatchGrammarMatcher.batch_accept_token(m, [0]),
        *(BatchError, "batch-lengths"),
        r"the numbers of matchers \(4\) and of tokens \(1\) differ; give one for each matcher",
    ),
    "accept text: too many texts": (
        lambda m, _: BatchGrammarMatcher.batch_accept_string(m, ["a"] * 5),
        *(BatchError, "batch-lengths"),
        r"the numbers of matchers \(4\) and of strings \(5\) differ; give one for each matcher",
    ),
    "rollback: too few numbers": (
        lambda m, _: BatchGrammarMatcher.batch_rollback(m, [1]),
        *(BatchError, "batch-lengths"),
        r"the numbers of matchers \(4\) and of num_tokens \(1\) differ; give one for each matcher",
    ),
    "rollback: too far": (
        lambda m, _: BatchGrammarMatcher.batch_rollback(m, [1, 1, 1, 2]),
        *(MatcherError, "matcher-rollback-too-far"),
        r"cannot roll back matcher 3 by 2 steps: only 1 were taken",
    ),
    "rollback: a negative number": (
        lambda m, _: BatchGrammarMatcher.batch_rollback(m, [1, 1, -1, 1]),
        *(MatcherError, "matcher-rollback-negative"),
        r"cannot roll back matcher 2 by -1 steps: the number must be 0 or more",
    ),
    "temperature: another dtype": (
        lambda m, _: BatchGrammarMatcher.batch_fill_temperature(m, HEAT.astype(np.float64)),
        *(BitmaskError, "temperatures-dtype"),
        (
            r"temperatures is a float64 array of shape \(4,\), strides \(1,\), on "
            r"cpu; expected float32"
        ),
    ),
    "temperature: two dimensions": (
        lambda m, _: BatchGrammarMatcher.batch_fill_temperature(m, HEAT[:, None]),
        *(BitmaskError, "temperatures-shape"),
        (
            r"temperatures is a float32 array of shape \(4, 1\), strides \(1, 1\), "
            r"on cpu; expected "
            r"1-D with at least 0 elements"
        ),
    ),
    "temperature: an index out of range": (
        lambda m, _: BatchGrammarMatcher.batch_fill_temperature(m, HEAT, [0, 1, 2, 4]),
        *(BatchError, "batch-index"),
        r"index 4 of matcher 3 does not exist: temperatures has 4 rows; pass indices from 0 to 3",
    ),
}
HEAT = np.full(4, 9, dtype=np.float32)


@pytest.mark.parametrize("name", REFUSALS)
def test_what_is_refused_has_changed_nothing(name):
    call, kind, code, text = REFUSALS[name]
    matchers = some_matchers()
    for one, token in zip(matchers, (0, 0, 1, 0), strict=True):
        assert one.accept_token(token)
    before = [mask(one) for one in matchers]
    bitmask = new_bitmask()
    with pytest.raises(kind) as caught:
        call(list(matchers), bitmask)
    assert type(caught.value) is kind
    assert caught.value.code == code
    assert re.fullmatch(text, str(caught.value), re.DOTALL), str(caught.value)
    assert (bitmask == UNTOUCHED).all()
    assert (HEAT == 9).all()
    assert [mask(one) for one in matchers] == before
    for one in matchers:
        one.rollback(1)  # as many steps as before, and no more
        with pytest.raises(MatcherError):
            one.rollback(1)


@pytest.mark.parametrize(
    "call",
    [
        lambda _, b: fill(5, b),
        lambda m, b: fill(m, b, [0, 1, 2, "3"]),
        lambda m, b: fill(m, b, [0, 1, 2, True]),
        lambda m, b: fill(m, b, [0.0, 1.0, 2.0, 3.0]),
        lambda m, _: BatchGrammarMatcher.batch_accept_token(m, [0, 0, 0, "a"]),
        lambda m, _: BatchGrammarMatcher.batch_accept_string(m, ["a", "b", "c", 1]),
        lambda m, _: BatchGrammarMatcher.batch_accept_string(m, "abab"),
        lambda m, _: BatchGrammarMatcher.batch_rollback(m, "ab"),
        lambda m, _: BatchGrammarMatcher.batch_rollback(m, [0, 0, 0, None]),
    ],
)
def test_wrong_types(call):
    matchers = some_matchers()
    bitmask = new_bitmask()
    before = [mask(one) for one in matchers]
    with pytest.raises(TypeError):
        call(matchers, bitmask)
    assert (bitmask == UNTOUCHED).all()
    assert [mask(one) for one in matchers] == before


def test_a_tensor_of_another_device():
    torch = pytest.importorskip("torch")
    with pytest.raises(BitmaskError) as caught:
        fill(some_matchers(), torch.zeros((6, 1), dtype=torch.int32, device="meta"))
    assert caught.value.code == "bitmask-device"


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
