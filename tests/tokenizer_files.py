"""Writes small tokenizer files of every format but GGUF (see gguf_writer) for tests."""

from __future__ import annotations

import base64
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6


def varint(value: int) -> bytes:
    """A number of the protocol buffer encoding."""
    value &= (1 << 64) - 1
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*found, value))


def field(number: int, value: int | bytes) -> bytes:
    """A field of a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def sentencepiece_bytes(
    pieces: Iterable[tuple[str, int]],
    *,
    trainer: bytes = b"",
    normalizer: bytes = b"",
    denormalizer: bytes = b"",
) -> bytes:
    """A SentencePiece model (Unigram); later pieces have lower scores."""
    data = bytearray()
    for place, (text, kind) in enumerate(pieces):
        piece = field(1, text.encode()) + varint(2 << 3 | 5) + struct.pack("<f", -float(place))
        data += field(1, piece + (field(3, kind) if kind != NORMAL else b""))
    data += field(2, trainer) + field(3, normalizer)
    return bytes(data) + (field(5, denormalizer) if denormalizer else b"")


def byte_pieces() -> list[tuple[str, int]]:
    """The pieces of all bytes."""
    return [(f"<0x{byte:02X}>", BYTE) for byte in range(256)]


def tekken_json(tokens: Iterable[bytes], n_special: int, **changes: Any) -> dict[str, Any]:
    """The contents of a ``tekken.json``."""
    vocab = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate(tokens)
    ]
    config = {
        "pattern": r"\w+|\W",
        "num_vocab_tokens": len(vocab),
        "default_vocab_size": len(vocab) + n_special,
        "default_num_special_tokens": n_special,
        "version": "v7",
    }
    return {"config": config, "vocab": vocab, **changes}


def rank_lines(tokens: Iterable[bytes]) -> bytes:
    """A file of tiktoken ranks."""
    return b"".join(base64.b64encode(t) + b" %d\n" % i for i, t in enumerate(tokens))


def byte_level_json(**changes: Any) -> dict[str, Any]:
    """The contents of a ``tokenizer.json`` with all bytes, two merges and a special token."""
    kept = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in kept]
    spelling = {byte: chr(byte) for byte in kept}
    spelling |= {byte: chr(0x100 + place) for place, byte in enumerate(others)}
    vocab = {spelling[byte]: byte for byte in range(256)} | {"ab": 256, "abc": 257}
    step = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": False,
    }
    special = {
        "id": 258,
        "content": "<|im_end|>",
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }
    return {
        "version": "1.0",
        "added_tokens": [special],
        "pre_tokenizer": step,
        "decoder": step,
        "model": {"type": "BPE", "vocab": vocab, "merges": ["a b", "ab c"]},
        **changes,
    }
