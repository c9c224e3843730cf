"""Masks are shared by objects whose members no token can tell apart, and stay what accept says.

What a token that begins before a comma sees of the members that are there: whether the object may
end, whether another may come, and the names whose beginnings tokens with a comma reach.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from core_adapter import CORE, CoreMatcher, compile_core
from corpus import compile_source
from oracle import Oracle
from vocabularies import make_vocabulary

OPTIONS = {"any_order": True, "strict_mode": False, "max_whitespace_cnt": 1}
NAMES = ["a", "ab", "b", "c", "", "é", 'q"', "\\"]
VALUES: list[Any] = [{"const": 1}, {"type": "string", "maxLength": 2}, {"type": "integer"}]
TEXTS = {0: ["1"], 1: ['""', '"a"', '"\\u0061b"'], 2: ["7", "10"]}


def random_schema(rng: random.Random) -> tuple[dict[str, Any], dict[str, int]]:
    """A schema whose objects tell nothing but names apart, and the kind of each member's value."""
    names = rng.sample(NAMES, rng.randint(1, 5))
    kinds = {name: rng.randrange(len(VALUES)) for name in names}
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: VALUES[kind] for name, kind in kinds.items()},
        "required": [name for name in names if rng.random() < 0.4],
    }
    if rng.random() < 0.7:
        schema["additionalProperties"] = False
    elif rng.random() < 0.5:
        schema["patternProperties"] = {"^x": {"const": 1}}
    if rng.random() < 0.3:
        schema = {"type": "array", "items": schema, "maxItems": 3}
    return schema, kinds


def random_text(rng: random.Random, schema: dict[str, Any], kinds: dict[str, int]) -> str:
    """Members in any order, now and then one too many or one twice."""
    if schema["type"] == "array":
        items = [random_text(rng, schema["items"], kinds) for _ in range(rng.randint(1, 2))]
        return "[" + ",".join(items) + "]"
    names = rng.sample(sorted(kinds), rng.randint(0, len(kinds)))
    if rng.random() < 0.2:
        names.append(rng.choice([*kinds, "x"]))
    members = []
    for name in names:
        spelled = json.dumps(name, ensure_ascii=rng.random() < 0.3)
        value = rng.choice(TEXTS[kinds.get(name, 0)])
        members.append(f"{rng.choice(['', '', ' '])}{spelled}:{value}")
    return "{" + ",".join(members) + "}"


def random_vocabulary(rng: random.Random, texts: list[str]) -> Any:
    """All bytes, and pieces of the texts, many of them from before a comma to behind it."""
    chosen = set()
    for _ in range(40):
        text = rng.choice(texts).encode()
        comma = text.find(b",", rng.randrange(len(text)))
        begin = rng.randrange(len(text))
        if comma >= 0 and rng.random() < 0.7:
            begin = max(0, comma - rng.randint(0, 6))
        chosen.add(text[begin : begin + rng.randint(2, 12)])
    return make_vocabulary("pieces", [bytes([byte]) for byte in range(256)] + sorted(chosen))


@pytest.mark.parametrize("seed", range(80))
def test_mask_is_accept(seed: int) -> None:
    rng = random.Random(seed)
    schema, kinds = random_schema(rng)
    texts = [random_text(rng, schema, kinds) for _ in range(8)]
    vocabulary = random_vocabulary(rng, texts)
    ir = compile_source("json_schema", schema, OPTIONS)
    compiled = compile_core(ir, vocabulary)  # one for all texts: they share masks
    for text in texts:
        source = f"{json.dumps(schema)}, on the way through {text}"
        judged = seed % 8 == 0 and "patternProperties" not in source  # the reference has none
        oracle = Oracle(ir, vocabulary, source, with_reference=judged, compiled=compiled)
        rest = text.encode()
        while rest:
            allowed = oracle.check_step()
            fitting = [t for t in allowed if rest.startswith(vocabulary.tokens[t] or b"\0")]
            if not fitting:
                break
            token = rng.choice(fitting)
            oracle.accept(token)
            rest = rest[len(vocabulary.tokens[token]) :]
        oracle.check_step()


def test_orders_of_members_share_masks() -> None:
    """Ten optional members of two kinds: no mask but those of names depends on which came before.

    Masks at 400 places are computed from the walks that a few orders need.
    """
    names = [f"{letter}{letter}" for letter in "abcdefghij"]
    schema = {
        "type": "object",
        "properties": {name: VALUES[1 + k % 2] for k, name in enumerate(names)},
        "additionalProperties": False,
    }
    vocabulary = make_vocabulary("bytes", [bytes([b]) for b in range(0x20, 0x7F)] + [b',"', b'":'])
    ir = compile_source("json_schema", schema, OPTIONS)
    compiled = compile_core(ir, vocabulary)
    rng = random.Random(1)

    def walk() -> int:
        """Read the members in a random order; masks after each value and each name's colon."""
        before = compiled.counters()["cold_walks"]
        matcher = CoreMatcher(CORE.Matcher(compiled), vocabulary)
        for nth, name in enumerate(rng.sample(names, 5)):
            assert matcher.accept_bytes(("," if nth else "{").encode() + f'"{name}":'.encode())
            matcher.mask()
            assert matcher.accept_bytes(b'"x"' if names.index(name) % 2 == 0 else b"12")
            matcher.mask()
        return compiled.counters()["cold_walks"] - before

    first = sum(walk() for _ in range(4))
    later = sum(walk() for _ in range(40))
    assert first > 0
    assert later <= 2


def test_a_name_that_ends_in_a_token_decides_whether_the_object_may() -> None:
    """Whatever other matchers of the grammar have read before."""
    pieces = [b'd":1}', b'":1}', b'd": 1,"']
    tokens = make_vocabulary("ends of names", [*(bytes([b]) for b in range(256)), *pieces])
    members = {"kind": {}, "a": {}, "b": {}}
    schema = {"type": "object", "properties": members, "required": ["kind", "a"]}
    ir = compile_source("json_schema", schema, OPTIONS)
    texts = ['{"kin', '{"b":1,"kin', '{"b":1,"a":1,"kin', '{"a":1,"kin', '{"kind":1,"', '{"a":1,"']
    for order in (texts, texts[::-1]):
        compiled = compile_core(ir, tokens)
        for text in order:
            matcher = CoreMatcher(CORE.Matcher(compiled), tokens)
            assert matcher.accept_bytes(text.encode())
            accepted = {t for t in range(tokens.vocab_size) if matcher.fork().accept_token(t)}
            assert matcher.allowed_tokens() == accepted, text
