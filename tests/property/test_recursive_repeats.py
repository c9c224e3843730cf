"""Rules that call themselves in counted repeats: masks against the reference, and their cost."""

from __future__ import annotations

import random

import pytest

from core_adapter import CoreMatcher, compile_core
from corpus import compile_source
from maskwright import UnsatisfiableGrammarError
from oracle import Oracle
from vocabularies import make_vocabulary

GRAMMARS = {
    "middle": 'root ::= r\nr ::= "a" ((r){3,7} r)?',
    "open": 'root ::= r\nr ::= "a" ((r){3,} r)?',
    "right": 'root ::= r\nr ::= "a" | "a" (r){2,40}',
    "far least": 'root ::= r\nr ::= "a" | "a" (r){9,} "b"?',
    "tail": 'root ::= r\nr ::= "a" (r){0,30}',
    "left": 'root ::= r\nr ::= "a" | (r){3,7} "b"',
    "at the root": 'root ::= (r){2,9}\nr ::= "a" | (r){3,7}',
    "twice": 'root ::= r\nr ::= "a" | "a" (r){3,7} ("a" | "ab") (r){2,6}',
    "mutual": 'root ::= r\nr ::= "a" (s{3,7} r)?\ns ::= "a" (r{2,9} s)? | "ab"',
    "nested": 'root ::= r\nr ::= "a" ((r{2,5}){3,7} r)?',
    "outer": 'root ::= (x){3,40}\nx ::= (r){2,20} | "b"\nr ::= "a" (r{3,70} r)?',
    "nullable": 'root ::= r\nr ::= ("a" | "a" (r "b"?){3,7} r)?',
    "alternatives": 'root ::= r\nr ::= "a" | "ab" (r){3,7} | "a" (r "a"){2,9} | "a" (r r){1,30}',
    "delimited": 'root ::= r\nr ::= "b" (r){3,70} "b" | "a"',
}
SHORT = make_vocabulary("short", [b"a", b"b", b"c", b"aa", b"ab", b"aab", b"aaaaa", b"ba", b"abab"])
LONG = make_vocabulary("long", [b"a", b"b", b"c", b"ab" * 9, *(b"a" * n for n in range(2, 61))])


@pytest.mark.parametrize("name", GRAMMARS)
def test_masks_are_those_of_the_reference(name: str) -> None:
    """At every step of walks, for every token, with steps back on the way."""
    ir = compile_source("ebnf", GRAMMARS[name], {})
    for seed in range(2):
        Oracle(ir, SHORT, GRAMMARS[name]).walk(random.Random(seed), 7, finish_within=12)


@pytest.mark.parametrize("name", GRAMMARS)
def test_long_tokens_are_accepted_as_the_mask_says(name: str) -> None:
    """Where tokens hold dozens of texts, and most masks are read and not composed."""
    ir = compile_source("ebnf", GRAMMARS[name], {})
    compiled = compile_core(ir, LONG)
    oracle = Oracle(ir, LONG, GRAMMARS[name], with_reference=False, compiled=compiled)
    rng = random.Random(1)
    for _ in range(4):
        allowed = sorted(oracle.check_step(rng.sample(range(LONG.vocab_size), 12)))
        tokens = [t for t in allowed if t not in LONG.stop_ids]
        if not tokens:
            break
        oracle.accept(rng.choice(tokens))


@pytest.mark.parametrize(
    "grammar",
    [
        'root ::= ("c" | r)+\nr ::= "a" | t\ns ::= r | "b"\nt ::= "b" | "a" s',
        'root ::= "a" r "b"{3,4}\nr ::= "a" | (t){0,4}\nt ::= (r | "c") "b"? | "a" "ccc"',
    ],
)
def test_letters_that_lead_several_places_back_together(grammar: str) -> None:
    """Though none of these places reads that letter again and again by itself."""
    ir = compile_source("ebnf", grammar, {})
    compiled = compile_core(ir, LONG)
    oracle = Oracle(ir, LONG, grammar, with_reference=False, compiled=compiled)
    assert LONG.ids[b"a" * 60] in oracle.check_step(range(LONG.vocab_size))


def random_expression(rng: random.Random, depth: int) -> str:
    kind = rng.random()
    if depth == 0 or kind < 0.25:
        return rng.choice(['"a"', '"b"', '"ab"', "[ab]", '"c"', "r", "r", "s", "t"])
    parts = [random_expression(rng, depth - 1) for _ in range(2)]
    if kind < 0.5:
        return f"({parts[0]} {parts[1]})"
    if kind < 0.65:
        return f"({parts[0]} | {parts[1]})"
    if kind < 0.72:
        return f"({parts[0]}){rng.choice('?*+')}"
    low = rng.choice([0, 0, 1, 2, 3, 5])
    high = rng.choice(["", max(low, 1), low + 1, low + 2, low + 4])
    return f"({parts[0]}){{{low},{high}}}"


@pytest.mark.parametrize("seed", range(60))
def test_random_rules_that_call_each_other(seed: int) -> None:
    rng = random.Random(seed)
    grammar = "\n".join(
        [
            f"root ::= {random_expression(rng, 2)}",
            f"r ::= {rng.choice(['[a]', '[a]', '[b]'])} | {random_expression(rng, 3)}",
            f's ::= {random_expression(rng, 2)} | "b"',
            f't ::= {random_expression(rng, 2)} | "a" {random_expression(rng, 1)}',
        ]
    )
    ir = compile_source("ebnf", grammar, {})
    try:
        compiled = compile_core(ir, LONG)
    except UnsatisfiableGrammarError:
        return
    Oracle(ir, SHORT, grammar).walk(rng, 4, finish_within=10)
    oracle = Oracle(ir, LONG, grammar, with_reference=False, compiled=compiled)
    for _ in range(4):
        allowed = sorted(oracle.check_step(range(LONG.vocab_size)))
        tokens = [token for token in allowed if token not in LONG.stop_ids]
        if not tokens:
            break
        oracle.accept(rng.choice(tokens))


def test_masks_take_few_walks() -> None:
    """A mask that would take an entry for each way through the stacks is read instead."""
    compiled = compile_core(compile_source("ebnf", GRAMMARS["mutual"], {}), LONG)
    matcher = CoreMatcher.of_compiled(compiled, LONG)
    for _ in range(4):
        assert LONG.ids[b"a" * 20] in matcher.allowed_tokens()
        assert matcher.accept_token(LONG.ids[b"a" * 9])
    counters = compiled.counters()
    assert counters["read_masks"] > 0
    assert counters["cold_walks"] < 100
