"""The errors of the command line itself."""

from __future__ import annotations


class UsageError(Exception):
    """Input that the user has to change; the message says what was expected."""


class OutputError(Exception):
    """Standard output takes nothing more: closed, or a full disk."""
