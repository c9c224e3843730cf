"""What a format is to this front-end: a regular expression, and what it leaves out."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Format", "any_of"]


@dataclass(frozen=True)
class Format:
    """The strings of a format.

    Attributes:
        pattern: Matches them as a whole; ECMA-262 over code points.
        excluded: Matches none of them as a whole; None: nothing is excluded.
        max_length: Code points at most; None: no bound.
        narrowed: What the specification allows beyond this, in words; None: nothing.
    """

    pattern: str
    excluded: str | None = None
    max_length: int | None = None
    narrowed: str | None = None


def any_of(*patterns: str) -> str:
    """Return a pattern that matches what any of the patterns does."""
    return f"(?:{'|'.join(patterns)})"
