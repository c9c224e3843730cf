"""Masks don't depend on how they are computed: without token classes, clipping or sharing.

Each shortcut is left out on its own and all together, over the corpus and some schemas made for
them; the oracle holds each time, and the masks along one walk are equal. So it is with masks that
all grammars before have left in one store, with those that all compilers of the vocabulary have in
common, and with those that were stored with the grammar.
"""

from __future__ import annotations

import json
import random
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from core_adapter import (
    CORE,
    CoreMatcher,
    compile_core,
    core_vocabulary,
    stored_and_loaded,
)
from corpus import compile_source, corpus_cases
from maskwright.common_masks import compute
from oracle import Oracle
from vocabularies import TestVocabulary, make_vocabulary, vocabulary

LEFT_OUT: dict[str, dict[str, bool]] = {
    "token classes": {"token_classes": False},
    "clipping": {"clipping": False},
    "sharing": {"sharing": False},
    "all": {"token_classes": False, "clipping": False, "sharing": False},
}
OPTIONS = {"any_order": True, "strict_mode": False, "max_whitespace_cnt": 3}
SCHEMAS: list[Any] = [
    {"type": "string", "minLength": 3, "maxLength": 40},
    {"type": "string", "pattern": "^[a-f]{4,30}-", "maxLength": 50},
    {"type": "array", "items": {"type": "integer"}, "minItems": 4, "maxItems": 30},
    {"type": "array", "contains": {"const": 1}, "maxContains": 12, "maxItems": 20},
    {"type": "object", "minProperties": 2, "maxProperties": 9},
    {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}, "ab": {"const": 1}},
        "required": ["a", "ab"],
    },
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}, "c": {"const": 1}},
        "required": ["c"],
        "additionalProperties": False,
    },
    {"type": "object", "patternProperties": {"^[ab]$": {"const": 1}}, "additionalProperties": {}},
    {"anyOf": [{"type": "object", "required": ["a"]}, {"type": "array", "maxItems": 40}]},
    # Of a few names only, of which some can be spelled with escapes by one token.
    {
        "type": "array",
        "items": {
            "properties": {name: {"const": 1} for name in ("a", "ab", "aa-a", "", "é", "00", "ü")},
            "type": "object",
            "dependentRequired": {"ab": ["a"]},
            "additionalProperties": False,
        },
    },
    {
        "type": "object",
        "properties": {name: {"const": 1} for name in ("a", "ab", "c")},
        "patternProperties": {"^x": {"const": 1}},
        "additionalProperties": False,
    },
]
REGEXES = ["([a-c]{2,40}1){3,9}", "(a{1,20}b?){2,15}", '"[^"]{3,70}"']
# Words between spaces: what may follow one is text again.
WORDS = [
    r"\w+( \w+)*",
    r"[A-Za-z]+( [a-z0-9]+){0,3}",
    r"(\S+\s+){0,4}\S+",
    r"[\p{L}]+( [\p{L}\-]+){1,5}",
    r"a+ ([^b]{2,6} )*",
]
# Bodies that are called, since they may go on where they may end, and at last some that the repeat
# reads itself: fewer iterations may be left there than one of them has letters.
REPEATS = [
    'root ::= (word " "+){0,9} word\nword ::= [a-b]+',
    "root ::= (word sep){2,30} [A-Z]?\nword ::= [a-b]+\nsep ::= [ ,-]+",
    'root ::= (list " "?){1,4}\nlist ::= "a" (list ","){0,3} | "b"+',
    'root ::= (w ","+){0,5} w | (w " "+){0,12} "b"\nw ::= [a-b]+',
    'root ::= (word ","){2,9} "b"\nword ::= [a-b]+',
    'root ::= (("b" | [a-b]+) "," | "é"){3,43} "1"',
]
CORPUS = [case for case in corpus_cases() if case.error is None]
N_STEPS = 14


def long_tokens() -> TestVocabulary:
    """Bytes, and long tokens of one kind of character, and of pieces of JSON."""
    letters = [letter * n for letter in (b"a", b"ab", b"0", b" ", "é".encode()) for n in (2, 5, 9)]
    pieces = [b'","', b'":"', b'", "a', b'{"', b'{"a":', b'1,"', b"1, 1", b"[1,", b'"]', b'"}']
    pieces += [b'":1,"b":1,"', b'a","', b"1}", b'1,"c', b"\\u00", b"-a", b"1]", b'""', b"}]"]
    return make_vocabulary("long tokens", [bytes([b]) for b in range(256)] + letters + pieces)


@cache
def spaced_words() -> TestVocabulary:
    """Bytes, and words of which most are behind a space, as in vocabularies of models."""
    words = [b"a", b"ab", b"abc", b"A", b"Ab", "é".encode(), "aé".encode(), b"\xc3", b"0", b"a0"]
    words += [
        b"a b",
        b"a  b",
        b'"',
        b'a"',
        b'a",',
        b"\\",
        b"\\u",
        b"a\\u00",
        b",",
        b"a,",
        b"-a",
        b"a\t",
    ]
    spaced = [b" " + word for word in words] + [b"  ", b"   a", b" a a", b" a-a", b'  "', b" 1,"]
    spaced.append(b"a" * 50)  # tokens could count up to that, but none does
    return make_vocabulary("spaced words", [bytes([b]) for b in range(256)] + words + spaced)


