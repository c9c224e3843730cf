"""Types of the pieces of a vocabulary, in SentencePiece models and GGUF files alike.

Source: the enumeration SentencePiece.Type of the SentencePiece project, which GGUF took over.
"""

from __future__ import annotations

from typing import Final

__all__ = ["BYTE", "CONTROL", "NORMAL", "SPECIAL", "UNKNOWN", "UNUSED", "USER_DEFINED"]

NORMAL: Final = 1
UNKNOWN: Final = 2
CONTROL: Final = 3
USER_DEFINED: Final = 4
UNUSED: Final = 5
BYTE: Final = 6

SPECIAL: Final = frozenset({UNKNOWN, CONTROL, UNUSED})
"""The types whose pieces are never text."""
