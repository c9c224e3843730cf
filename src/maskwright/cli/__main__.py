"""Runs the command line as ``python -m maskwright.cli``."""

from __future__ import annotations

import sys

from maskwright.cli.main import main

sys.exit(main())
