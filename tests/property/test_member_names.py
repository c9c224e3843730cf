"""Undeclared member names come once, whatever the tokens: mask == accept == reference."""

from __future__ import annotations

import json
import random

import pytest

from core_adapter import CoreMatcher, compile_core
from corpus import compile_source
from oracle import Oracle
from vocabularies import make_vocabulary

ANY_ORDER = {"any_order": True, "strict_mode": False, "max_whitespace_cnt": 1}
SCHEMAS = [
    {"type": "object"},
    {"type": "object", "minProperties": 2, "maxProperties": 3},
    {"type": "object", "additionalProperties": {"type": "object"}},
    {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]},
    {"anyOf": [{"type": "object", "properties": {"a": {"const": 1}}}, {"type": "array"}]},
    {"type": "array", "items": {"type": "object", "required": ["b"]}},
]
NAMES = ["a", "b", "ab", "aba", "", "\\u0061", "a\\u0062", "é", "\\u00e9", "\\u00E9b"]


def random_text(rng: random.Random, depth: int = 0) -> str:
    """An object whose names may repeat."""
    members = []
    for _ in range(rng.randint(0, 4)):
        value = random_text(rng, depth + 1) if depth < 2 and rng.random() < 0.3 else "1"
        space = rng.choice(["", "", "", " "])
        members.append(f'{space}"{rng.choice(NAMES)}":{space}{value}')
    return "{" + ",".join(members) + "}"


def random_vocabulary(rng: random.Random, texts: list[str]):
    """All bytes, and substrings of the texts."""
    chosen = set()
    for _ in range(40):
        text = rng.choice(texts).encode()
        begin = rng.randrange(len(text))
        chosen.add(text[begin : begin + rng.randint(2, 14)])
    bytes_used = [bytes([b]) for b in range(0x20, 0x7F)] + [b"\xc3", b"\xa9"]
    return make_vocabulary("substrings", bytes_used + sorted(chosen))


@pytest.mark.parametrize("seed", range(60))
def test_oracle_with_substrings_as_tokens(seed):
    rng = random.Random(seed)
    texts = [random_text(rng) for _ in range(8)]
    vocabulary = random_vocabulary(rng, texts)
    schema = rng.choice(SCHEMAS)
    options = {**ANY_ORDER, "any_order": rng.random() < 0.7}
    ir = compile_source("json_schema", schema, options)
    compiled = compile_core(ir, vocabulary)
    for text in texts:
        source = f"{json.dumps(schema)} {options}, on the way through {text}"
        oracle = Oracle(ir, vocabulary, source, compiled=compiled)
        oracle.reference = oracle.reference if seed % 6 == 0 else None
        rest = text.encode()
        while rest:
            allowed = oracle.check_step()
            fitting = [t for t in allowed if rest.startswith(oracle._token_text(t) or b"\0")]
            if not fitting:
                break
            token = rng.choice(fitting)
            oracle.accept(token)
            rest = rest[len(vocabulary.tokens[token]) :]
            if rng.random() < 0.1:
                n_steps = rng.randint(1, len(oracle.history))
                redo = oracle.history[-n_steps:]
                oracle.rollback(n_steps)
                for step in redo:
                    oracle.accept(step)
        oracle.check_step()


def test_forks_remember_their_own_names():
    vocabulary = make_vocabulary("bytes", [bytes([b]) for b in range(0x20, 0x7F)])
    ir = compile_source("json_schema", {"type": "object"}, ANY_ORDER)
    first = CoreMatcher.compile(ir, vocabulary)
    assert first.accept_bytes(b'{"a":1,"')
    second = first.fork()
    assert first.accept_bytes(b'x":1,"')
    assert second.accept_bytes(b'y":1,"')
    assert not first.fork().accept_bytes(b'x"')
    assert not first.fork().accept_bytes(b'a"')
    assert first.fork().accept_bytes(b'y"')
    assert not second.fork().accept_bytes(b'y"')
    assert second.fork().accept_bytes(b'x"')
    second.rollback(1)
    assert second.accept_bytes(b'y":1}')
    assert second.is_completed()
