"""Batches from several threads, on grammars that are still cold, and in forked processes."""

from __future__ import annotations

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from maskwright import BatchGrammarMatcher, GrammarCompiler, GrammarMatcher, TokenizerInfo

WORDS = ['{"', '":', '", "', "tag", "name", "alpha", "12", "345", "[1", ", ", "]}", "true", '"}']
TOKENS = [bytes([byte]) for byte in range(256)] + [word.encode() for word in WORDS] + [b"</s>"]
STOP = len(TOKENS) - 1
INFO = TokenizerInfo(TOKENS, stop_token_ids=STOP)
ROW_WORDS = (len(TOKENS) + 31) // 32
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 12},
            "tags": {"type": "array", "items": {"enum": ["red", "green", 12]}},
            "more": {"type": ["object", "number", "null"]},
        },
        "required": ["name"],
    }
)
TEXT = b'{"name": "alpha", "tags": ["red", 12], "more": {"a": [1.5e3]}}'


def new_matchers(count: int, schemas: int = 1) -> list[GrammarMatcher]:
    """Matchers of grammars that nothing has been computed for."""
    compiled = [GrammarCompiler(INFO).compile_json_schema(SCHEMA) for _ in range(schemas)]
    return [GrammarMatcher(compiled[k % schemas]) for k in range(count)]


def chain(tokens: bytes) -> tuple[Any, Any, Any]:
    """A tree without branches whose root stands for the text so far."""
    n = len(tokens) + 1
    return np.array([*range(1, n), -1]), np.full(n, -1), np.array([0, *tokens])


def expected_masks() -> Any:
    """The mask before each byte of the text and behind it, one after the other."""
    matcher = new_matchers(1)[0]
    rows = np.zeros((len(TEXT) + 1, ROW_WORDS), dtype=np.int32)
    for k, token in enumerate(TEXT):
        matcher.fill_next_token_bitmask(rows, k)
        assert matcher.accept_token(token)
    matcher.fill_next_token_bitmask(rows, len(TEXT))
    return rows


EXPECTED = expected_masks()


@pytest.mark.parametrize("schemas", [1, 4])
def test_one_cold_grammar_while_another_thread_walks_it(schemas):
    matchers = new_matchers(64, schemas)
    other = GrammarMatcher(matchers[0].compiled_grammar)
    begin, stop = threading.Barrier(2), threading.Event()

    def walk() -> int:
        row = np.zeros((1, ROW_WORDS), dtype=np.int32)
        begin.wait()
        rounds = 0
        while not stop.is_set() or rounds == 0:
            for k, token in enumerate(TEXT):
                other.fill_next_token_bitmask(row)
                assert (row[0] == EXPECTED[k]).all()
                assert other.accept_token(token)
            other.find_jump_forward_string()
            assert str(other.compiled_grammar.grammar)
            other.reset()
            rounds += 1
        return rounds

    with ThreadPoolExecutor(1) as pool:
        walking = pool.submit(walk)
        try:
            begin.wait()
            batch = BatchGrammarMatcher(4)
            children, siblings, tokens = chain(TEXT[30:40])
            for k, token in enumerate(TEXT):
                bitmask = np.zeros((64, ROW_WORDS), dtype=np.int32)
                batch.batch_fill_next_token_bitmask(matchers, bitmask)
                assert (bitmask == EXPECTED[k]).all()
                if k == 30:
                    drafts = np.zeros((64 * 11, ROW_WORDS), dtype=np.int32)
                    rows = np.tile(tokens, (64, 1))
                    done = batch.batch_traverse_draft_tree(
                        matchers, children, siblings, rows, drafts
                    )
                    assert done == [True] * 64
                    assert (drafts.reshape(64, 11, -1) == EXPECTED[30:41]).all()
                assert batch.batch_accept_token(matchers, [token] * 64) == [True] * 64
        finally:
            stop.set()
        assert walking.result() > 0


def test_a_cold_tree_of_many_matchers():
    matchers = new_matchers(64)
    children, siblings, tokens = chain(TEXT)
    drafts = np.zeros((64 * len(tokens), ROW_WORDS), dtype=np.int32)
    BatchGrammarMatcher(3).batch_traverse_draft_tree(
        matchers, children, siblings, np.tile(tokens, (64, 1)), drafts
    )
    assert (drafts.reshape(64, len(tokens), -1) == EXPECTED).all()
    assert all(matcher.accept_token(TEXT[0]) for matcher in matchers)


def test_one_object_from_several_threads():
    batch = BatchGrammarMatcher(3)

    def work(_: int) -> None:
        matchers = new_matchers(12, 3)
        for k, token in enumerate(TEXT):
            bitmask = np.zeros((12, ROW_WORDS), dtype=np.int32)
            batch.batch_fill_next_token_bitmask(matchers, bitmask)
            assert (bitmask == EXPECTED[k]).all()
            assert batch.batch_accept_token(matchers, [token] * 12) == [True] * 12

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))


def test_other_threads_run_during_a_batch():
    """The GIL is released: a thread that waits for the batch's own gets its turn in between.

    The batch computes masks for a long time; if it held the lock, the other thread could not count.
    """
    schemas = 40
    matchers = new_matchers(schemas, schemas)
    children, siblings, tokens = chain(TEXT)
    drafts = np.zeros((schemas * len(tokens), ROW_WORDS), dtype=np.int32)
    count, begun, done = [0], threading.Event(), threading.Event()

    def run() -> int:
        begun.wait()
        before = count[0]
        BatchGrammarMatcher(1).batch_traverse_draft_tree(
            matchers, children, siblings, np.tile(tokens, (schemas, 1)), drafts
        )
        after = count[0]
        done.set()
        return after - before

    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(run)
        while not done.is_set():
            count[0] += 1
            begun.set()
        # Python's interpreter hands the lock over every 5 ms: only so the count moves twice.
        assert result.result() > 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own():
    batch = BatchGrammarMatcher(4)
    children, siblings, tokens = chain(TEXT)

    def traverse() -> bool:
        matchers = new_matchers(8, 8)
        drafts = np.zeros((8 * len(tokens), ROW_WORDS), dtype=np.int32)
        batch.batch_traverse_draft_tree(
            matchers, children, siblings, np.tile(tokens, (8, 1)), drafts
        )
        return bool((drafts.reshape(8, len(tokens), -1) == EXPECTED).all())

    assert traverse()  # starts threads
    child = os.fork()
    if child == 0:  # no assertion may leave the child
        right = False
        try:
            right = traverse()
        finally:
            os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert traverse()
