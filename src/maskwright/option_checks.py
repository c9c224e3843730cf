"""Checks of numbers that a compiler or an engine is told when it is made, or asked."""

from __future__ import annotations

import math
import sys
from typing import Final

from .shown import shown

__all__ = ["MAX_BYTES", "check_count", "check_seconds"]

MAX_BYTES: Final = 2**63 - 1
"""The largest limit in bytes."""


def check_count(name: str, value: object, least: int, most: int = MAX_BYTES) -> None:
    """Check an option that is a number of things or bytes.

    Raises:
        TypeError: It is no int.
        ValueError: It is out of range.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is {shown(value)}; expected an int")
    if value < least:
        raise ValueError(f"{name} is {shown(value)}; expected at least {least}")
    if value > most:
        raise ValueError(f"{name} is {shown(value)}; expected at most {most}")


def check_seconds(name: str, value: object) -> None:
    """Check an option that limits a time; an infinite one limits nothing.

    Raises:
        TypeError: It is no number.
        ValueError: It is not positive, or an int beyond every float.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} is {shown(value)}; expected a number")
    if not value > 0:
        raise ValueError(f"{name} is {shown(value)}; expected more than 0")
    if value != math.inf and value > sys.float_info.max:
        raise ValueError(f"{name} is {shown(value)}; expected a smaller one, or math.inf")
