"""Rank files made here, and encodings where tiktoken is there."""

from __future__ import annotations

import pytest

from maskwright import TokenizerInfo
from maskwright.errors import TokenizerError
from maskwright.tokenizers import VocabType
from maskwright.tokenizers.tiktoken_ranks import is_rank_file, read_ranks
from tokenizer_files import rank_lines

TOKENS = [b"a", b"\xff", b" b", "\u0120".encode()]


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_ranks(line_end):
    data = rank_lines(TOKENS).replace(b"\n", line_end)
    assert is_rank_file(data)
    vocabulary = read_ranks(data, "x").build(vocab_size=10, stop_token_ids=[9])
    assert vocabulary.tokens == TOKENS
    assert (vocabulary.vocab_type, vocabulary.encode) == (VocabType.RAW, None)
    assert vocabulary.stop_token_ids == (9,)


def test_gaps_and_empty_lines():
    assert read_ranks(b"YQ== 2\n\n  \nYg== 0\n", "x").tokens == [b"b", b"", b"a"]


@pytest.mark.parametrize("head", [b"", b"\n", b"{", b"YQ==", b"a b c", b"YQ== x", b"\x0a\x05a 5"])
def test_other_files(head):
    assert not is_rank_file(head)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"YQ== 0\nYQ==", "line 2 is not a token in base64 and its id"),
        (b"YQ== 0\nYQ 1", "line 2 is not base64"),
        (b"YQ== 0\nYg== 0", "line 2 has the id 0 of another line"),
        (b"YQ== 4194304", "line 1 has the id 4194304, expected one below"),
        (b"YQ== -1", "line 1 is not a token"),
        (b"YQ== 0\nYg== 123456789", "line 2 is not a token"),
    ],
)
def test_damaged(data, words):
    with pytest.raises(TokenizerError, match=words) as caught:
        read_ranks(data, "x")
    assert caught.value.code == "tokenizer-malformed"


def test_an_encoding_is_its_rank_file(tmp_path):
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    tokens = [*(bytes((byte,)) for byte in range(256)), b"ab", b"abc"]
    encoding = tiktoken.Encoding(
        "small",
        pat_str=r"\w+|\W",
        mergeable_ranks={token: rank for rank, token in enumerate(tokens)},
        special_tokens={"<|endoftext|>": 258, "<|x|>": 260},
    )
    info = TokenizerInfo.from_tiktoken(encoding)
    assert info.decoded_vocab == [*tokens, b"<|endoftext|>", b"", b"<|x|>"]
    assert (info.stop_token_ids, info.special_token_ids) == ([258], [259, 260])
    assert info.encode("abc<|x|>") == [257, *b"<|x|>"]
    path = tmp_path / "any.name"
    path.write_bytes(rank_lines(tokens))
    (tmp_path / "tokenizer_config.json").write_text(
        '{"added_tokens_decoder": {"258": {"content": "<|endoftext|>", "special": true}, '
        '"260": {"content": "<|x|>", "special": true}, "x": {}, "7": 5, '
        '"99999999": {"content": "far"}}}'
    )
    assert TokenizerInfo.from_file(path) == info
