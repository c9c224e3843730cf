"""Token ids as callers give them: one or several, of any integer type."""

from __future__ import annotations

import operator
from collections.abc import Iterable

__all__ = ["checked_id", "id_list"]


def checked_id(token_id: object) -> int:
    """Return an id as an int.

    Raises:
        TypeError: It is no integer, or a bool.
    """
    if isinstance(token_id, bool):
        raise TypeError(f"a token id is {token_id}, a bool; expected an int")
    try:
        return operator.index(token_id)  # type: ignore[arg-type]  # that is the question
    except TypeError:
        raise TypeError(f"a token id is a {type(token_id).__name__}; expected an int") from None


def id_list(ids: int | Iterable[int]) -> list[int]:
    """Return one id, or several, as a sorted list without duplicates.

    Raises:
        TypeError: An id is no integer, or a bool.
    """
    return sorted({checked_id(i) for i in (ids if isinstance(ids, Iterable) else [ids])})
