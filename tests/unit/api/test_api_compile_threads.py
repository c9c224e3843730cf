"""Many threads and one compiler: the results are those of one thread, and each is kept."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from maskwright import CompiledGrammar, GrammarCompiler, TokenizerInfo

SECONDS = 120
CALLERS = 16
INFO = TokenizerInfo([*(chr(i) for i in range(32, 127)), ""], stop_token_ids=95)


def large_schema(number: int) -> dict[str, Any]:
    members: dict[str, Any] = {
        f"field_{number}_{i}": {"type": ["integer", "string", "boolean"][i % 3], "title": "t"}
        for i in range(64)
    }
    item = {"type": "object", "properties": {f"n{i}": {} for i in range(20)}}
    members["nested"] = {"type": "array", "items": item}
    members["kind"] = {"enum": [f"{number}-{i}" for i in range(30)]}
    return {"type": "object", "properties": members, "required": list(members)[:20]}


SCHEMAS = [large_schema(number) for number in range(128)]


def in_parallel(compiler: GrammarCompiler) -> list[list[CompiledGrammar]]:
    """All schemas from each caller, from another start each, every other one by `submit`."""
    barrier = threading.Barrier(CALLERS)

    def work(caller: int) -> list[CompiledGrammar]:
        barrier.wait(SECONDS)
        found: dict[int, Any] = {}
        for step in range(len(SCHEMAS)):
            number = (step + caller * 8) % len(SCHEMAS)
            if caller % 2:
                found[number] = compiler.submit("json_schema", SCHEMAS[number])
            else:
                found[number] = compiler.compile_json_schema(SCHEMAS[number])
        if caller % 2:
            found = {number: future.result(SECONDS) for number, future in found.items()}
        return [found[number] for number in range(len(SCHEMAS))]

    with ThreadPoolExecutor(CALLERS) as pool:
        return list(pool.map(work, range(CALLERS)))


def test_serial_and_parallel_results_are_equal_and_stored_and_loaded() -> None:
    serial = GrammarCompiler(INFO)
    expected = [serial.compile_json_schema(schema).serialize() for schema in SCHEMAS]
    compiler = GrammarCompiler(INFO, max_threads=12)
    results = in_parallel(compiler)
    for other in results:
        assert all(a is b for a, b in zip(results[0], other, strict=True))
    stored = [compiled.serialize() for compiled in results[0]]
    assert stored == expected
    for data in stored:
        assert CompiledGrammar.deserialize(data, INFO).serialize() == data
    stats = compiler.stats().grammars
    assert (stats.entries, stats.misses, stats.in_flight) == (128, 128, 0)
    assert stats.hits == CALLERS * 128 - 128
    assert compiler.get_cache_size_bytes() == serial.get_cache_size_bytes()


def test_a_limit_holds_whatever_many_threads_do() -> None:
    size = GrammarCompiler(INFO).compile_json_schema(SCHEMAS[0]).memory_size_bytes
    compiler = GrammarCompiler(INFO, max_threads=12, cache_limit_bytes=20 * size)
    seen: list[int] = []
    ended = threading.Event()

    def sample() -> None:
        while not ended.is_set():
            seen.append(compiler.get_cache_size_bytes())

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        in_parallel(compiler)
    finally:
        ended.set()
        sampler.join()
    assert max(seen) <= compiler.cache_limit_bytes
    assert compiler.stats().grammars.evictions > 0
    # Their own memory, and that of their keys: each has one.
    kept = compiler._cache.values()
    assert compiler.get_cache_size_bytes() == sum(one.memory_size_bytes for one in kept)
    compiler.clear_cache()
    assert compiler.get_cache_size_bytes() == 0
