"""Exit codes of the command line; `maskwright --help` lists them.

A reader that closes the pipe early (``| head``) has what it wants, so that ends with `OK`.
"""

from __future__ import annotations

from typing import Final

OK: Final = 0
RUNTIME_ERROR: Final = 1
USAGE_ERROR: Final = 2
CUT_OFF: Final = 3
INTERRUPTED: Final = 130
