"""The GGUF reader on files written here, whole and damaged."""

from __future__ import annotations

import ctypes
import dataclasses
import random
import struct
from typing import TYPE_CHECKING, Any

import pytest

from gguf_writer import ARRAY, F32, I32, STRING, U32, gguf_bytes, gguf_string
from maskwright.errors import TokenizerError
from maskwright.tokenizers import VocabType, read_gguf, read_vocabulary
from maskwright.tokenizers.encoding import load_gguf
from maskwright.tokenizers.gguf_file import read_metadata
from maskwright.tokenizers.llama_cpp import read_llama_cpp

if TYPE_CHECKING:
    from pathlib import Path

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
        "general.architecture": (STRING, "llama"),
        "tokenizer.ggml.model": (STRING, "gpt2"),
        "tokenizer.ggml.scores": ((ARRAY, F32), [0.5] * len(_TOKENS)),
        "tokenizer.ggml.merges": ((ARRAY, STRING), ["a b", "c d"]),
        "tokenizer.ggml.tokens": ((ARRAY, STRING), _TOKENS),
        "tokenizer.ggml.token_type": ((ARRAY, I32), _TYPES),
        "tokenizer.ggml.eos_token_id": (U32, 2),
        "tokenizer.ggml.bos_token_id": (U32, 6),
        "tokenizer.chat_template": (STRING, "{{ x }}"),
        "nested": ((ARRAY, ARRAY, STRING), [["a"], ["b", "c"]]),
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
    vocabulary = read_gguf(_write(tmp_path, gguf_bytes(_pairs(), version)))
    assert vocabulary.tokens == [
        b"a",
        b" b",
        b"<|im_end|>",
        b"<tool>",
        b"<unused>",
        b"\xc3\xa9",
        b"<|endoftext|>",
        b"x y",
    ]
    assert vocabulary.vocab_type is VocabType.BYTE_LEVEL
    assert vocabulary.special_token_ids == (4,)
    assert vocabulary.stop_token_ids == (2, 6)  # the second by convention, though flagged as text
    assert vocabulary.chat_template == "{{ x }}"
    assert not vocabulary.add_prefix_space


def test_sentence_piece(tmp_path: Path) -> None:
    tokens = ["<unk>", "</s>", "<0x0A>", "\u2581cat", "\u2581<", "<0x0A>"]
    pairs = _pairs(
        model=(STRING, "llama"),
        tokens=((ARRAY, STRING), tokens),
        token_type=((ARRAY, I32), [2, 3, 6, 1, 4, 1]),
        eos_token_id=(U32, 1),
        bos_token_id=None,
    )
    vocabulary = read_gguf(_write(tmp_path, gguf_bytes(pairs)))
    marked = "\u2581<".encode()
    assert vocabulary.tokens == [b"<unk>", b"</s>", b"\n", b" cat", marked, b"<0x0A>"]
    assert (vocabulary.special_token_ids, vocabulary.stop_token_ids) == ((0,), (1,))
    assert vocabulary.vocab_type is VocabType.BYTE_FALLBACK
    assert vocabulary.add_prefix_space


def test_all_end_keys_count(tmp_path: Path) -> None:
    pairs = _pairs(
        eot_token_id=(U32, 0), eom_token_id=(U32, 1000), eos_token_ids=((ARRAY, I32), [5])
    )
    vocabulary = read_gguf(_write(tmp_path, gguf_bytes(pairs)))
    assert vocabulary.stop_token_ids == (0, 2, 5, 6)
    chosen = read_gguf(tmp_path / "model.bin", stop_token_ids=[3])
    assert chosen.stop_token_ids == (3,)
    assert chosen.special_token_ids == (0, 2, 4, 5, 6)  # ends that are not chosen are no text


def test_types_are_optional_and_size_can_be_padded(tmp_path: Path) -> None:
    path = _write(tmp_path, gguf_bytes(_pairs(token_type=None)))
    vocabulary = read_gguf(path, vocab_size=16)
    assert vocabulary.tokens[3] == b"<tool>"
    assert (vocabulary.vocab_size, len(vocabulary.tokens)) == (16, 8)


