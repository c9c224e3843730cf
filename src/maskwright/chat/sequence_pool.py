"""Which of the model's sequences are in use."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maskwright.chat.model import LanguageModel

_logger = logging.getLogger(__name__)


class SequencePool:
    """Hands out empty sequences. For the thread that owns the model.

    A sequence that the model cannot clear is never used again.

    Args:
        model: The model.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._free = list(range(model.max_sequences))
        self.usable = len(self._free)
        """How many there are, in use or not."""

    @property
    def free(self) -> int:
        """How many are not in use."""
        return len(self._free)

    def allocate(self, count: int) -> list[int]:
        """Take so many empty sequences; not more than `free`."""
        taken, self._free = self._free[:count], self._free[count:]
        return taken

    def release(self, sequence: int) -> None:
        """Clear a sequence and take it back."""
        try:
            self._model.clear_sequence(sequence)
        except BaseException:  # whatever it is, the request that had it ends as it should
            self.usable -= 1
            _logger.exception("the model cannot clear sequence %d; it stays unused", sequence)
        else:
            self._free.append(sequence)
