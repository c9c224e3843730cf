"""The reader of ``tekken.json`` on small files made here."""

from __future__ import annotations

import pytest

from maskwright.errors import TokenizerError
from maskwright.tokenizers import VocabType
from maskwright.tokenizers.tekken import is_tekken, read_tekken
from tokenizer_files import tekken_json

TOKENS = [b"a", b"\xff", b" b", "\u0120".encode()]


def test_special_tokens_come_first():
    named = [{"rank": 1, "token_str": "</s>"}, {"rank": 0, "token_str": "[INST]"}]
    vocabulary = read_tekken(tekken_json(TOKENS, 3, special_tokens=named), "x").build()
    assert vocabulary.tokens == [b"[INST]", b"</s>", b"<SPECIAL_2>", *TOKENS]
    assert (vocabulary.special_token_ids, vocabulary.stop_token_ids) == ((0, 2), (1,))
    assert vocabulary.vocab_type is VocabType.RAW


def test_early_files_list_no_special_tokens():
    vocabulary = read_tekken(tekken_json(TOKENS, 22), "x").build()
    assert vocabulary.tokens[:3] == [b"<unk>", b"<s>", b"</s>"]
    assert vocabulary.tokens[19:23] == [b"[TOOL_CONTENT]", b"<SPECIAL_20>", b"<SPECIAL_21>", b"a"]
    assert vocabulary.stop_token_ids == (2,)


def test_ranks_beyond_the_vocabulary_are_no_tokens():
    root = tekken_json(TOKENS, 1, special_tokens=[])
    root["config"]["default_vocab_size"] = 3
    assert read_tekken(root, "x").tokens == [b"<SPECIAL_0>", b"a", b"\xff"]


def test_is_tekken():
    assert is_tekken(tekken_json(TOKENS, 1))
    assert not is_tekken({"model": {}})
    assert not is_tekken({"vocab": {}, "config": {}})


def _changed(**config):
    root = tekken_json(TOKENS, 1, special_tokens=[])
    root["config"].update(config)
    return root


def _special(*entries, n_special=1):
    return tekken_json(TOKENS, n_special, special_tokens=list(entries))


@pytest.mark.parametrize(
    ("root", "words"),
    [
        (_changed(default_num_special_tokens=None), "is None, not an integer"),
        (_changed(default_num_special_tokens=-1), "is -1, not an integer from 0 to 65536"),
        (_changed(default_num_special_tokens=10**9), "not an integer from 0 to 65536"),
        (_changed(default_vocab_size=True), "is True, not an integer"),
        (_changed(default_vocab_size=10**9), "not an integer from 0 to 4194304"),
        (_changed(default_vocab_size=1), "1 tokens are not more than its 1 special"),
        (_special(5), "must have a token_str"),
        (_special({"rank": 0}), "must have a token_str"),
        (_special({"rank": 1, "token_str": "x"}), "'x' has the id 1 of no or another token"),
        (
            _special({"rank": 0, "token_str": "x"}, {"rank": 0, "token_str": "y"}, n_special=2),
            "'y' has the id 0 of no or another token",
        ),
        (tekken_json(TOKENS, 3, special_tokens={}), "special_tokens must be an array"),
        ({**_changed(), "vocab": [1]}, "each entry of vocab must be an object"),
        ({**_changed(), "vocab": [{"rank": "0"}]}, "is '0', not an integer"),
        ({**_changed(), "vocab": [{"rank": 0, "token_bytes": "!"}]}, "rank 0 is not base64"),
        ({**_changed(), "vocab": [{"rank": 0, "token_bytes": "\u00e9"}]}, "rank 0 is not base64"),
        ({**_changed(), "vocab": [{"rank": 0, "token_bytes": 5}]}, "rank 0 is not base64"),
    ],
)
def test_damaged(root, words):
    with pytest.raises(TokenizerError, match=words) as caught:
        read_tekken(root, "x")
    assert caught.value.code == "tokenizer-malformed"
