from __future__ import annotations

import pytest
from benchmarks import synthetic_tokenizer, tokens

SMALL = 3000


@pytest.fixture(scope="module")
def model():
    return synthetic_tokenizer.build(SMALL)


def test_byte_alphabet_is_a_bijection_as_the_format_says():
    alphabet = tokens.byte_alphabet()
    assert len(set(alphabet.values())) == 256
    assert (alphabet[0x20], alphabet[0x0A], alphabet[0x41]) == ("Ġ", "Ċ", "A")


def test_synthetic_vocabulary_is_the_same_for_a_seed(model):
    assert synthetic_tokenizer.build(SMALL) == model
    assert synthetic_tokenizer.build(SMALL, seed=18) != model


def test_synthetic_tokens_are_merges_of_two_earlier_ones(model):
    ids = tokens.token_ids(model)
    assert sorted(ids.values()) == list(range(SMALL))
    vocab = model["model"]["vocab"]
    for left, right in model["model"]["merges"]:
        assert max(vocab[left], vocab[right]) < vocab[left + right]


def test_greedy_encoder_takes_the_longest_token():
    vocab = [(char, byte) for byte, char in tokens.byte_alphabet().items()]
    encode = tokens.greedy_encoder([*vocab, ("tr", 300), ("true", 301), ("Ġtrue", 302)])
    assert encode("true trutrue") == [301, 32, 300, ord("u"), 301]
    assert encode(" trueé") == [302, 0xC3, 0xA9]


def test_greedy_encoder_refuses_a_vocabulary_that_lacks_bytes():
    with pytest.raises(SystemExit, match="byte-level"):
        tokens.greedy_encoder([("a", 0)])


def test_greedy_encoder_spells_the_text(model):
    spelled = {i: t for t, i in model["model"]["vocab"].items()}
    bytes_of = {char: byte for byte, char in tokens.byte_alphabet().items()}
    text = '{"né": [1, 22, 333, true], "日本": "🎈"}'
    ids = tokens.greedy_encoder(model["model"]["vocab"].items())(text)
    decoded = b"".join(bytes([bytes_of[c]]) for i in ids for c in spelled[i])
    assert decoded.decode() == text
    assert len(ids) < len(text.encode())


@pytest.mark.parametrize(
    ("config", "expected"),
    [('{"eos_token": "<|endoftext|>"}', 1), ('{"eos_token": {"content": "a"}}', 0), (None, 1)],
)
def test_stop_token_comes_from_the_configuration_or_by_name(tmp_path, config, expected):
    text = '{"model": {"vocab": {"a": 0}}, "added_tokens": [{"id": 1, "content": "<|endoftext|>"}]}'
    (tmp_path / "tokenizer.json").write_text(text, encoding="utf-8")
    if config is not None:
        (tmp_path / "tokenizer_config.json").write_text(config, encoding="utf-8")
    found = tokens.read_tokenizer(tmp_path / "tokenizer.json", "small")
    assert (found.stop_token_id, found.vocab_size) == (expected, 2)
