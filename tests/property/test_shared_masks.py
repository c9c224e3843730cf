"""Masks shared between grammars are those that a grammar computes alone.

Families of related grammars (one bound, one name, one constant, one option apart) are compiled with
one store of shared masks, and each alone. Matchers of all of them go on in turns, in random order;
at every step the masks are equal. Stores: without a limit, with one so small that masks go all the
time, one that is exchanged on the way, as by `clear_cache`, and one that lies above another.
"""

from __future__ import annotations

import copy
import json
import os
import random
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core_adapter import CORE, CoreMatcher, core_vocabulary
from corpus import compile_source
from maskwright import TokenizerInfo
from maskwright.errors import MaskwrightError
from vocabularies import SECOND_STOP, SPECIAL, STOP, TestVocabulary, make_vocabulary

N_STEPS = 18
N_FAMILIES = 16
LIMITS = [-1, 0, 4_000, 40_000]
NAMES = ["a", "b", "ab", "abc", "", 'q"', "é"]
PATTERNS = ["^[a-c]{2,6}$", "^[a-c]{2,7}$", "^[a-d]{2,6}$", "[0-9]", "^(ab|c)+$", "a.*b"]
OPTIONS: dict[str, list[Any]] = {
    "any_order": [True, False],
    "strict_mode": [True, False],
    "max_whitespace_cnt": [None, 0, 1, 3],
    "any_whitespace": [True, True, False],
    "number_spelling": ["any", "any", "decimal", "plain"],
}


def short_tokens() -> TestVocabulary:
    """Bytes and pieces of JSON, none of which goes over a comma or brace into a name."""
    letters = [letter * n for letter in (b"a", b"ab", b"0", b" ", "é".encode()) for n in (2, 5)]
    pieces = [b'","', b'":"', b'", "', b'{"', b'":{"', b'":[', b'":["', b'1,"', b"1, 1", b"[1,"]
    pieces += [
        b'"]',
        b'"}',
        b"1}",
        b"1]",
        b'""',
        b"}]",
        b"]]",
        b"[[",
        b"},{",
        b'"a"',
        b'"ab":',
        b' "a"',
        b' ""',
    ]
    pieces += [b' "a', b'"b"', b"\\u00", b"\\u0061", b'\\"', b"true", b"null", b"}}", b"-1", b"0."]
    return make_vocabulary("short tokens", [bytes([b]) for b in range(256)] + letters + pieces)


def with_pieces(name: str, tokens: TestVocabulary, pieces: list[bytes]) -> TestVocabulary:
    texts = [text for text in tokens.tokens if text and text not in (SPECIAL, STOP, SECOND_STOP)]
    return make_vocabulary(name, [*dict.fromkeys([*texts, *pieces])])


def vocabularies() -> Iterator[TestVocabulary]:
    """Tokens that see nothing of the next name, its beginning, and whole members."""
    short = short_tokens()
    yield short
    middle = [b'", "a', b',"ab"', b'{"a', b'{"b', b',""', b'1,"c', b'":1,"ab', b'{"a"', b'{""']
    yield with_pieces("middle tokens", short, middle)
    yield with_pieces(
        "long tokens", short, [*middle, b'{"a":1', b'":1,"b":1,"', b'{"":1', b'"a":1}', b' "a":1']
    )


VOCABULARIES = {tokens.name.split()[0]: tokens for tokens in vocabularies()}


