"""The envelope of a stored grammar, written a second time after docs/serialisation_guide.md."""

from __future__ import annotations

import struct

HEADER = struct.Struct("<8sIIQ32sQ")
MASK = 2**64 - 1


def checksum(data: bytes) -> int:
    """The checksum over all bytes but its own."""
    value = 0xCBF29CE484222325
    for part in (data[:56], data[64:]):
        for at in range(0, len(part), 8):
            word = int.from_bytes(part[at : at + 8], "little")
            value = (value ^ word) * 0x9E3779B97F4A7C15 & MASK
            value ^= value >> 32
    return value


def sealed(header: bytes, body: bytes) -> bytes:
    """A body behind the header of another form, with length and checksum made right."""
    magic, order, version, _, fingerprint, _ = HEADER.unpack(header[: HEADER.size])
    length = HEADER.size + len(body)
    data = HEADER.pack(magic, order, version, length, fingerprint, 0) + body
    return data[:56] + checksum(data).to_bytes(8, "little") + body
