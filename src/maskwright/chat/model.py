"""What a language model must offer to be driven by the generate loop.

Idea: the loop sees ids and one row of logits at a time, so any engine that can hand out its logits
fits behind this protocol, and tests drive the loop with a scripted model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from maskwright.tokenizers import VocabularyData

Message = Mapping[str, str]
"""One chat message: ``{"role": "user", "content": "..."}``."""


class LanguageModel(Protocol):
    """A model that is evaluated step by step, with a cache of what it has seen."""

    @property
    def vocabulary(self) -> VocabularyData:
        """The vocabulary; its size is the length of a row of logits."""
        ...

    @property
    def context_size(self) -> int:
        """The most tokens, prompt included, that one sequence may have."""
        ...

    def render_chat(self, messages: Sequence[Message]) -> str:
        """Lay out chat messages as the model was trained to see them, up to its own turn."""
        ...

    def tokenize(self, text: str) -> list[int]:
        """Encode a rendered prompt; the spelling of a special token becomes that token."""
        ...

    def reset(self) -> None:
        """Forget the sequence evaluated so far."""
        ...

    def evaluate(self, token_ids: Sequence[int]) -> NDArray[np.float32]:
        """Append tokens to the sequence and return the logits of the last position.

        Returns:
            float32, shape (vocab_size,), contiguous and writable, on the CPU. The array belongs to
            the model: the caller may overwrite it, and the next call invalidates it.
        """
        ...
