"""The errors of the command line itself."""

from __future__ import annotations

from maskwright.shown import shown


class UsageError(Exception):
    """Input that the user has to change; the message says what was expected."""


class OutputError(Exception):
    """Standard output takes nothing more: closed, or a full disk."""


def quoted(argument: str) -> str:
    """An argument as messages show it: in quotes, and cut if it is long."""
    return shown(argument)
