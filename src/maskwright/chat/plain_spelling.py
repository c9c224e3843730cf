r"""Has a model write JSON strings plainly, without needless ``\u`` escapes.

Any character of a JSON string may be spelled ``\uXXXX``, and masks say so. A model that would
rather not write a member's name begins it and then drifts into escapes, the only other way to go
on: ``{"n\u0061\u006d\u0065"``, six tokens for each letter. So, of the tokens that a mask allows,
those that begin a ``\u`` escape are left out wherever others are allowed; what is left out is
never all there is, and every allowed token can be completed, so this adds no dead end.

A vocabulary rarely has ``\u`` as one token: the backslash comes first, and the mask after it tells
whether anything but ``u`` may follow. That is looked up when a sampler has chosen such a token.
Outside strings JSON has no backslash, so counting backslashes is enough to know where one stands.
Cost: 2 us per token for a vocabulary of 49,152; one more mask where a backslash is chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from maskwright.chat.constraint import ApplyMask, GrammarConstraint, Matcher

if TYPE_CHECKING:
    from collections.abc import Sequence


class RevocableMatcher(Matcher, Protocol):
    """A matcher that can take tokens back."""

    def rollback(self, num_tokens: int = 1) -> None:
        """Undo the last tokens."""
        ...


class PlainSpelling:
    """What a vocabulary's tokens do with backslashes; shared by all generations of a model.

    Args:
        token_bytes: The bytes of each token.
    """

    def __init__(self, token_bytes: Sequence[bytes]) -> None:
        self.plain = np.full((2, (len(token_bytes) + 31) // 32), -1, dtype=np.int32)
        r"""A bitmask row with no backslash open, and one with: tokens that begin no ``\u``."""
        self.opening: tuple[set[int], set[int]] = (set(), set())
        """Tokens that leave a backslash open, where none was open and where one was."""
        words = self.plain.view(np.uint32)
        for token_id, data in enumerate(token_bytes):
            if b"\\" not in data and not data.startswith(b"u"):
                continue
            for is_open in (False, True):
                escapes, left_open = _scan(data, is_open=is_open)
                if escapes:
                    words[int(is_open), token_id // 32] &= ~np.uint32(1 << token_id % 32)
                if left_open:
                    self.opening[is_open].add(token_id)


def _scan(data: bytes, *, is_open: bool) -> tuple[bool, bool]:
    r"""Whether bytes begin a ``\u`` escape, and whether they leave a backslash open."""
    escapes = False
    for byte in data:
        if is_open:
            escapes |= byte == ord("u")
            is_open = False
        else:
            is_open = byte == ord("\\")
    return escapes, is_open


class PlainConstraint(GrammarConstraint):
    """Holds a generation to a matcher of JSON texts, spelled plainly where there is a choice.

    Args:
        matcher: The matcher; the constraint advances it.
        vocab_size: Length of a row of logits.
        apply: Applies a bitmask to logits.
        spelling: The backslashes of the vocabulary.
    """

    def __init__(
        self,
        matcher: RevocableMatcher,
        vocab_size: int,
        apply: ApplyMask,
        spelling: PlainSpelling,
    ) -> None:
        super().__init__(matcher, vocab_size, apply)
        self._revocable = matcher
        self._spelling = spelling
        self._is_open = False
        self._plain = np.empty_like(self._bitmask)

    def _fill(self) -> bool:
        limits = super()._fill()
        np.bitwise_and(self._bitmask, self._spelling.plain[int(self._is_open)], out=self._plain)
        if not self._plain.any():
            return limits
        self._bitmask, self._plain = self._plain, self._bitmask
        return True

    def declines(self, token_id: int) -> bool:
        r"""Whether a token is a backslash after which only a ``\u`` escape can come."""
        if token_id not in self._spelling.opening[self._is_open]:
            return False
        if not self._revocable.accept_token(token_id):
            return False  # accept() will say so
        self._revocable.fill_next_token_bitmask(self._plain, 0)
        self._revocable.rollback(1)
        self._plain &= self._spelling.plain[1]
        return not self._plain.any()

    def accept(self, token_id: int) -> bool:
        """Advance the matcher."""
        finished = super().accept(token_id)
        self._is_open = token_id in self._spelling.opening[self._is_open]
        return finished
