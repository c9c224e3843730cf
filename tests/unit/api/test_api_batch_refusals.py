"""BatchGrammarMatcher: whatever it refuses has changed nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from letters import (
    STOP,
    UNTOUCHED,
    WIDE,
    mask,
    matcher,
    new_bitmask,
    some_matchers,
)
from maskwright import (
    BatchError,
    BatchGrammarMatcher,
    BitmaskError,
    GrammarMatcher,
    MaskwrightError,
    MatcherError,
)

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
