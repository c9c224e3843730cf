"""``python -m maskwright``: the command line."""

from __future__ import annotations

import sys

from maskwright.cli import main

sys.exit(main())
