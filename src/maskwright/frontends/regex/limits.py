"""Limits of the regular expression front-end; each one has a name and a default."""

from __future__ import annotations

from dataclasses import dataclass

MAX_REPEAT = 2**31 - 2


@dataclass(frozen=True)
class RegexLimits:
    """Bounds beyond which a pattern is refused with ``LimitExceededError``.

    Attributes:
        max_pattern_length: Characters of the pattern.
        max_nesting: Depth of open groups.
        max_repeat: Largest count in ``{n,m}``; at most 2**31 - 2.
        max_lookaround_paths: Alternatives that lookarounds multiply out to.
    """

    max_pattern_length: int = 1_000_000
    max_nesting: int = 1_000
    max_repeat: int = MAX_REPEAT
    max_lookaround_paths: int = 512
