"""Masks computed ahead: the same masks, and less to compute for a matcher."""

from __future__ import annotations

import gc
import logging
import os
import signal
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo, _core
from maskwright import precompute as module

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "kind": {"enum": ["alpha", "beta"]},
        "sizes": {"type": "array", "items": {"type": "integer", "minimum": 3}},
    },
    "required": ["name", "kind"],
    "additionalProperties": False,
}
TEXT = b'{"name": "ab", "kind": "beta", "sizes": [10, 7]}'
TOKENS = [bytes([byte]) for byte in range(256)] + [
    *(b'{"', b'": "', b'", "', b'":', b'",', b' "', b'"}', b"]}", b", ", b'": [', b"name", b"na"),
    *(b"kind", b"alpha", b"bet", b"sizes", b"ab", b"10", b"</s>"),
]
WAIT_SECONDS = 60


@pytest.fixture(scope="module")
def info() -> TokenizerInfo:
    return TokenizerInfo(TOKENS, stop_token_ids=len(TOKENS) - 1)


def longest_tokens(text: bytes) -> list[int]:
    ids = []
    while text:
        token = max((t for t in TOKENS if text.startswith(t)), key=len)
        ids.append(TOKENS.index(token))
        text = text[len(token) :]
    return ids


def masks_of(compiled: Any) -> list[bytes]:
    matcher = GrammarMatcher(compiled)
    row = np.zeros((1, (len(TOKENS) + 31) // 32), dtype=np.int32)
    masks = []
    for token in longest_tokens(TEXT):
        matcher.fill_next_token_bitmask(row)
        masks.append(row.tobytes())
        assert matcher.accept_token(token)
    return masks


def cold_walks(compiled: Any) -> int:
    return int(compiled._core.counters()["cold_walks"])


def num_masks(compiled: Any) -> int:
    """Walked for it, or for all grammars of the vocabulary."""
    return int(compiled._core.counters()["masks"])


def wait_for(compiler: GrammarCompiler) -> None:
    assert compiler._precomputer is not None
    assert compiler._precomputer.wait(WAIT_SECONDS), "the background work did not end"
    assert compiler.stats().precomputing == 0


def test_eager_masks_are_the_same_and_known(info: TokenizerInfo) -> None:
    lazy = GrammarCompiler(info).compile_json_schema(SCHEMA)
    eager = GrammarCompiler(info, precompute="eager").compile_json_schema(SCHEMA)
    before = num_masks(eager)
    assert before > 0
    assert masks_of(eager) == masks_of(lazy)
    # Which members there are already is not followed ahead, so a few are left.
    assert num_masks(eager) - before < num_masks(lazy) / 2


def test_background_work_ends_and_counts(info: TokenizerInfo) -> None:
    compiler = GrammarCompiler(info, precompute="background", max_threads=2)
    compiled = compiler.compile_json_schema(SCHEMA)
    wait_for(compiler)
    assert cold_walks(compiled) > 0
    assert compiler.compile_json_schema(SCHEMA) is compiled
    assert compiler.stats().precomputing == 0  # a grammar from the cache is not worked on again


def test_nothing_is_computed_ahead_by_default(info: TokenizerInfo) -> None:
    compiler = GrammarCompiler(info)
    assert cold_walks(compiler.compile_json_schema(SCHEMA)) == 0
    assert compiler.stats().precomputing == 0


def test_the_byte_budget_stops_the_work(info: TokenizerInfo) -> None:
    compiled = GrammarCompiler(info, precompute="eager", precompute_bytes=1).compile_json_schema(
        SCHEMA
    )
    assert cold_walks(compiled) == 0


def test_work_can_be_taken_up_again(info: TokenizerInfo) -> None:
    core = GrammarCompiler(info).compile_json_schema(SCHEMA)._core
    whole = _core.Precompute(core)
    assert whole.run(1e9, 1 << 40) is False
    assert whole.run(1e9, 1 << 40) is False
    parts = _core.Precompute(GrammarCompiler(info).compile_json_schema(SCHEMA)._core)
    slices = 1
    while parts.run(1e-9, 1 << 40):
        slices += 1
    assert slices > 1
    assert parts.num_places == whole.num_places


@pytest.mark.parametrize(
    "source", ['root ::= "a" root "b" | "ab"', 'root ::= [a-z]* ("," root)?', 'root ::= "a"']
)
def test_grammars_that_are_no_schema(info: TokenizerInfo, source: str) -> None:
    compiled = GrammarCompiler(info).compile_grammar(source)
    work = _core.Precompute(compiled._core)
    work.run(1.0, 1 << 20)
    assert work.num_places > 1


def test_a_grammar_that_nobody_keeps_is_left(
    info: TokenizerInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    advance = module._Piece.advance

    def gated(*arguments: Any) -> bool:
        gate.wait(WAIT_SECONDS)
        return advance(*arguments)

    monkeypatch.setattr(module._Piece, "advance", gated)
    compiler = GrammarCompiler(info, precompute="background", cache_enabled=False)
    compiled = compiler.compile_json_schema(SCHEMA)
    core = weakref.ref(compiled)
    del compiled
    gc.collect()
    assert core() is None  # a waiting piece of work keeps nothing alive
    assert compiler._precomputer is not None
    assert not compiler._precomputer.wait(0)
    gate.set()
    wait_for(compiler)


def test_a_failure_is_logged_and_poisons_nothing(
    info: TokenizerInfo, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any) -> None:
        raise MemoryError("no memory")

    compiler = GrammarCompiler(info, precompute="background")
    with monkeypatch.context() as patch, caplog.at_level(logging.ERROR, logger=module.__name__):
        patch.setattr(module._Piece, "advance", fail)
        first = compiler.compile_json_schema(SCHEMA)
        wait_for(compiler)
    assert "no memory" in caplog.text
    assert compiler.compile_json_schema(SCHEMA) is first
    second = compiler.compile_json_schema({"type": "integer"})
    wait_for(compiler)
    assert cold_walks(second) > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"precompute": "now"}, "precompute is 'now'; expected one of lazy, background, eager"),
        ({"precompute_seconds": 0}, "precompute_seconds is 0; expected more than 0"),
        ({"precompute_bytes": -1}, "precompute_bytes is -1; expected at least 1"),
    ],
)
def test_bad_arguments(info: TokenizerInfo, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GrammarCompiler(info, **arguments)


def test_work_is_not_done_where_no_thread_can_be_started(
    info: TokenizerInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    compiler = GrammarCompiler(info, precompute="background")
    monkeypatch.setattr(threading.Thread, "start", refuse)
    compiled = compiler.compile_json_schema({"type": "integer"})
    wait_for(compiler)
    assert cold_walks(compiled) == 0
    with pytest.raises(RuntimeError, match="can't start new thread"):
        compiler.submit("regex", "a")
    assert compiler.stats().grammars.in_flight == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_waits_for_no_thread_of_its_parent(info: TokenizerInfo) -> None:
    """Neither for a compilation that runs in the parent, nor for its pool."""
    compiler = GrammarCompiler(info, precompute="background", max_threads=1)
    compiler.compile_json_schema(SCHEMA)
    key, gate, begun = ("a key",), threading.Event(), threading.Event()

    def hang(_: object) -> Any:
        begun.set()
        gate.wait(WAIT_SECONDS)
        return compiler.compile_json_schema(SCHEMA)

    thread = threading.Thread(target=lambda: compiler._cache.get(key, hang))
    thread.start()
    assert begun.wait(WAIT_SECONDS)
    child = os.fork()
    if child == 0:
        signal.alarm(WAIT_SECONDS)
        found = compiler._cache.get(key, lambda _: compiler.compile_json_schema({"type": "null"}))
        waited = compiler._precomputer is not None and compiler._precomputer.wait(WAIT_SECONDS / 2)
        os._exit(0 if waited and cold_walks(found) > 0 else 1)
    _, status = os.waitpid(child, 0)
    gate.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0
