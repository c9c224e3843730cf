"""Vocabularies from plain token lists, and the parts shared by all readers."""

from __future__ import annotations

import pickle

import pytest

from maskwright.errors import TokenizerError
from maskwright.tokenizers import BYTE_FALLBACK, BYTE_LEVEL, RAW, decode_token, from_tokens
from maskwright.tokenizers.stop_tokens import conventional_stop_tokens
from maskwright.tokenizers.vocabulary import MAX_VOCAB_SIZE, build_vocabulary


def test_raw_tokens_are_kept() -> None:
    vocabulary = from_tokens([b"a", "\u00e9", b"\xff", b""])
    assert vocabulary.token_bytes == [b"a", b"\xc3\xa9", b"\xff", b""]
    assert vocabulary.special_token_ids == (3,)
    assert vocabulary.vocab_type == RAW


def test_padding_is_special() -> None:
    vocabulary = from_tokens([b"a"], vocab_size=3)
    assert vocabulary.token_bytes == [b"a", b"", b""]
    assert vocabulary.special_token_ids == (1, 2)
    assert vocabulary.vocab_size == 3


@pytest.mark.parametrize(
    ("token", "kind", "expected"),
    [
        ("\u0120cat", BYTE_LEVEL, b" cat"),
        ("\u010a", BYTE_LEVEL, b"\n"),
        ("\u00c3\u00a9", BYTE_LEVEL, "\u00e9".encode()),
        ("\u0143", BYTE_LEVEL, b"\xad"),
        ("two words", BYTE_LEVEL, b"two words"),  # a space is not in the alphabet: literal text
        ("\uff5c", BYTE_LEVEL, "\uff5c".encode()),
        ("\u2581cat", BYTE_FALLBACK, b" cat"),
        ("<0x0A>", BYTE_FALLBACK, b"\n"),
        ("<0xfF>", BYTE_FALLBACK, b"\xff"),
        ("<0xGG>", BYTE_FALLBACK, b"<0xGG>"),
        ("<0x0A>>", BYTE_FALLBACK, b"<0x0A>>"),
        ("<0x0A>", RAW, b"<0x0A>"),
        (b"\xe2\x96\x81a", BYTE_FALLBACK, b" a"),
        (b"\xff", BYTE_FALLBACK, b"\xff"),
    ],
)
def test_decode_token(token: str | bytes, kind: int, expected: bytes) -> None:
    assert decode_token(token, kind) == expected


def test_byte_level_alphabet_is_a_bijection() -> None:
    letters = [chr(c) for c in range(0x180) if len(decode_token(chr(c), BYTE_LEVEL)) == 1]
    outside = [c for c in letters if ord(c) < 0x100 and not c.isprintable()]
    outside.append(" ")  # literal text, like everything outside the alphabet
    letters = [c for c in letters if c not in outside]
    assert sorted(decode_token(c, BYTE_LEVEL)[0] for c in letters) == list(range(256))


def test_stop_tokens_by_convention_contribute_nothing() -> None:
    vocabulary = from_tokens(["a", "<|im_end|>", b"</s>"])
    assert vocabulary.stop_token_ids == (1, 2)
    assert vocabulary.token_bytes == [b"a", b"", b""]
    assert vocabulary.special_token_names == {"<|im_end|>": 1, "</s>": 2}


def test_stop_tokens_can_be_overridden() -> None:
    vocabulary = from_tokens(["a", "b", "</s>"], stop_token_ids=[1])
    assert vocabulary.stop_token_ids == (1,)
    assert vocabulary.token_bytes == [b"a", b"", b"</s>"]
    assert from_tokens(["</s>"], stop_token_ids=[]).stop_token_ids == ()


def test_message_end_is_no_stop_where_a_generation_end_exists() -> None:
    assert conventional_stop_tokens({"<|end|>": 4}) == {4}
    assert conventional_stop_tokens({"<|end|>": 4, "<|return|>": 5}) == {5}


def test_vocabulary_pickles() -> None:
    vocabulary = from_tokens(["a", "</s>"])
    assert pickle.loads(pickle.dumps(vocabulary)) == vocabulary


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: from_tokens([]), "tokenizer-vocab-size"),
        (lambda: from_tokens([b"a"], vocab_size=0), "tokenizer-vocab-size"),
        (lambda: from_tokens([b"a"], vocab_size=MAX_VOCAB_SIZE + 1), "tokenizer-vocab-size"),
        (lambda: from_tokens([b"a", b"b"], vocab_size=1), "tokenizer-vocab-size"),
        (lambda: from_tokens([b"a"], stop_token_ids=[1]), "tokenizer-stop-token"),
        (lambda: from_tokens([b"a"], stop_token_ids=[-1]), "tokenizer-stop-token"),
        (lambda: from_tokens([b"a"], 7), "tokenizer-vocab-type"),
        (lambda: from_tokens([1]), "tokenizer-bad-token"),  # type: ignore[list-item]
        (lambda: from_tokens(["\ud800"]), "tokenizer-bad-token"),
    ],
)
def test_refusals(call, code: str) -> None:
    with pytest.raises(TokenizerError) as caught:
        call()
    assert caught.value.code == code
    assert "expected" in str(caught.value)


def test_vocab_size_may_cut_off_special_tokens_only() -> None:
    vocabulary = build_vocabulary(
        [b"a", b""],
        vocab_size=1,
        stop_token_ids=[],
        vocab_type=RAW,
        add_prefix_space=False,
        source="x",
    )
    assert vocabulary.token_bytes == [b"a"]
