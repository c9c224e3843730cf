"""Checks of what a chat engine is told when it is made."""

from __future__ import annotations

from maskwright.chat.errors import shown


def checked_count(name: str, value: object, least: int) -> int:
    """Return an option that is a number of things.

    Raises:
        TypeError: It is no int.
        ValueError: It is below `least`.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is {shown(value)}; expected an int")
    if value < least:
        raise ValueError(f"{name} is {value}; expected at least {least}")
    return value


def checked_limit(name: str, value: object) -> int | None:
    """Return an option that limits a number of things, None for no limit; see `checked_count`."""
    return None if value is None else checked_count(name, value, 0)


def checked_seconds(name: str, value: object) -> float | None:
    """Return an option that limits a time, None for no limit.

    Raises:
        TypeError: It is no number.
        ValueError: It is not positive.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} is {shown(value)}; expected a number or None")
    if not value > 0:
        raise ValueError(f"{name} is {value}; expected more than 0")
    return value
