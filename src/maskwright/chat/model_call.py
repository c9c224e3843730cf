"""A call of the model: what is evaluated in it, and what comes of that.

Idea: each running choice has its next token in every call, and prompts come in chunks beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maskwright.chat.errors import ModelError
from maskwright.chat.model import SequenceInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from maskwright.chat.choice import Choice
    from maskwright.chat.job import Job


class Part(NamedTuple):
    """New tokens of a prompt, or of a choice, in a call of the model."""

    job: Job
    choice: Choice | None
    input: SequenceInput


def plan(jobs: Iterable[Job], chunk: int) -> list[Part]:
    """Lay out the next call of the model.

    Each running choice has its next token in it. What there is beyond that, prompts and forced
    tokens, is taken in the order of the requests, up to `chunk` tokens in all.

    Args:
        jobs: Admitted requests, the oldest first.
        chunk: The most such tokens in one call; at least 1.
    """
    parts: list[Part] = []
    for job, choice, sequence, tokens, begin in _waiting(jobs):
        at_once = 0 if choice is None else 1
        take = min(len(tokens) - begin, at_once + chunk)
        chunk -= max(take - at_once, 0)
        if take:
            token_ids = tokens[begin : begin + take]
            parts.append(Part(job, choice, SequenceInput(sequence, token_ids)))
    return parts


def has_work(jobs: Iterable[Job]) -> bool:
    """Whether there is anything for the model to evaluate."""
    return any(True for _ in _waiting(jobs))


def _waiting(
    jobs: Iterable[Job],
) -> Iterator[tuple[Job, Choice | None, int, Sequence[int], int]]:
    """Tokens that the model has not seen: whose they are, all of them, and where the new begin."""
    for job in jobs:
        if job.evaluated < len(job.prompt_ids):
            yield job, None, job.sequences[0], job.prompt_ids, job.evaluated
        for choice in job.choices:
            if choice.is_running and choice.pending:
                yield job, choice, choice.sequence, choice.pending, 0


def advance(part: Part, row: NDArray[np.float32]) -> bool:
    """Note what the model has seen; whether a choice waits for its next token now."""
    job, choice, seen = part.job, part.choice, part.input.token_ids
    if choice is not None:
        del choice.pending[: len(seen)]
        return not choice.pending
    job.evaluated += len(seen)
    if job.evaluated == len(job.prompt_ids):
        job.first_row = row.copy()
    return False


def check_logits(logits: NDArray[np.float32], rows: int, vocab_size: int) -> None:
    """Refuse logits that cannot be used.

    Args:
        logits: What the model gave.
        rows: How many rows were asked for.
        vocab_size: The length of a row.

    Raises:
        ModelError: They have another shape or layout (``model-logits``).
    """
    if logits.shape != (rows, vocab_size) or logits.dtype != np.float32:
        raise ModelError(
            f"the model gave logits of {logits.dtype} with shape {logits.shape}; expected float32 "
            f"with shape {(rows, vocab_size)}: a row for each sequence, as long as the vocabulary",
            code="model-logits",
        )
    if not (logits.flags.c_contiguous and logits.flags.writeable):
        raise ModelError(
            f"the model gave logits with strides {logits.strides} that are "
            f"{'' if logits.flags.writeable else 'not '}writable; expected a contiguous array that "
            "may be written: np.array(logits, order='C') makes one",
            code="model-logits",
        )
