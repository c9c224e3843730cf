"""Several sequences of the embedded model in one context: each as if it were alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from maskwright.chat import LlamaCppModel, ModelError
from maskwright.chat.model import SequenceInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

pytestmark = pytest.mark.model

_TEXTS = (
    "The capital of France is",
    "Once upon a time, in a land far away, there",
    "1, 2, 3, 4,",
    "Dear Sir or Madam,",
    "import numpy as",
    "In 1815",
    "The sea is blue. The grass is green. Snow is " * 20,  # more than one batch with the others
    "The sum of two and two, and the product of three and three, are " * 15,
)
_STEPS = 8


@pytest.fixture(scope="module")
def model(embedded_model: Path) -> Iterator[LlamaCppModel]:
    loaded = LlamaCppModel(embedded_model, context_size=300, max_sequences=8)
    yield loaded
    loaded.close()


@pytest.fixture(autouse=True)
def _empty(model: LlamaCppModel) -> None:
    for sequence in range(model.max_sequences):
        model.clear_sequence(sequence)


def _row(model: LlamaCppModel, sequence: int, ids: Sequence[int]) -> np.ndarray:
    return model.evaluate([SequenceInput(sequence, ids)])[0].copy()


def _alone(model: LlamaCppModel, sequence: int, ids: Sequence[int]) -> list[np.ndarray]:
    """The rows of logits of a greedy generation with nothing beside it."""
    rows = [_row(model, sequence, ids)]
    for _ in range(_STEPS):
        rows.append(_row(model, sequence, [int(rows[-1].argmax())]))
    model.clear_sequence(sequence)
    return rows


def test_eight_sequences_are_as_each_alone(model: LlamaCppModel) -> None:
    prompts = [model.tokenize(text) for text in _TEXTS]
    assert sum(map(len, prompts)) > 512  # more than one batch
    alone = [_alone(model, i, ids) for i, ids in enumerate(prompts)]
    inputs = [SequenceInput(i, ids) for i, ids in enumerate(prompts)]
    for step in range(_STEPS + 1):
        logits = model.evaluate(inputs)
        for i, row in enumerate(logits):
            np.testing.assert_allclose(row, alone[i][step], atol=1e-3)
        inputs = [SequenceInput(i, [int(row.argmax())]) for i, row in enumerate(logits)]


def test_sequences_may_come_and_go(model: LlamaCppModel) -> None:
    prompts = [model.tokenize(text) for text in _TEXTS[:4]]
    alone = [_alone(model, 0, ids) for ids in prompts]
    starts = (0, 2, 5, 5)  # the step at which each prompt joins the others that go on
    for step in range(_STEPS):
        present = [i for i, start in enumerate(starts) if start <= step]
        inputs = [
            SequenceInput(
                7 - i,
                prompts[i] if step == starts[i] else [int(alone[i][step - starts[i] - 1].argmax())],
            )
            for i in present[::-1]
        ]
        for i, row in zip(present[::-1], model.evaluate(inputs), strict=True):
            np.testing.assert_allclose(row, alone[i][step - starts[i]], atol=1e-3)


def test_prompts_may_come_in_parts(model: LlamaCppModel) -> None:
    ids = model.tokenize(_TEXTS[6])
    whole = _row(model, 0, ids)
    for token_id in ids[:20]:
        _row(model, 1, [token_id])
    np.testing.assert_allclose(_row(model, 1, ids[20:]), whole, atol=1e-3)


def test_a_copy_goes_on_as_its_source(model: LlamaCppModel) -> None:
    ids = model.tokenize(_TEXTS[1])
    _row(model, 3, ids)
    model.copy_sequence(3, 5)
    source, target = model.evaluate([SequenceInput(3, [5]), SequenceInput(5, [5])])
    np.testing.assert_array_equal(source, target)
    _row(model, 3, [9])  # the source goes on; the copy does not see it
    again = _row(model, 5, [7])
    np.testing.assert_allclose(_row(model, 0, [*ids, 5, 7]), again, atol=1e-3)


def test_a_cleared_sequence_has_forgotten(model: LlamaCppModel) -> None:
    ids = model.tokenize(_TEXTS[3])
    fresh = _row(model, 2, ids)
    _row(model, 2, [5, 6, 7])
    model.clear_sequence(2)
    np.testing.assert_allclose(_row(model, 2, ids), fresh, atol=1e-3)


def test_every_sequence_has_its_whole_context(model: LlamaCppModel) -> None:
    size = model.context_size
    assert size == 300
    inputs = [SequenceInput(i, [5 + i] * size) for i in range(2)]
    model.evaluate(inputs)
    with pytest.raises(ModelError, match="has 300 tokens, and 1 more do not fit") as caught:
        model.evaluate([SequenceInput(2, [1]), SequenceInput(0, [1])])
    assert caught.value.code == "context-full"
    assert np.isfinite(_row(model, 2, [1])).all()
