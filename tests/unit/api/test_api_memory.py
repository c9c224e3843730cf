"""What compiled grammars say they hold, against what the allocator handed out.

The figures of the allocator (glibc's mallinfo2) are counts of bytes, the same on each run; where
there is no such function, only the tests without it run.
"""

from __future__ import annotations

import ctypes
import gc
import json
from typing import Any

import numpy as np
import pytest

import maskwright
from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo

WORDS = ['{"', '":', '", "', "tag", "name", "alpha", "12", "345", "[1", ", ", "]}", "true", '"}']
TOKENS = [bytes([byte]) for byte in range(256)] + [word.encode() for word in WORDS] + [b"</s>"]
INFO = TokenizerInfo(TOKENS, stop_token_ids=len(TOKENS) - 1)


class _Mallinfo(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd")),
        *((name, ctypes.c_size_t) for name in ("usmblks", "fsmblks", "uordblks")),
        *((name, ctypes.c_size_t) for name in ("fordblks", "keepcost")),
    ]


def allocated() -> int:
    """Bytes that the allocator has handed out and not got back."""
    try:
        mallinfo = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError, TypeError):
        pytest.skip("the C library has no mallinfo2")
    mallinfo.restype = _Mallinfo
    gc.collect()
    figures = mallinfo()
    return figures.uordblks + figures.hblkhd


def schema(kind: str, k: int) -> Any:
    """A schema of a kind that no other number has."""
    name = f"field_{k}"
    if kind == "object":
        properties = {name: {"type": "integer", "maximum": k}, "note": {"type": "string"}}
        return {"type": "object", "properties": properties, "required": [name]}
    if kind == "enum":
        return {"enum": [f"{word}-{k}-{i}" for i in range(40) for word in ("red", "blue")]}
    if kind == "pattern":
        return {"type": "string", "pattern": f"^[a-f]{{2,{5 + k % 20}}}-({k}|x+y)$"}
    if kind == "number":
        return {"type": "number", "minimum": k, "maximum": 3 * k + 1, "multipleOf": 0.25}
    if kind == "array":
        item = {"type": "array", "items": {"type": "integer"}, "minItems": 1 + k % 7}
        return {"type": "array", "items": item, "uniqueItems": True, "contains": {"minItems": 9}}
    if kind == "union":
        options = [
            {"properties": {"kind": {"const": f"{k}-{i}"}, f"value_{i}": {"type": "number"}}}
            for i in range(12)
        ]
        return {"type": "object", "anyOf": options, "required": ["kind"]}
    assert kind == "names"
    return {"type": "object", "patternProperties": {f"^{name}_[a-z]+$": {"type": "null"}}}


KINDS = ("object", "enum", "pattern", "number", "array", "union", "names")


