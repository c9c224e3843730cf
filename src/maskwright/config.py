"""Settings and versions of the package as a whole."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "get_max_recursion_depth",
    "get_serialization_version",
    "max_recursion_depth",
    "set_max_recursion_depth",
]

_GREATEST_DEPTH = 1_000_000
_recursion_depth = 10_000


def get_serialization_version() -> str:
    """Return the format version of stored grammars and compiled grammars.

    What another version has written is refused with `DeserializeVersionError`.

    Example:
        >>> get_serialization_version()
        '1'
    """
    from .stored import VERSION

    return str(VERSION)


def get_max_recursion_depth() -> int:
    """Return what `set_max_recursion_depth` was given last; 10,000 at first."""
    return _recursion_depth


def set_max_recursion_depth(max_recursion_depth: int) -> None:
    """Note a depth, for code that sets one; without effect.

    Nothing here recurses as deep as a grammar or a text is nested: front-ends and matchers have
    stacks of their own, and the limits on nesting (``max_nesting_depth`` of EBNF) are arguments.

    Args:
        max_recursion_depth: From 1 to 1,000,000, for the whole process.

    Raises:
        TypeError: It is no int.
        ValueError: It is out of that range.
    """
    global _recursion_depth  # noqa: PLW0603  the setting of the process
    if isinstance(max_recursion_depth, bool) or not isinstance(max_recursion_depth, int):
        raise TypeError(
            f"max_recursion_depth is a {type(max_recursion_depth).__name__}; expected an int"
        )
    if not 1 <= max_recursion_depth <= _GREATEST_DEPTH:
        raise ValueError(
            f"max_recursion_depth is {max_recursion_depth}; expected 1 to {_GREATEST_DEPTH}"
        )
    _recursion_depth = max_recursion_depth


@contextmanager
def max_recursion_depth(depth: int) -> Iterator[None]:
    """Set a depth as `set_max_recursion_depth` does, and set the one before at the end.

    Args:
        depth: As there.

    Example:
        >>> with max_recursion_depth(50):
        ...     get_max_recursion_depth()
        50
        >>> get_max_recursion_depth()
        10000
    """
    before = get_max_recursion_depth()
    set_max_recursion_depth(depth)
    try:
        yield
    finally:
        set_max_recursion_depth(before)
