"""Where the time from a schema's text to its first mask goes, per stage.

    python -m benchmarks.profile_compile --files 200

Each stage runs on its own, on what the stage before it made, and each file several times; the
fastest run counts, since what a busy machine adds is no property of the program. So the figures are
those of a warm processor: a schema that is the first of its kind takes up to twice as long.
`--functions` shows which Python functions the front-end spends its time in.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import os
import pstats
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __package__ in {None, ""}:  # started as a file: make the folder importable as a package
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.data import OWN_SCHEMAS, load_corpus, sample
from benchmarks.machine import LoadWatch
from benchmarks.report import markdown_table, number
from benchmarks.tokens import find_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

OPTIONS: dict[str, Any] = {"any_order": True, "strict_mode": False}
STAGES = ("read the JSON text", "schema to IR", "compile the IR", "make a matcher", "first mask")
QUANTILES = (0.5, 0.9, 0.99)


def stage_times(text: str, info: Any, row: Any) -> list[int]:
    """Go from a schema's text to its first mask once; return the nanoseconds of each stage."""
    import maskwright
    from maskwright import _core
    from maskwright.frontends.json_schema import compile_json_schema
    from maskwright.frontends.json_schema.inputs import schema_of

    def compile_core(made: tuple[bytes, Any]) -> Any:
        core = _core.compile(made[0], info._core)  # noqa: SLF001 - the stage itself
        return maskwright.CompiledGrammar(core, maskwright.Grammar(*made), info)

    stages: tuple[Callable[[Any], Any], ...] = (
        schema_of,
        lambda schema: compile_json_schema(schema, **OPTIONS),
        compile_core,
        maskwright.GrammarMatcher,
        lambda matcher: matcher.fill_next_token_bitmask(row),
    )
    times = []
    value: Any = text
    kept = []  # so that no stage pays for what another leaves behind
    for stage in stages:
        begin = time.perf_counter_ns()
        value = stage(value)
        times.append(time.perf_counter_ns() - begin)
        kept.append(value)
    return times


def profile(texts: Sequence[str], info: Any, rounds: int) -> list[list[float]]:
    """Return the microseconds per stage of each schema that is not refused."""
    import numpy as np

    import maskwright

    row = np.zeros((1, (info.vocab_size + 31) // 32), dtype=np.int32)
    found = []
    for text in texts:
        try:
            runs = [stage_times(text, info, row) for _ in range(rounds)]
        except maskwright.MaskwrightError:
            continue
        found.append([min(times) / 1000 for times in zip(*runs, strict=True)])
    return found


def rows_of(times: Sequence[Sequence[float]]) -> list[list[str]]:
    """Return the table's rows: per stage, and for all of them, the mean and quantiles."""
    columns = [*zip(*times, strict=True), tuple(map(sum, times))]
    rows = []
    for name, column in zip((*STAGES, "all"), columns, strict=True):
        ordered = sorted(column)
        picked = [ordered[int(len(ordered) * quantile)] for quantile in QUANTILES]
        figures = (sum(ordered) / len(ordered), *picked, ordered[-1])
        rows.append([name, *map(number, figures)])
    return rows


def print_functions(texts: Sequence[str]) -> None:
    """Print the functions of the front-end by the time in them, the profiler's own included."""
    import maskwright
    from maskwright.frontends.json_schema import compile_json_schema

    profiler = cProfile.Profile()
    for text in texts:
        profiler.enable()
        try:
            compile_json_schema(text, **OPTIONS)
        except maskwright.MaskwrightError:
            continue
        finally:
            profiler.disable()
    pstats.Stats(profiler).sort_stats("tottime").print_stats(30)


def main() -> int:
    """Measure a sample of the test data's schemas, or those of this folder, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--files", type=int, default=200, help="size of the sample (0: all)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, another sample")
    parser.add_argument("--rounds", type=int, default=3, help="runs per file")
    parser.add_argument("--tokenizer", default="llama3_1", help="a folder of the test data")
    parser.add_argument("--functions", action="store_true", help="profile the front-end")
    args = parser.parse_args()
    import maskwright

    folder = os.environ.get("MASKWRIGHT_TEST_DATA")
    corpus = load_corpus(Path(folder) / "maskbench" if folder else OWN_SCHEMAS)
    files = sample(corpus, args.files or len(corpus), args.seed)
    texts = [file.schema for file in files]
    tokenizer = find_tokenizer(args.tokenizer)
    info = maskwright.TokenizerInfo.from_file(
        tokenizer.path, vocab_size=tokenizer.vocab_size, stop_token_ids=[tokenizer.stop_token_id]
    )
    watch = LoadWatch()
    gc.collect()
    gc.freeze()
    gc.disable()
    times = profile(texts, info, args.rounds)
    print(f"{len(times)} schemas, vocabulary {tokenizer.description}. {watch.finish()}\n")
    header = ("microseconds", "mean", *(f"p{quantile * 100:g}" for quantile in QUANTILES), "max")
    print(markdown_table(header, rows_of(times)))
    if args.functions:
        print_functions(texts)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
