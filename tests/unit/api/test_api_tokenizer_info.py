"""TokenizerInfo: decoding, sizes, special and stop tokens, equality."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

from maskwright import GrammarCompiler, GrammarMatcher, TokenizerError, TokenizerInfo, VocabType


def test_values_of_the_vocabulary_types():
    assert [(kind.name, kind.value) for kind in VocabType] == [
        ("RAW", 0),
        ("BYTE_FALLBACK", 1),
        ("BYTE_LEVEL", 2),
    ]


@pytest.mark.parametrize(
    ("kind", "tokens", "decoded"),
    [
        (VocabType.RAW, [b"\xff", b"a"], [b"\xff", b"a"]),
        (VocabType.RAW, ["\u00e9", "\u2581", "<0x0A>"], [b"\xc3\xa9", b"\xe2\x96\x81", b"<0x0A>"]),
        (
            VocabType.BYTE_FALLBACK,
            ["\u2581a\u2581", "<0x0A>", "<0xff>", "<0x0A>b"],
            [b" a ", b"\n", b"\xff", b"<0x0A>b"],
        ),
        (VocabType.BYTE_FALLBACK, ["\u2581".encode()], [b" "]),
        (VocabType.BYTE_LEVEL, ["\u0120a", "\u010a", "\u00c3\u00a9"], [b" a", b"\n", b"\xc3\xa9"]),
        (VocabType.BYTE_LEVEL, ["\u0120".encode(), "\u65e5"], [b" ", "\u65e5".encode()]),
    ],
)
def test_decoding(kind, tokens, decoded):
    info = TokenizerInfo(tokens, kind)
    assert info.decoded_vocab == decoded
    assert info.vocab_type is kind


def test_every_byte_of_the_byte_level_alphabet_decodes():
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    alphabet = {byte: chr(byte) for byte in printable}
    alphabet |= {byte: chr(0x100 + place) for place, byte in enumerate(others)}
    info = TokenizerInfo([alphabet[byte] for byte in range(256)], VocabType.BYTE_LEVEL)
    assert info.decoded_vocab == [bytes((byte,)) for byte in range(256)]


def test_a_type_may_be_given_by_value():
    assert TokenizerInfo(["a"], 1).vocab_type is VocabType.BYTE_FALLBACK
    with pytest.raises(TokenizerError, match=r"vocab_type is 9; expected 0 \(RAW\)") as caught:
        TokenizerInfo(["a"], 9)
    assert caught.value.code == "tokenizer-vocab-type"


def test_properties():
    info = TokenizerInfo(
        ["a", "", "</s>", "<s>", "a"],
        vocab_size=8,
        stop_token_ids=[6, 2, 2],
        add_prefix_space=True,
        special_token_ids=[3],
    )
    assert info.vocab_size == 8
    assert info.stop_token_ids == [2, 6]
    assert info.special_token_ids == [1, 3, 5, 7]
    assert info.add_prefix_space is True
    assert info.decoded_vocab == [b"a", b"", b"</s>", b"<s>", b"a"]
    assert repr(info) == "TokenizerInfo(vocab_type=RAW, vocab_size=8, stop_token_ids=[2, 6])"


def test_defaults():
    info = TokenizerInfo(["a", "</s>"])
    assert (info.vocab_size, info.stop_token_ids, info.special_token_ids) == (2, [], [])
    assert info.add_prefix_space is False


def test_returned_lists_are_copies():
    info = TokenizerInfo(["a", "b"], stop_token_ids=1)
    info.decoded_vocab.clear()
    info.stop_token_ids.clear()
    assert (len(info.decoded_vocab), info.stop_token_ids) == (2, [1])


@pytest.mark.parametrize("stop", [2, [2], (2,), {2}, np.int64(2), np.array([2]), iter([2])])
def test_stop_tokens_in_any_form(stop):
    assert TokenizerInfo(["a", "b", "c"], stop_token_ids=stop).stop_token_ids == [2]


def _decoding_info():
    tokens = [b"caf", b"\xc3", b"\xa9", b"<s>", b"</s>", b"", "\u2581".encode()]
    return TokenizerInfo(tokens, stop_token_ids=4, special_token_ids=[3], vocab_size=9)


@pytest.mark.parametrize(
    "ids",
    [
        [0, 1, 2],
        (0, 1, 2),
        iter([0, 1, 2]),
        [np.int64(0), np.uint8(1), 2],
        range(3),
        np.arange(3, dtype=np.int32),
        np.arange(3, dtype=np.uint64),
        np.arange(6)[::2] // 2,
    ],
)
def test_ids_to_decode_in_any_form(ids):
    assert _decoding_info().decode(ids) == "caf\u00e9".encode()


def test_ids_to_decode_of_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for dtype in (torch.int32, torch.int64, torch.uint8):
        assert _decoding_info().decode(torch.arange(3, dtype=dtype)) == "caf\u00e9".encode()
    assert _decoding_info().decode(torch.tensor(0)) == b"caf"
    with pytest.raises(TypeError, match="a token id is a float; expected an int"):
        _decoding_info().decode(torch.zeros(2))


def test_decoding_of_ids_one_by_one():
    info = _decoding_info()
    assert [info.decode(i) for i in range(9)] == [
        *info.decoded_vocab[:3],
        *[b""] * 3,
        info.decoded_vocab[6],
        b"",
        b"",
    ]
    assert info.decode(np.int32(1)) == info.decode(np.array(1)) == b"\xc3"
    assert info.decode([]) == info.decode(np.array([], dtype=np.int64)) == b""
    spelled = [info.decode([i], skip_special_tokens=False) for i in range(9)]
    assert spelled == [*info.decoded_vocab, b"", b""]


def test_decoding_as_text():
    info = _decoding_info()
    assert info.decode_text([3, 0, 1, 2, 4]) == "caf\u00e9"
    assert info.decode_text([3, 0, 4], skip_special_tokens=False) == "<s>caf</s>"
    assert info.decode_text([0, 1]) == "caf\ufffd"
    assert info.decode_text(1, errors="ignore") == ""
    with pytest.raises(UnicodeDecodeError):
        info.decode_text([0, 1], errors="strict")


def test_what_is_encoded_is_decoded():
    letters = "abc\u00e9"
    info = TokenizerInfo(list(letters), encoder=lambda text: [letters.index(c) for c in text])
    assert info.decode_text(info.encode("caba\u00e9")) == "caba\u00e9"
    assert pickle.loads(pickle.dumps(info)).decode([0]) == b"a"


@pytest.mark.parametrize("wrong", [9, -1, -100, 2**70])
def test_ids_to_decode_outside_the_vocabulary(wrong):
    for ids in (wrong, [0, wrong, 1]):
        with pytest.raises(TokenizerError) as caught:
            _decoding_info().decode(ids)
        assert caught.value.code == "tokenizer-id-out-of-range"
        assert str(caught.value) == (
            f"token id {wrong} is outside the vocabulary of 9 ids; expected 0 to 8"
        )


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (True, "a token id is True, a bool; expected an int"),
        ([0, False], "a token id is False, a bool; expected an int"),
        (np.array([True]), "a token id is True, a bool; expected an int"),
        (1.0, "a token id is a float; expected an int"),
        (np.array([1.0]), "a token id is a float; expected an int"),
        ([[0, 1]], "a token id is a list; expected an int"),
        (np.array([[0, 1]]), "a token id is a list; expected an int"),
        (None, "a token id is a NoneType; expected an int"),
        ({"input_ids": [0]}, "a token id is a str; expected an int"),
        ("caf", "token_ids is a str; expected ints"),
        (b"\x00", "token_ids is a bytes; expected ints"),
        (bytearray(1), "token_ids is a bytearray; expected ints"),
        (memoryview(b"\x00\x01"), "token_ids is a memoryview; expected ints"),
    ],
)
def test_what_is_no_id_to_decode(ids, message):
    for decode in (_decoding_info().decode, _decoding_info().decode_text):
        with pytest.raises(TypeError) as caught:
            decode(ids)
        assert str(caught.value) == message


@pytest.mark.parametrize("name", ["nope", "", "a\0b", "\ud800", "xmlcharrefreplace", "namereplace"])
@pytest.mark.parametrize("ids", [[0], [1]])  # a text, half a character
def test_a_handler_of_errors_is_checked_at_once(name, ids):
    with pytest.raises(ValueError, match="expected a handler of decoding errors") as caught:
        _decoding_info().decode_text(ids, errors=name)
    assert str(caught.value) == (
        f'errors is {name!r}; expected a handler of decoding errors, such as "strict", "ignore" or '
        '"replace"'
    )


def test_a_handler_of_errors_is_a_str():
    with pytest.raises(TypeError, match=r"^errors is None; expected a str$"):
        _decoding_info().decode_text([0], errors=None)


@pytest.mark.parametrize("name", ["backslashreplace", "surrogateescape", "surrogatepass"])
def test_other_handlers_of_errors(name):
    assert _decoding_info().decode_text([0], errors=name) == "caf"


def test_special_and_stop_tokens_are_no_text():
    info = TokenizerInfo(["a", "a", "a"], stop_token_ids=1, special_token_ids=[2], vocab_size=4)
    matcher = GrammarMatcher(GrammarCompiler(info).compile_grammar('root ::= "a"'))
    assert [matcher.fork().accept_token(i) for i in range(4)] == [True, False, False, False]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stop_token_ids": True}, "a token id is True, a bool; expected an int"),
        ({"stop_token_ids": [0, False]}, "a token id is False, a bool; expected an int"),
        ({"special_token_ids": [True]}, "a token id is True, a bool; expected an int"),
        (
            {"encoder": 5},
            "encoder is a int; expected a function from a text to the ids of its tokens, or None",
        ),
    ],
)
def test_wrong_options(arguments, message):
    with pytest.raises(TypeError) as caught:
        TokenizerInfo(["a", "b"], **arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ({"vocab_size": 1}, "tokenizer-vocab-size", "smaller than the 2 tokens"),
        ({"vocab_size": -5}, "tokenizer-vocab-size", "of -5 ids; expected 1 to"),
        ({"vocab_size": 1 << 30}, "tokenizer-vocab-size", "expected 1 to"),
        ({"stop_token_ids": 2}, "tokenizer-id-out-of-range", "stop token id 2 .* of 2 ids"),
        ({"stop_token_ids": [0, -1]}, "tokenizer-id-out-of-range", "stop token id -1"),
        ({"stop_token_ids": 2**70}, "tokenizer-id-out-of-range", "stop token id"),
        ({"special_token_ids": [9]}, "tokenizer-id-out-of-range", "special token id 9"),
    ],
)
def test_refusals(arguments, code, words):
    with pytest.raises(TokenizerError, match=words) as caught:
        TokenizerInfo(["a", "b"], **arguments)
    assert caught.value.code == code


def test_an_empty_vocabulary_is_refused():
    with pytest.raises(TokenizerError, match="a vocabulary of 0 ids") as caught:
        TokenizerInfo([])
    assert caught.value.code == "tokenizer-vocab-size"


def test_a_token_that_is_no_text_is_refused():
    with pytest.raises(TokenizerError, match="lone surrogates") as caught:
        TokenizerInfo(["a", "\ud800"])
    assert caught.value.code == "tokenizer-bad-token"


@pytest.mark.parametrize(
    "arguments",
    [
        (["a", 3],),
        ("ab",),
        (b"ab",),
        (None,),
    ],
)
def test_wrong_types(arguments):
    with pytest.raises(TypeError):
        TokenizerInfo(*arguments)
    with pytest.raises(TypeError):
        TokenizerInfo(["a"], stop_token_ids="0")
    with pytest.raises(TypeError):
        TokenizerInfo(["a"], stop_token_ids=0.0)


def test_equality_is_by_what_masks_depend_on():
    base = TokenizerInfo([b"a", b"\n", b"</s>"], stop_token_ids=2)
    same = [
        TokenizerInfo(["a", "<0x0A>", "</s>"], VocabType.BYTE_FALLBACK, stop_token_ids=2),
        TokenizerInfo([b"a", "\n", "</s>", ""][:3], stop_token_ids=[2], add_prefix_space=True),
        base,
    ]
    for other in same:
        assert other == base
        assert hash(other) == hash(base)
        assert other.fingerprint == base.fingerprint
    different = [
        TokenizerInfo(["a", "\n", "</s>"]),
        TokenizerInfo(["a", "\n", "</s>"], stop_token_ids=[1, 2]),
        TokenizerInfo(["a", "\n", "</s>"], stop_token_ids=2, vocab_size=4),
        TokenizerInfo(["a\n", "", "</s>"], stop_token_ids=2),
        TokenizerInfo(["a", "\n", "</s>"], stop_token_ids=2, special_token_ids=[0]),
        TokenizerInfo(["a", "\n", "<end>"], stop_token_ids=2),  # spelled otherwise
    ]
    assert len({other.fingerprint for other in different}) == len(different)
    assert all(other != base for other in different)
    assert base != "a"


def test_from_file(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(
        json.dumps(
            {
                "model": {"type": "BPE", "vocab": {"\u0120a": 0, "b": 1}, "merges": []},
                "decoder": {"type": "ByteLevel"},
                "added_tokens": [{"id": 2, "content": "<|endoftext|>", "special": True}],
            }
        )
    )
    info = TokenizerInfo.from_file(path)
    assert info.vocab_type is VocabType.BYTE_LEVEL
    assert info.decoded_vocab == [b" a", b"b", b"<|endoftext|>"]
    assert (info.stop_token_ids, info.special_token_ids, info.vocab_size) == ([2], [], 3)
    assert TokenizerInfo.from_file(tmp_path, stop_token_ids=1).stop_token_ids == [1]
    assert TokenizerInfo.from_file(str(path), vocab_size=64).vocab_size == 64
    with pytest.raises(TokenizerError) as caught:
        TokenizerInfo.from_file(tmp_path / "absent.gguf")
    assert caught.value.code == "tokenizer-unreadable"


def test_a_real_vocabulary(test_data):
    info = TokenizerInfo.from_file(test_data / "tokenizers" / "llama3_1" / "tokenizer.json")
    assert info.vocab_size == 128_256
    assert 128_009 in info.stop_token_ids
    assert info.decoded_vocab[220] == b" "
