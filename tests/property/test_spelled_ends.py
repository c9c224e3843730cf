"""Vocabularies that cannot spell every text: tokens are allowed iff others can spell an end behind.

The judge knows no masks: it follows all sequences of tokens with a matcher over single bytes, which
needs no search. The languages are finite (no numbers, no free
whitespace), so it is exact.
"""

from __future__ import annotations

import functools
import random

import numpy as np
import pytest

from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.errors import UnsatisfiableGrammarError
from maskwright.testing import byte_tokenizer_info

UNIQUE = {"type": "array", "uniqueItems": True, "minItems": 2, "maxItems": 3}
SCHEMAS = [
    {"enum": ["ab", "aé", {"a": False}, [None, "ba"], True, None]},
    {**UNIQUE, "items": {"enum": [False, None, "ab", ["a"]]}},
    {
        "type": "object",
        "required": ["ab"],
        "additionalProperties": False,
        "properties": {"a": {"enum": [False, "x"]}, "ab": {"enum": [None, [True, "b"]]}},
    },
    {
        "type": "object",
        "propertyNames": {"enum": ["a", "b", "ab"]},
        "additionalProperties": {"enum": [None, False]},
        "minProperties": 2,
        "maxProperties": 2,
    },
]
TEXTS = [
    '{"a":false}',
    '"aé"',
    '[null,"ba"]',
    "true",
    "false",
    "null",
    '{"ab":null,"a":"x"}',
    '{"b":null,"ab":false}',
    '[false,"ab",["a"]]',
    '"\\u0061b"',
    '{"\\u0062":null,"a":false}',
]


def a_vocabulary(rng: random.Random) -> list[bytes]:
    """Most bytes of the texts as tokens, and pieces of the texts; never empty."""
    used = sorted({byte for text in TEXTS for byte in text.encode()})
    tokens = {bytes([byte]) for byte in used if rng.random() < 0.85}
    for _ in range(rng.randint(3, 10)):
        text = rng.choice(TEXTS).encode()
        at = rng.randrange(len(text))
        tokens.add(text[at : at + rng.randint(1, 4)])
    return sorted(tokens)


class Judge:
    """Says which tokens may follow a text of tokens."""

    def __init__(self, schema, tokens: list[bytes]) -> None:
        compiler = GrammarCompiler(byte_tokenizer_info())
        self._root = GrammarMatcher(compiler.compile_json_schema(schema, **OPTIONS))
        self._tokens = tokens
        self.can_end = functools.cache(self._can_end)

    def _read(self, text: bytes) -> GrammarMatcher | None:
        matcher = self._root.fork()
        return matcher if not text or matcher.accept_string(text) else None

    def _can_end(self, text: bytes) -> bool:
        matcher = self._read(text)
        if matcher is None:
            return False
        return matcher.is_completed() or any(self.can_end(text + token) for token in self._tokens)


OPTIONS = {"strict_mode": False, "any_order": True, "max_whitespace_cnt": 0}


@pytest.mark.parametrize("schema", range(len(SCHEMAS)))
def test_masks_are_what_can_be_spelled_to_an_end(schema):
    rng = random.Random(schema)
    compared = refused = 0
    for _ in range(40):
        tokens = a_vocabulary(rng)
        judge = Judge(SCHEMAS[schema], tokens)
        info = TokenizerInfo([*tokens, b"</s>"], stop_token_ids=len(tokens))
        try:
            compiled = GrammarCompiler(info).compile_json_schema(SCHEMAS[schema], **OPTIONS)
            matcher = GrammarMatcher(compiled)
        except UnsatisfiableGrammarError:
            assert not judge.can_end(b"")
            refused += 1
            continue
        text = b""
        mask = np.zeros((info.vocab_size + 31) // 32, dtype=np.int32)
        while True:
            matcher.fill_next_token_bitmask(mask)
            bits = np.unpackbits(mask.view(np.uint8), bitorder="little")[: len(tokens)]
            wanted = [judge.can_end(text + token) for token in tokens]
            assert [bool(bit) for bit in bits] == wanted, (tokens, text)
            assert [matcher.fork().accept_token(i) for i in range(len(tokens))] == wanted
            compared += 1
            ways = [i for i, allowed in enumerate(wanted) if allowed]
            if not ways:
                assert matcher.is_completed()
                break
            chosen = rng.choice(ways)
            assert matcher.accept_token(chosen)
            text += tokens[chosen]
    assert compared > 100
    assert refused < 40
