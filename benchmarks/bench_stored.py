"""Loading stored grammars against compiling the schemas again.

    python -m benchmarks.bench_stored

Both on the same schemas, in turns and in one run, so that other work on the machine meets both
alike; the fastest of some repeats counts. The compiler keeps nothing, and is warm otherwise: what
it has once for a process or a vocabulary is there. With MASKWRIGHT_TEST_DATA set, the schemas are
those of MaskBench, else the twelve beside this file. The vocabulary is made up: it hardly matters.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __package__ in {None, ""}:  # started as a file: make the folder importable as a package
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.bench_batch import made_up_vocabulary
from benchmarks.data import OWN_SCHEMAS, load_corpus, sample
from benchmarks.engines.maskwright import OPTIONS
from benchmarks.machine import LoadWatch
from benchmarks.report import markdown_table, number

if TYPE_CHECKING:
    from collections.abc import Callable

REPEATS = 5
FIELDS = 256


@dataclass(frozen=True)
class Figures:
    """Of one schema."""

    compile_us: float
    load_us: float
    stored_bytes: int


def fastest_us(operations: tuple[Callable[[], Any], ...]) -> list[float]:
    """Return the fastest time of each operation, taken in turns."""
    best = [float("inf")] * len(operations)
    for _ in range(REPEATS):
        for index, operation in enumerate(operations):
            start = time.perf_counter()
            operation()
            best[index] = min(best[index], (time.perf_counter() - start) * 1e6)
    return best


def figures_of(compiler: Any, text: str) -> Figures | None:
    """Return the figures of a schema; None if it is refused."""
    from maskwright import CompiledGrammar, MaskwrightError

    try:
        stored = compiler.compile_json_schema(text, **OPTIONS).serialize()
    except MaskwrightError:
        return None
    compile_us, load_us = fastest_us(
        (
            lambda: compiler.compile_json_schema(text, **OPTIONS),
            lambda: CompiledGrammar.deserialize(stored, compiler.tokenizer_info),
        )
    )
    return Figures(compile_us, load_us, len(stored))


def wide_schema() -> str:
    """Return a schema of 256 fields of several kinds, half of them required."""
    kinds: list[dict[str, Any]] = [
        {"type": "string", "maxLength": 20},
        {"type": "integer", "minimum": 0},
        {"enum": ["red", "green", "blue"]},
        {"type": "array", "items": {"type": "number"}},
    ]
    fields = {f"field_{i}": kinds[i % len(kinds)] for i in range(FIELDS)}
    schema = {"type": "object", "properties": fields, "required": list(fields)[::2]}
    return json.dumps(schema)


def main() -> int:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--files", type=int, default=1000, help="schemas to take")
    arguments = parser.parse_args()
    from maskwright import GrammarCompiler, TokenizerInfo

    words = [word.encode() for word in made_up_vocabulary(10_000)]
    info = TokenizerInfo([bytes([byte]) for byte in range(256)] + words, stop_token_ids=10_255)
    compiler = GrammarCompiler(info, cache_enabled=False)
    watch = LoadWatch()
    gc.disable()
    data = os.environ.get("MASKWRIGHT_TEST_DATA")
    corpus = load_corpus(Path(data) / "maskbench" if data else OWN_SCHEMAS)
    files = sample(corpus, arguments.files, seed=1)
    found = [figures for file in files if (figures := figures_of(compiler, file.schema))]
    wide = figures_of(compiler, wide_schema())
    assert wide is not None
    rows = [
        row(f"median of {len(found)} schemas", *(medians(found))),
        row(f"{FIELDS} fields", wide.compile_us, wide.load_us, wide.stored_bytes),
    ]
    print(markdown_table(["", "compile, µs", "load, µs", "load / compile", "bytes"], rows))
    ratio = statistics.median(figures.load_us / figures.compile_us for figures in found)
    print(f"\nMedian of load / compile over the schemas: {number(ratio)}")
    print(watch.finish())
    return 0


def medians(found: list[Figures]) -> tuple[float, float, float]:
    """Return the median of each figure."""
    return (
        statistics.median(figures.compile_us for figures in found),
        statistics.median(figures.load_us for figures in found),
        statistics.median(figures.stored_bytes for figures in found),
    )


def row(name: str, compile_us: float, load_us: float, stored_bytes: float) -> list[str]:
    """Return a line of the table."""
    numbers = (compile_us, load_us, load_us / compile_us, stored_bytes)
    return [name, *map(number, numbers)]


if __name__ == "__main__":
    sys.exit(main())