def random_schema(rng: random.Random, depth: int = 0) -> Any:
    kinds = ["string", "pattern", "enum", "number", "integer", "any", "type"]
    if depth < 3:
        kinds += ["array", "object", "object", "object", "union", "self"]
    kind = rng.choice(kinds)
    few, more = sorted((rng.randint(0, 4), rng.randint(1, 40)))
    if kind == "string":
        return {"type": "string", "minLength": few, "maxLength": more}
    if kind == "pattern":
        return {"type": "string", "pattern": rng.choice(PATTERNS), "minLength": few}
    if kind == "enum":
        return {"enum": rng.sample(["a", "ab", "abc", "b", 1, 12, 1.5, None, True, []], 4)}
    if kind == "integer":
        return {"type": "integer", "minimum": few, "maximum": few + more}
    if kind == "number":
        return rng.choice([{"type": "number"}, {"type": "number", "multipleOf": more / 10}])
    if kind == "type":
        return {"type": rng.sample(["string", "number", "boolean", "null", "array", "object"], 2)}
    if kind == "array":
        items = random_schema(rng, depth + 1)
        schema = {"type": "array", "items": items, "minItems": few, "maxItems": few + 3}
        return rng.choice([schema, {"type": "array", "items": items, "uniqueItems": True}])
    if kind == "object":
        return random_object(rng, depth)
    if kind == "union":
        return {"anyOf": [random_schema(rng, depth + 1), random_schema(rng, depth + 1)]}
    return {"$ref": "#"} if kind == "self" and depth else {}


def random_object(rng: random.Random, depth: int) -> Any:
    names = rng.sample(NAMES, rng.randint(0, 4))
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: random_schema(rng, depth + 1) for name in names},
        "required": [name for name in names if rng.random() < 0.4],
    }
    if rng.random() < 0.5:
        schema["additionalProperties"] = rng.choice([False, True, {"type": "integer"}])
    if rng.random() < 0.2:
        schema["maxProperties"] = rng.randint(1, 4)
    if rng.random() < 0.15:
        schema["patternProperties"] = {rng.choice(PATTERNS): random_schema(rng, depth + 1)}
    if rng.random() < 0.15 and len(names) > 1:
        schema["dependentRequired"] = {names[0]: [names[1]]}
    return schema


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all parts of a JSON value but the whole."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in items:
        yield (*at, key)
        if isinstance(part, (dict, list)):
            yield from places(part, (*at, key))


def changed(schema: Any, rng: random.Random) -> Any:
    """The schema with one thing else."""
    schema = copy.deepcopy(schema)
    paths = list(places(schema)) if schema else []
    if not paths:
        return random_schema(rng, 2)
    path = rng.choice(paths)
    parent = schema
    for key in path[:-1]:
        parent = parent[key]
    part = parent[path[-1]]
    if rng.random() < 0.15:
        del parent[path[-1]]
    elif isinstance(part, bool):
        parent[path[-1]] = not part
    elif isinstance(part, (int, float)):
        parent[path[-1]] = max(0, part + rng.choice([-1, 1]))
    elif isinstance(part, str):
        same = PATTERNS if path[-1] == "pattern" else NAMES
        parent[path[-1]] = rng.choice(same) if path[-1] != "type" else part
    elif isinstance(part, list):
        part.append(rng.choice(NAMES))
    else:
        parent[path[-1]] = random_schema(rng, 2)
    return schema


def random_family(rng: random.Random) -> list[bytes]:
    """IR of related schemas, those that can be compiled."""
    schema = random_schema(rng) if rng.random() < 0.3 else random_object(rng, 0)
    options = {name: rng.choice(values) for name, values in OPTIONS.items()}
    members = [(schema, options), (schema, options)]
    for _ in range(5):
        schema, options = rng.choice(members)
        if rng.random() < 0.25:
            name = rng.choice(list(OPTIONS))
            options = {**options, name: rng.choice(OPTIONS[name])}
        else:
            schema = changed(schema, rng)
        members.append((schema, options))
    compiled = []
    for schema, options in members:
        try:
            compiled.append(compile_source("json_schema", schema, options))
        except MaskwrightError:
            continue
    return compiled


