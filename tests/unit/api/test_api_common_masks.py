"""Masks that the compilers of a vocabulary have in common change no answer, only who walks."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo, _core, common_masks
from maskwright.bitmask import get_bitmask_shape

WORDS = ['{"', '":', '", "', "tag", "name", "12", "345", "[1", ", ", "]}", "true", '"}', '","']
TOKENS = [bytes([byte]) for byte in range(256)] + [word.encode() for word in WORDS] + [b"</s>"]
OPEN = {"any_order": True, "strict_mode": False}
CASES: list[tuple[Any, Any, dict[str, Any]]] = [
    ({"type": "object", "properties": {"n": {"type": "integer"}}}, {"n": -120, "m": [1, {}]}, OPEN),
    (
        {
            "type": "object",
            "properties": {"name": {"type": "string"}, "tags": {"type": "array"}},
            "required": ["name", "tags"],
            "additionalProperties": False,
        },
        {"name": "tag\n", "tags": [1.5e7, None, "x", [True, False]]},
        OPEN,
    ),
    (
        {
            "type": "object",
            "properties": {"at": {"type": "string", "format": "date-time"}, "k": {"enum": ["a"]}},
            "required": ["at"],
        },
        {"at": "2020-12-31T23:59:59Z", "k": "a"},
        {},
    ),
    ({"type": "array", "items": {"type": ["string", "null"]}, "minItems": 2}, ["", None, "a"], {}),
    ({"type": "string", "maxLength": 9}, "namename", {}),
]


def new_info() -> TokenizerInfo:
    return TokenizerInfo(TOKENS, stop_token_ids=len(TOKENS) - 1)


def masks_along(core: _core.CompiledGrammar, text: bytes) -> list[bytes]:
    row = np.zeros(get_bitmask_shape(1, len(TOKENS)), dtype=np.int32)
    matcher = _core.Matcher(core)
    masks = []
    for position in range(len(text) + 1):
        matcher.fill_bitmask(row)
        masks.append(row.tobytes())
        if position < len(text):
            assert matcher.accept_bytes(text[position : position + 1])
    return masks


@pytest.mark.parametrize(("schema", "value", "options"), CASES)
def test_masks_are_those_of_the_grammar_alone(schema: Any, value: Any, options: Any) -> None:
    info = new_info()
    compiler = GrammarCompiler(info)
    compiled = compiler.compile_json_schema(schema, **options)
    alone = _core.compile(compiled.grammar.ir, info._core)
    text = json.dumps(value).encode()
    assert masks_along(compiled._core, text) == masks_along(alone, text)
    counts = compiled._core.counters()
    assert counts["shared_masks"] > 0  # walked by no grammar of this compiler
    assert counts["cold_walks"] < alone.counters()["cold_walks"]


def test_they_depend_on_the_vocabulary_alone() -> None:
    first, second = new_info(), new_info()
    GrammarCompiler(first)
    compiler = GrammarCompiler(second)
    before = second._common_masks
    assert before is not None
    for schema, value, options in CASES:
        compiled = compiler.compile_json_schema(schema, **options)
        masks_along(compiled._core, json.dumps(value).encode())
    GrammarCompiler(second)
    assert second._common_masks is before
    assert first._common_masks is not None
    assert before.counters() == first._common_masks.counters()


def test_they_count_as_the_vocabulary() -> None:
    info = new_info()
    bare = info._memory_bytes
    compiler = GrammarCompiler(info)
    stats = compiler.stats()
    assert stats.tokenizer_bytes == info._memory_bytes > bare
    assert compiler.get_cache_size_bytes() == stats.shared_masks.bytes == 0
    assert stats.shared_masks.entries == stats.cold_walks == 0


@pytest.mark.parametrize(
    ("tokens", "most_compiled"),
    [
        (["a", "b"], 0),
        ([bytes([byte]) for byte in range(256) if byte != ord("{")], 0),
        (['{"ab:,}'], 1),  # has the bytes, and can't put them in order
        ([bytes([byte]) for byte in range(256) if byte != ord("e")], 1),  # masks take a search
    ],
)
def test_a_vocabulary_that_spells_no_sample_has_none(
    tokens: Any, most_compiled: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = []

    def compile_one(*args: Any, **options: Any) -> Any:
        compiled.append(args)
        return _core.compile(*args, **options)

    core = SimpleNamespace(compile=compile_one, SharedMasks=_core.SharedMasks)
    monkeypatch.setattr(common_masks, "_core", core)
    info = TokenizerInfo([*tokens, "</s>"], stop_token_ids=len(tokens))
    matcher = GrammarMatcher(GrammarCompiler(info).compile_regex(r"(a|\{|[^a])*"))
    assert matcher.accept_token(0)
    assert info._common_masks is not None
    assert info._common_masks.counters()["entries"] == 0
    assert len(compiled) <= most_compiled


def test_threads_that_come_first_keep_one() -> None:
    for _ in range(3):
        info = new_info()
        start = threading.Barrier(4, timeout=60)

        def make(info: TokenizerInfo = info, start: threading.Barrier = start) -> Any:
            start.wait()
            compiler = GrammarCompiler(info)
            compiled = compiler.compile_json_schema(CASES[1][0], **OPEN)
            masks = masks_along(compiled._core, json.dumps(CASES[1][1]).encode())
            return info._common_masks, masks

        with ThreadPoolExecutor(4) as pool:
            found = [future.result() for future in [pool.submit(make) for _ in range(4)]]
        assert all(kept is found[0][0] and masks == found[0][1] for kept, masks in found)