@cache
def shared_masks(tokens: TestVocabulary) -> Any:
    """One store for all grammars of a vocabulary, which grows with every test."""
    return CORE.SharedMasks(core_vocabulary(tokens))


@cache
def common_masks(tokens: TestVocabulary) -> Any:
    """What all compilers of a vocabulary have in common."""
    return compute(core_vocabulary(tokens), tokens.vocab_size, tokens.tokens)


def masks_along(compiled: Any, tokens: TestVocabulary, seed: int) -> list[bytes]:
    """The masks along a random walk, which is the same one where the masks are."""
    rng = random.Random(seed)
    matcher = CoreMatcher(CORE.Matcher(compiled), tokens)
    masks = []
    for _ in range(N_STEPS):
        mask = matcher.words()
        masks.append(mask.tobytes())
        choices = sorted(matcher.allowed_tokens() - set(tokens.stop_ids))
        if not choices:
            break
        assert matcher.accept_token(rng.choice(choices))
    return masks


def check(ir: bytes, tokens: TestVocabulary, source: str, seeds: range) -> None:
    with_all = compile_core(ir, tokens)
    ways = {f"without {what}": compile_core(ir, tokens, **left) for what, left in LEFT_OUT.items()}
    ways["with shared masks"] = compile_core(ir, tokens, shared_masks=shared_masks(tokens))
    common = CORE.SharedMasks(core_vocabulary(tokens), below=common_masks(tokens))
    ways["with common masks"] = compile_core(ir, tokens, shared_masks=common)
    for way, walked in (("alone", compile_core(ir, tokens)), ("shared", ways["with shared masks"])):
        masks_along(walked, tokens, seeds.start)
        ways[f"with masks stored {way}"] = stored_and_loaded(walked, ir, tokens, masks=True)
    for way, other in ways.items():
        for seed in seeds:
            text = f"{source} {way}, seed {seed}"
            assert masks_along(other, tokens, seed) == masks_along(with_all, tokens, seed), text
        oracle = Oracle(ir, tokens, f"{source} {way}", False, other)
        oracle.walk(random.Random(seeds.start), N_STEPS)


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_schemas(schema: Any) -> None:
    ir = compile_source("json_schema", schema, OPTIONS)
    check(ir, long_tokens(), json.dumps(schema), range(12))


@pytest.mark.parametrize("regex", REGEXES)
def test_regexes(regex: str) -> None:
    check(compile_source("regex", regex, {}), long_tokens(), regex, range(12))


@pytest.mark.parametrize("pattern", WORDS)
def test_words_behind_spaces(pattern: str) -> None:
    text = {"type": "string", "pattern": f"^{pattern}$"}
    for source, content in (
        ("json_schema", text),
        ("json_schema", {**text, "minLength": 4, "maxLength": 12}),
        ("json_schema", {"type": "object", "patternProperties": {f"^{pattern}$": {"const": 1}}}),
        ("regex", pattern),
    ):
        ir = compile_source(source, content, OPTIONS if source == "json_schema" else {})
        check(ir, spaced_words(), f"{source} {content}", range(4))


@pytest.mark.parametrize("grammar", REPEATS)
def test_counts_of_repeats(grammar: str) -> None:
    check(compile_source("ebnf", grammar, {}), spaced_words(), grammar, range(8))


@pytest.mark.parametrize("kind", sorted({case.kind for case in CORPUS}))
def test_corpus(kind: str) -> None:
    for case in CORPUS:
        if case.kind == kind:
            check(case.ir(), case.tokens(), case.describe(), range(2))


def test_the_shortcuts_are_taken_and_left_out() -> None:
    """Otherwise nothing is compared: each of them makes a difference in what is computed."""
    tokens = long_tokens()

    def counts(schema: Any, **shortcuts: bool) -> dict[str, int]:
        ir = compile_source("json_schema", schema, OPTIONS)
        compiled = compile_core(ir, tokens, **shortcuts)
        for seed in range(12):
            masks_along(compiled, tokens, seed)
        return dict(compiled.counters())

    text = {"type": "string"}
    visited = counts(text, token_classes=False)["visited_nodes"]
    assert counts(text)["visited_nodes"] < visited
    long = {"type": "string", "maxLength": 2000}
    assert counts(long)["masks"] < counts(long, clipping=False)["masks"]
    tokens = vocabulary("bytes")  # none reaches from a value into a name
    ir = compile_source("json_schema", SCHEMAS[6], OPTIONS)
    masks = []
    for sharing in (True, False):
        compiled = compile_core(ir, tokens, sharing=sharing)
        for text in (b'{"a":1', b'{"b":1', b'{"b":1,"a":1', b'{"c":1,"a":1', b'{"c":1,"b":1'):
            matcher = CoreMatcher(CORE.Matcher(compiled), tokens)
            assert matcher.accept_bytes(text)
            matcher.mask()
        masks.append(compiled.counters()["masks"])
    assert masks[0] < masks[1]