def fill(matcher: GrammarMatcher) -> None:
    row = np.zeros((1, (INFO.vocab_size + 31) // 32), dtype=np.int32)
    matcher.fill_next_token_bitmask(row)


def walk(compiled: maskwright.CompiledGrammar) -> None:
    """A mask at the start and at each step of the first text that bytes spell."""
    matcher = GrammarMatcher(compiled)
    fill(matcher)
    for _ in range(12):
        if matcher.is_terminated():
            return
        for token in (123, 34, 91, *range(48, 58), *range(97, 123)):
            if matcher.accept_token(token):
                break
        fill(matcher)


@pytest.mark.parametrize("walked", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_counted_is_what_is_held(kind, walked):
    compiler = GrammarCompiler(INFO, cache_enabled=False)

    def compiled(k: int) -> maskwright.CompiledGrammar:
        made = compiler.compile_json_schema(json.dumps(schema(kind, k)), strict_mode=False)
        if walked:
            walk(made)
        return made

    compiled(1000)  # what is made once, and the walk's scratch
    kept = [compiled(0)]
    before = allocated()
    kept += [compiled(k) for k in range(1, 41)]
    held = allocated() - before
    # The Python objects are small and have another allocator.
    counted = sum(made._core.memory_bytes - made._core.around_bytes for made in kept[1:])
    assert 0.8 < counted / held < 1.2


def test_memory_is_counted_without_growth_of_the_vocabulary():
    """What a walk needs for a moment is not kept by each grammar."""
    sizes = []
    for tokens in (TOKENS, [*TOKENS[:-1], *[b"\xff%d" % n for n in range(50_000)], b"</s>"]):
        info = TokenizerInfo(tokens, stop_token_ids=len(tokens) - 1)
        compiler = GrammarCompiler(info)
        compiled = [compiler.compile_regex(f"a{k}") for k in range(20)]
        row = np.zeros((1, (info.vocab_size + 31) // 32), dtype=np.int32)
        before = allocated()
        for made in compiled:
            GrammarMatcher(made).fill_next_token_bitmask(row)
        sizes.append(allocated() - before)
    assert sizes[1] < sizes[0] + 20 * 2000


@pytest.mark.parametrize("limit", [100_000, 400_000])
def test_the_limit_holds_at_every_sample(limit):
    compiler = GrammarCompiler(INFO, cache_limit_bytes=limit)
    matchers = []
    for k in range(60):
        compiled = compiler.compile_json_schema(schema(KINDS[k % len(KINDS)], k))
        assert compiler.get_cache_size_bytes() <= limit
        matchers.append(GrammarMatcher(compiled))
        for matcher in matchers[-3:]:
            fill(matcher)
            assert compiler.get_cache_size_bytes() <= limit
    assert compiler.stats().grammars.evictions > 0
    assert compiler.get_cache_size_bytes() > 0


def test_a_compiler_reports_the_sum_of_its_grammars():
    compiler = GrammarCompiler(INFO)
    compiled = [compiler.compile_json_schema(schema(kind, 1)) for kind in KINDS]
    assert compiler.get_cache_size_bytes() == sum(made.memory_size_bytes for made in compiled)
    for made in compiled:
        walk(made)
        total = sum(each.memory_size_bytes for each in compiled)
        total += compiler.stats().shared_masks.bytes
        assert compiler.get_cache_size_bytes() == total
    assert compiler.stats().shared_masks.bytes > 0
    assert compiler.stats().detached_bytes == 0
    compiler.clear_cache()
    fill(GrammarMatcher(compiled[0]))
    assert compiler.get_cache_size_bytes() == 0
    assert compiler.stats().shared_masks.entries == 0
    assert compiler.stats().detached_bytes == total
    del compiled, made
    assert compiler.stats().detached_bytes == 0


def test_after_clearing_equal_work_takes_equal_memory():
    compiler = GrammarCompiler(INFO)
    sizes = []
    for _ in range(3):
        for number in range(3):
            for kind in KINDS:
                walk(compiler.compile_json_schema(schema(kind, number)))
        sizes.append(compiler.get_cache_size_bytes())
        compiler.clear_cache()
    assert sizes[0] == sizes[1] == sizes[2] > 0


def test_grammars_share_what_they_have_in_common():
    compiler = GrammarCompiler(INFO)
    for length in (50, 51):  # longer than any token
        walk(compiler.compile_json_schema({"type": "string", "maxLength": length}))
    stats = compiler.stats()
    assert stats.shared_masks.hits > 0
    assert stats.masks > stats.cold_walks
    assert stats.shared_masks.entries > 0
    alone = GrammarCompiler(INFO, cache_enabled=False)
    walk(alone.compile_json_schema({"type": "string"}))
    assert alone.stats().shared_masks.misses == 0


def test_grammars_of_a_past_generation_share_with_each_other_only():
    compiler = GrammarCompiler(INFO)
    old = [compiler.compile_json_schema({"type": "string", "maxLength": n}) for n in (50, 51)]
    compiler.clear_cache()
    for compiled in old:
        walk(compiled)
    assert old[1]._core.counters()["shared_masks"] > 0
    assert compiler.stats().shared_masks.misses == 0
    assert compiler.stats().detached_bytes > sum(made.memory_size_bytes for made in old)
    new = compiler.compile_json_schema({"type": "string", "maxLength": 52})
    walk(new)
    assert compiler.stats().shared_masks.misses > 0
    assert compiler.get_cache_size_bytes() > new.memory_size_bytes


def test_equal_work_gives_equal_sizes():
    def sizes() -> list[int]:
        compiler = GrammarCompiler(INFO)
        made = []
        for kind in KINDS:
            made.append(compiler.compile_json_schema(schema(kind, 7)))
            walk(made[-1])
        return [compiled.memory_size_bytes for compiled in made]

    assert sizes() == sizes()


def test_the_key_and_the_intermediate_form_count():
    compiler = GrammarCompiler(INFO)
    long = json.dumps({"type": "integer", "description": "x" * 100_000})
    short = compiler.compile_json_schema('{"type": "integer"}')
    assert short.memory_size_bytes < 50_000
    assert compiler.compile_json_schema(long)._core is short._core
    assert compiler.get_cache_size_bytes() > 100_000 + short.memory_size_bytes
    alone = GrammarCompiler(INFO).compile_json_schema(long)
    assert alone.memory_size_bytes > 100_000
