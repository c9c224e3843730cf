"""Writes small GGUF files (metadata only) for tests."""

from __future__ import annotations

import struct
from typing import Any

U32, I32, F32, BOOL, STRING, ARRAY, U64 = 4, 5, 6, 7, 8, 9, 10
_FORMS = {U32: "<I", I32: "<i", F32: "<f", BOOL: "<?", U64: "<Q"}


def gguf_string(text: str | bytes) -> bytes:
    """A string as the format has it."""
    data = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(data)) + data


def _value(kind: int | tuple[int, ...], value: Any) -> bytes:
    """The bytes of a value; the kind (ARRAY, element kind...) is an array."""
    if isinstance(kind, tuple):
        inner: Any = kind[1] if len(kind) == 2 else kind[1:]
        head = struct.pack("<IQ", kind[1], len(value))
        return head + b"".join(_value(inner, element) for element in value)
    return gguf_string(value) if kind == STRING else struct.pack(_FORMS[kind], value)


def gguf_bytes(pairs: list[tuple[str, Any, Any]], version: int = 3, n_tensors: int = 7) -> bytes:
    """A whole file with these (key, kind, value) pairs, without the tensors that it announces."""
    data = b"GGUF" + struct.pack("<IQQ", version, n_tensors, len(pairs))
    for key, kind, value in pairs:
        number = kind[0] if isinstance(kind, tuple) else kind
        data += gguf_string(key) + struct.pack("<I", number) + _value(kind, value)
    return data
