"""The tokenizer.json reader on small files made here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from maskwright.errors import TokenizerError
from maskwright.tokenizers import VocabType, VocabularyData, read_vocabulary

if TYPE_CHECKING:
    from pathlib import Path

_BYTE_LEVEL_STEP = {"type": "ByteLevel", "add_prefix_space": False}
_SENTENCE_PIECE_DECODER = {
    "type": "Sequence",
    "decoders": [
        {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ],
}


_MARKS = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}


def _sequence(*decoders: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "decoders": list(decoders)}


def _file(**changes: Any) -> dict[str, Any]:
    """A byte-level file with three tokens, one added special and one added plain token."""
    root: dict[str, Any] = {
        "added_tokens": [
            {"id": 5, "content": "<|im_end|>", "special": True},
            {"id": 4, "content": "<tool\u00e9>", "special": False},
        ],
        "normalizer": None,
        "pre_tokenizer": _BYTE_LEVEL_STEP,
        "decoder": _BYTE_LEVEL_STEP,
        "model": {"type": "BPE", "vocab": {"a": 0, "\u0120b": 1, "\u00c3\u00a9": 2}, "merges": []},
    }
    root.update(changes)
    return root


def _read(tmp_path: Path, root: object, **options: Any) -> VocabularyData:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(root))
    return read_vocabulary(path, **options)


def test_byte_level(tmp_path: Path) -> None:
    vocabulary = _read(tmp_path, _file())
    tool = "<tool\u00e9>".encode()
    assert vocabulary.tokens == [b"a", b" b", b"\xc3\xa9", b"", tool, b"<|im_end|>"]
    assert vocabulary.vocab_type is VocabType.BYTE_LEVEL
    assert (vocabulary.special_token_ids, vocabulary.stop_token_ids) == ((), (5,))
    assert vocabulary.encode is not None
    assert not vocabulary.add_prefix_space


@pytest.mark.parametrize(
    "changes",
    [
        {"decoder": {"type": "Sequence", "decoders": [_BYTE_LEVEL_STEP, {"type": "Fuse"}]}},
        {"decoder": None},
        {
            "decoder": None,
            "pre_tokenizer": {
                "type": "Sequence",
                "pretokenizers": [{"type": "Digits"}, _BYTE_LEVEL_STEP],
            },
        },
        {"pre_tokenizer": None},
    ],
)
def test_byte_level_is_recognised_wherever_it_stands(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    vocabulary = _read(tmp_path, _file(**changes))
    assert vocabulary.vocab_type is VocabType.BYTE_LEVEL
    assert vocabulary.tokens[1] == b" b"


def test_sentence_piece(tmp_path: Path) -> None:
    vocab = {"<unk>": 0, "<0x0A>": 1, "\u2581cat": 2, "\u0120": 3}
    model = {"type": "BPE", "vocab": vocab, "merges": [], "unk_token": "<unk>"}
    added = [{"id": 4, "content": "\u2581\u2581", "special": False}]
    prepend = {"type": "Prepend", "prepend": "\u2581"}
    root = _file(model=model, added_tokens=added, decoder=_SENTENCE_PIECE_DECODER)
    root["normalizer"] = {"type": "Sequence", "normalizers": [prepend]}
    vocabulary = _read(tmp_path, root)
    assert vocabulary.tokens == [b"<unk>", b"\n", b" cat", "\u0120".encode(), b"  "]
    assert vocabulary.special_token_ids == (0,)
    assert vocabulary.vocab_type is VocabType.BYTE_FALLBACK
    assert vocabulary.add_prefix_space


def test_unigram_with_metaspace(tmp_path: Path) -> None:
    model = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["_a", -1.0], ["<0x0A>", 0]]}
    decoder = {"type": "Metaspace", "replacement": "_", "prepend_scheme": "always"}
    vocabulary = _read(
        tmp_path, _file(model=model, added_tokens=[], decoder=decoder, pre_tokenizer=decoder)
    )
    # Without a ByteFallback step, "<0x0A>" is text like any other.
    assert vocabulary.tokens == [b"<unk>", b" a", b"<0x0A>"]
    assert vocabulary.special_token_ids == (0,)
    assert vocabulary.add_prefix_space


def test_configuration_files_give_stop_tokens_and_template(tmp_path: Path) -> None:
    config = {"eos_token": {"content": " b"}, "chat_template": "T"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [2, 99, True]}))
    vocabulary = _read(tmp_path, _file())
    assert vocabulary.stop_token_ids == (1, 2, 5)
    assert vocabulary.text_bytes()[1] == b""
    assert vocabulary.chat_template == "T"
    templates = [{"name": "tool_use", "template": "U"}, {"name": "default", "template": "D"}, 3]
    config = {"eos_token": 5, "chat_template": templates}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    assert _read(tmp_path, _file()).chat_template == "D"
    (tmp_path / "chat_template.jinja").write_text("J")
    assert _read(tmp_path, _file()).chat_template == "J"


def test_damaged_configuration_files_give_nothing(tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text("[" * 100_000)
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": "x"}')
    assert _read(tmp_path, _file()).stop_token_ids == (5,)


def test_a_plain_token_is_no_stop_token_by_its_name(tmp_path: Path) -> None:
    added = [{"id": 3, "content": "</s>", "special": False}]
    vocabulary = _read(tmp_path, _file(added_tokens=added))
    assert vocabulary.stop_token_ids == ()
    assert vocabulary.tokens[3] == b"</s>"


def test_size_and_stop_tokens_can_be_given(tmp_path: Path) -> None:
    vocabulary = _read(tmp_path, _file(), vocab_size=64, stop_token_ids=[0])
    assert (vocabulary.vocab_size, len(vocabulary.tokens)) == (64, 6)
    assert vocabulary.special_token_ids == (5,)
    assert vocabulary.stop_token_ids == (0,)


def test_read_vocabulary_takes_the_folder(tmp_path: Path) -> None:
    expected = _read(tmp_path, _file())
    assert read_vocabulary(tmp_path) == expected
    with pytest.raises(TokenizerError, match="cannot read") as caught:
        read_vocabulary(tmp_path / "missing")
    assert caught.value.code == "tokenizer-unreadable"


def test_word_level_by_its_decoder(tmp_path: Path) -> None:
    model = {"type": "WordLevel", "vocab": {"[UNK]": 0, "<0x0A>": 1, "_a": 2}, "unk_token": "[UNK]"}
    vocabulary = _read(tmp_path, _file(model=model, added_tokens=[], decoder={"type": "Fuse"}))
    assert vocabulary.tokens == [b"[UNK]", b"<0x0A>", b"_a"]
    assert (vocabulary.vocab_type, vocabulary.special_token_ids) == (VocabType.RAW, (0,))


@pytest.mark.parametrize(
    ("decoders", "tokens", "expected"),
    [
        ([{"type": "Strip", "content": "_", "start": 1, "stop": 2}], "__a___", b"_a_"),
        ([{"type": "Strip", "content": "_", "start": 9, "stop": 0}], "__a", b"a"),
        ([{"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}], " a", b" a"),
        ([{"type": "Replace", "pattern": {"String": "ab"}, "content": "c"}], "abab", b"cc"),
        (
            [
                {"type": "Replace", "pattern": {"String": "_"}, "content": "<"},
                {"type": "Replace", "pattern": {"String": "!"}, "content": ">"},
                {"type": "ByteFallback"},
            ],
            "_0x41!",
            b"A",  # in the order of the steps
        ),
    ],
)
def test_steps_of_a_decoder(
    tmp_path: Path, decoders: list[dict[str, Any]], tokens: str, expected: bytes
) -> None:
    model = {"type": "BPE", "vocab": {tokens: 0}, "merges": []}
    decoder = {"type": "Sequence", "decoders": decoders}
    assert _read(tmp_path, _file(model=model, added_tokens=[], decoder=decoder)).tokens == [
        expected
    ]
    tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is missing")
    root = {"version": "1.0", "model": model, "added_tokens": [], "decoder": decoder}
    real = tokenizers.Tokenizer.from_str(json.dumps(root))
    # The library has one text here, so the prefix space is gone.
    assert real.decode([0]).encode() == expected.removeprefix(b" ")


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"model": {"type": "WordPiece", "vocab": {}}}, "model type WordPiece"),
        ({"model": {"vocab": {}}}, "model type None"),
        ({"decoder": {"type": "WordPiece"}}, "decoder WordPiece"),
        ({"decoder": {"type": "BPEDecoder"}}, "decoder BPEDecoder"),
        ({"decoder": None, "pre_tokenizer": {"type": "Whitespace"}}, "no decoder"),
        (
            {"model": {"type": "BPE", "vocab": {}, "end_of_word_suffix": "</w>"}},
            "end_of_word_suffix",
        ),
        (
            {"decoder": {"type": "Replace", "pattern": {"Regex": "x"}, "content": ""}},
            "a decoder that replaces",
        ),
        ({"decoder": _sequence({"type": "ByteLevel"}, _MARKS)}, "decoder Replace with ByteLevel"),
        ({"decoder": _sequence({"type": "ByteFallback"}, _MARKS)}, "Replace behind ByteFallback"),
        ({"decoder": _sequence({"type": "Fuse"}, {"type": "ByteFallback"})}, "behind Fuse"),
        (
            {"decoder": _sequence({"type": "Fuse"}, {**_MARKS, "pattern": {"String": "ab"}})},
            "across tokens",
        ),
        (
            {"decoder": _sequence({"type": "Fuse"}, {"type": "Strip", "content": "_", "start": 1})},
            "decoder Strip of '_' behind Fuse",
        ),
        (
            {"decoder": _sequence({"type": "Fuse"}, {"type": "Strip", "content": " ", "stop": 1})},
            "decoder Strip of ' ' behind Fuse",
        ),
        (
            {
                "decoder": _sequence(
                    {"type": "ByteFallback"}, {"type": "Strip", "content": " ", "start": 1}
                )
            },
            "Strip between ByteFallback and Fuse",
        ),
        ({"decoder": {"type": "CTC"}}, "decoder CTC"),
    ],
)
def test_other_kinds_are_refused_by_name(
    tmp_path: Path, changes: dict[str, Any], kind: str
) -> None:
    with pytest.raises(TokenizerError, match=kind) as caught:
        _read(tmp_path, _file(**changes))
    assert caught.value.code == "tokenizer-unsupported-kind"


@pytest.mark.parametrize(
    "changes",
    [
        {"model": None},
        {"model": {"type": "BPE", "vocab": 5}},
        {"model": {"type": "BPE", "vocab": {"a": -1}}},
        {"model": {"type": "BPE", "vocab": {"a": True}}},
        {"model": {"type": "BPE", "vocab": {"a": 10**12}}},
        {"model": {"type": "BPE", "vocab": {"a": 1, "b": 1}}},
        {"model": {"type": "Unigram", "vocab": [["a", 1.0], 3]}},
        {"model": {"type": "Unigram", "vocab": [[1, 1.0]]}},
        {"model": {"type": "Unigram", "vocab": [[[], 1.0]]}},
        {"model": {"type": "Unigram", "vocab": [["a", 1.0], ["a", 1.0]]}},
        {"decoder": {"type": "Replace", "pattern": {"String": 5}, "content": ""}},
        {"decoder": {"type": "Replace", "pattern": {"String": "a"}}},
        {"decoder": {"type": "Metaspace", "replacement": 5}},
        {"decoder": {"type": "Strip", "content": "a", "start": "1"}},
        {"added_tokens": {}},
        {"added_tokens": [1]},
        {"added_tokens": [{"id": 10**12, "content": "x"}]},
        {"added_tokens": [{"id": 1}]},
        {"decoder": 5},
        {"decoder": {"type": "Sequence", "decoders": 5}},
    ],
)
def test_damaged_files(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(TokenizerError) as caught:
        _read(tmp_path, _file(**changes))
    assert caught.value.code == "tokenizer-malformed"


@pytest.mark.parametrize(
    "text", ["{", '{"a": ' + "[" * 100_000, "{\xff", '{"model": 1' + "0" * 5000]
)
def test_no_json_object(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(TokenizerError) as caught:
        read_vocabulary(path)
    assert caught.value.code == "tokenizer-malformed"


def test_deeply_nested_steps(tmp_path: Path) -> None:
    step: dict[str, Any] = _BYTE_LEVEL_STEP
    for _ in range(100):
        step = {"type": "Sequence", "decoders": [step]}
    with pytest.raises(TokenizerError, match="nested deeper"):
        _read(tmp_path, _file(decoder=step))
