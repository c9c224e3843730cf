"""Tokenizer objects: what wrappers hide, with stand-ins that need no library."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from maskwright import TokenizerError, TokenizerInfo
from maskwright.tokenizers.objects import is_a
from tokenizer_files import (
    CONTROL,
    NORMAL,
    UNKNOWN,
    byte_level_json,
    field,
    sentencepiece_bytes,
)


def stand_in(package: str, class_name: str, **members):
    """An object of a class of this name and package."""
    return type(class_name, (), {"__module__": f"{package}.deep", **members})()


def fast_tokenizer(root=None):
    text = json.dumps(root or byte_level_json())
    return stand_in("tokenizers", "Tokenizer", to_str=lambda _self: text)


def processor():
    pieces = [("<unk>", UNKNOWN), ("</s>", CONTROL), ("\u2581a", NORMAL)]
    data = sentencepiece_bytes(pieces, trainer=field(42, 1))
    return stand_in(
        "sentencepiece",
        "SentencePieceProcessor",
        serialized_model_proto=lambda _self: data,
        encode=lambda _self, text, **_options: [2] * len(text),
    )


def tekkenizer():
    return stand_in(
        "mistral_common",
        "Tekkenizer",
        num_special_tokens=2,
        n_words=4,
        id_to_piece=lambda _self, i: ["<s>", "</s>"][i],
        id_to_byte_piece=lambda _self, i: [b"", b"", b"a", b"\xff"][i],
        encode=lambda _self, _text, bos, eos: [2 + bos + eos],
    )


def encoding():
    special = {"<|endoftext|>": 3}
    return stand_in(
        "tiktoken",
        "Encoding",
        name="small",
        n_vocab=4,
        special_tokens_set=set(special),
        encode_single_token=lambda _self, name: special[name],
        decode_single_token_bytes=lambda _self, i: {0: b"a", 1: b"b", 3: b"<|endoftext|>"}[i],
        encode_ordinary=lambda _self, text: [0] * len(text),
    )


@pytest.mark.parametrize(
    "wrap",
    [
        lambda core: core,
        lambda core: SimpleNamespace(backend_tokenizer=core),
        lambda core: SimpleNamespace(tokenizer=SimpleNamespace(_tokenizer=core)),
        lambda core: SimpleNamespace(tokenizer="a name", transformers_tokenizer=core),
    ],
)
def test_a_fast_tokenizer_in_wrappers(wrap):
    info = TokenizerInfo.from_huggingface(wrap(fast_tokenizer()))
    assert info.decoded_vocab[256:] == [b"ab", b"abc", b"<|im_end|>"]
    assert info.stop_token_ids == [258]
    assert info.has_encoder


def test_what_the_wrapper_knows(tmp_path):
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [5, 6]}')
    wrapper = SimpleNamespace(
        backend_tokenizer=fast_tokenizer(), eos_token_id=7, name_or_path=str(tmp_path)
    )
    assert TokenizerInfo.from_huggingface(wrapper).stop_token_ids == [5, 6, 7, 258]
    chosen = TokenizerInfo.from_huggingface(wrapper, vocab_size=300, stop_token_ids=256)
    assert (chosen.vocab_size, chosen.stop_token_ids) == (300, [256])
    assert chosen.special_token_ids == list(range(258, 300))


def test_mistral_common():
    wrapper = SimpleNamespace(instruct_tokenizer=SimpleNamespace(tokenizer=tekkenizer()))
    for tokenizer in (tekkenizer(), wrapper, SimpleNamespace(mistral=wrapper)):
        info = TokenizerInfo.from_mistral_common(tokenizer)
        assert info == TokenizerInfo.from_huggingface(tokenizer)
        assert info.decoded_vocab == [b"<s>", b"</s>", b"a", b"\xff"]
        assert (info.special_token_ids, info.stop_token_ids) == ([0], [1])
        assert info.encode("x") == [2]
    spm = TokenizerInfo.from_mistral_common(SimpleNamespace(_model=processor()))
    assert spm == TokenizerInfo.from_sentencepiece(processor())


def test_tiktoken_in_a_slow_tokenizer():
    tokenizer = SimpleNamespace(model=encoding(), eos_token_id=1)
    info = TokenizerInfo.from_huggingface(tokenizer)
    assert info.decoded_vocab == [b"a", b"b", b"", b"<|endoftext|>"]
    assert (info.stop_token_ids, info.special_token_ids) == ([1, 3], [2])
    assert TokenizerInfo.from_tiktoken(encoding()).stop_token_ids == [3]
    assert info.encode("xy") == [0, 0]


def test_sentencepiece_in_a_slow_tokenizer():
    added = SimpleNamespace(content="</s>", special=True)
    tokenizer = SimpleNamespace(
        sp_model=processor(),
        get_vocab=lambda: {"</s>": 0, "\u2581a": 1},
        added_tokens_decoder={0: added},
        eos_token_id=0,
        encode=lambda _text, **options: [len(options)],
    )
    info = TokenizerInfo.from_huggingface(tokenizer)
    assert info.decoded_vocab == [b"</s>", b" a"]
    assert info.encode("x") == [2]  # asked to add nothing and to split special tokens


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: TokenizerInfo.from_huggingface(5), "a builtins.int.*a fast tokenizer"),
        (lambda: TokenizerInfo.from_huggingface(None), "a builtins.NoneType"),
        (lambda: TokenizerInfo.from_tiktoken(fast_tokenizer()), "expected a tiktoken.Encoding"),
        (lambda: TokenizerInfo.from_sentencepiece(encoding()), "SentencePieceProcessor: pass"),
        (lambda: TokenizerInfo.from_mistral_common(encoding()), "expected a MistralTokenizer"),
        (lambda: TokenizerInfo.from_llama_cpp("x.gguf"), "is a str; expected a llama_cpp.Llama"),
        (
            lambda: TokenizerInfo.from_huggingface("gpt2"),
            r"is the text 'gpt2'; .* such as transformers\.AutoTokenizer\.from_pretrained",
        ),
        (lambda: TokenizerInfo.from_llama_cpp(0), "is a int; expected a llama_cpp.Llama"),
    ],
)
def test_other_objects_are_refused(call, expected):
    with pytest.raises(TokenizerError, match=expected) as caught:
        call()
    assert caught.value.code == "tokenizer-unsupported-object"


def test_properties_that_raise_are_not_there():
    class Odd:
        tokenizer = fast_tokenizer()

        @property
        def backend_tokenizer(self):
            raise RuntimeError("not loaded")

    assert TokenizerInfo.from_huggingface(Odd()).vocab_size == 259


def test_classes_are_told_by_package_and_name():
    tokenizer = fast_tokenizer()
    assert is_a(tokenizer, ("tokenizers", "Tokenizer"))
    assert not is_a(tokenizer, ("tokenizers", "Encoding"))
    assert not is_a(stand_in("tokenizers_fork", "Tokenizer"), ("tokenizers", "Tokenizer"))
