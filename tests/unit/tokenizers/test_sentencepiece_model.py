"""The SentencePiece reader on small models written here, against the library where it is there."""

from __future__ import annotations

import pytest

from maskwright.errors import TokenizerError
from maskwright.tokenizers import VocabType
from maskwright.tokenizers.sentencepiece_model import read_sentencepiece, read_wrapped_model
from tokenizer_files import (
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    byte_pieces,
    field,
    sentencepiece_bytes,
    varint,
)

PIECES = [
    ("<unk>", UNKNOWN),
    ("<s>", CONTROL),
    ("</s>", CONTROL),
    ("<dead>", UNUSED),
    ("\u2581<tag>", USER_DEFINED),
    *byte_pieces(),
    ("\u2581a", NORMAL),
    ("\u2581", NORMAL),
    ("a", NORMAL),
    ("<0x41>x", NORMAL),
]
BYTE_FALLBACK = field(35, 1)


def test_pieces_by_type():
    data = sentencepiece_bytes(PIECES, trainer=BYTE_FALLBACK)
    vocabulary = read_sentencepiece(data, "x").build()
    assert vocabulary.tokens == [
        b"<unk>",
        b"<s>",
        b"</s>",
        b"<dead>",
        b" <tag>",
        *(bytes((byte,)) for byte in range(256)),
        b" a",
        b" ",
        b"a",
        b"<0x41>x",
    ]
    assert vocabulary.vocab_type is VocabType.BYTE_FALLBACK
    assert (vocabulary.special_token_ids, vocabulary.stop_token_ids) == ((0, 1, 3), (2,))
    assert vocabulary.add_prefix_space


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, True),
        ({"normalizer": field(3, 1)}, True),
        ({"normalizer": field(3, 0)}, False),
        ({"trainer": field(24, 1)}, False),  # behind the text
    ],
)
def test_prefix_space(settings, expected):
    found = read_sentencepiece(sentencepiece_bytes(PIECES, **settings), "x")
    assert found.add_prefix_space is expected


@pytest.mark.parametrize(("end_id", "stops"), [(1, (1, 2)), (-1, (2,)), (262, (2,)), (9**9, (2,))])
def test_the_end_that_the_model_names(end_id, stops):
    # "</s>" counts by convention; an id that is no control piece is not believed.
    data = sentencepiece_bytes(PIECES, trainer=field(42, end_id))
    assert read_sentencepiece(data, "x").build().stop_token_ids == stops


def test_unknown_fields_are_skipped():
    extra = field(99, b"zzz") + varint(98 << 3 | 1) + bytes(8) + varint(97 << 3 | 5) + bytes(4)
    data = sentencepiece_bytes([("a", NORMAL)]) + extra + field(96, 5)
    assert read_sentencepiece(data, "x").tokens == [b"a"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "it has no pieces"),
        (field(1, 5), "a number stands where a message"),
        (b"\x0a\x05abc", "longer than what is left"),
        (b"\x0a", "ends within a number"),
        (b"\x0a" + b"\xff" * 11, "longer than 64 bits"),
        (b"\x0b", "unknown wire type 3"),
        (b"\x02\x00", "longer than what is left"),  # field number 0
        (field(1, field(1, b"\xff")), "piece 0 has no text in UTF-8"),
        (field(1, field(1, 7)), "piece 0 has no text in UTF-8"),
        (field(1, field(1, b"a") + field(3, 9)), "or an unknown type"),
        (field(1, field(1, b"a") + field(3, b"x")), "or an unknown type"),
        (field(1, field(1, b"a")) + field(2, 5), "a number stands where a message"),
    ],
)
def test_damaged(data, words):
    with pytest.raises(TokenizerError, match=words) as caught:
        read_sentencepiece(data, "x")
    assert caught.value.code == "tokenizer-malformed"


def test_denormalizer_rules_are_refused():
    data = sentencepiece_bytes(PIECES, denormalizer=field(2, b"rules"))
    with pytest.raises(TokenizerError, match="rewrites its text after decoding") as caught:
        read_sentencepiece(data, "x")
    assert caught.value.code == "tokenizer-unsupported-kind"
    read_sentencepiece(sentencepiece_bytes(PIECES, denormalizer=field(1, b"name")), "x")


def test_agrees_with_the_library():
    library = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    data = sentencepiece_bytes(PIECES, trainer=field(3, 1) + BYTE_FALLBACK)
    processor = library.SentencePieceProcessor(model_proto=data)
    found = read_sentencepiece(processor.serialized_model_proto(), "x")
    for token_id, token in enumerate(found.tokens):
        is_special = (
            processor.is_control(token_id)
            or processor.is_unknown(token_id)
            or processor.is_unused(token_id)
        )
        assert (token_id in found.special_token_ids) is is_special
        if not is_special and token.isascii():
            assert processor.decode([263, token_id]).encode() == b"a" + token
    ids = processor.encode("a \u00e9 a")
    assert b"".join(found.tokens[i] for i in ids) == " a \u00e9 a".encode()


class Added:
    def __init__(self, content, special):
        self.content, self.special = content, special


class SlowTokenizer:
    """Numbers the pieces in its own way, as some tokenizers of transformers do."""

    eos_token_id = 1

    def __init__(self):
        self.added_tokens_decoder = {
            0: Added("<pad>", True),
            1: Added("</s>", True),
            7: Added("<tool>", False),
        }

    def get_vocab(self):
        return {"<pad>": 0, "</s>": 1, "\u2581a": 2, "<0x0A>": 3, "<s>": 4, "<own>": 6, "<tool>": 7}


def test_a_wrapper_with_numbers_of_its_own():
    found = read_wrapped_model(sentencepiece_bytes(PIECES), "x", SlowTokenizer())
    expected = [b"<pad>", b"</s>", b" a", b"\n", b"<s>", b"", b"<own>", b"<tool>"]
    assert found.tokens == expected
    assert found.special_token_ids == {0, 1, 4, 6}
