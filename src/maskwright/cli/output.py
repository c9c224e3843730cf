"""Writes text to standard output as it comes."""

from __future__ import annotations

import sys

from maskwright.cli.errors import OutputError


def write_text(text: str) -> None:
    """Write at once.

    Raises:
        BrokenPipeError: Whoever read it has left.
        OutputError: Standard output takes nothing more.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write to standard output: {error.strerror or error}") from error
