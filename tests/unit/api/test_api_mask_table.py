"""Ids of masks, and the table that they are of."""

from __future__ import annotations

import json
import random
import threading

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from maskwright import (
    BitmaskError,
    GrammarCompiler,
    GrammarMatcher,
    MaskTable,
    MatcherError,
    TokenizerInfo,
)

# Some hold several items of an array or members of an object.
WORDS = [
    "{",
    "}",
    '"',
    ":",
    ",",
    "[",
    "]",
    "true",
    "false",
    "null",
    "a",
    "b",
    "ab",
    "1",
    "12",
    "}]",
    "1,1",
    ",12,",
    "1,12]",
    '"a":true,"a"',
    '"ab":',
]
INFO = TokenizerInfo(
    [*WORDS, *(bytes([k]) for k in range(256)), "</s>", "<end>"], stop_token_ids=len(WORDS) + 256
)
STOP = len(WORDS) + 256
END = STOP + 1
MASK_WORDS = (INFO.vocab_size + 31) // 32
SCHEMAS = [
    {"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}, "required": ["a"]},
    {"type": "array", "items": {"type": ["integer", "null"]}, "uniqueItems": True, "maxItems": 4},
    {"type": "object", "additionalProperties": {"type": "boolean"}, "maxProperties": 3},
    {"anyOf": [{"type": "string", "pattern": "^[ab]+$"}, {"type": "array"}]},
    {"enum": [1, 12, "ab", None, [True]]},
    {"type": "array", "items": {"enum": [1, 12]}, "uniqueItems": True},
    {"type": "array", "items": {"type": "integer", "maximum": 2}, "uniqueItems": True},
]


def filled(matcher: GrammarMatcher) -> np.ndarray:
    row = np.full((1, MASK_WORDS), 7, dtype=np.int32)
    matcher.fill_next_token_bitmask(row)
    return row[0]


def of_id(matcher: GrammarMatcher, mask_id: int) -> np.ndarray:
    row = np.full((1, MASK_WORDS), 7, dtype=np.int32)
    matcher.compiled_grammar.mask_table.get_masks([mask_id], row)
    return row[0]


def allowed(row: np.ndarray) -> list[int]:
    return np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist()


def walk(matcher: GrammarMatcher, rng: random.Random, steps: int) -> list[int]:
    """Go on at random and check the id of each step; return the ids."""
    ids = []
    for _ in range(steps):
        mask_id = matcher.next_mask_id()
        row = filled(matcher)
        ids.append(mask_id)
        assert matcher.next_mask_id() == mask_id
        if mask_id != -1:
            assert np.array_equal(of_id(matcher, mask_id), row)
        assert matcher.accept_token(rng.choice(allowed(row)))
        if matcher.is_terminated():
            matcher.reset()
        elif rng.random() < 0.2:
            matcher.rollback(1)
    return ids


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_the_mask_of_an_id_is_the_mask_of_the_step(schema):
    compiled = GrammarCompiler(INFO).compile_json_schema(schema, strict_mode=False)
    rng = random.Random(4)
    ids = [walk(GrammarMatcher(compiled), rng, 60) for _ in range(4)]
    assert sum(mask_id != -1 for seen in ids for mask_id in seen) > 20


def test_equal_masks_have_equal_ids_in_all_grammars():
    compiler = GrammarCompiler(INFO)
    rng = random.Random(1)
    rows: dict[int, bytes] = {}
    for schema in SCHEMAS:
        matcher = GrammarMatcher(compiler.compile_json_schema(schema, strict_mode=False))
        for _ in range(150):
            mask_id, row = matcher.next_mask_id(), filled(matcher)
            if mask_id != -1:
                assert rows.setdefault(mask_id, row.tobytes()) == row.tobytes()
            matcher.accept_token(rng.choice(allowed(row)))
            if matcher.is_terminated():
                matcher.reset()
    assert len(set(rows.values())) == len(rows) == len(compiler.mask_table)
    assert sorted(rows) == list(range(len(rows)))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"override_stop_tokens": END},
        {"override_stop_tokens": [STOP, END]},
        {"terminate_without_stop_token": True},
    ],
)
def test_ways_to_end_are_told_apart(options):
    """Matchers of one grammar that end in different ways, in turn."""
    compiled = GrammarCompiler(INFO).compile_regex("[ab]+")
    plain = GrammarMatcher(compiled)
    other = GrammarMatcher(compiled, **options)
    for token in (None, WORDS.index("ab"), WORDS.index("a")):
        for matcher in (plain, other):
            if token is not None:
                assert matcher.accept_token(token)
            assert np.array_equal(of_id(matcher, matcher.next_mask_id()), filled(matcher))
    same = not options
    assert (plain.next_mask_id() == other.next_mask_id()) == same


