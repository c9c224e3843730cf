"""Encoders: the real libraries on small files, and what is said where they are missing."""

from __future__ import annotations

import json
import pickle
import threading

import pytest

from maskwright import MissingDependencyError, TokenizerError, TokenizerInfo
from maskwright.tokenizers import encoding
from tokenizer_files import (
    NORMAL,
    UNKNOWN,
    byte_level_json,
    byte_pieces,
    field,
    sentencepiece_bytes,
    tekken_json,
)

TEXT = "abc <|im_end|> \u00e9\n"


@pytest.fixture
def byte_level_path(tmp_path):
    path = tmp_path / "tokenizer.json"
    truncation = {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
    path.write_text(json.dumps(byte_level_json(truncation=truncation)))
    return path


def test_tokenizer_json(byte_level_path):
    pytest.importorskip("tokenizers", reason="the package tokenizers is missing")
    info = TokenizerInfo.from_file(byte_level_path)
    # Not truncated, and the spelling of the special token is text.
    assert info.encode(TEXT) == [257, *" <|im_end|> \u00e9\n".encode()]
    copy = pickle.loads(pickle.dumps(info))
    assert (copy == info, copy.encode("ab")) == (True, [256])


def test_sentencepiece(tmp_path):
    pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    path = tmp_path / "x"
    pieces = [("<unk>", UNKNOWN), *byte_pieces(), ("\u2581", NORMAL), ("a", NORMAL)]
    path.write_bytes(sentencepiece_bytes(pieces, trainer=field(3, 1) + field(35, 1)))
    info = TokenizerInfo.from_file(path)
    tokens = info.decoded_vocab
    assert b"".join(tokens[i] for i in info.encode("a\u00e9 a")) == " a\u00e9 a".encode()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of mistral-common's imports
def test_tekken(tmp_path):
    pytest.importorskip("mistral_common", reason="mistral-common is not installed")
    path = tmp_path / "x"
    tokens = [*(bytes((byte,)) for byte in range(256)), b"ab"]
    path.write_text(json.dumps(tekken_json(tokens, 2, special_tokens=[])))
    assert TokenizerInfo.from_file(path).encode("ab<SPECIAL_1>") == [
        258,
        *(byte + 2 for byte in b"<SPECIAL_1>"),
    ]


def test_a_missing_library_is_named(byte_level_path, monkeypatch):
    def absent(name):
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(encoding.importlib, "import_module", absent)
    info = TokenizerInfo.from_file(byte_level_path)
    assert info.has_encoder
    with pytest.raises(MissingDependencyError) as caught:
        info.encode("a")
    assert caught.value.code == "missing-dependency"
    assert "needs the package tokenizers" in str(caught.value)
    assert 'run pip install "maskwright[huggingface]"' in str(caught.value)


def test_a_file_that_its_library_refuses(tmp_path):
    pytest.importorskip("tokenizers", reason="the package tokenizers is missing")
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(byte_level_json(normalizer={"type": "Nonsense"})))
    info = TokenizerInfo.from_file(path)
    with pytest.raises(TokenizerError, match="its library cannot encode with it") as caught:
        info.encode("a")
    assert caught.value.code == "tokenizer-encoder-failed"


def test_the_library_is_loaded_once_by_many_threads():
    made, barrier = [], threading.Barrier(4, timeout=30)

    def make():
        made.append(1)
        return lambda text: [len(text)]

    lazy = encoding.LazyEncoder(make, "x")
    found = []

    def use():
        barrier.wait()
        found.append(lazy("abc"))

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (made, found) == ([1], [[3]] * 4)


def test_no_encoder():
    info = TokenizerInfo(["a"])
    assert not info.has_encoder
    with pytest.raises(TokenizerError) as caught:
        info.encode("a")
    assert caught.value.code == "tokenizer-no-encoder"
    assert "pass encoder=... to TokenizerInfo" in str(caught.value)


def test_an_encoder_of_the_caller():
    info = TokenizerInfo(["a", "b"], encoder=lambda text: (ord(c) - 97 for c in text))
    assert info.has_encoder
    assert info.encode("abba") == [0, 1, 1, 0]
    assert not pickle.loads(pickle.dumps(info)).has_encoder


def test_what_is_no_text():
    info = TokenizerInfo(["a"], encoder=lambda text: [0] * len(text))
    with pytest.raises(TokenizerError, match="lone surrogate at index 1") as caught:
        info.encode("a\ud800")
    assert caught.value.code == "tokenizer-bad-text"
    with pytest.raises(TypeError, match="text is a bytes; expected str"):
        info.encode(b"a")
