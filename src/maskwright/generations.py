"""What the grammars that a compiler keeps between two calls of `clear_cache` have in common.

Idea: a generation has a ledger of its grammars' memory and the masks that they share, with a ledger
of its own. A grammar keeps the masks of its generation alive. When a generation is past only the
two ledgers stay here, for as long as anything is charged to them.
Cost: two ledgers for a generation.
"""

from __future__ import annotations

from contextlib import suppress

from . import _core

__all__ = ["Generation", "PastGenerations"]


class Generation:
    """The memory and the shared masks of one generation.

    Args:
        vocabulary: That of the compiler.
        limit_bytes: What the shared masks may take; -1: no limit.

    Attributes:
        ledger: Memory of the generation's grammars, without what they share.
        shared_ledger: Memory of what they share.
        shared_masks: What they share.
    """

    __slots__ = ("ledger", "shared_ledger", "shared_masks")

    def __init__(self, vocabulary: _core.Vocabulary, limit_bytes: int = -1) -> None:
        self.ledger = _core.ByteLedger()
        self.shared_ledger = _core.ByteLedger()
        self.shared_masks = _core.SharedMasks(vocabulary, limit_bytes, self.shared_ledger)

    @property
    def bytes(self) -> int:
        """Memory of the generation's grammars, without what they share."""
        return self.ledger.bytes


class PastGenerations:
    """Counts what is still in use of generations that have ended. Safe to use from threads."""

    def __init__(self) -> None:
        self._ledgers: list[_core.ByteLedger] = []

    def add(self, past: Generation) -> None:
        """Count a generation from now on, and no longer those of which nothing is left."""
        for ledger in tuple(self._ledgers):
            if ledger.bytes == 0:
                with suppress(ValueError):  # another thread was faster
                    self._ledgers.remove(ledger)
        self._ledgers += [past.ledger, past.shared_ledger]

    def bytes(self) -> int:
        """Return the memory of all of them."""
        return sum(ledger.bytes for ledger in tuple(self._ledgers))
