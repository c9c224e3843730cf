"""Which reader a file gets: by its contents, whatever its name is."""

from __future__ import annotations

import json

import pytest

from gguf_writer import ARRAY, STRING, gguf_bytes
from maskwright import TokenizerInfo
from maskwright.errors import TokenizerError
from maskwright.tokenizers import files as files_module
from maskwright.tokenizers import read_vocabulary
from tokenizer_files import NORMAL, byte_level_json, rank_lines, sentencepiece_bytes, tekken_json

CONTENTS = {
    "json": json.dumps(byte_level_json()).encode(),
    "json after space": b" \n\t" + json.dumps(byte_level_json(), indent=1).encode(),
    "tekken": json.dumps(tekken_json([b"a", b"b"], 1, special_tokens=[])).encode(),
    "sentencepiece": sentencepiece_bytes([("a", NORMAL), ("\u2581b", NORMAL)]),
    "ranks": rank_lines([b"a", b" b"]),
    "gguf": gguf_bytes(
        [
            ("tokenizer.ggml.model", STRING, "gpt2"),
            ("tokenizer.ggml.tokens", (ARRAY, STRING), ["a", "\u0120b"]),
        ]
    ),
}


@pytest.mark.parametrize("name", ["tokenizer.model", "x.json", "y.gguf", "z"])
@pytest.mark.parametrize("kind", CONTENTS)
def test_the_name_is_no_evidence(tmp_path, kind, name):
    path = tmp_path / name
    path.write_bytes(CONTENTS[kind])
    info = TokenizerInfo.from_file(path)
    expected = {"json": 259, "json after space": 259, "tekken": 3}.get(kind, 2)
    assert len(info.decoded_vocab) == expected
    assert info.has_encoder is (kind != "ranks")


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["tokenizer.model", "tokenizer.json"], "tokenizer.json"),
        (["tokenizer.model", "tekken.json"], "tekken.json"),
        (["qwen.tiktoken", "tokenizer.model"], "tokenizer.model"),
        (["qwen.tiktoken", "model.gguf"], "qwen.tiktoken"),
        (["model.gguf"], "model.gguf"),
        (["x.model.v3"], "x.model.v3"),
    ],
)
def test_the_file_of_a_folder(tmp_path, names, chosen):
    for name in names:
        (tmp_path / name).write_bytes(CONTENTS["ranks"] if name == chosen else b"?")
    assert read_vocabulary(tmp_path).source == chosen


def test_folders_without_an_answer(tmp_path):
    with pytest.raises(
        TokenizerError, match=r"has no tokenizer file; expected tokenizer\.json"
    ) as c:
        read_vocabulary(tmp_path)
    assert c.value.code == "tokenizer-unreadable"
    for name in ("a.gguf", "b.gguf"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(TokenizerError, match=r"has 2 files \*.gguf; expected one") as caught:
        read_vocabulary(tmp_path)
    assert caught.value.code == "tokenizer-ambiguous-folder"


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"\x80abc", b"hello world", b"[1]"])
def test_unknown_formats(tmp_path, data):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(data)
    with pytest.raises(TokenizerError, match=r"in no known format; expected tokenizer\.json") as c:
        read_vocabulary(path)
    assert c.value.code == "tokenizer-unknown-format"


def test_a_file_too_large_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(files_module, "_MAX_BYTES", 4)
    (tmp_path / "x").write_bytes(b"12345")
    with pytest.raises(TokenizerError, match="has 5 bytes and is no GGUF model") as caught:
        read_vocabulary(tmp_path / "x")
    assert caught.value.code == "tokenizer-unknown-format"


def test_unreadable(tmp_path):
    with pytest.raises(TokenizerError, match=r"cannot read .*absent: No such file") as caught:
        read_vocabulary(tmp_path / "absent")
    assert caught.value.code == "tokenizer-unreadable"
