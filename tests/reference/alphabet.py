"""What the bytes that a vocabulary has can spell inside of a JSON string.

Idea: ask for the code points that a character can be, or can still become after some of its bytes,
raw or escaped. Cost: answers are kept for each beginning of a character.
"""

from __future__ import annotations

from functools import cached_property

from .intervals import SCALARS, Ranges, members, normalise
from .json_text import characters_after
from .regular import ReferenceLimitError
from .utf8 import ByteRanges, byte_sequences

_HEX_VALUES = [frozenset(f"{v:x}{v:X}".encode()) for v in range(16)]
_SHORT_ESCAPES = {b'"'[0]: 0x22, b"\\"[0]: 0x5C, b"/"[0]: 0x2F}
_SHORT_ESCAPES |= {ord(k): v for k, v in zip("bfnrt", (8, 12, 10, 13, 9), strict=True)}


class Alphabet:
    """What the usable bytes can spell inside of a string."""

    def __init__(self, usable: frozenset[int]) -> None:
        self.usable = usable
        self._hex = [bool(v & usable) for v in _HEX_VALUES]
        self._after: dict[bytes, Ranges] = {}

    def spells(self, text: bytes) -> bool:
        """Whether all bytes are usable."""
        return self.usable.issuperset(text)

    @cached_property
    def characters(self) -> Ranges:
        """The code points that a string can hold."""
        if self.spells(b"\\u") and all(self._hex):
            return SCALARS
        plain = [(b, b) for b in self.usable if 0x20 <= b < 0x80 and b not in b'"\\']
        return normalise([*plain, *self._raw_non_ascii(), *self._escaped()])

    def after(self, pending: bytes) -> Ranges:
        """The code points that an unfinished character can become."""
        if pending not in self._after:
            self._after[pending] = self._spelled_after(pending)
        return self._after[pending]

    def _spelled_after(self, pending: bytes) -> Ranges:
        wanted = characters_after(pending)
        if pending == b"\\":
            return self._escaped()
        if pending.startswith(b"\\"):
            if not all(self._hex):
                raise ReferenceLimitError("an escape with only some hexadecimal digits usable")
            return wanted if self.spells(b"\\u") else normalise(r for r in wanted if r[1] < 65536)
        if self.spells(bytes(range(0x80, 0xC0))):
            return wanted
        return normalise(
            (p, p) for p in members(wanted) if self.spells(chr(p).encode()[len(pending) :])
        )

    def _escaped(self) -> Ranges:
        if not self.spells(b"\\"):
            return ()
        if self.spells(b"u") and all(self._hex):
            return SCALARS
        if self.spells(b"u") and any(self._hex):
            raise ReferenceLimitError("\\u usable with only some hexadecimal digits")
        return normalise((v, v) for k, v in _SHORT_ESCAPES.items() if k in self.usable)

    def _raw_non_ascii(self) -> list[tuple[int, int]]:
        if not any(b >= 0xC2 for b in self.usable):
            return []
        found = []
        for sequence in byte_sequences(((0x80, 0x10FFFF),)):
            if all(self.spells(bytes(range(lo, hi + 1))) for lo, hi in sequence):
                found.append((ord(_ends(sequence, 0)), ord(_ends(sequence, 1))))
            elif all(any(lo <= b <= hi for b in self.usable) for lo, hi in sequence):
                points = range(ord(_ends(sequence, 0)), ord(_ends(sequence, 1)) + 1)
                found += [(p, p) for p in points if self.spells(chr(p).encode())]
        return found


def _ends(sequence: ByteRanges, end: int) -> str:
    return bytes(byte_range[end] for byte_range in sequence).decode()
