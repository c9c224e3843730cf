r"""Has a model write JSON strings plainly, without needless ``\u`` escapes.

Any character of a JSON string may be spelled ``\uXXXX``, and masks say so. A model that would
rather not write a member's name begins it and then drifts into escapes, the only other way to go
on: ``{"n\u0061\u006d\u0065"``, six tokens for each letter. So, of the tokens that a mask allows,
those that begin a ``\u`` escape are left out wherever others are allowed; what is left out is
never all there is, and every allowed token can be completed, so this adds no dead end.

A vocabulary rarely has ``\u`` as one token: the backslash comes first, and the mask after it tells
whether anything but ``u`` may follow. That is looked up when a sampler has chosen such a token.
Outside strings JSON has no backslash, so counting backslashes is enough to know where one stands.
Cost: one pass over the words of a mask per token; one more mask where a backslash is chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from maskwright.matcher import GrammarMatcher


class PlainSpelling:
    """What a vocabulary's tokens do with backslashes; shared by all answers of a model.

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


class PlainSpeller:
    """Follows one JSON text, and says which allowed tokens to leave out.

    Args:
        spelling: The backslashes of the vocabulary.
        matcher: The matcher of the text; advanced by its owner, and left where it is.
    """

    def __init__(self, spelling: PlainSpelling, matcher: GrammarMatcher) -> None:
        self._spelling = spelling
        self._matcher = matcher
        self._is_open = False

    def narrow(self, mask: NDArray[np.int32]) -> None:
        r"""Leave tokens that begin a ``\u`` escape out of a mask, if any others are allowed.

        Args:
            mask: int32, shape (words,). Written.
        """
        plain = mask & self._spelling.plain[int(self._is_open)]
        if plain.any():
            mask[:] = plain

    def declines(self, token_id: int) -> bool:
        r"""Whether a token is a backslash after which only a ``\u`` escape can come."""
        if token_id not in self._spelling.opening[self._is_open]:
            return False
        if not self._matcher.accept_token(token_id):
            return False  # whoever accepts it will say so
        row = np.empty_like(self._spelling.plain[0])
        self._matcher.fill_next_token_bitmask(row)
        self._matcher.rollback(1)
        row &= self._spelling.plain[1]
        return not row.any()

    def accept(self, token_id: int) -> None:
        """Advance by a token."""
        self._is_open = token_id in self._spelling.opening[self._is_open]
