"""Output is complete within its token budget, whatever is chosen, for random schemas and grammars.

Choosers that try to run out of tokens (`budget_walks.py`) are let loose with the least budget and
with a little more. At each step mask and `accept_token` are compared for every token of a small
vocabulary, or some of a real one.
"""

from __future__ import annotations

import os
import random
from functools import cache
from pathlib import Path

import pytest

from budget_walks import choosers, walk
from conformance.run import SEED_VARIABLE, new_seed
from keyword_grammar import random_schema
from maskwright import CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.errors import LimitExceededError, MatcherError, UnsupportedFeatureError
from maskwright.errors import UnsatisfiableGrammarError as Unsatisfiable
from strategies import EFFORT
from vocabularies import vocabulary

SEED = new_seed(0 if EFFORT == 1 else None)
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
            GrammarMatcher(compiled, token_budget=300).min_tokens_to_finish()
        except MatcherError as error:
            assert error.code in {"matcher-no-known-end", "matcher-budget-too-small"}  # noqa: PT017
            unknown += 1
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
