"""Output is complete within its token budget, whatever is chosen, for random schemas and grammars.

Choosers that try to run out of tokens (`budget_walks.py`) are let loose with the least budget and
with a little more. At each step mask and `accept_token` are compared for every token of a small
vocabulary, or some of a real one.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from budget_walks import allowed_tokens, choosers, walk
from conformance.run import SEED_VARIABLE, new_seed
from keyword_grammar import random_schema
from maskwright import CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.errors import LimitExceededError, MatcherError, UnsupportedFeatureError
from maskwright.errors import UnsatisfiableGrammarError as Unsatisfiable
from strategies import EFFORT
from vocabularies import vocabulary

SEED = new_seed(0 if EFFORT == 1 else None)
MAX_LEAST = 300  # tokens: longer texts take too long here
N_SCHEMAS = 16 * EFFORT
EXTRA = (0, 1, 6)

SCHEMAS = {
    "anything": {},
    "object": {"type": "object"},
    "members": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "id": {"type": "integer", "minimum": 1000},
            "tags": {"type": "array", "items": {"type": "string", "maxLength": 5}, "minItems": 2},
        },
        "required": ["name", "id", "tags"],
    },
    "counts": {"type": "string", "minLength": 20, "maxLength": 30},
    "unique": {"type": "array", "items": {"enum": ["a", 1, "foo"]}, "uniqueItems": True},
    "recursive": {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "value": {"enum": [1, "name"]},
                    "next": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/node"}]},
                },
                "required": ["value", "next"],
            }
        },
    },
}

# Where names, values or counts decide what is left.
HARD_SCHEMAS = {
    "any names": {
        "type": "object",
        "minProperties": 3,
        "additionalProperties": {"type": "null"},
    },
    "listed and other names": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "name": {"type": "null"}},
        "minProperties": 3,
    },
    "names of a pattern": {
        "type": "object",
        "patternProperties": {"^x": {"type": "null"}},
        "minProperties": 2,
    },
    "few names": {
        "type": "object",
        "patternProperties": {"^[ab]$": {"type": "boolean"}},
        "additionalProperties": False,
        "minProperties": 2,
    },
    "at most so many": {"type": "object", "maxProperties": 2, "required": ["id"]},
    "dependent": {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
        "dependentRequired": {"id": ["name"], "name": ["type"]},
        "minProperties": 1,
    },
    "names in names": {
        "type": "object",
        "minProperties": 2,
        "additionalProperties": {"type": "object", "minProperties": 2},
    },
    "unique strings": {
        "type": "array",
        "items": {"type": "string"},
        "uniqueItems": True,
        "minItems": 3,
    },
    "unique strings of a kind": {
        "type": "array",
        "items": {"anyOf": [{"type": "string", "pattern": "^[ab]{1,2}$"}, {"type": "null"}]},
        "uniqueItems": True,
        "minItems": 2,
    },
    "unique strings in unique arrays": {
        "type": "array",
        "items": {
            "type": "array",
            "items": {"type": ["string", "boolean"]},
            "uniqueItems": True,
            "minItems": 1,
        },
        "uniqueItems": True,
    },
    "long texts": {"enum": ["a" * 60, "name" * 20, ["foo", "bar" * 9], {"id": "b" * 30}]},
}


@cache
def small() -> GrammarCompiler:
    found = vocabulary("json")
    info = TokenizerInfo(
        list(found.tokens), vocab_size=found.vocab_size, stop_token_ids=list(found.stop_ids)
    )
    return GrammarCompiler(info)


@cache
def real() -> GrammarCompiler:
    folder = os.environ.get("MASKWRIGHT_TEST_DATA")
    path = Path(folder or "", "tokenizers", "llama3_1", "tokenizer.json")
    if not folder or not path.exists():
        pytest.skip("no real vocabulary: MASKWRIGHT_TEST_DATA is not set")
    return GrammarCompiler(TokenizerInfo.from_file(path))


def _run(compiled: CompiledGrammar, seed: int, *, real_vocabulary: bool = False) -> int:
    """All choosers with some budgets; the least one."""
    rng = random.Random(seed)
    least = GrammarMatcher(compiled).min_tokens_to_finish()
    for extra in EXTRA:
        for choose in choosers(seed).values():
            size = compiled.tokenizer_info.vocab_size
            tokens = rng.sample(range(size), 40) if real_vocabulary else None
            taken = walk(
                GrammarMatcher(compiled, token_budget=least + extra), choose, tokens=tokens
            )
            assert len(taken) <= least + extra
    return least


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("any_order", [False, True])
def test_known_schemas(name: str, any_order: bool) -> None:
    _run(small().compile_json_schema(SCHEMAS[name], any_order=any_order), SEED)


@pytest.mark.parametrize("name", SCHEMAS)
def test_known_schemas_and_a_real_vocabulary(name: str) -> None:
    _run(real().compile_json_schema(SCHEMAS[name]), SEED, real_vocabulary=True)


@pytest.mark.parametrize("part", range(4))
def test_random_schemas(part: int) -> None:
    done = unknown = 0
    for i in range(part, N_SCHEMAS, 4):
        schema = random_schema(random.Random(SEED * 100_003 + i))
        try:
            compiled = small().compile_json_schema(schema, strict_mode=False, assert_format=False)
            GrammarMatcher(compiled)
        except (LimitExceededError, UnsupportedFeatureError, Unsatisfiable):
            continue
        try:
            least = GrammarMatcher(compiled).min_tokens_to_finish()
        except MatcherError as error:
            # Few may have no known end; the bound is below.
            assert error.code == "matcher-no-known-end", schema  # noqa: PT017  most raise none
            unknown += 1
            continue
        if least > MAX_LEAST:
            continue
        done += 1
        try:
            _run(compiled, SEED)
        except AssertionError as error:
            error.add_note(f"{SEED_VARIABLE}={SEED}, schema {i}: {schema}")
            raise
    assert done > 0
    assert unknown <= N_SCHEMAS / 40


REGEXES = ["[a-z ]{3,40}x", r"(ab|cd){2,}(\d{4}-)+", ".*end", r"(\S+\s+){0,9}\S+", "a{0,3}b?"]


@pytest.mark.parametrize("pattern", REGEXES)
def test_regexes(pattern: str) -> None:
    _run(small().compile_regex(pattern), SEED)


GRAMMARS = [
    'root ::= "(" root* ")" | [a-z]+',
    'root ::= root "+" root | root "*" root | "(" root ")" | [0-9]+',
    'root ::= "" | "a" root "b" | "[" root "]" root',
    'root ::= stmt+\nstmt ::= "if " expr " {" stmt* "}" | "name" "=" expr ";"\nexpr ::= [a-z]+',
]


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_grammars(grammar: str) -> None:
    _run(small().compile_grammar(grammar), SEED)


@pytest.mark.parametrize("name", HARD_SCHEMAS)
@pytest.mark.parametrize("any_order", [False, True])
def test_hard_schemas(name: str, any_order: bool) -> None:
    _run(
        small().compile_json_schema(HARD_SCHEMAS[name], any_order=any_order, strict_mode=False),
        SEED,
    )


def test_many_items() -> None:
    compiled = small().compile_json_schema({"type": "array", "minItems": 200})
    least = GrammarMatcher(compiled).min_tokens_to_finish()
    for choose in choosers(SEED).values():
        walk(GrammarMatcher(compiled, token_budget=least + 2), choose, check_every=50)


def _used(compiled: CompiledGrammar, budget: int, rng: random.Random) -> GrammarMatcher:
    """A matcher that is back at the start and has asked and read much on the way."""
    matcher = GrammarMatcher(compiled, token_budget=budget + rng.randrange(30))
    forks = []
    for _ in range(12):
        allowed = allowed_tokens(matcher)
        matcher.accept_token(rng.choice(allowed))
        if matcher.is_terminated():
            break
        forks.append(matcher.fork())
        matcher.remaining_tokens = matcher.min_tokens_to_finish() + rng.randrange(20)
    matcher.reset()
    matcher.remaining_tokens = budget
    return matcher


def _assert_no_history(compile_one: Callable[[], CompiledGrammar]) -> None:
    """Answers are those of a grammar that was never asked before, along texts that end in time."""
    rng = random.Random(SEED)
    compiled = compile_one()
    least = GrammarMatcher(compiled).min_tokens_to_finish()
    for extra in EXTRA:
        budget = least + extra
        matcher = GrammarMatcher(compiled, token_budget=budget)
        used = _used(compiled, budget, rng)
        alone = GrammarMatcher(compile_one(), token_budget=budget)
        taken: list[int] = []
        while not matcher.is_terminated():
            allowed = allowed_tokens(matcher)
            assert allowed == allowed_tokens(used)
            assert allowed == allowed_tokens(alone)
            fresh = GrammarMatcher(compiled, token_budget=budget)
            assert fresh.validate_tokens(taken) == len(taken)
            for token in taken:
                assert fresh.accept_token(token)
            assert allowed == allowed_tokens(fresh)
            assert matcher.min_tokens_to_finish() == fresh.min_tokens_to_finish()
            assert matcher.min_tokens_to_finish() == alone.min_tokens_to_finish()
            token = rng.choice(allowed)
            for other in (matcher, used, alone):
                assert other.accept_token(token)
            taken.append(token)


def _fresh_compiler() -> GrammarCompiler:
    return GrammarCompiler(small().tokenizer_info, cache_enabled=False)


@pytest.mark.parametrize("name", [*SCHEMAS, *HARD_SCHEMAS])
def test_schemas_have_no_history(name: str) -> None:
    schema = {**SCHEMAS, **HARD_SCHEMAS}[name]
    _assert_no_history(lambda: _fresh_compiler().compile_json_schema(schema, strict_mode=False))


@pytest.mark.parametrize("pattern", REGEXES)
def test_regexes_have_no_history(pattern: str) -> None:
    _assert_no_history(lambda: _fresh_compiler().compile_regex(pattern))


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_grammars_have_no_history(grammar: str) -> None:
    _assert_no_history(lambda: _fresh_compiler().compile_grammar(grammar))


def test_random_schemas_have_no_history() -> None:
    done = 0
    for i in range(N_SCHEMAS // 2):
        schema = random_schema(random.Random(SEED * 100_003 + i))

        def compile_one(schema: Any = schema) -> CompiledGrammar:
            return _fresh_compiler().compile_json_schema(
                schema, strict_mode=False, assert_format=False
            )

        try:
            least = GrammarMatcher(compile_one()).min_tokens_to_finish()
        except (LimitExceededError, UnsupportedFeatureError, Unsatisfiable, MatcherError):
            continue
        if least > MAX_LEAST:
            continue
        done += 1
        try:
            _assert_no_history(compile_one)
        except AssertionError as error:
            error.add_note(f"{SEED_VARIABLE}={SEED}, schema {i}: {schema}")
            raise
    assert done > 0
