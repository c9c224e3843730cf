"""The GGUF reader on files written here, whole and damaged."""

from __future__ import annotations

import random
import struct
from typing import TYPE_CHECKING, Any

import pytest

from maskwright.errors import TokenizerError
from maskwright.tokenizers import BYTE_FALLBACK, BYTE_LEVEL, read_gguf, read_vocabulary
from maskwright.tokenizers.gguf_file import read_metadata

if TYPE_CHECKING:
    from pathlib import Path

_U32, _I32, _F32, _BOOL, _STRING, _ARRAY, _U64 = 4, 5, 6, 7, 8, 9, 10
_FORMS = {_U32: "<I", _I32: "<i", _F32: "<f", _BOOL: "<?", _U64: "<Q"}


def _string(text: str | bytes) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(data)) + data


def _value(kind: int | tuple[int, ...], value: Any) -> bytes:
    """The bytes of a value; the kind (ARRAY, element kind...) is an array."""
    if isinstance(kind, tuple):
        inner: Any = kind[1] if len(kind) == 2 else kind[1:]
        head = struct.pack("<IQ", kind[1], len(value))
        return head + b"".join(_value(inner, element) for element in value)
    return _string(value) if kind == _STRING else struct.pack(_FORMS[kind], value)


def _gguf(pairs: list[tuple[str, Any, Any]], version: int = 3) -> bytes:
    data = b"GGUF" + struct.pack("<IQQ", version, 7, len(pairs))
    for key, kind, value in pairs:
        number = kind[0] if isinstance(kind, tuple) else kind
        data += _string(key) + struct.pack("<I", number) + _value(kind, value)
    return data


_TOKENS = [
    "a",
    "\u0120b",
    "<|im_end|>",
    "<tool>",
    "<unused>",
    "\u00c3\u00a9",
    "<|endoftext|>",
    "x y",
]
_TYPES = [1, 1, 3, 4, 5, 1, 4, 1]


def _pairs(**changes: Any) -> list[tuple[str, Any, Any]]:
    values: dict[str, tuple[Any, Any]] = {
        "general.architecture": (_STRING, "llama"),
        "tokenizer.ggml.model": (_STRING, "gpt2"),
        "tokenizer.ggml.scores": ((_ARRAY, _F32), [0.5] * len(_TOKENS)),
        "tokenizer.ggml.merges": ((_ARRAY, _STRING), ["a b", "c d"]),
        "tokenizer.ggml.tokens": ((_ARRAY, _STRING), _TOKENS),
        "tokenizer.ggml.token_type": ((_ARRAY, _I32), _TYPES),
        "tokenizer.ggml.eos_token_id": (_U32, 2),
        "tokenizer.ggml.bos_token_id": (_U32, 6),
        "tokenizer.chat_template": (_STRING, "{{ x }}"),
        "nested": ((_ARRAY, _ARRAY, _STRING), [["a"], ["b", "c"]]),
    }
    for key, value in changes.items():
        values[f"tokenizer.ggml.{key}"] = value
    return [(key, *value) for key, value in values.items() if value is not None]


