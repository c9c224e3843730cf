"""Bounds as words of the IR."""

from __future__ import annotations

from .format import NONE

__all__ = ["check_bounds"]


def check_bounds(minimum: int, maximum: int | None) -> int:
    """Check ``0 <= minimum <= maximum`` and return the word for ``maximum``."""
    if not 0 <= minimum < NONE:
        raise ValueError(f"minimum {minimum} is outside 0..{NONE - 1}")
    if maximum is None:
        return NONE
    if not minimum <= maximum < NONE:
        raise ValueError(f"maximum {maximum} is outside {minimum}..{NONE - 1}")
    return maximum
