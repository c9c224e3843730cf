"""Changes a row of logits before the mask: bias, penalties, and functions of the user.

What it does, in this order: adds the bias, weakens what is repeated, then calls the user's
processors. It runs before the mask is applied, so nothing here can allow a token that is not.
Idea: penalties concern only tokens that were seen, so distinct tokens are kept with their counts,
and a step touches those alone, with a few vector operations.
Cost: linear in the distinct tokens seen; next to nothing where nothing is in use.

Sources: presence and frequency penalty are those of OpenAI's API reference ("Advanced usage,
parameter details"): ``logit - count * frequency_penalty - (count > 0) * presence_penalty``. The
repetition penalty is from Keskar et al. 2019 (CTRL), section 4.1, in the form that transformers and
llama.cpp give it, which multiplies negative logits; as in llama.cpp it comes before the other two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from maskwright.chat.errors import SamplingError, shown

if TYPE_CHECKING:
    from maskwright.chat.sampling import SamplingParameters

LogitProcessor = Callable[[Sequence[int], NDArray[np.float32]], "NDArray[np.float32] | None"]
"""Given the tokens generated so far (not to be changed) and the row of logits (float32, shape
(vocab_size,)), edits the row and returns None, or returns another of the same shape and dtype."""

_FIRST_CAPACITY: Final = 64


def checked_processors(processors: object) -> tuple[LogitProcessor, ...]:
    """Return the functions of a user.

    Raises:
        TypeError: They are no sequence of functions.
    """
    if isinstance(processors, str | bytes) or not isinstance(processors, Iterable):
        raise TypeError(f"processors is {shown(processors)}; expected a list of functions")
    checked = tuple(processors)
    for processor in checked:
        if not callable(processor):
            raise TypeError(f"processors has {shown(processor)}; expected functions")
    return checked


class _TokenCounts:
    """Distinct tokens with their counts, as arrays that grow; adding a token is O(1)."""

    def __init__(self) -> None:
        self._places: dict[int, int] = {}
        self._ids = np.empty(_FIRST_CAPACITY, dtype=np.intp)
        self._counts = np.empty(_FIRST_CAPACITY, dtype=np.float32)

    @property
    def ids(self) -> NDArray[np.intp]:
        """The distinct tokens in order of their first appearance."""
        return self._ids[: len(self._places)]

    @property
    def counts(self) -> NDArray[np.float32]:
        """How often each of them came."""
        return self._counts[: len(self._places)]

    def add(self, token_ids: Iterable[int]) -> None:
        """Count tokens."""
        for token_id in token_ids:
            place = self._places.get(token_id)
            if place is None:
                self._append(token_id)
            else:
                self._counts[place] += 1

    def _append(self, token_id: int) -> None:
        place = self._places[token_id] = len(self._places)
        if place == len(self._ids):
            self._ids = np.resize(self._ids, 2 * place)
            self._counts = np.resize(self._counts, 2 * place)
        self._ids[place] = token_id
        self._counts[place] = 1


class LogitProcessing:
    """What one generation does to its logits; made for it, and used for no other.

    Args:
        parameters: Bias and penalties.
        processors: The user's functions, called in this order after bias and penalties.
        vocab_size: Length of a row of logits, to have the ids of the bias checked at once; None
            checks them with the first row.

    Raises:
        SamplingError: The bias names a token outside the vocabulary (``sampling-parameter``).

    Example:
        >>> from maskwright.chat.sampling import SamplingParameters
        >>> row = np.array([1, 2, 4], dtype=np.float32)
        >>> parameters = SamplingParameters(frequency_penalty=0.5, logit_bias={0: 3})
        >>> LogitProcessing(parameters).apply(row, generated=[2, 2], prompt=[1])
        >>> row.tolist()
        [4.0, 2.0, 3.0]
    """

    def __init__(
        self,
        parameters: SamplingParameters,
        processors: Sequence[LogitProcessor] = (),
        *,
        vocab_size: int | None = None,
    ) -> None:
        bias = parameters.logit_bias or {}
        self._bias_ids = np.fromiter(bias.keys(), dtype=np.intp, count=len(bias))
        self._bias = np.fromiter(bias.values(), dtype=np.float32, count=len(bias))
        self._parameters = parameters
        self._processors = tuple(processors)
        self._penalizes_output = bool(parameters.presence_penalty or parameters.frequency_penalty)
        self._penalizes_repetition = parameters.repetition_penalty != 1
        self._checked_size = -1
        self._forget()
        if vocab_size is not None:
            self._check_bias(vocab_size)

    def apply(
        self, row: NDArray[np.float32], generated: Sequence[int], prompt: Sequence[int]
    ) -> None:
        """Process the logits of the next token, in place.

        Args:
            row: float32, shape (vocab_size,), without a mask yet. Written.
            generated: The tokens generated so far. From call to call it grows at its end; a shorter
                one than before is counted anew.
            prompt: The tokens of the prompt, the same in every call.

        Raises:
            SamplingError: A processor gave something other than such a row or None
                (``logit-processor``), or as for the class. What a processor raises goes through.
        """
        self._check_bias(len(row))
        row[self._bias_ids] += self._bias
        if self._penalizes_output or self._penalizes_repetition:
            self._count(generated, prompt)
            self._penalize(row)
        for processor in self._processors:
            _run(processor, list(generated), row)

    def _check_bias(self, vocab_size: int) -> None:
        if self._checked_size == vocab_size:
            return
        for token_id in self._bias_ids[self._bias_ids >= vocab_size]:
            raise SamplingError(
                f"logit_bias names token {token_id}; the vocabulary has the ids 0 to "
                f"{vocab_size - 1}",
                code="sampling-parameter",
            )
        self._checked_size = vocab_size

    def _forget(self) -> None:
        self._output = _TokenCounts()
        self._seen: _TokenCounts | None = None  # prompt and output; made with the first row
        self._counted = 0

    def _count(self, generated: Sequence[int], prompt: Sequence[int]) -> None:
        if len(generated) < self._counted:
            self._forget()
        new = generated[self._counted :]
        self._counted = len(generated)
        if self._penalizes_output:
            self._output.add(new)
        if self._penalizes_repetition:
            if self._seen is None:
                self._seen = _TokenCounts()
                self._seen.add(prompt)
            self._seen.add(new)

    def _penalize(self, row: NDArray[np.float32]) -> None:
        parameters = self._parameters
        if self._seen is not None:
            logits = row[self._seen.ids]
            factor = parameters.repetition_penalty
            with np.errstate(over="ignore"):  # logits near the end of float32 become infinite
                row[self._seen.ids] = np.where(logits > 0, logits / factor, logits * factor)
        if self._penalizes_output:
            row[self._output.ids] -= (
                parameters.presence_penalty + parameters.frequency_penalty * self._output.counts
            )


def _run(processor: LogitProcessor, generated: Sequence[int], row: NDArray[np.float32]) -> None:
    changed: Any = processor(generated, row)  # of the user: it may return what it likes
    if changed is None or changed is row:
        return
    if not isinstance(changed, np.ndarray):
        found = f"a {type(changed).__name__}"
    elif changed.shape != row.shape or changed.dtype != np.float32:
        found = f"an array of {changed.dtype} with shape {changed.shape}"
    else:
        row[:] = changed
        return
    name = getattr(processor, "__name__", type(processor).__name__)
    raise SamplingError(
        f"the logit processor {name} returned {found}; expected None, or an array of float32 with "
        f"shape {row.shape}",
        code="logit-processor",
    )