class Pair:
    """A matcher of a grammar that shares masks and one of the same grammar alone, side by side."""

    def __init__(self, ir: bytes, tokens: TestVocabulary, store: Any) -> None:
        self.tokens = tokens
        self.compiled = CORE.compile(ir, core_vocabulary(tokens), shared_masks=store)
        self.alone = CoreMatcher.compile(ir, tokens)
        self.shared = CoreMatcher.of_compiled(self.compiled, tokens)

    def step(self, rng: random.Random) -> None:
        assert np.array_equal(self.shared.words(), self.alone.words())
        choices = sorted(self.alone.allowed_tokens() - set(self.tokens.stop_ids))
        if not choices:
            self.alone.reset()
            self.shared.reset()
            return
        # Long tokens, quotation marks and what ends something rather than any letter.
        longest = max(choices, key=lambda token: (len(self.tokens.tokens[token]), rng.random()))
        marks = [c for c in choices if set(self.tokens.tokens[c]) & set(b'"]},:')]
        token = rng.choice([longest, rng.choice(choices), rng.choice(marks or choices)])
        assert self.alone.accept_token(token)
        assert self.shared.accept_token(token)


def pairs_of(family: list[bytes], tokens: TestVocabulary, store: Any) -> list[Pair]:
    pairs = []
    for ir in family:
        with suppress(MaskwrightError, ValueError):  # no text, or a limit
            pairs.append(Pair(ir, tokens, store))
    return pairs


def run_family(rng: random.Random, tokens: TestVocabulary, limit: int) -> Counter[str]:
    vocabulary = core_vocabulary(tokens)
    store = CORE.SharedMasks(vocabulary, limit)
    counts: Counter[str] = Counter()
    grammars, pairs = [], []
    for ir in random_family(rng):
        try:
            pairs.append(Pair(ir, tokens, store))
        except (MaskwrightError, ValueError):  # no text, or a limit
            continue
        grammars.append(ir)
    for step in range(N_STEPS * len(pairs)):
        rng.choice(pairs).step(rng)
        assert limit < 0 or store.bytes <= limit
        if step % 7 == 6:  # a grammar goes, and with it what keeps masks from going
            at = rng.randrange(len(pairs))
            counts.update(pairs[at].compiled.counters())
            pairs[at] = Pair(grammars[at], tokens, store)
        if rng.random() < 0.01:  # what was compiled before keeps the old one
            counts.update(store.counters())
            store = CORE.SharedMasks(vocabulary, limit)
    for pair in pairs:
        counts.update(pair.compiled.counters())
    counts.update(store.counters())
    return counts


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("tokens", sorted(VOCABULARIES))
def test_random_families(tokens: str, limit: int) -> None:
    counts: Counter[str] = Counter()
    for seed in range(N_FAMILIES):
        counts += run_family(random.Random(f"{seed} {limit}"), VOCABULARIES[tokens], limit)
    if limit != 0:
        assert counts["shared_masks"] > 100
    else:
        assert counts["shared_masks"] == 0
    assert (counts["evictions"] > 0) == (0 < limit < 10_000)


@pytest.mark.parametrize("limit", [-1, 20_000])
@pytest.mark.parametrize("tokens", sorted(VOCABULARIES))
def test_a_store_above_another(tokens: str, limit: int) -> None:
    """What lies below was walked for grammars of the family, and for their first steps only."""
    vocabulary = core_vocabulary(VOCABULARIES[tokens])
    hits = entries = 0
    for seed in range(N_FAMILIES // 2):
        rng = random.Random(f"{seed} {limit} above")
        family = list(random_family(rng))
        below = CORE.SharedMasks(vocabulary)
        for pair in pairs_of(family, VOCABULARIES[tokens], below):
            for _ in range(3):
                pair.step(rng)
        store = CORE.SharedMasks(vocabulary, limit, below=below)
        found = below.counters()
        pairs = pairs_of(family, VOCABULARIES[tokens], store)
        for _ in range(N_STEPS * len(pairs)):
            rng.choice(pairs).step(rng)
        assert below.counters() == found
        hits += store.counters()["hits"]
        entries += store.counters()["entries"]
    assert hits > 100
    assert entries > 100


@pytest.mark.parametrize("limit", [-1, 20_000])
def test_threads_share_one_store(limit: int) -> None:
    tokens = VOCABULARIES["short"]
    store = CORE.SharedMasks(core_vocabulary(tokens), limit)
    start = threading.Barrier(4, timeout=60)

    def walk(seed: int) -> int:
        rng = random.Random(seed)
        start.wait()
        for _ in range(6):  # the same families in each thread, at other paces
            irs = random_family(random.Random(rng.randrange(4)))
            pairs = [Pair(ir, tokens, store) for ir in irs[:3]]
            for _ in range(12 * len(pairs)):
                rng.choice(pairs).step(rng)
        return len(pairs)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(walk, range(4)))
    assert store.counters()["hits"] > 0
    assert limit < 0 or store.bytes <= limit


