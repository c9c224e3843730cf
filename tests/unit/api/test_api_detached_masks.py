"""Masks of grammars from before `clear_cache`: dropped at the compiler's limit, and right."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest

from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo

INFO = TokenizerInfo(
    [*(bytes([k]) for k in range(256)), *(f"w{k:04d}" for k in range(8000)), "</s>"],
    stop_token_ids=8256,
)
MASK_WORDS = (INFO.vocab_size + 31) // 32
# Each state has another dense mask, and no other grammar shares it.
PATTERNS = [f"[^{letter}]{{1,40}}(w[0-9]*[02468]|{letter}x){{5,60}}" for letter in "abcd"]


def filled(matcher: GrammarMatcher) -> np.ndarray:
    row = np.zeros((1, MASK_WORDS), dtype=np.int32)
    matcher.fill_next_token_bitmask(row)
    return row[0]


def walk(matcher: GrammarMatcher, oracle: GrammarMatcher, steps: int, seed: int) -> int:
    """Compare each mask with that of a matcher of another compiler; return how many."""
    rng = random.Random(seed)
    for step in range(steps):
        mask = filled(matcher)
        assert np.array_equal(mask, filled(oracle))
        assert np.array_equal(filled(matcher), mask)
        bits = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
        token = int(rng.choice(bits))
        assert matcher.accept_token(token)
        assert oracle.accept_token(token)
        if matcher.is_terminated() or step % 30 == 29:
            matcher.reset()
            oracle.reset()
    return steps


def drops(compiled) -> int:
    return compiled._core.counters()["mask_drops"]


def test_what_is_computed_after_clearing_keeps_the_limit():
    free = GrammarCompiler(INFO)
    oracles = [GrammarMatcher(free.compile_regex(pattern)) for pattern in PATTERNS]
    base = sum(one.compiled_grammar.memory_size_bytes for one in oracles)
    for seed, oracle in enumerate(oracles):
        walk(oracle, GrammarMatcher(oracle.compiled_grammar), 60, seed)
    needed = sum(one.compiled_grammar.memory_size_bytes for one in oracles)
    compiler = GrammarCompiler(INFO, cache_limit_bytes=(base + (needed - base) // 2) * 3 // 2)
    limit = compiler._cache.limit_bytes
    assert base < limit < needed
    compiled = [compiler.compile_regex(pattern) for pattern in PATTERNS]
    base = sum(grammar.memory_size_bytes for grammar in compiled)
    compiler.clear_cache()
    assert compiler.stats().detached_bytes == base
    for seed, (grammar, oracle) in enumerate(zip(compiled, oracles, strict=True)):
        oracle.reset()
        matcher = GrammarMatcher(grammar)
        for part in range(6):
            walk(matcher, oracle, 10, seed * 10 + part)
            sizes = [one.memory_size_bytes for one in compiled]
            own, shared = (ledger.bytes for ledger in compiler._past._ledgers)
            assert own == sum(sizes)
            few = grammar._core.counters()["mask_bytes"] <= grammar.memory_size_bytes // 8
            assert own <= limit or few
            assert compiler.stats().detached_bytes == own + shared
    assert sum(drops(grammar) for grammar in compiled) > 0
    assert compiler.get_cache_size_bytes() == 0


@pytest.mark.parametrize("limit", [None, -1])
def test_without_a_limit_nothing_is_dropped(limit):
    compiler = (
        GrammarCompiler(INFO) if limit is None else GrammarCompiler(INFO, cache_limit_bytes=-1)
    )
    compiled = compiler.compile_regex(PATTERNS[0])
    compiler.clear_cache()
    walk(
        GrammarMatcher(compiled),
        GrammarMatcher(GrammarCompiler(INFO).compile_regex(PATTERNS[0])),
        60,
        1,
    )
    assert drops(compiled) == 0


def test_masks_that_do_not_matter_are_not_dropped_at_every_step():
    """Where rules and states alone are more than the limit, dropping masks would not help."""
    compiler = GrammarCompiler(INFO, cache_limit_bytes=200_000)
    compiled = compiler.compile_regex(PATTERNS[0])
    compiler.clear_cache()
    compiled._core.charge_to(compiler._past._ledgers[0])  # as if it had been kept before
    matcher = GrammarMatcher(compiled)
    walks = []
    for _ in range(3):
        matcher.reset()
        before = compiled._core.counters()["cold_walks"]
        for token in b"zyzyzyzy":
            filled(matcher)
            assert matcher.accept_token(token)
        walks.append(compiled._core.counters()["cold_walks"] - before)
    assert compiled.memory_size_bytes > compiler._cache.limit_bytes
    assert walks[0] > 0
    assert walks[1:] == [0, 0]


def test_ids_and_budgets_stay_right_when_masks_are_dropped():
    compiler = GrammarCompiler(INFO, cache_limit_bytes=3000)
    compiled = compiler.compile_json_schema({"type": "array"}, strict_mode=False)
    compiler.clear_cache()
    compiled._core.charge_to(compiler._past._ledgers[0])  # too large to have been kept
    plain = GrammarCompiler(INFO).compile_json_schema({"type": "array"}, strict_mode=False)
    matcher = GrammarMatcher(compiled, token_budget=30)
    oracle = GrammarMatcher(plain, token_budget=30)
    rng = random.Random(3)
    row = np.zeros((1, MASK_WORDS), dtype=np.int32)
    while not matcher.is_terminated():
        mask = filled(matcher)
        assert np.array_equal(mask, filled(oracle))
        compiled.mask_table.get_masks([matcher.next_mask_id()], row)
        assert np.array_equal(row[0], mask)
        bits = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
        token = int(rng.choice(bits))
        assert matcher.accept_token(token)
        assert oracle.accept_token(token)
    assert drops(compiled) > 2


def test_threads_that_clear_and_walk():
    """The bound holds at every sample, whoever clears meanwhile; and the masks are right."""
    compiler = GrammarCompiler(INFO, cache_limit_bytes=400_000)
    free = GrammarCompiler(INFO)
    barrier = threading.Barrier(5)
    failures: list[BaseException] = []

    def run(seed: int) -> None:
        try:
            barrier.wait(timeout=30)
            for part in range(3):
                pattern = PATTERNS[(seed + part) % len(PATTERNS)]
                matcher = GrammarMatcher(compiler.compile_regex(pattern))
                walk(matcher, GrammarMatcher(free.compile_regex(pattern)), 25, seed)
        except BaseException as error:  # noqa: BLE001  told to the test's own thread
            failures.append(error)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    barrier.wait(timeout=30)
    for _ in range(20):
        compiler.clear_cache()
        assert compiler.get_cache_size_bytes() <= 400_000
    for thread in threads:
        thread.join(timeout=120)
    assert not failures
    assert not any(thread.is_alive() for thread in threads)
    compiler.clear_cache()
    assert compiler.get_cache_size_bytes() == 0
