"""Stored grammars: their size, loading against compiling again, and the first mask after it.

    python -m benchmarks.bench_stored

All on the same schemas, what is compared in turns and in one run, so that other work on the machine
meets both alike; the fastest of some repeats counts. The compiler keeps nothing, and is warm
otherwise: what it has once for a process or a vocabulary is there. With MASKWRIGHT_TEST_DATA set,
the schemas are those of MaskBench and the vocabulary that of llama3_1; else the twelve schemas
beside this file, and a vocabulary that is made up.

With masks: those along random steps were stored with the grammar, and are loaded with it. The first
mask is that of a new matcher, the making of it included: after compiling with a compiler that has
no masks yet, and after loading.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import statistics
import sys
import time
from dataclasses import dataclass, fields
from operator import methodcaller
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
STEPS = 60
SOURCES = {
    "letters": "[a-z]+",
    "words": r"\w+( \w+)*",
    "a word anywhere": ".*foo.*",
    "lines": r"([^\n]{1,200}\n)+",
}
EBNF = """
root ::= term (("+" | "-") term)*
term ::= [0-9]+ | [a-z]+ | "(" root ")"
"""


@dataclass(frozen=True)
class Figures:
    """Of one schema."""

    compile_us: float
    load_us: float
    stored_bytes: int
    bytes_with_masks: int
    cold_us: float
    loaded_us: float


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
    info = compiler.tokenizer_info
    compile_us, load_us = fastest_us(
        (
            lambda: compiler.compile_json_schema(text, **OPTIONS),
            lambda: CompiledGrammar.deserialize(stored, info),
        )
    )
    with_masks, cold_us, loaded_us = first_masks(
        info, methodcaller("compile_json_schema", text, **OPTIONS)
    )
    return Figures(compile_us, load_us, len(stored), with_masks, cold_us, loaded_us)


def first_masks(info: Any, compile_with: Callable[[Any], Any]) -> tuple[int, float, float]:
    """Return the size with masks, and µs to the first mask: cold, and after loading."""
    from maskwright import CompiledGrammar, GrammarCompiler, GrammarMatcher

    bitmask = allocate(info)

    def fill(compiled: Any) -> float:
        start = time.perf_counter()
        matcher = GrammarMatcher(compiled)
        matcher.fill_next_token_bitmask(bitmask)
        return (time.perf_counter() - start) * 1e6

    compiled = compile_with(GrammarCompiler(info))
    walk(compiled, bitmask)
    stored = compiled.serialize(include_masks=True)
    cold_us = loaded_us = float("inf")
    for _ in range(REPEATS):
        cold_us = min(cold_us, fill(compile_with(GrammarCompiler(info))))
        loaded = CompiledGrammar.deserialize(stored, info, trust_masks=True)
        loaded_us = min(loaded_us, fill(loaded))
    return len(stored), cold_us, loaded_us


def allocate(info: Any) -> Any:
    """Return a bitmask of one row, as numpy has it."""
    import numpy as np

    return np.zeros((1, (info.vocab_size + 31) // 32), dtype=np.int32)


def walk(compiled: Any, bitmask: Any) -> None:
    """Compute the masks along some steps."""
    import numpy as np

    from maskwright import GrammarMatcher

    matcher = GrammarMatcher(compiled)
    choose = random.Random(1)
    for _ in range(STEPS):
        if matcher.is_terminated():
            return
        matcher.fill_next_token_bitmask(bitmask)
        bits = np.unpackbits(bitmask.view(np.uint8), bitorder="little")
        matcher.accept_token(int(choose.choice(np.flatnonzero(bits))))


def print_schemas(compiler: Any, schemas: list[str]) -> None:
    """Print two tables of the schemas and of one with many fields, and medians of ratios."""
    found = [figures for schema in schemas if (figures := figures_of(compiler, schema))]
    wide = figures_of(compiler, wide_schema())
    assert wide is not None
    lines = {f"median of {len(found)} schemas": median_of(found), f"{FIELDS} fields": wide}
    rows = []
    for name, it in lines.items():
        times = (it.compile_us, it.load_us, it.load_us / it.compile_us)
        rows.append([name, *map(number, (*times, it.stored_bytes, it.bytes_with_masks))])
    head = ["", "compile, µs", "load, µs", "load / compile", "bytes", "bytes with masks"]
    print(markdown_table(head, rows))
    loads = statistics.median(it.load_us / it.compile_us for it in found)
    masks = statistics.median(it.loaded_us / it.cold_us for it in found)
    print(f"\nMedian of load / compile over the schemas: {number(loads)}")
    print(f"Median of first mask after loading / cold: {number(masks)}\n")
    print_first_masks(
        compiler.tokenizer_info, {name: (it.cold_us, it.loaded_us) for name, it in lines.items()}
    )


def median_of(found: list[Figures]) -> Figures:
    """Return the median of each figure."""
    return Figures(
        *(statistics.median(getattr(it, field.name) for it in found) for field in fields(Figures))
    )


def print_first_masks(info: Any, table: dict[str, tuple[float, float]]) -> None:
    """Print a table of first masks: of schemas, and of some grammars."""
    for name, regex in SOURCES.items():
        table[f"regex: {name}"] = first_masks(info, methodcaller("compile_regex", regex))[1:]
    table["EBNF: sums"] = first_masks(info, methodcaller("compile_grammar", EBNF))[1:]
    rows = [[name, *map(number, (*times, times[1] / times[0]))] for name, times in table.items()]
    print(markdown_table(["first mask", "cold, µs", "loaded, µs", "loaded / cold"], rows))


def wide_schema() -> str:
    """Return a schema of 256 fields of several kinds, half of them required."""
    kinds: list[dict[str, Any]] = [
        {"type": "string", "maxLength": 20},
        {"type": "integer", "minimum": 0},
        {"enum": ["red", "green", "blue"]},
        {"type": "array", "items": {"type": "number"}},
    ]
    members = {f"field_{i}": kinds[i % len(kinds)] for i in range(FIELDS)}
    schema = {"type": "object", "properties": members, "required": list(members)[::2]}
    return json.dumps(schema)


def vocabulary(data: str | None) -> Any:
    """Return the vocabulary of llama3_1, or one that is made up if the data has none."""
    from maskwright import TokenizerInfo

    tokenizer = Path(data) / "tokenizers" / "llama3_1" / "tokenizer.json" if data else None
    if tokenizer is not None and tokenizer.exists():
        return TokenizerInfo.from_file(tokenizer)
    words = [word.encode() for word in made_up_vocabulary(10_000)]
    return TokenizerInfo([bytes([byte]) for byte in range(256)] + words, stop_token_ids=10_255)


def main() -> int:
    """Measures and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--files", type=int, default=1000, help="schemas to take")
    arguments = parser.parse_args()
    from maskwright import GrammarCompiler

    data = os.environ.get("MASKWRIGHT_TEST_DATA")
    compiler = GrammarCompiler(vocabulary(data), cache_enabled=False)
    watch = LoadWatch()
    gc.disable()
    corpus = load_corpus(Path(data) / "maskbench" if data else OWN_SCHEMAS)
    print_schemas(compiler, [file.schema for file in sample(corpus, arguments.files, seed=1)])
    print(watch.finish())
    return 0


if __name__ == "__main__":
    sys.exit(main())
