"""A stored grammar's envelope and its masks, read and written after docs/serialisation_guide.md."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import chain

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


@dataclass
class StoredMask:
    """A mask as it is stored; ``text`` and ``dense`` are words of a bitmap."""

    key: list[int]
    text: int
    dense: list[int] | None
    ids: list[int]
    unsure: list[int]
    escapes: int
    sets: list[int]


@dataclass
class StoredStart:
    """The mask at the start of a text: the words of a bitmap, or token ids."""

    completed: int
    dense: list[int] | None
    ids: list[int]


@dataclass
class MaskSection:
    """The last part of a stored form with masks."""

    form: int
    version: bytes
    texts: list[list[int]]
    lists: list[list[int]]
    masks: list[StoredMask]
    start: StoredStart | None

    @staticmethod
    def split(with_masks: bytes, without: bytes, mask_words: int) -> MaskSection:
        """Read the section of a form, of which the form without masks is known."""
        data = with_masks[len(without) :]
        form, size = struct.unpack("<2I", data[:8])
        words = iter(struct.unpack(f"<{(len(data) - 8 - size) // 4}I", data[8 + size :]))

        def take(count: int) -> list[int]:
            return [next(words) for _ in range(count)]

        def counted() -> list[int]:
            return take(next(words))

        texts = [take(mask_words) for _ in range(next(words))]
        lists = [counted() for _ in range(next(words))]
        masks = []
        for _ in range(next(words)):
            key, text, dense = counted(), next(words), next(words)
            bitmap = take(mask_words) if dense else None
            masks.append(
                StoredMask(key, text, bitmap, counted(), counted(), next(words), counted())
            )
        start = None
        if next(words):
            completed, dense = next(words), next(words)
            bitmap = take(mask_words) if dense else None
            start = StoredStart(completed, bitmap, [] if dense else counted())
        assert next(words, None) is None
        return MaskSection(form, data[8 : 8 + size], texts, lists, masks, start)

    def joined(self, without: bytes) -> bytes:
        """The form with this section."""
        words = [len(self.texts), *chain.from_iterable(self.texts), len(self.lists)]
        for content in self.lists:
            words += [len(content), *content]
        words.append(len(self.masks))
        for mask in self.masks:
            words += [len(mask.key), *mask.key, mask.text, int(mask.dense is not None)]
            words += mask.dense or []
            words += [len(mask.ids), *mask.ids, len(mask.unsure), *mask.unsure, mask.escapes]
            words += [len(mask.sets), *mask.sets]
        words.append(int(self.start is not None))
        if self.start is not None:
            words += [self.start.completed, int(self.start.dense is not None)]
            words += self.start.dense or [len(self.start.ids), *self.start.ids]
        size = len(self.version)
        section = struct.pack(f"<2I{size}s", self.form, size, self.version)
        section += struct.pack(f"<{len(words)}I", *words)
        header = without[:12] + (2).to_bytes(4, "little") + without[16:]
        return sealed(header, without[HEADER.size :] + section)
