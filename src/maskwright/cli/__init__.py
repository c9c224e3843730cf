"""The command line: ``maskwright generate`` and ``maskwright demo``."""

from __future__ import annotations

from maskwright.cli.main import main

__all__ = ["main"]