def test_a_token_that_is_no_text_stands_for_its_bytes(tmp_path: Path) -> None:
    tokens = [b"\xff\xfe", *_TOKENS[1:]]
    path = _write(tmp_path, gguf_bytes(_pairs(tokens=((ARRAY, STRING), tokens))))
    assert read_gguf(path).tokens[0] == b"\xff\xfe"


def test_read_vocabulary_recognises_the_file_by_its_content(tmp_path: Path) -> None:
    path = _write(tmp_path, gguf_bytes(_pairs()))
    assert read_vocabulary(path) == read_gguf(path)


def test_metadata_leaves_out_arrays_that_are_not_wanted(tmp_path: Path) -> None:
    path = _write(tmp_path, gguf_bytes(_pairs()))
    assert "nested" not in read_metadata(path, ())
    assert read_metadata(path, ("nested",))["nested"] == [["a"], ["b", "c"]]


def test_truncated_at_every_16th_byte(tmp_path: Path) -> None:
    data = gguf_bytes(_pairs())
    for size in range(0, len(data), 16):
        with pytest.raises(TokenizerError) as caught:
            read_gguf(_write(tmp_path, data[:size]))
        assert caught.value.code == "tokenizer-malformed"


def test_damaged_bytes_never_raise_anything_else(tmp_path: Path) -> None:
    data = gguf_bytes(_pairs())
    generator = random.Random(20)
    refused = 0
    for _ in range(200):
        damaged = bytearray(data)
        for _ in range(generator.randint(1, 3)):
            damaged[generator.randrange(len(data))] = generator.choice((0, 1, 9, 0x7F, 0xFF))
        try:
            read_gguf(_write(tmp_path, bytes(damaged)))
        except TokenizerError:
            refused += 1
    assert refused > 25


