"""Steps back, resets and forks in any order, against matchers that only ever went forward.

The same also bounds memory, counted in bytes that the matcher says it holds and never in time: what
was taken back is dropped where nothing else needs it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from core_adapter import CoreMatcher, compile_core
from corpus import compile_source
from maskwright.ir import Builder
from strategies import EFFORT
from vocabularies import TestVocabulary, make_vocabulary, vocabulary

JSON = vocabulary("json")
AB = vocabulary("ab")
#: Not every byte is a token, so masks need a search over the tokens.
SPARSE = make_vocabulary("sparse", [b"ab", b"ba", b"b", b"aab", b"bab"])
OPEN = {"any_order": True, "strict_mode": False, "max_whitespace_cnt": 2}


def _token_sets() -> bytes:
    builder = Builder()
    root = builder.rule("root")
    choice = builder.choice([builder.token_set([AB.special_ids[1]]), builder.literal(b"ab")])
    builder.define(root, builder.repeat(choice, 1, 6))
    return builder.finish(root)


GRAMMARS: dict[str, tuple[bytes, TestVocabulary]] = {
    "calls": (compile_source("ebnf", 'root ::= "a" root "b" | "b" root? | ""', {}), AB),
    "left recursion": (compile_source("ebnf", 'root ::= root "a" root | "b"', {}), AB),
    "counters": (compile_source("ebnf", "root ::= ([ab]{2,40} [b]){1,3}", {}), AB),
    "union": (compile_source("ebnf", 'root ::= ("a"|"ab")* "b" | ("a" "b")* "ba"', {}), AB),
    "search": (compile_source("ebnf", 'root ::= ("ab" | "ba")* "b"', {}), SPARSE),
    "token sets": (_token_sets(), AB),
    "member names": (compile_source("json_schema", {"type": "object"}, OPEN), JSON),
    "any of": (
        compile_source(
            "json_schema",
            {
                "anyOf": [
                    {"type": "array", "minItems": 2, "items": {"type": ["string", "null"]}},
                    {"type": "object", "required": ["a", "b"], "maxProperties": 3},
                    {"type": "string", "maxLength": 5},
                ]
            },
            OPEN,
        ),
        JSON,
    ),
}


@dataclass
class Tracked:
    """A matcher with the steps it should have taken."""

    compiled: Any
    matcher: CoreMatcher
    steps: list[int | bytes] = field(default_factory=list)

    def replayed(self) -> CoreMatcher:
        fresh = CoreMatcher.of_compiled(self.compiled, self.matcher.vocabulary)
        for step in self.steps:
            ok = fresh.accept_bytes(step) if isinstance(step, bytes) else fresh.accept_token(step)
            assert ok
        return fresh


def advance(tracked: Tracked, rng: random.Random) -> None:
    """One step of any kind: a token, a stop token, a text, or a refused token."""
    matcher, v = tracked.matcher, tracked.matcher.vocabulary
    if matcher.is_terminated():
        assert not matcher.accept_token(rng.randrange(v.vocab_size))
        return
    allowed = matcher.allowed_tokens()
    token = rng.choice(sorted(allowed))
    if token not in v.special_ids and rng.random() < 0.2:
        assert matcher.accept_bytes(v.tokens[token])
        tracked.steps.append(v.tokens[token])
        return
    refused = rng.randrange(v.vocab_size)
    assert matcher.accept_token(refused) == (refused in allowed)
    if refused in allowed:
        tracked.steps.append(refused)
        return
    assert matcher.accept_token(token)
    tracked.steps.append(token)


def compare(tracked: Tracked) -> None:
    """Equal to a matcher that was made now and has read the same."""
    fresh = tracked.replayed()
    matcher = tracked.matcher
    assert matcher.raw.num_steps == len(tracked.steps)
    assert matcher.is_terminated() == fresh.is_terminated()
    assert matcher.is_completed() == fresh.is_completed()
    assert matcher.raw.recent_text(40) == fresh.raw.recent_text(40)
    if not fresh.is_terminated():
        assert matcher.words().tobytes() == fresh.words().tobytes(), tracked.steps


@pytest.mark.parametrize("name", GRAMMARS)
@pytest.mark.parametrize("seed", range(3 * EFFORT))
def test_any_order_of_steps(name, seed):
    ir, v = GRAMMARS[name]
    compiled = compile_core(ir, v)
    rng = random.Random(f"{name} {seed}")
    family = [Tracked(compiled, CoreMatcher.of_compiled(compiled, v))]
    for _ in range(150):
        tracked = rng.choice(family)
        action = rng.random()
        if action < 0.55:
            advance(tracked, rng)
        elif action < 0.8 and tracked.steps:
            count = rng.randint(1, min(len(tracked.steps), 1 if rng.random() < 0.5 else 30))
            tracked.matcher.rollback(count)
            del tracked.steps[-count:]
        elif action < 0.84:
            tracked.matcher.reset()
            tracked.steps.clear()
        elif action < 0.92 and len(family) < 4:
            family.append(Tracked(compiled, tracked.matcher.fork(), list(tracked.steps)))
        elif len(family) > 1:
            family.remove(tracked)
            tracked = family[0]
        compare(tracked)


@pytest.mark.parametrize("name", GRAMMARS)
def test_validated_tokens_leave_no_trace(name):
    ir, v = GRAMMARS[name]
    rng = random.Random(name)
    matcher = CoreMatcher.compile(ir, v)
    for _ in range(12):
        row = matcher.words().tobytes()
        ids = [rng.randrange(-1, v.vocab_size + 1) for _ in range(2)]
        twin = matcher.fork()
        while not twin.is_terminated() and len(ids) < 12:
            ids.insert(len(ids) - 2, token := rng.choice(sorted(twin.allowed_tokens())))
            assert twin.accept_token(token)
        twin = matcher.fork()
        wanted = 0
        while wanted < len(ids) and twin.accept_token(ids[wanted]):
            wanted += 1
        steps = matcher.raw.num_steps
        assert matcher.raw.validate_tokens(ids) == wanted
        assert matcher.raw.num_steps == steps
        assert matcher.words().tobytes() == row
        token = rng.choice(sorted(matcher.allowed_tokens()))
        if token in v.stop_ids:
            break
        assert matcher.accept_token(token)


# Memory -------------------------------------------------------------------------------------------


def test_a_million_steps_back_keep_memory_flat():
    matcher = CoreMatcher.compile(*GRAMMARS["counters"]).raw
    token = AB.ids[b"a"]
    most = matcher.memory_bytes
    for _ in range(10):
        for _ in range(100_000):
            matcher.accept_token(token)
            matcher.rollback(1)
        most = max(most, matcher.memory_bytes)
    assert most < 20_000


@pytest.mark.parametrize("back", ["rollback", "reset", "validate", "fork"])
def test_new_stacks_and_registers_are_taken_back_too(back):
    """Every text leaves a new member name in a register."""
    ir, v = GRAMMARS["member names"]
    matcher = CoreMatcher.compile(ir, v).raw
    sizes = []
    for n in range(20_000):
        if back == "validate":
            ids = [v.ids[bytes([byte])] for byte in b'{"%06d":[{"a' % n]
            assert matcher.validate_tokens(ids) == len(ids)
            assert matcher.accept_bytes(b"{")
            matcher.rollback(1)
        elif back == "fork":
            assert matcher.fork().accept_bytes(b'{"%06d":[{"a' % n)
        else:
            assert matcher.accept_bytes(b'{"%06d":[{"a' % n)
            matcher.rollback(1) if back == "rollback" else matcher.reset()
        if n % 1000 == 999:
            matcher.accept_bytes(b"{")
            matcher.rollback(1)
            sizes.append(matcher.memory_bytes)
    assert max(sizes) < 1_500_000
    assert sizes[-1] <= max(sizes[:4])


def test_a_fork_keeps_what_it_needs():
    ir, v = GRAMMARS["member names"]
    matcher = CoreMatcher.compile(ir, v)
    fork = matcher.fork()
    assert fork.accept_bytes(b'{"a":1,"b":{"c":[[')
    row = fork.words().tobytes()
    for n in range(10_000):
        assert matcher.accept_bytes(b'{"%06d":[{"a' % n)
        matcher.rollback(1)
    assert fork.words().tobytes() == row
    assert not fork.fork().accept_bytes(b']]},"a"')
    del matcher
    fork.rollback(1)
    assert fork.accept_bytes(b'{"a":1,"b":{"c":[[')
    assert fork.words().tobytes() == row
    assert fork.raw.memory_bytes < 300_000


def test_memory_grows_with_a_text_that_stays():
    matcher = CoreMatcher.compile(*GRAMMARS["member names"]).raw
    before = matcher.memory_bytes
    assert matcher.accept_bytes(b"{")
    for n in range(2000):
        assert matcher.accept_bytes(b'"%05d":1,' % n)
    assert matcher.memory_bytes > before + 2000 * 8
