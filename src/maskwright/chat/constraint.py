"""What holds the generate loop to a format: a matcher with its mask, or nothing at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from maskwright.errors import MatcherError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

ApplyMask = Callable[["NDArray[np.float32]", "NDArray[np.int32]"], Any]
"""Sets the logits of refused tokens to minus infinity, in place; both arrays have one row."""


class Matcher(Protocol):
    """The part of `maskwright.GrammarMatcher` that generation needs."""

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> bool:
        """Write the mask of the next token; False if it allows every token."""
        ...

    def accept_token(self, token_id: int) -> bool:
        """Advance by a token; False if the token is refused."""
        ...

    def is_terminated(self) -> bool:
        """Whether nothing more may follow."""
        ...


class Constraint(Protocol):
    """One generation's rules."""

    def mask(self, logits: NDArray[np.float32]) -> None:
        """Set the logits of tokens that may not come next to minus infinity, in place."""
        ...

    def any_allowed(self) -> int:
        """A token that the last mask allows, for the case that the logits of all are useless."""
        ...

    def declines(self, token_id: int) -> bool:
        """Whether another token is to be preferred to an allowed one, if there is another."""
        ...

    def accept(self, token_id: int) -> bool:
        """Advance by a token; True if it ends the generation."""
        ...


class GrammarConstraint:
    """Holds a generation to what a matcher allows.

    Args:
        matcher: The matcher; the constraint advances it.
        vocab_size: Length of a row of logits.
        apply: Applies a bitmask to logits.
    """

    def __init__(self, matcher: Matcher, vocab_size: int, apply: ApplyMask) -> None:
        self._matcher = matcher
        self._apply = apply
        self._bitmask = np.full((1, (vocab_size + 31) // 32), -1, dtype=np.int32)

    def mask(self, logits: NDArray[np.float32]) -> None:
        """Fill the mask of this step and apply it."""
        if self._fill():
            self._apply(logits.reshape(1, -1), self._bitmask)

    def _fill(self) -> bool:
        """Fill the mask; False if it allows every token."""
        if self._matcher.fill_next_token_bitmask(self._bitmask, 0):
            return True
        self._bitmask.fill(-1)
        return False

    def any_allowed(self) -> int:
        """The lowest id that the last mask allows.

        Raises:
            MatcherError: The mask allows no token at all.
        """
        if not self._bitmask.any():
            raise MatcherError(
                "the mask of the next token allows no token; this is a fault of Maskwright: please "
                "report it with the grammar and the text so far",
                code="matcher-empty-mask",
            )
        word = int((self._bitmask[0] != 0).argmax())
        bits = int(self._bitmask[0, word]) & 0xFFFFFFFF
        return word * 32 + (bits & -bits).bit_length() - 1

    def declines(self, token_id: int) -> bool:
        """No allowed token is worse than another."""
        del token_id
        return False

    def accept(self, token_id: int) -> bool:
        """Advance the matcher.

        Raises:
            MatcherError: The matcher refuses a token that its mask has allowed.
        """
        if not self._matcher.accept_token(token_id):
            raise MatcherError(
                f"the matcher refused token {token_id}, which its mask allowed; this is a fault "
                "of Maskwright: please report it with the grammar and the text so far",
                code="matcher-mask-disagrees",
            )
        return self._matcher.is_terminated()


class FreeText:
    """No rules: the generation ends at a stop token.

    Args:
        stop_token_ids: The tokens that end it.
    """

    def __init__(self, stop_token_ids: Iterable[int]) -> None:
        self._stop_token_ids = frozenset(stop_token_ids)

    def mask(self, logits: NDArray[np.float32]) -> None:
        """Allow everything."""

    def any_allowed(self) -> int:
        """Any token will do."""
        return 0

    def declines(self, token_id: int) -> bool:
        """No token is worse than another."""
        del token_id
        return False

    def accept(self, token_id: int) -> bool:
        """Whether the token is a stop token."""
        return token_id in self._stop_token_ids