def test_the_nodes_that_listed_names_lead_to_are_found_once() -> None:
    names = [f"{first}{second}" for first in "abcd" for second in "abcd"]
    members = {name: {"const": 1} for name in names}
    schema = {"type": "object", "properties": members, "additionalProperties": False}
    ir = compile_source("json_schema", schema, OPTIONS)
    tokens = long_tokens()

    def visited(*, sharing: bool) -> list[int]:
        compiled = compile_core(ir, tokens, sharing=sharing)
        counts = []
        text = "{"
        for name in names:
            matcher = CoreMatcher(CORE.Matcher(compiled), tokens)
            assert matcher.accept_bytes(f'{text}"'.encode())
            matcher.mask()
            counts.append(compiled.counters()["visited_nodes"])
            text += f'"{name}": 1, '
        return [after - before for before, after in pairwise(counts)]

    assert sum(visited(sharing=True)) * 2 < sum(visited(sharing=False))


def test_a_vocabulary_with_a_word_for_everything() -> None:
    ir = compile_source("json_schema", SCHEMAS[5], OPTIONS)
    check(ir, vocabulary("json"), json.dumps(SCHEMAS[5]), range(12))


def masks_of_prefixes(
    tokens: TestVocabulary, kind: str, content: Any, text: bytes, **left: bool
) -> tuple[dict[str, int], list[bytes]]:
    """The counters of a grammar after the masks before each byte of a text, and these."""
    options = OPTIONS if kind == "json_schema" else {}
    compiled = compile_core(compile_source(kind, content, options), tokens, **left)
    matcher = CoreMatcher(CORE.Matcher(compiled), tokens)
    masks = [matcher.words().tobytes()]
    for byte in text:
        assert matcher.accept_bytes(bytes([byte]))
        masks.append(matcher.words().tobytes())
    return compiled.counters(), masks


def test_words_behind_a_space_are_not_walked() -> None:
    words = [bytes((a, b, c)) for a in b"abcdefgh" for b in b"abcdefgh" for c in b"abcdefgh"]
    plain = [bytes([b]) for b in range(256)]
    tokens = make_vocabulary("many words", plain + words + [b" " + word for word in words])
    schema = {"type": "string", "pattern": "^[a-z]+( [a-z]+){0,9}$"}
    text = b'"ab cd ef gh'
    counts, masks = masks_of_prefixes(tokens, "json_schema", schema, text)
    walked, same = masks_of_prefixes(tokens, "json_schema", schema, text, token_classes=False)
    assert masks == same
    assert counts["visited_nodes"] < 10 * counts["masks"]
    assert walked["visited_nodes"] > 400 * walked["masks"]


def test_words_beyond_ascii_are_not_walked_where_some_characters_are_left_out() -> None:
    letters = [chr(code) for code in range(0x430, 0x44C)]
    words = [f"{a}{b}{c}".encode() for a in letters for b in letters for c in letters[:8]]
    plain = [bytes([b]) for b in range(256)]
    tokens = make_vocabulary("many words", plain + words + [b" " + word for word in words])
    text = "до юла аба ".encode()
    counts, masks = masks_of_prefixes(tokens, "regex", r"(\S+\s+){0,9}\S+", text)
    walked, same = masks_of_prefixes(
        tokens, "regex", r"(\S+\s+){0,9}\S+", text, token_classes=False
    )
    assert masks == same
    assert walked["visited_nodes"] > 10 * counts["visited_nodes"]


def test_a_walk_stands_for_the_counts_that_a_token_can_not_reach_over() -> None:
    grammar = 'root ::= (word " "+){0,60} [0-9]\nword ::= [a-b]+'
    text = b"ab a " * 30 + b"0"
    counts, masks = masks_of_prefixes(spaced_words(), "ebnf", grammar, text)
    each, same = masks_of_prefixes(spaced_words(), "ebnf", grammar, text, clipping=False)
    assert masks == same
    assert counts["cold_walks"] < 30
    assert each["cold_walks"] > 120


def test_a_token_may_have_as_many_iterations_as_bytes_behind_one_that_ends() -> None:
    tokens = make_vocabulary("iterations", [*(bytes([b]) for b in range(256)), b"ab ab "])
    grammar = 'root ::= (word | space){0,9} "1"\nword ::= "a"+ | "b"\nspace ::= " "+'
    compiled = compile_core(compile_source("ebnf", grammar, {}), tokens)
    token = tokens.ids[b"ab ab "]
    allowed = []
    for n in range(9):  # fewer iterations first: what they are asked is kept
        matcher = CoreMatcher(CORE.Matcher(compiled), tokens)
        assert matcher.accept_bytes(b"b" * n + b" ")
        allowed.append(token in matcher.allowed_tokens())
        assert matcher.fork().accept_token(token) == allowed[-1], n
    assert allowed == [n <= 2 for n in range(9)]
