"""`min_tokens_to_finish` against a search by brute force, over forks, in small vocabularies.

Random schemas, regular expressions and grammars, in vocabularies with tokens that join what the
grammar keeps apart (`"],`, `[{"`), that lack letters of their own, and with parts of code points.
At each place of a random text no fewer tokens may complete it than the number says, and under a
budget a token is allowed if and only if the number behind it is at most what is left.
"""

from __future__ import annotations

import json
from functools import cache
from random import Random
from typing import Any

import pytest

from budget_walks import allowed_tokens, fewest_tokens
from conformance.run import SEED_VARIABLE, new_seed
from maskwright import CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.errors import LimitExceededError, MatcherError, UnsupportedFeatureError
from maskwright.errors import UnsatisfiableGrammarError as Unsatisfiable
from strategies import EFFORT

SEED = new_seed(0 if EFFORT == 1 else None)
N_GRAMMARS = 40 * EFFORT
MAX_FORKS = 400  # of one search by brute force
UNKNOWN = 10**6

_SIGNS = [*'[]{}",:abn0123456789-.etrufals \\']
VOCABULARIES: dict[str, list[str | bytes]] = {
    "joined": [
        *_SIGNS, '",', '"]', '"],', '[{"', '"},', "],[", "0,", "[0", '":', '":"', '","', "1,",
        "[]", "{}", '""', '[""', '"a"', '"b":', "abab", "ba", ", ", '"a', "null", "true", ",{",
    ],
    "words": [
        *_SIGNS, "aaaaaaaa", "bbbb", "abba", '"aaaaaaaa"', '["aaaa', 'baab"]', "aa", 'bb"', '":0',
        '":[', "[[", "]]", "]]]", "0]", "},{", '{"a":',
    ],
    "letters missing": [
        *'[]{}",:a0123456789-.e ', "ab", "bb", 'ba"', "00", "true", "false", "null", '","', '"],',
        '[{"', '":', '"b', "aab",
    ],
    "parts of code points": [
        *_SIGNS, b"\xc3", b"\xa9", b"\xe6", b"\xe6\x97", b"\xa5", b"\x97\xa5", b"\xa9a", "é",
        "日本", "ab", '",', '"]',
    ],
}  # fmt: skip
WORDS = ["", "a", "b", "ab", "abab", "bba", "aaaaaaaa", "bbbb", "abba", "baab", "aab"]


@cache
def _compiler(name: str) -> GrammarCompiler:
    tokens = [*VOCABULARIES[name], "</s>"]
    return GrammarCompiler(TokenizerInfo(tokens, stop_token_ids=len(tokens) - 1))


def _schema(rng: Random, depth: int = 0) -> Any:
    kind = rng.random()
    values = [*WORDS, 0, 10, 100, None, True, [0], ["a", "b"], {"a": 1}]
    if depth == 3 or kind < 0.3:
        return rng.choice([
            {"type": "string"}, {"type": "integer"}, {"type": ["boolean", "null"]},
            {"enum": rng.sample(values, 3)}, {"const": rng.choice(values)},
            {"type": "string", "minLength": rng.randint(1, 5)},
            {"type": "string", "pattern": rng.choice(["^(ab|b)+$", "^a{2,4}b$", "b$"])},
            {"type": "integer", "minimum": rng.choice([1, 10, 101])},
        ])  # fmt: skip
    if kind < 0.55:
        return {"anyOf": [_schema(rng, depth + 1) for _ in range(rng.randint(2, 3))]}
    if kind < 0.8:
        return {
            "type": "array",
            "items": _schema(rng, depth + 1),
            "minItems": rng.randint(0, 4),
            "uniqueItems": rng.random() < 0.1,
        }
    names = rng.sample(["a", "b", "ab", "aaaaaaaa", "bbbb"], rng.randint(1, 3))
    return {
        "type": "object",
        "properties": {name: _schema(rng, depth + 1) for name in names},
        "required": [name for name in names if rng.random() < 0.6],
        "additionalProperties": rng.random() < 0.3,
    }