def _write(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "model.bin"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("version", [2, 3])
def test_byte_level(tmp_path: Path, version: int) -> None:
    vocabulary = read_gguf(_write(tmp_path, _gguf(_pairs(), version)))
    assert vocabulary.token_bytes == [b"a", b" b", b"", b"<tool>", b"", b"\xc3\xa9", b"", b"x y"]
    assert vocabulary.vocab_type == BYTE_LEVEL
    assert vocabulary.special_token_ids == (2, 4, 6)
    assert vocabulary.stop_token_ids == (2, 6)  # the second by convention, though flagged as text
    assert vocabulary.special_token_names == {"<|im_end|>": 2, "<|endoftext|>": 6}
    assert vocabulary.chat_template == "{{ x }}"
    assert vocabulary.bos_token_id == 6
    assert not vocabulary.add_prefix_space


def test_sentence_piece(tmp_path: Path) -> None:
    tokens = ["<unk>", "</s>", "<0x0A>", "\u2581cat", "\u2581<", "<0x0A>"]
    pairs = _pairs(
        model=(_STRING, "llama"),
        tokens=((_ARRAY, _STRING), tokens),
        token_type=((_ARRAY, _I32), [2, 3, 6, 1, 4, 1]),
        eos_token_id=(_U32, 1),
        bos_token_id=None,
    )
    vocabulary = read_gguf(_write(tmp_path, _gguf(pairs)))
    marked = "\u2581<".encode()
    assert vocabulary.token_bytes == [b"", b"", b"\n", b" cat", marked, b"<0x0A>"]
    assert vocabulary.vocab_type == BYTE_FALLBACK
    assert vocabulary.add_prefix_space
    assert vocabulary.bos_token_id is None


def test_all_end_keys_count(tmp_path: Path) -> None:
    pairs = _pairs(
        eot_token_id=(_U32, 0), eom_token_id=(_U32, 1000), eos_token_ids=((_ARRAY, _I32), [5])
    )
    vocabulary = read_gguf(_write(tmp_path, _gguf(pairs)))
    assert vocabulary.stop_token_ids == (0, 2, 5, 6)
    assert read_gguf(tmp_path / "model.bin", stop_token_ids=[3]).stop_token_ids == (3,)


def test_types_are_optional_and_size_can_be_padded(tmp_path: Path) -> None:
    path = _write(tmp_path, _gguf(_pairs(token_type=None)))
    vocabulary = read_gguf(path, vocab_size=16)
    assert vocabulary.token_bytes[3] == b"<tool>"
    assert vocabulary.vocab_size == len(vocabulary.token_bytes) == 16


def test_a_token_that_is_no_text_stands_for_its_bytes(tmp_path: Path) -> None:
    tokens = [b"\xff\xfe", *_TOKENS[1:]]
    path = _write(tmp_path, _gguf(_pairs(tokens=((_ARRAY, _STRING), tokens))))
    assert read_gguf(path).token_bytes[0] == b"\xff\xfe"


def test_read_vocabulary_recognises_the_file_by_its_content(tmp_path: Path) -> None:
    path = _write(tmp_path, _gguf(_pairs()))
    assert read_vocabulary(path) == read_gguf(path)


def test_metadata_leaves_out_arrays_that_are_not_wanted(tmp_path: Path) -> None:
    path = _write(tmp_path, _gguf(_pairs()))
    assert "nested" not in read_metadata(path, ())
    assert read_metadata(path, ("nested",))["nested"] == [["a"], ["b", "c"]]


def test_truncated_at_every_16th_byte(tmp_path: Path) -> None:
    data = _gguf(_pairs())
    for size in range(0, len(data), 16):
        with pytest.raises(TokenizerError) as caught:
            read_gguf(_write(tmp_path, data[:size]))
        assert caught.value.code == "tokenizer-malformed"


def test_damaged_bytes_never_raise_anything_else(tmp_path: Path) -> None:
    data = _gguf(_pairs())
    generator = random.Random(20)
    refused = 0
    for _ in range(400):
        damaged = bytearray(data)
        for _ in range(generator.randint(1, 3)):
            damaged[generator.randrange(len(data))] = generator.choice((0, 1, 9, 0x7F, 0xFF))
        try:
            read_gguf(_write(tmp_path, bytes(damaged)))
        except TokenizerError:
            refused += 1
    assert refused > 50


def _announcing(kind: int, count: int) -> bytes:
    """A file with one array that says it has `count` elements and has none."""
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + _string("tokenizer.ggml.tokens")
    return head + struct.pack("<IIQ", _ARRAY, kind, count)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"GGML" + bytes(64), "does not start"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version is 1"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "little-endian"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**63), "metadata pairs"),
        (_announcing(_STRING, 2**62), "more than fit"),
        (_announcing(_U32, 2**62), "more than fit"),
        (_announcing(11, 1), "more than fit"),
        (_announcing(99, 1), "unknown value type 99"),
        (_gguf([("k", (_ARRAY,) * 6 + (_U32,), [[[[[[1]]]]]])]), "nested deeper"),
        (_gguf([("k", _U32, 1), ("k", _U32, 2)]), "occurs twice"),
        (_gguf([]), "'tokenizer.ggml.model' is missing"),
        (_gguf(_pairs(tokens=(_U32, 1))), "list of tokens"),
        (_gguf(_pairs(tokens=((_ARRAY, _STRING), []))), "list of tokens"),
        (_gguf(_pairs(tokens=((_ARRAY, _U32), [1]))), "not a string"),
        (_gguf(_pairs(token_type=((_ARRAY, _I32), [1]))), "one entry for each"),
        (_gguf(_pairs(token_type=((_ARRAY, _STRING), _TOKENS))), "not an integer"),
    ],
)
def test_refusals(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(TokenizerError, match=message) as caught:
        read_gguf(_write(tmp_path, data))
    assert caught.value.code == "tokenizer-malformed"


def test_other_kinds_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match="'bert'") as caught:
        read_gguf(_write(tmp_path, _gguf(_pairs(model=(_STRING, "bert")))))
    assert caught.value.code == "tokenizer-unsupported-kind"


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match="cannot read") as caught:
        read_gguf(tmp_path / "none.gguf")
    assert caught.value.code == "tokenizer-unreadable"
