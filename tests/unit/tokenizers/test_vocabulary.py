"""Vocabularies from plain token lists, and the parts shared by all readers."""

from __future__ import annotations

import pickle

import pytest

from maskwright.errors import TokenizerError
from maskwright.tokenizers import VocabType, from_tokens
from maskwright.tokenizers.decoding import decode_token
from maskwright.tokenizers.encoding import FileEncoder, load_tokenizer_json
from maskwright.tokenizers.stop_tokens import END_TOKEN_NAMES, conventional_stop_tokens
from maskwright.tokenizers.vocabulary import MAX_VOCAB_SIZE, FoundVocabulary


def test_raw_tokens_are_kept() -> None:
    vocabulary = from_tokens([b"a", "\u00e9", b"\xff", b""])
    assert vocabulary.tokens == [b"a", b"\xc3\xa9", b"\xff", b""]
    assert vocabulary.vocab_type is VocabType.RAW
    assert (vocabulary.special_token_ids, vocabulary.stop_token_ids) == ((), ())


def test_text_bytes_leave_out_what_text_never_produces() -> None:
    vocabulary = from_tokens(
        ["a", "<s>", "</s>"], vocab_size=5, special_token_ids=[1], stop_token_ids=[2]
    )
    assert vocabulary.tokens == [b"a", b"<s>", b"</s>"]
    assert vocabulary.text_bytes() == [b"a", b"", b"", b"", b""]


@pytest.mark.parametrize(
    ("token", "kind", "expected"),
    [
        ("\u0120cat", VocabType.BYTE_LEVEL, b" cat"),
        ("\u010a", VocabType.BYTE_LEVEL, b"\n"),
        ("\u00c3\u00a9", VocabType.BYTE_LEVEL, "\u00e9".encode()),
        ("\u0143", VocabType.BYTE_LEVEL, b"\xad"),
        ("two words", VocabType.BYTE_LEVEL, b"two words"),  # a space is outside the alphabet
        ("\uff5c", VocabType.BYTE_LEVEL, "\uff5c".encode()),
        ("\u2581cat", VocabType.BYTE_FALLBACK, b" cat"),
        ("<0x0A>", VocabType.BYTE_FALLBACK, b"\n"),
        ("<0xfF>", VocabType.BYTE_FALLBACK, b"\xff"),
        ("<0xGG>", VocabType.BYTE_FALLBACK, b"<0xGG>"),
        ("<0x0A>>", VocabType.BYTE_FALLBACK, b"<0x0A>>"),
        ("<0x0A>", VocabType.RAW, b"<0x0A>"),
        (b"\xe2\x96\x81a", VocabType.BYTE_FALLBACK, b" a"),
        (b"\xff", VocabType.BYTE_FALLBACK, b"\xff"),
    ],
)
def test_decode_token(token: str | bytes, kind: VocabType, expected: bytes) -> None:
    assert decode_token(token, kind) == expected


def test_byte_level_alphabet_is_a_bijection() -> None:
    kind = VocabType.BYTE_LEVEL
    letters = [chr(c) for c in range(0x180) if len(decode_token(chr(c), kind)) == 1]
    outside = [c for c in letters if ord(c) < 0x100 and not c.isprintable()]
    outside.append(" ")  # literal text, like everything outside the alphabet
    letters = [c for c in letters if c not in outside]
    assert sorted(decode_token(c, kind)[0] for c in letters) == list(range(256))


def test_a_list_says_nothing_of_stop_tokens() -> None:
    assert from_tokens(["a", "<|im_end|>"], special_token_ids=[1]).stop_token_ids == ()


def test_special_end_marks_are_stop_tokens() -> None:
    found = FoundVocabulary([b"a", b"</s>", b"<s>", b"</s>"], VocabType.RAW, "x", {1, 2})
    vocabulary = found.build()
    assert (vocabulary.stop_token_ids, vocabulary.special_token_ids) == ((1,), (2,))
    chosen = found.build(stop_token_ids=[0])
    assert (chosen.stop_token_ids, chosen.special_token_ids) == ((0,), (1, 2))
    assert found.build(stop_token_ids=[]).stop_token_ids == ()