def _regex(rng: Random, depth: int = 0) -> str:
    kind = rng.random()
    if depth == 4 or kind < 0.35:
        return rng.choice([*WORDS[1:], "[ab]", "[a-z]", ".", '"', ",", "é", "日"])
    inner = _regex(rng, depth + 1)
    if kind < 0.55:
        return inner + _regex(rng, depth + 1)
    if kind < 0.8:
        return f"({inner}|{_regex(rng, depth + 1)})"
    return f"({inner})" + rng.choice(["*", "+", "?", "{2,3}", "{3,}", "{5,9}"])


def _grammar(rng: Random) -> str:
    count = rng.randint(1, 3)

    def part(depth: int = 0) -> str:
        kind = rng.random()
        if depth == 4 or kind < 0.3:
            return json.dumps(rng.choice([*WORDS[1:], "[", "]", "[[", ",", "{", "}", "0,"]))
        if kind < 0.45:
            return f"r{rng.randrange(count)}"
        if kind < 0.7:
            return f"{part(depth + 1)} {part(depth + 1)}"
        if kind < 0.9:
            return f"({part(depth + 1)} | {part(depth + 1)})"
        return f"({part(depth + 1)})" + rng.choice(["*", "+", "?", "{2,3}"])

    return "\n".join(["root ::= r0", *(f"r{i} ::= {part()}" for i in range(count))])


def _compile(rng: Random) -> tuple[str, CompiledGrammar | None]:
    """A random grammar and what it was made of; None if it is refused."""
    name = rng.choice(list(VOCABULARIES))
    compiler = _compiler(name)
    kind = rng.choice(["schema", "schema", "regex", "grammar"])
    try:
        if kind == "schema":
            schema = _schema(rng)
            options = {key: rng.random() < 0.5 for key in ("strict_mode", "any_order")}
            spaces = rng.random() < 0.5
            text = f"{name}: {json.dumps(schema)} {options} {spaces}"
            return text, compiler.compile_json_schema(schema, any_whitespace=spaces, **options)
        if kind == "regex":
            regex = _regex(rng)
            return f"{name}: {regex}", compiler.compile_regex(regex)
        grammar = _grammar(rng)
        return f"{name}: {grammar}", compiler.compile_grammar(grammar)
    except (LimitExceededError, UnsupportedFeatureError, Unsatisfiable):
        return name, None


def _least(matcher: GrammarMatcher) -> int:
    """The number; more than any where no end is known."""
    try:
        return matcher.min_tokens_to_finish()
    except MatcherError as error:
        assert error.code == "matcher-no-known-end"  # noqa: PT017  most raise none
        return UNKNOWN


def _is_exact(matcher: GrammarMatcher, least: int) -> bool:
    """Whether no fewer tokens do; the masks are checked with so many left and a few more."""
    needed = {}
    for token in allowed_tokens(matcher):
        fork = matcher.fork()
        assert fork.accept_token(token)
        needed[token] = _least(fork)
    if least != 1 + min(needed.values()):
        return False
    for left in (least, least + 2):
        within = matcher.fork()
        within.remaining_tokens = left
        assert allowed_tokens(within) == [t for t, count in needed.items() if count < left], left
    return fewest_tokens(matcher, below=least, max_forks=MAX_FORKS) is None


@pytest.mark.parametrize("part", range(4))
def test_hardly_ever_do_fewer_tokens(part: int) -> None:
    places = unknown = 0
    inexact = []
    for i in range(part, N_GRAMMARS, 4):
        rng = Random(SEED * 100_003 + i)
        text, compiled = _compile(rng)
        if compiled is None:
            continue
        matcher = GrammarMatcher(compiled)
        for _ in range(4):
            places += 1
            try:
                least = _least(matcher)
                exact = least == UNKNOWN or _is_exact(matcher, least)
            except (AssertionError, MatcherError) as error:
                error.add_note(f"{SEED_VARIABLE}={SEED}, grammar {i}: {text}")
                raise
            unknown += least == UNKNOWN
            if not exact:
                inexact.append((i, text))
            others = [t for t in allowed_tokens(matcher) if t not in matcher.stop_token_ids]
            if not others:
                break
            assert matcher.accept_token(rng.choice(others))
    # Where tokens lack bytes of the shortest text, fewer are looked for, and none may be met.
    assert unknown * 6 <= places
    # Where the search gives up the number is too large.
    assert len(inexact) * 30 <= places, (f"{SEED_VARIABLE}={SEED}", inexact)
