"""Writes a generated file, or compares it with what would be written: all tools that make one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_or_check(target: Path, content: str | bytes) -> int:
    """Write a file; with ``--check`` on the command line say on standard error if it differs.

    Args:
        target: The file.
        content: What belongs into it; text becomes UTF-8.

    Returns:
        The exit status: 1 if it differs.
    """
    data = content.encode() if isinstance(content, str) else content
    if sys.argv[1:] != ["--check"]:
        target.write_bytes(data)
        return 0
    if target.is_file() and target.read_bytes() == data:
        return 0
    print(f"{target} differs; run python {sys.argv[0]}", file=sys.stderr)
    return 1
