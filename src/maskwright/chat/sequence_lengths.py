"""How many tokens each sequence of a model has, and whether new ones may follow.

Idea: every model that holds several sequences refuses the same calls with the same words, before
it has changed anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from maskwright.chat.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from maskwright.chat.model import SequenceInput


class SequenceLengths:
    """The lengths of sequences that are empty at first.

    Args:
        max_sequences: How many there are.
        context_size: The most tokens of one.
        vocab_size: Token ids are below it.
    """

    def __init__(self, max_sequences: int, context_size: int, vocab_size: int) -> None:
        self.max_sequences = max_sequences
        self.context_size = context_size
        self._vocab_size = vocab_size
        self._lengths = [0] * max_sequences

    def __getitem__(self, sequence: int) -> int:
        return self._lengths[sequence]

    def __iter__(self) -> Iterator[int]:
        return iter(self._lengths)

    def check(self, inputs: Sequence[SequenceInput]) -> None:
        """Refuse inputs that can't be evaluated.

        Raises:
            ModelError: A sequence does not exist or is named twice, an input has no tokens or none
                of the vocabulary (``sequence-invalid``), or too many (``context-full``).
        """
        named: set[int] = set()
        for new in inputs:
            self.check_number(new.sequence)
            if new.sequence in named:
                raise _invalid(f"sequence {new.sequence} is named twice; expected one input each")
            named.add(new.sequence)
            ids = new.token_ids
            if not len(ids) or min(ids) < 0 or max(ids) >= self._vocab_size:
                raise _invalid(
                    f"the input of sequence {new.sequence} has {len(ids)} tokens; expected at "
                    f"least one, and ids from 0 to {self._vocab_size - 1}"
                )
            self._check_room(new.sequence, len(ids))

    def _check_room(self, sequence: int, count: int) -> None:
        length = self._lengths[sequence]
        if length + count > self.context_size:
            raise ModelError(
                f"sequence {sequence} has {length} tokens, and {count} more do not fit its context "
                f"of {self.context_size}; shorten it or load the model with a larger context",
                code="context-full",
            )

    def check_number(self, sequence: int) -> None:
        """Refuse a sequence that does not exist (`ModelError`, ``sequence-invalid``)."""
        if not 0 <= sequence < self.max_sequences:
            raise _invalid(
                f"there is no sequence {sequence}; expected 0 to {self.max_sequences - 1}"
            )

    def check_copy(self, source: int, target: int) -> None:
        """Refuse a copy between sequences that don't exist, or to one that is not empty."""
        self.check_number(source)
        self.check_number(target)
        if self._lengths[target]:
            raise _invalid(f"sequence {target} is not empty; expected one that is, clear it first")

    def append(self, inputs: Sequence[SequenceInput]) -> None:
        """Count inputs that have been evaluated."""
        for new in inputs:
            self._lengths[new.sequence] += len(new.token_ids)

    def copy(self, source: int, target: int) -> None:
        """Count a copy that has been made."""
        self._lengths[target] = self._lengths[source]

    def clear(self, sequence: int) -> None:
        """Count a sequence as empty."""
        self._lengths[sequence] = 0


def _invalid(message: str) -> ModelError:
    return ModelError(message, code="sequence-invalid")