DATA = os.environ.get("MASKWRIGHT_TEST_DATA")


@pytest.mark.skipif(not DATA, reason="MASKWRIGHT_TEST_DATA is not set; it names the test data")
def test_random_families_with_a_real_vocabulary() -> None:
    file = Path(str(DATA)) / "tokenizers" / "llama3_1" / "tokenizer.json"
    info = TokenizerInfo.from_file(file)
    tokens = TestVocabulary(
        "llama3_1",
        tuple(info.decoded_vocab),
        vocab_size=info.vocab_size,
        special_ids=tuple(info.special_token_ids),
        stop_ids=tuple(info.stop_token_ids),
    )
    counts: Counter[str] = Counter()
    for seed in range(6):
        counts += run_family(random.Random(seed), tokens, -1)
    assert counts["shared_masks"] > 100


def test_equal_grammars_share_all_masks_but_those_of_rules() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
    ir = compile_source("json_schema", schema, {"any_order": True})
    store = CORE.SharedMasks(core_vocabulary(VOCABULARIES["short"]))
    walks = []
    for _ in range(2):
        pair = Pair(ir, VOCABULARIES["short"], store)
        rng = random.Random(1)
        for _ in range(60):
            pair.step(rng)
        walks.append(pair.compiled.counters()["cold_walks"])
    assert walks[0] > 10
    assert walks[1] == 0


def test_a_store_of_another_vocabulary_is_refused() -> None:
    ir = compile_source("json_schema", {}, {})
    store = CORE.SharedMasks(core_vocabulary(VOCABULARIES["short"]))
    with pytest.raises(ValueError, match="shared_masks are of another vocabulary"):
        CORE.compile(ir, core_vocabulary(VOCABULARIES["long"]), shared_masks=store)


def closed(*names: str) -> Any:
    properties = {name: {"type": ["integer", "string"]} for name in names}
    return {"type": "object", "properties": properties, "additionalProperties": False}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"type": "string", "maxLength": 9}, {"type": "string", "maxLength": 8}),
        ({"type": "string", "minLength": 9}, {"type": "string", "minLength": 8}),
        ({"type": "integer", "maximum": 99}, {"type": "integer", "maximum": 98}),
        ({"enum": ["ab", "abc"]}, {"enum": ["ab", "abd"]}),
        ({"type": "string", "pattern": "^a+$"}, {"type": "string", "pattern": "^a*$"}),
        ({"type": "array", "maxItems": 2}, {"type": "array", "maxItems": 3}),
        ({"required": ["a"]}, {"required": ["b"]}),
        ({"additionalProperties": False}, {"additionalProperties": True}),
        ({"properties": {"a": {"const": 1}}}, {"properties": {"a": {"const": 2}}}),
        ({"properties": {"a": {"const": 1}}}, {"properties": {"b": {"const": 1}}}),
        ({"type": "boolean"}, {"type": "null"}),
        ({"type": ["boolean", "string"]}, {"enum": [True, "a"]}),
        (
            {"type": "string", "not": {"enum": ["a", "ab"]}},
            {"type": "string", "not": {"const": "ab"}},
        ),
        (closed("b", "a"), closed("b", "c")),
        (closed("a"), closed("b")),
        (closed("a", ""), closed("a", "c")),
        ({"properties": {"a": False}}, {"properties": {"c": False}}),
        ({"properties": {"a": {"const": 1}}}, {"properties": {"a": {"const": 11}}}),
        ({"minProperties": 1}, {"minProperties": 2}),
    ],
    ids=json.dumps,
)
@pytest.mark.parametrize("tokens", sorted(VOCABULARIES))
def test_pairs_that_differ_in_one_thing(one: Any, other: Any, tokens: str) -> None:
    check_pair(one, other, VOCABULARIES[tokens])


