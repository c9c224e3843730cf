"""Sampled steps on real vocabularies: for all tokens, mask bit == accept_token on a fork.

The vocabularies are read here by a loader of a few lines (byte-level BPE only), so that the test
does not depend on the product's. The reference is too slow for them; the core is compared with
itself, and with the reference on single bytes.
"""

from __future__ import annotations

import json
import os
import random
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from core_adapter import CoreMatcher, compile_core
from corpus import compile_source
from oracle import Oracle, reference_matcher
from strategies import EFFORT
from vocabularies import TestVocabulary, vocabulary

DATA = os.environ.get("MASKWRIGHT_TEST_DATA")
BYTES = vocabulary("bytes")
N_STEPS = 6 * EFFORT

pytestmark = pytest.mark.data

ORDER = {"any_order": True, "strict_mode": False}
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 20},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z ]+$"}},
        "kind": {"enum": ["man", "woman", "other", None]},
        "friends": {"type": "array", "items": {"$ref": "#"}, "maxItems": 3},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
GRAMMARS = [
    ("json_schema", PERSON, ORDER),
    ("json_schema", PERSON, {"any_order": False, "strict_mode": True}),
    ("json_schema", True, ORDER),
    ("json_schema", {"anyOf": [{"type": "number"}, {"type": "array"}]}, ORDER),
    ("json_schema", {"type": "object", "additionalProperties": {"minLength": 3}}, ORDER),
    ("json_schema", {"items": {"type": "number", "minimum": 0, "multipleOf": 0.01}}, ORDER),
    ("json_schema", {"items": {"enum": [1, 2.5, -40, 1e30]}, "type": "array"}, ORDER),
    ("ebnf", 'root ::= "<t>" [^\\n]+ "</t>" root?', {}),
    ("ebnf", 'root ::= e\ne ::= e [+*/-] e | "(" e ")" | [0-9]+', {}),
    ("regex", r"(?:\S+\s+){0,9}\S+", {}),
    ("regex", r"[\p{L}\p{N} ]{1,40}", {}),
]


def unicode_to_byte():
    """The printable stand-ins of bytes in byte-level BPE (as in GPT-2)."""
    kept = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in kept]
    return {chr(b): b for b in kept} | {chr(256 + i): b for i, b in enumerate(others)}


@cache
def load(name: str) -> TestVocabulary:
    """A vocabulary of the data folder; skips without it."""
    path = Path(DATA or "") / "tokenizers" / name / "tokenizer.json"
    if not DATA or not path.is_file():
        pytest.skip(f"no tokenizer {name} under MASKWRIGHT_TEST_DATA")
    raw = json.loads(path.read_text(encoding="utf-8"))
    table = unicode_to_byte()
    texts = {i: bytes(table[c] for c in t) for t, i in raw["model"]["vocab"].items()}
    texts |= {t["id"]: t["content"].encode() for t in raw["added_tokens"]}
    special = {t["id"] for t in raw["added_tokens"] if t["special"]}
    size = max(texts) + 1
    stops = [i for i, t in texts.items() if t in (b"<|eot_id|>", b"<|end_of_text|>", b"<|im_end|>")]
    tokens = tuple(texts.get(i, b"") for i in range(size))
    return TestVocabulary(name, tokens, size + 29, tuple(sorted(special)), tuple(sorted(stops)))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda g: f"{g[0]}-{str(g[1])[:30]}")
@pytest.mark.parametrize("name", ["llama3_1", "qwen3"])
def test_sampled_steps(name, grammar):
    v = load(name)
    kind, source, options = grammar
    ir = compile_source(kind, source, options)
    oracle = Oracle(ir, v, f"{kind} {json.dumps(source)}", with_reference=False)
    rng = random.Random(f"{name} {source}")
    for _ in range(N_STEPS):
        allowed = oracle.check_step()
        check_bytes(oracle, v, allowed)
        for _ in range(rng.randint(1, 6)):
            choices = sorted(oracle.core.allowed_tokens() - set(v.stop_ids))
            if not choices:
                break
            oracle.accept(pick(rng, choices, v))
        if oracle.history and rng.random() < 0.3:
            oracle.rollback(rng.randint(1, min(4, len(oracle.history))))


def pick(rng, choices, v):
    """Mostly a token that does not only prolong free text."""
    short = [t for t in choices if v.tokens[t][:1] in (b'"', b"}", b"]", b",", b":", b"{", b"[")]
    return rng.choice(short if short and rng.random() < 0.5 else choices)


def check_bytes(oracle, v, allowed):
    """The reference after the same text agrees on the tokens of a single byte."""
    reference = reference_matcher(oracle.ir, BYTES)
    text = oracle.text()
    if len(text) > 300:
        return
    assert text == b"" or reference.accept_bytes(text), (oracle.source, text)
    next_bytes = {BYTES.tokens[t] for t in reference.allowed_tokens() if t not in BYTES.stop_ids}
    got = {v.tokens[t] for t in allowed if t < len(v.tokens) and len(v.tokens[t]) == 1}
    if got != next_bytes & set(v.ids):
        oracle.fail(f"single bytes: core {sorted(got)}, reference {sorted(next_bytes)}")


@pytest.mark.parametrize("name", ["llama3_1", "qwen3"])
def test_warm_masks_are_cold_masks(name):
    v = load(name)
    ir = compile_source("json_schema", PERSON, ORDER)
    warm = compile_core(ir, v)
    text = b'{"name": "Ann", "age": 31, "tags": ["a b"], "friends": []}'
    for n_bytes in (0, 2, 9, 14, 25, 33, 50, len(text)):
        cold = CoreMatcher.of_compiled(compile_core(ir, v), v)
        again = CoreMatcher.of_compiled(warm, v)
        for matcher in (cold, again):
            assert n_bytes == 0 or matcher.accept_bytes(text[:n_bytes])
        assert np.array_equal(cold.words(), again.words()), text[:n_bytes]
