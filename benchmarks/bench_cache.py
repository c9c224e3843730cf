"""A compiler's cache: hits by text and by meaning, futures, clearing, and memory under a limit.

    python -m benchmarks.bench_cache

Times are medians; the fastest stands beside them, since other work on the machine delays threads.
The last line puts 10,000 distinct schemas through a cache of 64 MB, asks for its size after each,
and compares the resident memory of the process at the middle and at the end.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __package__ in {None, ""}:  # started as a file: make the folder importable as a package
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.machine import LoadWatch
from benchmarks.report import markdown_table, number

if TYPE_CHECKING:
    from collections.abc import Callable

REPEATS = 200
CLEARS = 15
ENTRIES = 1_000
GRAMMARS = 10_000
LIMIT_BYTES = 64_000_000


def schema(number: int) -> dict[str, Any]:
    """Return a schema that no other number has."""
    name = f"field_{number}"
    properties = {name: {"type": "string"}, "count": {"type": "integer", "maximum": number}}
    return {"type": "object", "properties": properties, "required": [name]}


def times_us(operation: Callable[[int], Any], repeats: int) -> list[float]:
    """Return the time of each call; it gets the number of the call."""
    times = []
    for repeat in range(repeats):
        start = time.perf_counter()
        operation(repeat)
        times.append((time.perf_counter() - start) * 1e6)
    return times


def clear_times_us(compiler: Any) -> list[float]:
    """Return the times of `clear_cache` with so many entries, each freed before the next."""
    times = []
    for _ in range(CLEARS):
        for k in range(ENTRIES):
            compiler.compile_json_schema(schema(k))
        times += times_us(lambda _: compiler.clear_cache(), 1)
        while compiler.stats().detached_bytes:
            time.sleep(0.01)  # not in what is timed; the compiler's thread frees them
    return times


def resident_bytes() -> int:
    """Return the resident memory of this process."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def many_grammars(info: Any) -> str:
    """Return what 10,000 grammars and a mask of each take."""
    import numpy as np

    from maskwright import GrammarCompiler, GrammarMatcher

    compiler = GrammarCompiler(info, cache_limit_bytes=LIMIT_BYTES)
    row = np.zeros((1, (info.vocab_size + 31) // 32), dtype=np.int32)
    greatest, resident = 0, [resident_bytes()]
    for k in range(GRAMMARS):
        matcher = GrammarMatcher(compiler.compile_json_schema(schema(k)))
        matcher.fill_next_token_bitmask(row)
        greatest = max(greatest, compiler.get_cache_size_bytes())
        if k % (GRAMMARS // 2) == GRAMMARS // 2 - 1:
            resident.append(resident_bytes())
    start, middle, end = (value / 1e6 for value in resident)
    return (
        f"{GRAMMARS} grammars, limit {LIMIT_BYTES / 1e6:.0f} MB: largest size reported "
        f"{greatest / 1e6:.1f} MB; resident memory grew by {middle - start:.1f} MB up to the "
        f"middle, by {end - middle:.1f} MB after it"
    )


def main() -> int:
    """Measures and prints a table."""
    from maskwright import GrammarCompiler, TokenizerInfo

    info = TokenizerInfo([bytes([byte]) for byte in range(256)] + [b"</s>"], stop_token_ids=256)
    compiler = GrammarCompiler(info)
    watch = LoadWatch()
    compiler.compile_json_schema(schema(0))
    measured = {
        "compile": times_us(lambda k: compiler.compile_json_schema(schema(k + 1)), REPEATS),
        "hit by text": times_us(lambda _: compiler.compile_json_schema(schema(0)), REPEATS),
        "hit by meaning": times_us(
            lambda k: compiler.compile_json_schema({**schema(0), "title": str(k)}), REPEATS
        ),
        "submit and wait": times_us(
            lambda k: compiler.submit("json_schema", schema(-1 - k)).result(), REPEATS
        ),
        f"clear {ENTRIES} entries": clear_times_us(compiler),
    }
    rows = [
        [name, number(statistics.median(times)), number(min(times))]
        for name, times in measured.items()
    ]
    print(markdown_table(["", "median, µs", "fastest, µs"], rows))
    print(f"\n{many_grammars(info)}")
    print(watch.finish())
    return 0


if __name__ == "__main__":
    sys.exit(main())