def _announcing(kind: int, count: int) -> bytes:
    """A file with one array that says it has `count` elements and has none."""
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + gguf_string("tokenizer.ggml.tokens")
    return head + struct.pack("<IIQ", ARRAY, kind, count)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"GGML" + bytes(64), "does not start"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version is 1"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "little-endian"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**63), "metadata pairs"),
        (_announcing(STRING, 2**62), "more than fit"),
        (_announcing(U32, 2**62), "more than fit"),
        (_announcing(11, 1), "more than fit"),
        (_announcing(99, 1), "unknown value type 99"),
        (gguf_bytes([("k", (ARRAY,) * 6 + (U32,), [[[[[[1]]]]]])]), "nested deeper"),
        (gguf_bytes([("k", U32, 1), ("k", U32, 2)]), "occurs twice"),
        (gguf_bytes([]), "'tokenizer.ggml.model' is missing or"),
        (gguf_bytes(_pairs(tokens=(U32, 1))), "list of tokens"),
        (gguf_bytes(_pairs(tokens=((ARRAY, STRING), []))), "list of tokens"),
        (gguf_bytes(_pairs(tokens=((ARRAY, U32), [1]))), "not a string"),
        (gguf_bytes(_pairs(model=(U32, 1))), "is missing or no text"),
        (gguf_bytes(_pairs(token_type=((ARRAY, I32), [1]))), "one entry for each"),
        (gguf_bytes(_pairs(token_type=((ARRAY, STRING), _TOKENS))), "not an integer"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refusals(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(TokenizerError, match=message) as caught:
        read_gguf(_write(tmp_path, data))
    assert caught.value.code == "tokenizer-malformed"


@pytest.mark.parametrize("kind", ["bert", "none", "no_vocab", "xyz"])
def test_other_kinds_are_refused_by_name(tmp_path: Path, kind: str) -> None:
    with pytest.raises(TokenizerError, match=f"of kind '{kind}'.*expected one of gpt2") as caught:
        read_gguf(_write(tmp_path, gguf_bytes(_pairs(model=(STRING, kind), tokens=None))))
    assert caught.value.code == "tokenizer-unsupported-kind"


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match="cannot read") as caught:
        read_gguf(tmp_path / "none.gguf")
    assert caught.value.code == "tokenizer-unreadable"


_BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
_KINDS: dict[str, tuple[list[str], list[bytes]]] = {
    "gpt2": (["a", "\u0120", "\u010a", "\u00c3\u00a9"], [b"a", b" ", b"\n", b"\xc3\xa9"]),
    "llama": (["\u2581a", "\u2581", "a\u2581b"], [b" a", b" ", b"a b"]),
    "t5": (["\u2581a", "\u2581", "a"], [b" a", b" ", b"a"]),
    "gemma4": (["\u2581a", "\u2581", "a"], [b" a", b" ", b"a"]),
    "plamo2": (["\u2581a", " a", "a"], ["\u2581a".encode(), b" a", b"a"]),
    "rwkv": (
        ["a", " ", "\\n", "\\xe4\\xb8", "\\\\", "\\'", "\\t\\x41\u00e9", '\\"'],
        [b"a", b" ", b"\n", b"\xe4\xb8", b"\\", b"'", b"\tA\xc3\xa9", b'"'],
    ),
}


def _file_of_kind(tmp_path: Path, kind: str) -> tuple[Path, list[bytes]]:
    """A file of a kind with its spellings, and what they are to stand for."""
    tokens, expected = _KINDS[kind]
    has_bytes = kind not in ("gpt2", "rwkv")
    tokens = ["<unk>", "</s>", "<tool>", "<ctl>", *tokens, *(_BYTES if has_bytes else [])]
    expected = [b"<unk>", b"</s>", b"<tool>", b"<ctl>", *expected]
    expected += [bytes((byte,)) for byte in range(256)] if has_bytes else []
    types = [2, 3, 4, 3, *([1] * (len(tokens) - 4))]
    if has_bytes:
        types[-256:] = [6] * 256
    scores = [-float(i) for i in range(len(tokens))]
    pairs = _pairs(
        model=(STRING, kind),
        pre=(STRING, "default"),
        tokens=((ARRAY, STRING), tokens),
        token_type=((ARRAY, I32), types),
        scores=((ARRAY, F32), scores),
        eos_token_id=(U32, 1),
        bos_token_id=None,
    )
    data = gguf_bytes([pair for pair in pairs if pair[0] != "nested"], n_tensors=0)
    return _write(tmp_path, data + bytes(-len(data) % 32)), expected


@pytest.mark.parametrize("kind", _KINDS)
def test_kinds(tmp_path: Path, kind: str) -> None:
    path, expected = _file_of_kind(tmp_path, kind)
    vocabulary = read_gguf(path)
    assert vocabulary.tokens == expected
    assert (vocabulary.special_token_ids, vocabulary.stop_token_ids) == ((0, 3), (1,))
    assert vocabulary.add_prefix_space is (kind == "llama")


@pytest.mark.parametrize("kind", _KINDS)
def test_kinds_agree_with_llama_cpp(tmp_path: Path, kind: str) -> None:
    llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    path, expected = _file_of_kind(tmp_path, kind)
    encode = load_gguf(path)
    vocabulary = llama_cpp.llama_model_get_vocab(encode._model)
    buffer = (ctypes.c_char * 64)()
    for token_id, data in enumerate(expected):
        size = llama_cpp.llama_token_to_piece(vocabulary, token_id, buffer, 64, 0, True)
        assert buffer[:size] == data, token_id
    from_api = read_llama_cpp(encode._model).build()
    assert dataclasses.replace(from_api, source=path.name) == read_gguf(path)
    ids = encode("a a")
    assert b"".join(expected[i] for i in ids).strip() == b"a a"


def test_a_closed_model_is_said_to_be_closed(tmp_path: Path) -> None:
    llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    path, _ = _file_of_kind(tmp_path, "gpt2")
    llama = llama_cpp.Llama(str(path), vocab_only=True, verbose=False)
    vocabulary = read_llama_cpp(llama).build()
    assert vocabulary == read_gguf(path)
    assert vocabulary.encode is not None
    assert vocabulary.encode("a") == [4]
    llama.close()
    with pytest.raises(TokenizerError, match="is closed; expected an open one") as caught:
        vocabulary.encode("a")
    assert caught.value.code == "tokenizer-encoder-failed"
    with pytest.raises(TokenizerError, match=r"expected a llama_cpp\.Llama"):
        read_llama_cpp(llama)
