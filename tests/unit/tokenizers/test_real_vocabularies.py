"""Vocabularies of real models against the reference implementation of their format.

For every text, the bytes of the ids that the `tokenizers` package encodes it to must be the text.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from maskwright.tokenizers import BYTE_LEVEL, read_tokenizer_json

_FOLDER = os.environ.get("MASKWRIGHT_TEST_DATA")
_NAMES = ("deepseek_v3", "gemma3", "gptoss", "llama2", "llama3_1", "qwen3")
_STOPS = {
    "deepseek_v3": {1},
    "gemma3": {1, 106},
    "gptoss": {199999, 200002, 200012},
    "llama2": {2},
    "llama3_1": {128001, 128009},
    "qwen3": {151643, 151645},
}
_FIXED_TEXTS = (
    '{"name": "Ada", "tags": ["x", 1.5e-3, null, true]}',
    "def f(x):\n\treturn  x ** 2  # two  spaces\r\n",
    "Stra\u00dfe \u65e5\u672c\u8a9e \U0001f469\u200d\U0001f680 \u0628\u062d\u0631 \u00e9\u0301",
    "<tool_call>\n</tool_call> \u0120 \u2581 <0x0A> <mask>",
    "\x00\x01\x7f\u0080\u00ad\ufeff\uffff",
    " " * 200,
    "\n" * 40,
)

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not _FOLDER, reason="MASKWRIGHT_TEST_DATA names no data folder"),
]


def _texts() -> list[str]:
    """A few hundred texts of all kinds of characters, the same in each run."""
    generator = random.Random(7)
    ranges = ((0x20, 0x7E), (0x20, 0x2FF), (0x370, 0x1FFF), (0x4E00, 0x9FFF), (0x1F300, 0x1FAFF))
    texts = list(_FIXED_TEXTS)
    for _ in range(250):
        low, high = generator.choice(ranges)
        length = generator.randint(1, 60)
        drawn = "".join(chr(generator.randint(low, high)) for _ in range(length))
        texts.append(drawn.replace("#", " "))
    return texts


@pytest.mark.parametrize("name", _NAMES)
def test_bytes_of_encoded_ids_are_the_text(name: str) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the package `tokenizers` is missing")
    path = Path(str(_FOLDER), "tokenizers", name, "tokenizer.json")
    vocabulary = read_tokenizer_json(path)
    reference = tokenizers.Tokenizer.from_file(str(path))
    assert vocabulary.vocab_size == reference.get_vocab_size(with_added_tokens=True)
    assert set(vocabulary.stop_token_ids) == _STOPS[name]
    for text in _texts():
        ids = reference.encode(text, add_special_tokens=False).ids
        joined = b"".join(vocabulary.token_bytes[token_id] for token_id in ids)
        assert joined == _expected(text, reference, vocabulary.vocab_type).encode()


def _expected(text: str, reference: Any, vocab_type: int) -> str:
    if reference.normalizer is not None:
        text = reference.normalizer.normalize_str(text)
    # A SentencePiece-like tokenizer makes each space U+2581, and a U+2581 of the text is a space.
    return text if vocab_type == BYTE_LEVEL else text.replace("\u2581", " ")


@pytest.mark.parametrize("name", _NAMES)
def test_special_tokens_have_no_text(name: str) -> None:
    path = Path(str(_FOLDER), "tokenizers", name, "tokenizer.json")
    vocabulary = read_tokenizer_json(path, vocab_size=300_000)
    assert vocabulary.special_token_names
    for token_id in vocabulary.special_token_names.values():
        assert vocabulary.token_bytes[token_id] == b""
    assert len(vocabulary.token_bytes) == 300_000