def test_after_the_end():
    compiled = GrammarCompiler(INFO).compile_regex("a")
    matcher = GrammarMatcher(compiled)
    assert matcher.accept_token(WORDS.index("a"))
    assert matcher.accept_token(STOP)
    with pytest.raises(MatcherError) as caught:
        matcher.next_mask_id()
    assert caught.value.code == "matcher-terminated"
    matcher = GrammarMatcher(compiled, terminate_without_stop_token=True)
    assert matcher.accept_token(WORDS.index("a"))
    for _ in range(2):
        with pytest.raises(MatcherError):
            matcher.next_mask_id()


def test_values_that_are_no_longer_allowed_have_an_id_of_their_own():
    """Unique items: what was written before decides masks that look alike."""
    schema = {"type": "array", "items": {"enum": [1, 12, None]}, "uniqueItems": True}
    compiled = GrammarCompiler(INFO).compile_json_schema(schema)
    rows = {}
    for text in ("[", "[1,", "[12,", "[null,", "[null,1", "[1,null,", "[12,1,"):
        matcher = GrammarMatcher(compiled)
        assert matcher.accept_string(text)
        mask_id, row = matcher.next_mask_id(), filled(matcher)
        assert np.array_equal(of_id(matcher, mask_id), row)
        assert rows.setdefault(mask_id, row.tobytes()) == row.tobytes()
    assert len(rows) == len(set(rows.values())) > 3


def test_a_vocabulary_that_cannot_spell_every_text():
    info = TokenizerInfo(["ab", "c", "a", "</s>"], stop_token_ids=3)
    compiler = GrammarCompiler(info)
    matcher = GrammarMatcher(compiler.compile_regex("(a?bc|ab)+"))
    assert matcher.next_mask_id() == 0
    row, expected = np.zeros((1, 1), np.int32), np.zeros((1, 1), np.int32)
    compiler.mask_table.get_masks([0], row)
    matcher.fill_next_token_bitmask(expected)
    assert row.tolist() == expected.tolist() == [[1]]
    assert matcher.accept_token(0)
    assert matcher.next_mask_id() == 1


def test_a_budget_tells_masks_apart():
    """A matcher that must come to an end has other masks than one that need not."""
    compiled = GrammarCompiler(INFO).compile_json_schema({"type": "array"}, strict_mode=False)
    for budget in (None, 3, 4, 6, 60, None):
        options = {} if budget is None else {"token_budget": budget}
        walk(GrammarMatcher(compiled, **options), random.Random(3), 25)


def test_a_full_table():
    one = MaskTable(MASK_WORDS, 0)
    assert (len(one), one.shape, one.memory_size_bytes) == (0, (0, MASK_WORDS), 0)
    limit = 1000
    compiler = GrammarCompiler(INFO, mask_table_bytes=limit)
    table = compiler.mask_table
    ids = []
    for regex in ("a[ab]*1", "b", "1", "[a-z]", "[A-Z]+", "true|false"):
        matcher = GrammarMatcher(compiler.compile_regex(regex))
        ids.append(matcher.next_mask_id())
        assert table.memory_size_bytes <= limit == table.limit_bytes
    kept = len(table)
    assert ids == [*range(kept), *[-1] * (6 - kept)]
    assert 0 < kept < 6
    matcher = GrammarMatcher(compiler.compile_regex("a[ab]*1"))
    assert matcher.next_mask_id() == 0
    assert np.array_equal(of_id(matcher, 0), filled(matcher))


def test_a_new_table_after_clearing():
    compiler = GrammarCompiler(INFO)
    old = compiler.compile_regex("a")
    matcher = GrammarMatcher(old)
    assert matcher.next_mask_id() == 0
    table = compiler.mask_table
    assert old.mask_table is table
    compiler.clear_cache()
    assert len(compiler.mask_table) == 0
    assert compiler.get_cache_size_bytes() == 0
    assert old.mask_table is table
    assert np.array_equal(of_id(matcher, matcher.next_mask_id()), filled(matcher))
    assert GrammarMatcher(compiler.compile_regex("b")).next_mask_id() == 0


