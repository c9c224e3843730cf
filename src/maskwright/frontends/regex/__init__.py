"""Regular expressions (ECMA-262 over code points) as a front-end.

Parser -> tree -> anchors and lookarounds resolved -> IR. See ``scanner`` for the dialect, and
``anchors`` and ``lookaround`` for how assertions become plain languages.
"""

from __future__ import annotations

from .kept import search
from .limits import RegexLimits
from .lowering import lower, write_shared

__all__ = ["RegexLimits", "lower", "search", "write_shared"]
