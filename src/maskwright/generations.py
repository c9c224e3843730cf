"""What the grammars that a compiler keeps between two calls of `clear_cache` have in common.

Idea: a generation has a ledger of its grammars' memory, the masks that they share, with a ledger
of its own, and the ids of masks. A grammar keeps the masks of its generation alive. When a
generation is past only the two ledgers stay here, for as long as anything is charged to them.
Cost: two ledgers for a generation.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from . import _core
from .bitmask import get_bitmask_shape
from .common_masks import common_masks

if TYPE_CHECKING:
    from .tokenizer_info import TokenizerInfo

__all__ = ["Generation", "PastGenerations"]


class Generation:
    """The memory and the shared masks of one generation.

    Args:
        tokenizer_info: The vocabulary of the compiler.
        limit_bytes: What the shared masks may take; -1: no limit.
        mask_table_bytes: What the mask table may take.

    Attributes:
        ledger: Memory of the generation's grammars, without what they share.
        shared_ledger: Memory of what they share.
        shared_masks: What they share.
        mask_table: The ids of their masks.
    """

    __slots__ = ("ledger", "mask_table", "shared_ledger", "shared_masks")

    def __init__(
        self, tokenizer_info: TokenizerInfo, limit_bytes: int, mask_table_bytes: int
    ) -> None:
        vocabulary = tokenizer_info._core  # noqa: SLF001  of this package
        mask_words = get_bitmask_shape(1, tokenizer_info.vocab_size)[1]
        self.ledger = _core.ByteLedger()
        self.shared_ledger = _core.ByteLedger()
        self.shared_masks = _core.SharedMasks(
            vocabulary, limit_bytes, self.shared_ledger, common_masks(tokenizer_info)
        )
        self.mask_table = _core.MaskTable(mask_words, mask_table_bytes)

    @property
    def bytes(self) -> int:
        """Memory of the generation's grammars, without what they share."""
        return self.ledger.bytes


class PastGenerations:
    """Counts what is still in use of generations that have ended. Safe to use from threads."""

    def __init__(self) -> None:
        self._ledgers: list[_core.ByteLedger] = []

    def add(self, past: Generation, limit_bytes: int) -> None:
        """Count a generation from now on, and no longer those of which nothing is left.

        Args:
            past: The generation.
            limit_bytes: Its grammars drop their masks rather than take more; -1: no limit.
        """
        if limit_bytes >= 0:
            past.ledger.set_limit(limit_bytes)
        for ledger in tuple(self._ledgers):
            if ledger.bytes == 0:
                with suppress(ValueError):  # another thread was faster
                    self._ledgers.remove(ledger)
        self._ledgers += [past.ledger, past.shared_ledger]

    def bytes(self) -> int:
        """Return the memory of all of them."""
        return sum(ledger.bytes for ledger in tuple(self._ledgers))
