"""The command line: ``maskwright generate``, ``chat``, ``check`` and ``demo``."""

from __future__ import annotations

from maskwright.cli.main import main

__all__ = ["main"]
