"""Code point ranges as sequences of byte ranges (UTF-8, RFC 3629: no overlongs, no surrogates).

Idea: split a range until all code points of a part have encodings of one length whose bytes are
independent of each other, so that a part is one range per byte position.
"""

from __future__ import annotations

from functools import lru_cache

from .intervals import SCALARS, Ranges, intersect

ByteRanges = tuple[tuple[int, int], ...]

_LENGTH_LIMITS = ((0, 0x7F), (0x80, 0x7FF), (0x800, 0xFFFF), (0x10000, 0x10FFFF))


@lru_cache(maxsize=4096)
def byte_sequences(ranges: Ranges) -> tuple[ByteRanges, ...]:
    """The encodings of a set of code points: one tuple of (lo, hi) byte ranges per part."""
    parts: list[ByteRanges] = []
    for limits in _LENGTH_LIMITS:
        for lo, hi in intersect(intersect(ranges, SCALARS), (limits,)):
            _split(lo, hi, parts)
    return tuple(parts)


def _split(lo: int, hi: int, parts: list[ByteRanges]) -> None:
    first, last = chr(lo).encode(), chr(hi).encode()
    for n_tail in range(1, len(first)):
        block = 1 << (6 * n_tail)  # code points that share all bytes but the last n_tail
        if lo // block != hi // block:
            if lo % block != 0:
                cut = (lo // block + 1) * block
            elif hi % block != block - 1:
                cut = (hi // block) * block
            else:
                continue
            _split(lo, cut - 1, parts)
            _split(cut, hi, parts)
            return
    parts.append(tuple(zip(first, last, strict=True)))


def expected_after(prefix: bytes) -> Ranges:
    """The code points whose encoding starts with ``prefix`` (a proper prefix of an encoding)."""
    found = []
    for parts in byte_sequences(SCALARS):
        if len(parts) <= len(prefix):
            continue
        if all(lo <= byte <= hi for byte, (lo, hi) in zip(prefix, parts, strict=False)):
            tail = parts[len(prefix) :]
            low = prefix + bytes(lo for lo, _ in tail)
            high = prefix + bytes(hi for _, hi in tail)
            found.append((ord(low.decode()), ord(high.decode())))
    return tuple(sorted(found))