def test_ends_that_are_named_count_without_being_special() -> None:
    found = FoundVocabulary([b"a", b"b"], VocabType.RAW, "x", end_ids={1, 99, -1})
    assert found.build().stop_token_ids == (1,)


def test_id_of_prefers_the_special_token() -> None:
    found = FoundVocabulary([b"x", b"y", b"x"], VocabType.RAW, "x", {2})
    assert (found.id_of("x"), found.id_of("y"), found.id_of("z")) == (2, 1, None)
    assert found.id_of("\ud800") is None


def test_put_fills_the_gap() -> None:
    found = FoundVocabulary([b"a"], VocabType.RAW, "x")
    found.put(3, b"d", is_special=True)
    found.put(0, b"A", is_special=False)
    assert (found.tokens, found.special_token_ids) == ([b"A", b"", b"", b"d"], {3})


def test_message_end_is_no_stop_where_a_generation_end_exists() -> None:
    assert conventional_stop_tokens([b"<|end|>", b"<|return|>"], [0]) == {0}
    assert conventional_stop_tokens([b"<|end|>", b"<|return|>"], [0, 1]) == {1}
    assert "<|end|>" not in END_TOKEN_NAMES


def test_pickling_keeps_the_encoder_of_a_file_only(tmp_path) -> None:
    lost = from_tokens(["a", "</s>"], encode=lambda text: [0] * len(text))
    copy = pickle.loads(pickle.dumps(lost))
    assert copy == lost
    assert (copy.encode, lost.encode("aa") if lost.encode else None) == (None, [0, 0])
    kept = from_tokens(["a"], encode=FileEncoder(load_tokenizer_json, tmp_path / "t.json"))
    encode = pickle.loads(pickle.dumps(kept)).encode
    assert isinstance(encode, FileEncoder)
    assert encode.__reduce__() == (FileEncoder, (load_tokenizer_json, tmp_path / "t.json"))


@pytest.mark.parametrize(
    ("call", "code", "words"),
    [
        (lambda: from_tokens([]), "tokenizer-vocab-size", "has a vocabulary of 0 ids"),
        (
            lambda: from_tokens([b"a"], vocab_size=MAX_VOCAB_SIZE + 1),
            "tokenizer-vocab-size",
            "of 4194305 ids; expected 1 to 4194304",
        ),
        (
            lambda: from_tokens([b"a", b"b"], vocab_size=1),
            "tokenizer-vocab-size",
            "2 tokens of the token list, of which id 1 has text; expected at least 2",
        ),
        (
            lambda: from_tokens([b"a"], stop_token_ids=[1]),
            "tokenizer-id-out-of-range",
            "stop token id 1 is outside the vocabulary of 1 ids",
        ),
        (
            lambda: from_tokens([b"a"], special_token_ids=[-1]),
            "tokenizer-id-out-of-range",
            "special token id -1 is outside",
        ),
        (lambda: from_tokens(["\ud800"]), "tokenizer-bad-token", "not valid Unicode text"),
    ],
)
def test_refusals(call, code: str, words: str) -> None:
    with pytest.raises(TokenizerError) as caught:
        call()
    assert caught.value.code == code
    assert words in str(caught.value)
    assert "expected" in str(caught.value)


def test_vocab_size_may_cut_off_special_and_empty_tokens_only() -> None:
    found = FoundVocabulary([b"a", b"", b"<s>", b"</s>"], VocabType.RAW, "x", {2, 3})
    vocabulary = found.build(vocab_size=1)
    assert (vocabulary.tokens, vocabulary.special_token_ids) == ([b"a"], ())
    assert vocabulary.stop_token_ids == ()
