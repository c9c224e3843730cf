"""Compare engines on JSON Schemas: first mask, masks, accept_token, memory, right and wrong.

    python -m benchmarks.run --quick

Each file goes to all engines in turn, each engine in its own subprocess, on one thread. Two tables:
*cold*, with a new compiler per file, and *warm*, all files in a shuffled order through one compiler
per engine. Of the schemas and tokenizers named by MASKWRIGHT_TEST_DATA it takes a sample that
depends on the seed alone; without the variable, the schemas and the vocabulary of this folder.
Peers come from benchmarks/requirements.txt; one that is not installed is reported and left out.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __package__ in {None, ""}:  # started as a file: make the folder importable as a package
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks import page, report
from benchmarks.data import OWN_SCHEMAS, SchemaFile, load_corpus, sample, shuffled
from benchmarks.engines import DEFAULT_ENGINES, ENGINES
from benchmarks.machine import LoadWatch
from benchmarks.measure import measure, start
from benchmarks.process import ROOT
from benchmarks.tokens import find_tokenizer, make_encoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.tokens import TokenizerFile

TABLES = ("cold", "warm")
FILES = 400
QUICK_FILES = 60
QUICK_FILE_SECONDS = 3.0
QUICK_SECONDS = 140.0


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; `--quick` fills in what is not given."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    add = parser.add_argument
    add("--engines", default=",".join(DEFAULT_ENGINES), help=f"of {', '.join(ENGINES)}")
    add("--tables", default=",".join(TABLES), help=f"of {', '.join(TABLES)}")
    add("--tokenizer", default="llama3_1", help="folders of the test data, with commas")
    add("--quick", action="store_true", help=f"{QUICK_FILES} files, at most 3 minutes")
    add("--files", type=int, help=f"size of the sample ({FILES})")
    add("--all", action="store_true", help="all files of the test data")
    add("--seed", type=int, default=1, help="another seed, another sample")
    add("--match", default="", help="only files whose name contains this")
    add("--file-seconds", type=float, help="limit per file and engine (60)")
    add("--budget-seconds", type=float, help="start no file after this (no limit)")
    add("--memory-mib", type=int, default=8192, help="address space of an engine")
    add("--steps", action="store_true", help="keep all step times in the JSON result")
    add("--out", type=Path, default=ROOT / "build" / "bench", help="folder of the results")
    add("--docs", type=Path, help="also write the page and its pictures into this folder")
    args = parser.parse_args(arguments)
    for name, known in (("engines", ENGINES), ("tables", TABLES)):
        values = getattr(args, name).split(",")
        setattr(args, name, values)
        if unknown := [value for value in values if value not in known]:
            parser.error(f"--{name}: no {', '.join(unknown)}: choose from {', '.join(known)}")
    args.tokenizer = args.tokenizer.split(",")
    if args.all and args.files is not None:
        parser.error("--all and --files: choose one")
    quick = (QUICK_FILES, QUICK_FILE_SECONDS, QUICK_SECONDS)
    for name, value in zip(
        ("files", "file_seconds", "budget_seconds"),
        quick if args.quick else (FILES, 60.0, None),
        strict=True,
    ):
        if getattr(args, name) is None:
            setattr(args, name, value)
    return args


def find_inputs(args: argparse.Namespace) -> tuple[list[SchemaFile], list[TokenizerFile], str]:
    """Return the schema files, the tokenizers, and where they are from."""
    folder = os.environ.get("MASKWRIGHT_TEST_DATA")
    if folder:
        corpus = load_corpus(Path(folder) / "maskbench")
        if not corpus:
            raise SystemExit(f"MASKWRIGHT_TEST_DATA={folder}: no maskbench/*.jsonl")
        return corpus, [find_tokenizer(name) for name in args.tokenizer], "MaskBench"
    return load_corpus(OWN_SCHEMAS), [find_tokenizer("")], "the schemas of benchmarks/"


def run_table(
    table: str,
    tokenizer: TokenizerFile,
    files: Sequence[SchemaFile],
    args: argparse.Namespace,
    budget_seconds: float | None,
) -> dict[str, Any]:
    """Measure one table with one vocabulary; return its JSON result."""
    begin = time.monotonic()
    shared = table == "warm"
    ordered = shuffled(files, args.seed) if shared else list(files)
    encode, encoder = make_encoder(tokenizer)
    engines, missing = start(
        args.engines,
        tokenizer,
        seconds=args.file_seconds,
        memory_mib=args.memory_mib,
        shared=shared,
    )
    if not engines:
        raise SystemExit("no engine is installed: pip install -r benchmarks/requirements.txt")
    left = None if budget_seconds is None else budget_seconds - (time.monotonic() - begin)
    try:
        records = measure(engines, ordered, encode, left)
    finally:
        for engine in engines.values():
            engine.stop()
    subject = next(iter(engines))
    measured = {n: {"info": e.info, "records": records[n]} for n, e in engines.items()}
    names = [f"{file.family}/{file.name}" for file in ordered[: len(records[subject])]]
    cut = "" if len(names) == len(files) else f"; {len(names)} of {len(files)} files in time"
    note = f"Texts encoded by {encoder}, {time.monotonic() - begin:.0f} s in all{cut}."
    return {
        **report.table_data(measured, subject),
        "note": " ".join([note, *missing]),
        "vocab_size": tokenizer.vocab_size,
        "files": report.per_file(names, measured, with_steps=args.steps),
    }


def describe(
    args: argparse.Namespace, files: int, corpus: int, source: str, clock: int
) -> list[str]:
    """Say in lines what was run."""
    limits = f"One thread, {args.file_seconds:g} s per file and engine."
    return [
        f"{files} of {corpus:,} files of {source}, stratified by family (seed {args.seed}).",
        f"{limits} A reading of the clock costs {clock} ns and is in every figure.",
        "Ratio: the peer's figure divided by ours. Only figures of one run compare.",
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison and write `results.json`, `results.md` and the pictures."""
    args = parse(arguments)
    corpus, tokenizers, source = find_inputs(args)
    chosen = [file for file in corpus if args.match in file.name]
    files = sample(chosen, len(chosen) if args.all else args.files, args.seed)
    print(f"seed {args.seed}: {len(files)} files of {source}", file=sys.stderr)
    watch = LoadWatch()
    begin = time.monotonic()
    vocabularies: dict[str, dict[str, Any]] = {}
    left = len(tokenizers) * len(args.tables)
    for tokenizer in tokenizers:
        tables = vocabularies.setdefault(tokenizer.description, {})
        for table in args.tables:
            budget = args.budget_seconds
            if budget is not None:
                budget = (budget - (time.monotonic() - begin)) / left
            tables[table] = run_table(table, tokenizer, files, args, budget)
            left -= 1
    first = next(iter(vocabularies.values()))[args.tables[0]]
    clock = max(engine["clock_ns"] for engine in first["engines"].values())
    command = shlex.join(["python", "-m", "benchmarks.run", *(arguments or sys.argv[1:])])
    run = {"command": command, "seed": args.seed, "machine": watch.finish()}
    run["description"] = describe(args, len(files), len(corpus), source, clock)
    result = {"run": run, "vocabularies": vocabularies}
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "results.json").write_text(json.dumps(result, indent=1), encoding="utf-8")
    page.write(result, args.out, "results.md")
    if args.docs:
        page.write(result, args.docs, "benchmarks.md")
    print((args.out / "results.md").read_text(encoding="utf-8"))
    print(f"written to {args.out}/results.json and results.md", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
