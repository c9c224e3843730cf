"""Choosing tokens from logits."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from maskwright.chat.sampling import Sampler, SamplingParameters

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


@pytest.mark.parametrize(
    "options",
    [
        {"temperature": -1},
        {"temperature": math.nan},
        {"temperature": _INF},
        {"top_p": 0},
        {"top_p": 1.1},
        {"top_k": -1},
        {"min_p": 2},
        {"seed": -1},
    ],
)
def test_parameters_out_of_range(options: dict[str, Any]) -> None:
    (name,) = options
    with pytest.raises(ValueError, match=f"{name} is .*; expected a number"):
        SamplingParameters(**options)
