"""Bias, penalties and user functions, against the definitions applied one token at a time."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from maskwright.chat.errors import SamplingError
from maskwright.chat.logit_processing import LogitProcessing
from maskwright.chat.sampling import SamplingParameters

_SIZE = 300


def _slow(
    row: np.ndarray, parameters: SamplingParameters, generated: list[int], prompt: list[int]
) -> np.ndarray:
    """The definitions, token by token, over the whole history."""
    counts = Counter(generated)
    seen = set(generated) | set(prompt)
    result = row.astype(np.float64)
    for token in range(len(row)):
        value = float(row[token]) + (parameters.logit_bias or {}).get(token, 0)
        if token in seen:
            factor = parameters.repetition_penalty
            value = value / factor if value > 0 else value * factor
        value -= parameters.frequency_penalty * counts[token]
        value -= parameters.presence_penalty * (token in counts)
        result[token] = value
    return result


def _apply(row: np.ndarray, generated: Any = (), prompt: Any = (), **options: Any) -> list[float]:
    processors = options.pop("processors", ())
    processing = LogitProcessing(SamplingParameters(**options), processors)
    processing.apply(row, generated, prompt)
    return row.tolist()


def _row(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


@pytest.mark.parametrize("seed", range(12))
def test_a_whole_generation_follows_the_definitions(seed: int) -> None:
    random = np.random.default_rng(seed)
    bias_ids = random.choice(_SIZE, size=seed, replace=False)
    parameters = SamplingParameters(
        presence_penalty=random.choice([0.0, -1.5, 2.0]),
        frequency_penalty=random.choice([0.0, 0.25, -2.0]),
        repetition_penalty=random.choice([1.0, 1.3, 0.5]),
        logit_bias={int(i): float(random.uniform(-100, 100)) for i in bias_ids},
    )
    processing = LogitProcessing(parameters)
    prompt = random.integers(_SIZE, size=20).tolist()
    generated: list[int] = []
    for _ in range(250):  # more distinct tokens than the first arrays have place for
        row = random.normal(scale=5, size=_SIZE).astype(np.float32)
        expected = _slow(row, parameters, generated, prompt)
        processing.apply(row, generated, prompt)
        np.testing.assert_allclose(row, expected, rtol=1e-5, atol=1e-4)
        generated.extend(random.integers(_SIZE, size=random.integers(0, 4)).tolist())


def test_without_parameters_nothing_changes() -> None:
    row = np.random.default_rng(0).normal(size=50).astype(np.float32)
    before = row.copy()
    _apply(row, [1, 2, 2], [3])
    np.testing.assert_array_equal(row, before)


def test_only_the_repetition_penalty_sees_the_prompt() -> None:
    assert _apply(_row(4, 4), [], [1], presence_penalty=1, frequency_penalty=1) == [4, 4]
    assert _apply(_row(4, 4), [], [1], repetition_penalty=2) == [4, 2]


def test_repetition_penalty_pushes_both_signs_down() -> None:
    assert _apply(_row(4, -4, 0, 4), [0, 1, 2], repetition_penalty=2) == [2, -8, 0, 4]


def test_infinities_and_nan_pass_through() -> None:
    row = _row(math.inf, -math.inf, math.nan, 3e38)
    found = _apply(row, [0, 1, 2], repetition_penalty=3, frequency_penalty=1, logit_bias={1: 100})
    assert found[:2] == [math.inf, -math.inf]
    assert math.isnan(found[2])
    assert _apply(_row(-3e38), [0], repetition_penalty=100) == [-math.inf]


def test_taking_tokens_back_counts_anew() -> None:
    processing = LogitProcessing(SamplingParameters(frequency_penalty=1))
    processing.apply(_row(0, 0, 0), [0, 0, 1], [])
    row = _row(0, 0, 0)
    processing.apply(row, [2], [])
    assert row.tolist() == [0, 0, -1]


def test_each_token_is_counted_once() -> None:
    # What a step costs does not grow with the text: it looks at the new tokens only.
    class Generated(list):  # type: ignore[type-arg]  # of anything
        looked_at = 0

        def __getitem__(self, index: Any) -> Any:
            found = super().__getitem__(index)
            self.looked_at += len(found) if isinstance(index, slice) else 1
            return found

        def __iter__(self) -> Any:
            raise AssertionError("the whole text was read")

    generated = Generated()
    processing = LogitProcessing(SamplingParameters(frequency_penalty=1, repetition_penalty=2))
    for step in range(100):
        processing.apply(np.zeros(5, dtype=np.float32), generated, [1])
        generated.append(step % 5)
    assert generated.looked_at == 99


def test_processors_run_in_order_on_what_came_before() -> None:
    seen: list[Any] = []

    def edits(generated: Any, row: np.ndarray) -> None:
        seen.append((list(generated), row.tolist()))
        row[0] = 7

    def replaces(generated: Any, row: np.ndarray) -> np.ndarray:
        seen.append((list(generated), row.tolist()))
        return row * 2

    found = _apply(_row(1, 1), [1], logit_bias={1: 4}, processors=[edits, replaces, lambda _, r: r])
    assert found == [14, 10]
    assert seen == [([1], [1, 5]), ([1], [7, 5])]


@pytest.mark.parametrize(
    ("returned", "found"),
    [
        ([1.0, 2.0], "a list"),
        (3.0, "a float"),
        (np.zeros(3, dtype=np.float32), "an array of float32 with shape (3,)"),
        (np.zeros((1, 2), dtype=np.float32), "an array of float32 with shape (1, 2)"),
        (np.zeros(2), "an array of float64 with shape (2,)"),
        (np.zeros(2, dtype=bool), "an array of bool with shape (2,)"),
    ],
)
def test_processors_that_return_no_row(returned: Any, found: str) -> None:
    def mine(_generated: Any, _row: Any) -> Any:
        return returned

    with pytest.raises(SamplingError) as caught:
        _apply(_row(1, 2), processors=[mine])
    assert str(caught.value) == (
        f"the logit processor mine returned {found}; expected None, or an array of float32 with "
        "shape (2,)"
    )
    assert caught.value.code == "logit-processor"


def test_what_a_processor_raises_goes_through() -> None:
    def mine(_generated: Any, _row: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        _apply(_row(1), processors=[mine])


def test_bias_outside_the_vocabulary() -> None:
    parameters = SamplingParameters(logit_bias={2: 1, 1: 1})
    message = "logit_bias names token 2; the vocabulary has the ids 0 to 1"
    with pytest.raises(SamplingError) as caught:
        LogitProcessing(parameters, vocab_size=2)
    assert str(caught.value) == message
    row = _row(0, 0)
    with pytest.raises(SamplingError, match=message):
        LogitProcessing(parameters).apply(row, [], [])
    assert row.tolist() == [0, 0]
    LogitProcessing(parameters, vocab_size=3).apply(_row(0, 0, 0), [], [])
