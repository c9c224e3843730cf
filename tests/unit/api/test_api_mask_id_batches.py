"""`batch_next_mask_id` against `next_mask_id`; ids under a budget; what is refused."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from maskwright import (
    BatchError,
    BatchGrammarMatcher,
    BitmaskError,
    DraftTreeError,
    GrammarCompiler,
    GrammarMatcher,
    MatcherError,
    TokenizerInfo,
)

WORDS = ["{", "}", '"', ":", ",", "[", "]", "true", "a", "b", "ab", "1", "12", "1,1", '"a":']
INFO = TokenizerInfo(
    [*WORDS, *(bytes([k]) for k in range(256)), "</s>"], stop_token_ids=len(WORDS) + 256
)
STOP = len(WORDS) + 256
MASK_WORDS = (INFO.vocab_size + 31) // 32
SCHEMAS = [
    {"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}, "required": ["a"]},
    {"type": "array", "items": {"enum": [1, 12, True]}, "uniqueItems": True},
    {"type": "array", "items": {"type": ["integer", "array"]}},
]
UNTOUCHED = 77


def filled(matcher: GrammarMatcher) -> np.ndarray:
    row = np.full((1, MASK_WORDS), 7, dtype=np.int32)
    matcher.fill_next_token_bitmask(row)
    return row[0]


def allowed(row: np.ndarray) -> list[int]:
    return np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist()


def make_matchers(compiler: GrammarCompiler, **options: int) -> list[GrammarMatcher]:
    grammars = [compiler.compile_json_schema(s, strict_mode=False) for s in SCHEMAS]
    return [GrammarMatcher(grammars[k % len(grammars)], **options) for k in range(9)]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_each_gets_the_id_that_it_gets_alone(threads, dtype):
    """Cold and warm, in any order of rows; masks by id are those that are filled."""
    rng = random.Random(5)
    compiler = GrammarCompiler(INFO)
    matchers = make_matchers(compiler)
    matchers += [GrammarMatcher(m.compiled_grammar, token_budget=9) for m in matchers[::2]]
    batch = BatchGrammarMatcher(threads)
    seen = set()
    for _ in range(40):
        rows = rng.sample(range(20), len(matchers))
        ids = np.full(20, UNTOUCHED, dtype=dtype)
        assert batch.batch_next_mask_id(matchers, ids, indices=rows) == 0
        assert sorted(np.flatnonzero(ids != UNTOUCHED)) == sorted(rows)
        by_id = np.zeros((len(rows), MASK_WORDS), dtype=np.int32)
        compiler.mask_table.get_masks(ids[rows], by_id)
        for row, matcher, mask in zip(rows, matchers, by_id, strict=True):
            assert ids[row] == matcher.next_mask_id()
            assert np.array_equal(mask, filled(matcher))
            assert matcher.accept_token(rng.choice(allowed(mask)))
            if matcher.is_terminated():
                matcher.reset()
        seen.update(ids[rows].tolist())
    assert len(seen) > 20


@pytest.mark.parametrize("make", ["strided", "reversed", "torch"])
def test_ids_are_written_in_place(make):
    compiler = GrammarCompiler(INFO)
    matchers = [GrammarMatcher(compiler.compile_regex(regex)) for regex in ("a", "b", "a")]
    base = np.full(6, UNTOUCHED, dtype=np.int64)
    if make == "torch":
        torch = pytest.importorskip("torch", reason="torch is not installed")
        array = torch.from_numpy(base)
    else:
        array = base[::2] if make == "strided" else base[::-1]
    BatchGrammarMatcher(1).batch_next_mask_id(matchers, array)
    assert np.asarray(array)[:3].tolist() == [0, 1, 0]
    assert (base == UNTOUCHED).sum() == 3


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_a_budget_that_takes_nothing_away_changes_no_id(schema):
    compiled = GrammarCompiler(INFO).compile_json_schema(schema, strict_mode=False)
    rng = random.Random(8)
    plain, bound = GrammarMatcher(compiled), GrammarMatcher(compiled, token_budget=5000)
    for _ in range(12):
        assert plain.next_mask_id() == bound.next_mask_id() >= 0
        token = rng.choice([t for t in allowed(filled(plain)) if t != STOP] or [STOP])
        assert plain.accept_token(token)
        assert bound.accept_token(token)
        if plain.is_terminated():
            plain.reset()
            bound.reset()


def test_masks_of_a_budget_are_told_apart_by_what_they_are():
    compiler = GrammarCompiler(INFO)
    compiled = compiler.compile_json_schema({"type": "array"}, strict_mode=False)
    ids, masks = [], []
    for budget in (3, 4, 5, 9, 4):
        matcher = GrammarMatcher(compiled, token_budget=budget)
        assert matcher.accept_string("[")
        ids.append(matcher.next_mask_id())
        masks.append(filled(matcher).tobytes())
        row = np.zeros((1, MASK_WORDS), dtype=np.int32)
        compiler.mask_table.get_masks([ids[-1]], row)
        assert row.tobytes() == masks[-1]
    assert [ids.index(k) for k in ids] == [masks.index(k) for k in masks]
    assert len(set(ids)) > 1


def test_masks_of_one_text_fill_half_of_the_table():
    """What other matchers come to later finds room; here all masks are of one text."""
    info = TokenizerInfo(["aa", "ba", "ca", "da", "ea", "fa", "</s>"], stop_token_ids=6)
    first = GrammarMatcher(GrammarCompiler(info).compile_regex("aa"))
    assert first.next_mask_id() == 0
    size = first.compiled_grammar.mask_table.memory_size_bytes
    compiler = GrammarCompiler(info, mask_table_bytes=6 * size)
    table = compiler.mask_table
    ids = [
        GrammarMatcher(compiler.compile_regex(f"({letter}a)+")).next_mask_id()
        for letter in "abcdefab"
    ]
    assert ids == [0, 1, 2, -1, -1, -1, 0, 1]
    assert table.memory_size_bytes == 3 * size


def test_matchers_of_several_tables():
    compiler = GrammarCompiler(INFO)
    old = GrammarMatcher(compiler.compile_regex("a"))
    old_table = compiler.mask_table
    compiler.clear_cache()
    new = GrammarMatcher(compiler.compile_regex("b"))
    ids = np.full(2, UNTOUCHED, dtype=np.int32)
    batch = BatchGrammarMatcher(1)
    with pytest.raises(BatchError) as caught:
        batch.batch_next_mask_id([old, new], ids)
    assert caught.value.code == "batch-mask-tables"
    assert str(caught.value) == (
        "matcher 0 and matcher 1 have different mask tables, as grammars from before and after "
        "clear_cache() have; pass mask_table, and matchers of other tables get -1"
    )
    assert ids.tolist() == [UNTOUCHED] * 2
    assert batch.batch_next_mask_id([old, new], ids, mask_table=compiler.mask_table) == 1
    assert ids.tolist() == [-1, 0]
    assert batch.batch_next_mask_id([old, new], ids, mask_table=old_table) == 1
    assert ids.tolist() == [0, -1]
    assert batch.batch_next_mask_id([], ids) == 0
    with pytest.raises(TypeError, match="mask_table is a int; expected a MaskTable"):
        batch.batch_next_mask_id([old], ids, mask_table=3)


def ended(compiler: GrammarCompiler, **options: bool) -> GrammarMatcher:
    matcher = GrammarMatcher(compiler.compile_regex("a"), **options)
    assert matcher.accept_string("a")
    if not options:
        assert matcher.accept_token(STOP)
    return matcher


@pytest.mark.parametrize("options", [{}, {"terminate_without_stop_token": True}])
def test_a_terminated_matcher_is_refused_before_any_work(options):
    compiler = GrammarCompiler(INFO)
    live = GrammarMatcher(compiler.compile_regex("b"))
    ids = np.full(2, UNTOUCHED, dtype=np.int32)
    with pytest.raises(MatcherError) as caught:
        BatchGrammarMatcher(1).batch_next_mask_id([live, ended(compiler, **options)], ids)
    assert caught.value.code == "matcher-terminated"
    assert ids.tolist() == [UNTOUCHED] * 2
    assert len(compiler.mask_table) == 0


@pytest.mark.parametrize(
    ("array", "indices", "code"),
    [
        (np.zeros(1, np.int32), None, "batch-rows"),
        (np.zeros(4, np.int32), [0, 4], "batch-index"),
        (np.zeros(4, np.int32), [-1, 0], "batch-index"),
        (np.zeros(4, np.int32), [2, 2], "batch-index-twice"),
        (np.zeros(4, np.int32), [2], "batch-lengths"),
        (np.zeros(4, np.uint32), None, "mask-ids-dtype"),
        (np.zeros(4, np.float32), None, "mask-ids-dtype"),
        (np.zeros((4, 1), np.int32), None, "mask-ids-shape"),
        (np.zeros((), np.int32), None, "mask-ids-shape"),
        (np.lib.stride_tricks.as_strided(np.zeros(4, np.int32), (4,), (0,)), None, "mask-ids-str"),
        (np.broadcast_to(np.int32(0), (4,)), None, "bitmask-not-an-array"),
        ([0, 0, 0], None, "bitmask-not-an-array"),
        (None, None, "bitmask-not-an-array"),
    ],
)
def test_what_is_refused_has_written_nothing(array, indices, code):
    compiler = GrammarCompiler(INFO)
    matchers = [GrammarMatcher(compiler.compile_regex(regex)) for regex in ("a", "b")]
    with pytest.raises((BatchError, BitmaskError)) as caught:
        BatchGrammarMatcher(1).batch_next_mask_id(matchers, array, indices)
    assert caught.value.code.startswith(code)
    assert len(compiler.mask_table) == 0
    assert array is None or not np.any(array)


def test_a_matcher_may_be_named_once():
    matcher = GrammarMatcher(GrammarCompiler(INFO).compile_regex("a"))
    ids = np.full(2, UNTOUCHED, dtype=np.int32)
    with pytest.raises(BatchError) as caught:
        BatchGrammarMatcher(1).batch_next_mask_id([matcher, matcher], ids)
    assert caught.value.code == "batch-same-matcher"
    assert ids.tolist() == [UNTOUCHED] * 2


def test_any_number_of_rows_without_elements():
    """Only what is named takes memory."""
    many = 2**45
    compiler = GrammarCompiler(INFO)
    matchers = [GrammarMatcher(compiler.compile_regex(regex)) for regex in ("a", "b")]
    batch = BatchGrammarMatcher(1)
    empty = np.zeros((many, 0), dtype=np.int32)
    none = np.zeros(0, dtype=np.int32)
    bitmask = np.zeros((4, MASK_WORDS), dtype=np.int32)
    for trees in [(none, none), (empty, empty)]:
        with pytest.raises(DraftTreeError) as caught:
            batch.batch_traverse_draft_tree(matchers, *trees, empty, bitmask, [0, many - 1])
        assert caught.value.code == "draft-tree-root"
    with pytest.raises(BitmaskError) as refused:
        batch.batch_fill_next_token_bitmask(matchers, empty, [0, many - 1])
    assert refused.value.code == "bitmask-shape"
    wide = np.broadcast_to(np.int64(-1), (many,))
    with pytest.raises(DraftTreeError) as caught:
        matchers[0].traverse_draft_tree(wide, wide, wide, bitmask)
    assert caught.value.code == "draft-tree-strides"
