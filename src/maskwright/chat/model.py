"""What a language model must offer to be driven by the chat engine.

Idea: the engine sees token ids and rows of logits, so any runtime that can hand out its logits fits
behind this protocol, and tests drive the engine with a scripted model. A model holds several
*sequences* at a time, each with its own cache of what it has seen; one call evaluates new tokens of
any number of them, prompts and single steps alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from maskwright.tokenizers import VocabularyData

Message = Mapping[str, str]
"""One chat message: ``{"role": "user", "content": "..."}``."""


@dataclass(frozen=True)
class SequenceInput:
    """New tokens of one sequence.

    Attributes:
        sequence: The sequence, 0 to ``max_sequences - 1``.
        token_ids: The tokens that it continues with, at least one.
    """

    sequence: int
    token_ids: Sequence[int]


class LanguageModel(Protocol):
    """A model that is evaluated step by step. Not for use by several threads at a time."""

    @property
    def vocabulary(self) -> VocabularyData:
        """The vocabulary; its size is the length of a row of logits."""
        ...

    @property
    def context_size(self) -> int:
        """The most tokens, prompt included, that one sequence may have."""
        ...

    @property
    def max_sequences(self) -> int:
        """How many sequences may be in use at the same time."""
        ...

    def render_chat(self, messages: Sequence[Message]) -> str:
        """Lay out chat messages as the model was trained to see them, up to its own turn."""
        ...

    def tokenize(self, text: str) -> list[int]:
        """Encode a rendered prompt; the spelling of a special token becomes that token."""
        ...

    def evaluate(self, inputs: Sequence[SequenceInput]) -> NDArray[np.float32]:
        """Append tokens to sequences, each named once, and return logits of their last positions.

        Returns:
            float32, shape (len(inputs), vocab_size), contiguous and writable, on the CPU. The array
            belongs to the model: the caller may overwrite it, and the next call invalidates it.

        Raises:
            ModelError: The model failed; the sequences named are then in an unknown state, others
                are untouched.
        """
        ...

    def copy_sequence(self, source: int, target: int) -> None:
        """Make an empty sequence continue from what another one has seen."""
        ...

    def clear_sequence(self, sequence: int) -> None:
        """Forget what a sequence has seen."""
        ...