def test_getting_several_masks():
    compiler = GrammarCompiler(INFO)
    matchers = [GrammarMatcher(compiler.compile_regex(regex)) for regex in ("a", "b", "a")]
    ids = [matcher.next_mask_id() for matcher in matchers]
    assert ids == [0, 1, 0]
    out = np.full((4, MASK_WORDS + 2), 7, dtype=np.int32)
    assert compiler.mask_table.get_masks(np.array(ids), out) is None
    for row, matcher in zip(out, matchers, strict=False):
        assert np.array_equal(row[:MASK_WORDS], filled(matcher))
        assert not row[MASK_WORDS:].any()
    assert (out[3] == 7).all()
    compiler.mask_table.get_masks([], np.zeros((0, MASK_WORDS), np.int32))


@pytest.mark.parametrize(
    ("ids", "shape", "dtype", "code"),
    [
        ([1], (1, MASK_WORDS), np.int32, "bitmask-mask-id"),
        ([0, -1], (2, MASK_WORDS), np.int32, "bitmask-mask-id"),
        ([2**70], (2, MASK_WORDS), np.int32, "bitmask-mask-id"),
        ([0, 0], (1, MASK_WORDS), np.int32, "bitmask-shape"),
        ([0], (1, MASK_WORDS - 1), np.int32, "bitmask-shape"),
        ([0], (MASK_WORDS,), np.int32, "bitmask-shape"),
        ([0], (1, MASK_WORDS), np.uint32, "bitmask-dtype"),
    ],
)
def test_refusals_write_nothing(ids, shape, dtype, code):
    compiler = GrammarCompiler(INFO)
    GrammarMatcher(compiler.compile_regex("a")).next_mask_id()
    out = np.full(shape, 7, dtype=dtype)
    with pytest.raises(BitmaskError) as caught:
        compiler.mask_table.get_masks(ids, out)
    assert caught.value.code == code
    assert (out == 7).all()


@pytest.mark.parametrize("step", [0, 1, MASK_WORDS - 1, 1 - MASK_WORDS])
def test_rows_that_overlap_are_refused(step):
    compiler = GrammarCompiler(INFO)
    for regex in ("a", "b"):
        GrammarMatcher(compiler.compile_regex(regex)).next_mask_id()
    words = np.full(3 * MASK_WORDS, 7, dtype=np.int32)
    out = as_strided(words[MASK_WORDS:], (2, MASK_WORDS), (4 * step, 4))
    with pytest.raises(
        BitmaskError, match="expected rows of words side by side that do not over"
    ) as caught:
        compiler.mask_table.get_masks([0, 1], out)
    assert caught.value.code == "bitmask-strides"
    assert (words == 7).all()
    compiler.mask_table.get_masks([1], out)
    assert out[0, 0] == 1 << WORDS.index("b")


def test_messages_and_types():
    table = MaskTable(MASK_WORDS)
    with pytest.raises(BitmaskError) as caught:
        table.get_masks([3], np.zeros((1, MASK_WORDS), np.int32))
    assert str(caught.value) == (
        "mask id 3 does not exist: the table has 0 masks; pass ids of a matcher whose grammar has "
        "this table"
    )
    with pytest.raises(TypeError):
        table.get_masks([0.5], np.zeros((1, MASK_WORDS), np.int32))
    with pytest.raises(ValueError, match="mask_table_bytes is -1; expected at least 0"):
        GrammarCompiler(INFO, mask_table_bytes=-1)


def test_threads_get_the_same_ids():
    compiler = GrammarCompiler(INFO)
    grammars = [compiler.compile_json_schema(schema, strict_mode=False) for schema in SCHEMAS]
    barrier = threading.Barrier(4)
    results: list[list[int]] = []

    def run() -> None:
        barrier.wait(timeout=30)
        rng = random.Random(7)
        results.append([i for g in grammars for i in walk(GrammarMatcher(g), rng, 40)])

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(results) == 4
    assert all(ids == results[0] for ids in results)
