"""Metadata and the stored form: what is written, what comes back, what is refused."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from maskwright import TokenizerInfo, VocabType
from maskwright.errors import DeserializeFormatError, DeserializeVersionError, InvalidJSONError

TOKENS = [b"a", b"\xff\xfe", "\u00e9\u2028".encode(), b"", b"</s>", b"<s>", b'"\\\x00']


def example() -> TokenizerInfo:
    return TokenizerInfo(
        TOKENS, vocab_size=9, stop_token_ids=4, special_token_ids=[5], add_prefix_space=True
    )


def test_metadata_are_in_this_order_and_compact():
    info = TokenizerInfo(["a"] * 8, stop_token_ids=[2])
    assert info.dump_metadata() == (
        '{"vocab_type":0,"vocab_size":8,"add_prefix_space":false,"stop_token_ids":[2]}'
    )
    assert example().dump_metadata() == (
        '{"vocab_type":0,"vocab_size":9,"add_prefix_space":true,"stop_token_ids":[4],'
        '"special_token_ids":[5]}'
    )


@pytest.mark.parametrize(
    "make",
    [
        example,
        lambda: TokenizerInfo(["a", "", "</s>"], stop_token_ids=2, special_token_ids=[1]),
    ],
)
def test_metadata_and_tokens_give_the_object(make):
    info = make()
    same = TokenizerInfo.from_vocab_and_metadata(info.decoded_vocab, info.dump_metadata())
    assert same == info
    assert same.dump_metadata() == info.dump_metadata()


def test_metadata_with_encoded_tokens():
    tokens = ["\u2581a", "<0x0A>", "</s>"]
    info = TokenizerInfo(tokens, VocabType.BYTE_FALLBACK, stop_token_ids=2)
    same = TokenizerInfo.from_vocab_and_metadata(tokens, info.dump_metadata())
    assert (same, same.vocab_type) == (info, VocabType.BYTE_FALLBACK)


def test_everything_survives():
    info = example()
    stored = TokenizerInfo.deserialize_json(info.serialize_json())
    for same in (stored, pickle.loads(pickle.dumps(info)), copy.copy(info), copy.deepcopy(info)):
        assert same == info
        assert hash(same) == hash(info)
        assert same.fingerprint == info.fingerprint
        assert same.decoded_vocab == TOKENS
        assert same.special_token_ids == [3, 5, 7, 8]
        assert same.prepend_space_in_tokenization is True
        assert same.dump_metadata() == info.dump_metadata()
        assert same.serialize_json() == info.serialize_json()
    assert not stored.has_encoder


def test_the_stored_form():
    root = json.loads(example().serialize_json())
    assert list(root) == [
        "format",
        "version",
        "vocab_type",
        "vocab_size",
        "add_prefix_space",
        "stop_token_ids",
        "special_token_ids",
        "tokens",
    ]
    assert (root["format"], root["version"]) == ("maskwright-tokenizer-info", 1)
    assert root["tokens"][:2] == ["a", "\u00ff\u00fe"]


def changed(**changes):
    root = json.loads(example().serialize_json())
    root.update(changes)
    return json.dumps({name: value for name, value in root.items() if value != "absent"})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "it is a list, expected an object"),
        (changed(format="x"), "the field 'format' is 'x'"),
        (changed(format="absent"), "the field 'format' is None"),
        (changed(tokens="absent"), "the field 'tokens' is missing"),
        (changed(more=1), "the field 'more' is unknown"),
        (changed(vocab_type=3), "'vocab_type' is 3, expected 0, 1 or 2"),
        (changed(vocab_type=True), "'vocab_type' is True"),
        (changed(vocab_size=0), "'vocab_size' is 0, expected 1 to 4194304"),
        (changed(vocab_size=10**12), "'vocab_size' is 1000000000000"),
        (changed(vocab_size="9"), "'vocab_size' is '9'"),
        (changed(add_prefix_space=1), "'add_prefix_space' is 1"),
        (changed(stop_token_ids=4), "'stop_token_ids' is no list"),
        (changed(stop_token_ids=[9]), "'stop_token_ids' has 9, expected 0 to 8"),
        (changed(special_token_ids=[-1]), "'special_token_ids' has -1"),
        (changed(special_token_ids=[False]), "'special_token_ids' has False"),
        (changed(special_token_ids=[4]), "both a special and a stop token"),
        (changed(tokens={}), "'tokens' is no list of at most 9 tokens"),
        (changed(tokens=["a"] * 10), "'tokens' is no list of at most 9 tokens"),
        (changed(tokens=["a", 1]), "token 1 is no string"),
        (changed(tokens=["a", "\u0100"]), "token 1 has a character beyond U\\+00FF"),
    ],
)
def test_refusals(text, words):
    with pytest.raises(DeserializeFormatError, match=words) as caught:
        TokenizerInfo.deserialize_json(text)
    assert caught.value.code == "deserialize-format"


@pytest.mark.parametrize("version", [2, 0, "1", None, True])
def test_other_versions(version):
    with pytest.raises(DeserializeVersionError, match="expected 1: serialise it again") as caught:
        TokenizerInfo.deserialize_json(changed(version=version))
    assert caught.value.code == "deserialize-version"


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"a": 1' + "0" * 5000])
def test_no_json(text):
    for read in (
        TokenizerInfo.deserialize_json,
        lambda text: TokenizerInfo.from_vocab_and_metadata(["a"], text),
    ):
        with pytest.raises(InvalidJSONError, match="is not valid JSON") as caught:
            read(text)
        assert caught.value.code == "invalid-json"
    with pytest.raises(TypeError, match="is a bytes; expected str"):
        TokenizerInfo.deserialize_json(b"{}")


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ("{}", "the field 'add_prefix_space' is missing"),
        (
            '{"vocab_type":0,"vocab_size":1,"add_prefix_space":false,"stop_token_ids":[],"x":1}',
            "the field 'x' is unknown",
        ),
        (
            '{"vocab_type":0,"vocab_size":1,"add_prefix_space":false,"stop_token_ids":[1]}',
            "has 1, expected 0 to 0",
        ),
    ],
)
def test_metadata_are_checked(metadata, words):
    with pytest.raises(DeserializeFormatError, match=words):
        TokenizerInfo.from_vocab_and_metadata(["a"], metadata)
