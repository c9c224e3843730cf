"""Loading stored grammars against compiling the schemas again; masks that were stored with them.

    python -m benchmarks.bench_stored

Both on the same schemas, in turns and in one run, so that other work on the machine meets both
alike; the fastest of some repeats counts. The compiler keeps nothing, and is warm otherwise: what
it has once for a process or a vocabulary is there. With MASKWRIGHT_TEST_DATA set, the schemas are
those of MaskBench, else the twelve beside this file. The vocabulary is made up, where it hardly
matters: for the first mask it is that of llama3_1, if the data has it.

The first mask is that of a new matcher: after compiling with a compiler that has no masks yet, and
after loading the masks along the first steps with the grammar.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import random
import statistics
import sys
import time
from dataclasses import dataclass
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
STEPS = 20
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


def first_masks(info: Any, compile_with: Callable[[Any], Any]) -> list[float]:
    """Return the fastest times to the first mask in µs: cold, and with masks that were stored."""
    from maskwright import CompiledGrammar, GrammarCompiler, GrammarMatcher

    bitmask = allocate(info)

    def fill(compiled: Any) -> float:
        start = time.perf_counter()
        GrammarMatcher(compiled).fill_next_token_bitmask(bitmask)
        return (time.perf_counter() - start) * 1e6

    compiled = compile_with(GrammarCompiler(info))
    walk(compiled, bitmask)
    stored = compiled.serialize(include_masks=True)
    best = [float("inf")] * 2
    for _ in range(REPEATS):
        best[0] = min(best[0], fill(compile_with(GrammarCompiler(info))))
        loaded = CompiledGrammar.deserialize(stored, info, trust_masks=True)
        best[1] = min(best[1], fill(loaded))
    return best


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


def print_first_masks(info: Any, schemas: list[str], seconds: float) -> None:
    """Print a table of first masks: of as many schemas as take so long, and of some grammars."""
    from maskwright import MaskwrightError

    found = []
    start = time.process_time()
    for schema in schemas:
        if time.process_time() - start > seconds:
            break
        with contextlib.suppress(MaskwrightError):
            found.append(first_masks(info, methodcaller("compile_json_schema", schema, **OPTIONS)))
    cold, loaded = zip(*found, strict=True)
    table = {
        f"median of {len(found)} schemas": [statistics.median(cold), statistics.median(loaded)]
    }
    for name, regex in SOURCES.items():
        table[f"regex: {name}"] = first_masks(info, methodcaller("compile_regex", regex))
    table["EBNF: sums"] = first_masks(info, methodcaller("compile_grammar", EBNF))
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
    fields = {f"field_{i}": kinds[i % len(kinds)] for i in range(FIELDS)}
    schema = {"type": "object", "properties": fields, "required": list(fields)[::2]}
    return json.dumps(schema)


def main() -> int:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--files", type=int, default=1000, help="schemas to take")
    parser.add_argument("--mask-seconds", type=float, default=30, help="for first masks of schemas")
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
    tokenizer = Path(data) / "tokenizers" / "llama3_1" / "tokenizer.json" if data else None
    if tokenizer is not None and tokenizer.exists():
        info = TokenizerInfo.from_file(tokenizer)
    print()
    print_first_masks(info, [file.schema for file in files], arguments.mask_seconds)
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
