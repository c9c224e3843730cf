"""Damaged files of every format: an error of ours or a vocabulary, never anything else."""

from __future__ import annotations

import json
import random

import pytest

from gguf_writer import ARRAY, I32, STRING, U32, gguf_bytes
from maskwright import TokenizerError, TokenizerInfo
from maskwright.tokenizers import read_vocabulary
from strategies import EFFORT
from tokenizer_files import (
    CONTROL,
    NORMAL,
    USER_DEFINED,
    byte_level_json,
    byte_pieces,
    field,
    rank_lines,
    sentencepiece_bytes,
    tekken_json,
)

_PIECES = [("<s>", CONTROL), *byte_pieces()[:3], ("\u2581a", NORMAL), ("<t>", USER_DEFINED)]
_NAMED = [{"rank": 0, "token_str": "</s>", "is_control": True}]
_SMALL_MODEL = {"type": "BPE", "vocab": {"a": 0, "\u2581b": 1, "<0x0A>": 2}, "unk_token": "a"}
_DECODER = {
    "type": "Sequence",
    "decoders": [
        {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ],
}
_JSON = {
    "byte level": {**byte_level_json(), "model": {**_SMALL_MODEL, "merges": []}},
    "marked": byte_level_json(model=_SMALL_MODEL, decoder=_DECODER, normalizer={"type": "NFC"}),
    "unigram": byte_level_json(model={"type": "Unigram", "vocab": [["a", 0.5], ["b", -1]]}),
    "tekken": tekken_json([b"a", b"\xff"], 2, special_tokens=_NAMED),
}
_FILES = {
    **{name: json.dumps(root).encode() for name, root in _JSON.items()},
    "sentencepiece": sentencepiece_bytes(
        _PIECES, trainer=field(35, 1) + field(42, 2), normalizer=field(3, 0)
    ),
    "ranks": rank_lines([b"a", b"\xff", b" b"]),
    "gguf": gguf_bytes(
        [
            ("tokenizer.ggml.model", STRING, "llama"),
            ("tokenizer.ggml.tokens", (ARRAY, STRING), ["<s>", "a", "\u2581b", "<0x0A>"]),
            ("tokenizer.ggml.token_type", (ARRAY, I32), [3, 1, 1, 6]),
            ("tokenizer.ggml.eos_token_id", U32, 0),
        ]
    ),
}


def read(path, data: bytes) -> bool:
    """Read a file; False where it is refused."""
    path.write_bytes(data)
    try:
        vocabulary = read_vocabulary(path)
    except TokenizerError as error:
        assert error.code.startswith("tokenizer-")  # noqa: PT017  each may be of another class
        return False
    assert len(vocabulary.text_bytes()) == vocabulary.vocab_size
    return True


def damaged(data: bytes, generator: random.Random) -> bytes:
    """Bytes changed, cut out, or repeated at a few places."""
    changed = bytearray(data)
    for _ in range(generator.randint(1, 4)):
        place = generator.randrange(len(changed) + 1)
        kind = generator.randrange(4)
        if kind == 0:
            changed[place : place + 1] = bytes((generator.randrange(256),))
        elif kind == 1:
            del changed[place : place + generator.randint(1, 8)]
        elif kind == 2:
            changed[place:place] = changed[place : place + generator.randint(1, 30)]
        else:
            changed[place : place + 1] = generator.choice(
                (b"\xff\xff\xff\x7f", b"\x00", b'"', b"{")
            )
    return bytes(changed) or b"\x00"


@pytest.mark.parametrize("name", _FILES)
def test_damaged_bytes(tmp_path, name):
    data = _FILES[name]
    assert read(tmp_path / "x", data)
    generator = random.Random(f"bytes {name}")
    results = [read(tmp_path / "x", damaged(data, generator)) for _ in range(150 * EFFORT)]
    assert not all(results)


def edited(value, generator: random.Random):
    """A JSON value with one part replaced by something else."""
    odd = (None, True, -1, 2**40, 10**400, 1.5, "", "\ud800", "a", [], [[]], {}, {"type": "Fuse"})
    if not isinstance(value, dict | list) or not value or generator.random() < 0.2:
        return generator.choice(odd)
    if isinstance(value, list):
        place = generator.randrange(len(value))
        return [*value[:place], edited(value[place], generator), *value[place + 1 :]]
    name = generator.choice(list(value))
    if generator.random() < 0.1:
        return {key: part for key, part in value.items() if key != name}
    return {**value, name: edited(value[name], generator)}


@pytest.mark.parametrize("name", _JSON)
def test_edited_json(tmp_path, name):
    generator = random.Random(f"json {name}")
    results = []
    for _ in range(150 * EFFORT):
        root = _JSON[name]
        for _ in range(generator.randint(1, 3)):
            root = edited(root, generator)
        try:
            text = json.dumps(root)
        except ValueError:  # an integer that Python doesn't print
            continue
        results.append(read(tmp_path / "x", text.encode()))
    assert True in results
    assert False in results


def test_configurations_beside_never_matter(tmp_path):
    path = tmp_path / "tokenizer.model"
    path.write_bytes(_FILES["ranks"])
    config = {
        "eos_token": "a",
        "chat_template": [{"name": "default", "template": "x"}],
        "added_tokens_decoder": {"3": {"content": "<e>", "special": True}},
    }
    generator = random.Random(9)
    for _ in range(200 * EFFORT):
        root = edited(config, generator)
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(root))
        (tmp_path / "generation_config.json").write_text(json.dumps(edited([1], generator)))
        assert TokenizerInfo.from_file(path).decoded_vocab[:3] == [b"a", b"\xff", b" b"]