def check_pair(one: Any, other: Any, tokens: TestVocabulary) -> None:
    for options in ({"strict_mode": False}, {"any_order": True}):
        for wrap in (lambda schema: schema, lambda schema: {"properties": {"k": schema, "m": {}}}):
            store = CORE.SharedMasks(core_vocabulary(tokens))
            irs = [compile_source("json_schema", wrap(schema), options) for schema in (one, other)]
            pairs = [Pair(ir, tokens, store) for ir in irs]
            rng = random.Random(5)
            for _ in range(150):
                rng.choice(pairs).step(rng)


TEXTS: list[tuple[str, list[tuple[Any, bytes]]]] = [
    (
        "a name that was there",
        [
            ({"properties": {"k": {}}}, b'{"k":1,'),
            ({"properties": {"k": {}}}, b'{"a":1,'),
            ({"properties": {"k": {}}}, b'{"ab":1,'),
            ({"properties": {"k": {}, "m": {}}}, b'{"a":1,"k":1,'),
        ],
    ),
    (
        "the value of a name behind a comma",
        [
            ({"properties": {"b": {}, "a": {"const": 1}}}, b'{"b":1,'),
            ({"properties": {"b": {}, "a": {"const": 2}}}, b'{"b":1,'),
            ({"properties": {"b": {}, "a": {"const": 12}}}, b'{"b":1,'),
        ],
    ),
    (
        "runs of whitespace",
        [
            ({"type": "array"}, b"[1,"),
            ({"type": "array"}, b"[1, "),
            ({"type": "array"}, b"[1,  "),
            ({"type": "array"}, b"[1,   "),
        ],
    ),
    (
        "what is required",
        [
            ({"required": ["a", "b"]}, b'{"a":"x'),
            ({"required": ["a", "b"]}, b'{"b":1,"a":"x'),
            ({"required": ["a", "b"]}, b'{"k":"x'),
            ({"required": ["a"], "maxProperties": 2}, b'{"k":"x'),
            ({"required": ["a"], "maxProperties": 2}, b'{"a":"x'),
            ({"required": ["a"], "maxProperties": 1}, b'{"a":"x'),
        ],
    ),
    (
        "how far a bound is",
        [({"type": "string", "minLength": 7, "maxLength": 9}, b'"' + b"a" * n) for n in range(9)],
    ),
]


@pytest.mark.parametrize("tokens", sorted(VOCABULARIES))
@pytest.mark.parametrize("what", [what for what, _ in TEXTS])
def test_places_that_differ_in_one_thing(what: str, tokens: str) -> None:
    cases = dict(TEXTS)[what]
    vocabulary = VOCABULARIES[tokens]
    options = {"strict_mode": False, "any_order": True, "max_whitespace_cnt": 4}
    for seed in range(6):
        store = CORE.SharedMasks(core_vocabulary(vocabulary))
        for schema, text in random.Random(seed).sample(cases, len(cases)):
            pair = Pair(compile_source("json_schema", schema, options), vocabulary, store)
            assert pair.alone.accept_bytes(text)
            assert pair.shared.accept_bytes(text)
            assert np.array_equal(pair.shared.words(), pair.alone.words())
