"""Choosing tokens from logits."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from maskwright.chat.errors import SamplingError, shown
from maskwright.chat.sampling import Sampler, SamplingParameters, TokenLogprobs, top_logprobs

_INF = math.inf


def _row(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def _draw(logits: np.ndarray, count: int = 2000, **options: Any) -> Counter[int | None]:
    sampler = Sampler(SamplingParameters(seed=5, **options))
    return Counter(sampler.sample(logits) for _ in range(count))


def test_temperature_zero_takes_the_best() -> None:
    assert Sampler(SamplingParameters()).sample(_row(0, 3, 2)) == 1


def test_ties_go_to_the_lowest_id() -> None:
    assert Sampler(SamplingParameters()).sample(_row(-_INF, 2, 2)) == 1


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_no_usable_logit(temperature: float) -> None:
    sampler = Sampler(SamplingParameters(temperature))
    assert sampler.sample(_row(-_INF, -_INF)) is None
    assert sampler.sample(_row(math.nan, -_INF)) is None


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_nan_is_never_chosen(temperature: float) -> None:
    sampler = Sampler(SamplingParameters(temperature))
    assert sampler.sample(_row(math.nan, -5, -_INF)) == 1


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_infinite_logit_wins(temperature: float) -> None:
    assert Sampler(SamplingParameters(temperature, seed=1)).sample(_row(1, _INF, 2)) == 1


def test_frequencies_follow_the_softmax() -> None:
    counts = _draw(_row(math.log(6), -_INF, math.log(3), math.log(1)), temperature=1.0)
    assert counts[1] == 0
    assert counts[0] == pytest.approx(1200, abs=100)
    assert counts[2] == pytest.approx(600, abs=90)
    assert counts[3] == pytest.approx(200, abs=60)


def test_temperature_sharpens_and_flattens() -> None:
    logits = _row(math.log(2), 0)
    assert _draw(logits, temperature=0.5)[0] == pytest.approx(1600, abs=90)  # 4 : 1
    assert _draw(logits, temperature=100.0)[0] == pytest.approx(1000, abs=100)
    assert _draw(logits, temperature=1e-30)[0] == 2000


def test_top_k_keeps_the_best_k() -> None:
    logits = _row(0, 5, 4, -3, 4.5)
    assert set(_draw(logits, temperature=5.0, top_k=3)) == {1, 2, 4}
    assert set(_draw(logits, temperature=5.0, top_k=1)) == {1}
    assert set(_draw(logits, temperature=5.0, top_k=99)) == {0, 1, 2, 3, 4}


def test_top_k_reaches_far_below_the_best() -> None:
    logits = _row(*(-3.0 * n for n in range(8)))
    sampler = Sampler(SamplingParameters(1.0, top_k=7, seed=0))
    assert {sampler.sample(logits) for _ in range(500)} <= set(range(7))


def test_top_p_keeps_the_smallest_set_that_reaches_it() -> None:
    logits = _row(math.log(0.5), math.log(0.3), math.log(0.15), math.log(0.05))
    assert set(_draw(logits, temperature=1.0, top_p=0.79)) == {0, 1}
    assert set(_draw(logits, temperature=1.0, top_p=0.81)) == {0, 1, 2}
    assert set(_draw(logits, temperature=1.0, top_p=0.01)) == {0}


def test_top_p_over_a_flat_vocabulary() -> None:
    logits = np.zeros(5000, dtype=np.float32)
    drawn = set(_draw(logits, temperature=1.0, top_p=0.5))
    assert max(token for token in drawn if token is not None) < 2501


def test_min_p_is_a_share_of_the_best() -> None:
    logits = _row(math.log(0.6), math.log(0.31), math.log(0.09))
    assert set(_draw(logits, temperature=1.0, min_p=0.5)) == {0, 1}
    assert set(_draw(logits, temperature=1.0, min_p=1.0)) == {0}


def test_seed_repeats() -> None:
    logits = np.random.default_rng(0).normal(size=300).astype(np.float32)
    runs = []
    for seed in (3, 3, 4):
        sampler = Sampler(SamplingParameters(1.0, seed=seed))
        runs.append([sampler.sample(logits) for _ in range(20)])
    assert runs[0] == runs[1] != runs[2]


def test_logits_are_not_written() -> None:
    logits = _row(1, math.nan, -_INF)
    before = logits.copy()
    Sampler(SamplingParameters(1.0)).sample(logits)
    np.testing.assert_array_equal(logits, before)


def test_no_temperature_lets_a_masked_token_in() -> None:
    logits = _row(-_INF, 1, 2, -_INF)
    for temperature in (1e-320, 1e38, 1e308):
        assert set(_draw(logits, count=200, temperature=temperature)) <= {1, 2}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"temperature": -1}, "a number at least 0"),
        ({"temperature": math.nan}, "a number at least 0"),
        ({"temperature": _INF}, "a number at least 0"),
        ({"temperature": 10**400}, "a number at least 0"),
        ({"temperature": True}, "a number at least 0"),
        ({"temperature": "1"}, "a number at least 0"),
        ({"top_p": 0}, "a number above 0 and at most 1"),
        ({"top_p": 1.1}, "a number above 0 and at most 1"),
        ({"top_k": -1}, "a whole number at least 0 (0 keeps all)"),
        ({"top_k": 1.0}, "a whole number at least 0 (0 keeps all)"),
        ({"top_k": False}, "a whole number at least 0 (0 keeps all)"),
        ({"min_p": 2}, "a number from 0 to 1"),
        ({"min_p": None}, "a number from 0 to 1"),
        ({"seed": -1}, "a whole number at least 0, or None"),
        ({"seed": 0.5}, "a whole number at least 0, or None"),
        ({"presence_penalty": 2.01}, "a number from -2 to 2"),
        ({"presence_penalty": math.nan}, "a number from -2 to 2"),
        ({"frequency_penalty": -2.01}, "a number from -2 to 2"),
        ({"repetition_penalty": 0}, "a number from 0.01 to 100"),
        ({"repetition_penalty": _INF}, "a number from 0.01 to 100"),
    ],
)
def test_parameters_out_of_range(options: dict[str, Any], expected: str) -> None:
    ((name, value),) = options.items()
    with pytest.raises(SamplingError) as caught:
        SamplingParameters(**options)
    assert str(caught.value) == f"{name} is {shown(value)}; expected {expected}"
    assert caught.value.code == "sampling-parameter"
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("bias", "message"),
    [
        ([1], "logit_bias is a list; expected a mapping from token ids to numbers"),
        (
            {"1": 2},
            "a key of logit_bias is '1'; expected a token id, a whole number from 0 to 2147483647",
        ),
        (
            {-1: 2},
            "a key of logit_bias is -1; expected a token id, a whole number from 0 to 2147483647",
        ),
        (
            {True: 2},
            "a key of logit_bias is True; expected a token id, a whole number from 0 to 2147483647",
        ),
        (
            {2**31: 2},
            (
                "a key of logit_bias is 2147483648; expected a token id, a whole number from 0 to "
                "2147483647"
            ),
        ),
        ({7: 100.5}, "logit_bias[7] is 100.5; expected a number from -100 to 100"),
        ({7: -_INF}, "logit_bias[7] is -inf; expected a number from -100 to 100"),
        ({7: None}, "logit_bias[7] is None; expected a number from -100 to 100"),
    ],
)
def test_bias_out_of_range(bias: Any, message: str) -> None:
    with pytest.raises(SamplingError) as caught:
        SamplingParameters(logit_bias=bias)
    assert str(caught.value) == message


def test_ends_of_the_ranges_and_numbers_of_numpy_are_taken() -> None:
    SamplingParameters(0, 1, 0, 0, 0, -2, 2, 0.01, {0: -100, np.int64(1): np.float32(100)})
    SamplingParameters(seed=10**400, repetition_penalty=100)
    SamplingParameters(np.float32(0.5), top_k=np.int64(3), min_p=1, seed=np.uint8(1))


def test_bias_is_a_copy() -> None:
    bias = {1: 2.0}
    parameters = SamplingParameters(logit_bias=bias)
    bias[1] = 1000.0
    assert parameters.logit_bias == {1: 2.0}
    assert parameters == SamplingParameters(logit_bias={1: 2})
    assert hash(parameters) == hash(SamplingParameters(logit_bias={1: 2}))


def _slow_logprobs(row: np.ndarray, count: int) -> tuple[dict[int, float], list[tuple[int, float]]]:
    """Log-probabilities by the definition, one token at a time."""
    allowed = {i: float(x) for i, x in enumerate(row) if x > -_INF}
    best = max(allowed.values())
    total = math.fsum(math.exp(x - best) for x in allowed.values())
    every = {i: x - best - math.log(total) for i, x in allowed.items()}
    return every, sorted(every.items(), key=lambda pair: (-pair[1], pair[0]))[:count]


@pytest.mark.parametrize("seed", range(8))
def test_logprobs_follow_the_definition(seed: int) -> None:
    random = np.random.default_rng(seed)
    row = (random.integers(-60, 60, size=400) * random.choice([0.1, 1.0])).astype(np.float32)
    row[random.random(400) < seed / 10] = -_INF
    every, top = _slow_logprobs(row, 20)
    for chosen in (min(every), max(every)):
        found = top_logprobs(row, chosen, 20)
        assert found.token_id == chosen
        assert found.logprob == pytest.approx(every[chosen], abs=1e-9)
        assert [i for i, _ in found.top] == [i for i, _ in top]
        assert [x for _, x in found.top] == pytest.approx([x for _, x in top], abs=1e-9)


def test_logprobs_of_equal_tokens_come_by_id() -> None:
    row = np.zeros(50, dtype=np.float32)
    row[7] = -_INF
    assert [i for i, _ in top_logprobs(row, 9, 9).top] == [0, 1, 2, 3, 4, 5, 6, 8, 9]
    assert top_logprobs(row, 9, 0).top == ()


def test_logprobs_without_choice() -> None:
    assert top_logprobs(_row(-_INF, 3, -_INF), 1, 5) == TokenLogprobs(1, 0.0, ((1, 0.0),))
    assert top_logprobs(_row(-_INF, 3, -_INF), 2, 5).logprob == -_INF
    assert top_logprobs(_row(-_INF, 3, -_INF), 0, 5).logprob == -_INF


def test_logprobs_of_unusable_rows() -> None:
    for row in (_row(-_INF, -_INF), _row(math.nan, -_INF), _row(math.nan, math.nan)):
        assert top_logprobs(row, 1, 5) == TokenLogprobs(1, -_INF, ())


def test_logprobs_leave_nan_out() -> None:
    found = top_logprobs(_row(math.nan, 1, 1), 1, 5)
    assert [i for i, _ in found.top] == [1, 2]
    assert found.logprob == pytest.approx(-math.log(2))
    assert top_logprobs(_row(math.nan, 1, 1), 0, 5).logprob == -_INF


def test_infinite_logits_share_the_probability() -> None:
    found = top_logprobs(_row(5, _INF, 3, _INF), 3, 5)
    assert found.logprob == pytest.approx(-math.log(2))
    assert [i for i, _ in found.top] == [1, 3]
    assert top_logprobs(_row(5, _INF), 0, 5).logprob == -_INF


def test_logprobs_do_not_overflow_and_do_not_write() -> None:
    row = _row(3e38, -3e38, 1)
    before = row.copy()
    assert top_logprobs(row, 0, 3).logprob == 0
    np.testing.assert_array_equal(row, before)
