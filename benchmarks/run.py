"""Compare engines on JSON Schemas: time to first mask, masks, accept_token, right and wrong.

    python -m benchmarks.run --quick

Each file goes to all engines in turn, each engine in its own subprocess, on one thread, with a new
compiler per file. Of the schemas and tokenizer named by MASKWRIGHT_TEST_DATA it takes a sample that
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

from benchmarks import report, synthetic_tokenizer
from benchmarks.data import OWN_SCHEMAS, SchemaFile, load_corpus, sample
from benchmarks.engines import DEFAULT_ENGINES, ENGINES
from benchmarks.machine import LoadWatch
from benchmarks.process import ROOT, EngineProcess, UnavailableError
from benchmarks.tokens import TokenizerFile, make_encoder, read_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.stats import Record

QUICK_FILES = 60
QUICK_FILE_SECONDS = 5.0
QUICK_SECONDS = 150.0


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; `--quick` fills in what is not given."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    add = parser.add_argument
    add("--engines", default=",".join(DEFAULT_ENGINES), help=f"of {', '.join(ENGINES)}")
    add("--quick", action="store_true", help=f"{QUICK_FILES} files, at most 3 minutes")
    add("--files", type=int, help="size of the sample (0: all)")
    add("--seed", type=int, default=1, help="another seed, another sample")
    add("--tokenizer", default="llama3_1", help="a folder of the test data")
    add("--match", default="", help="only files whose name contains this")
    add("--file-seconds", type=float, help="limit per file and engine (60)")
    add("--budget-seconds", type=float, help="start no file after this (no limit)")
    add("--memory-mib", type=int, default=8192, help="address space of an engine")
    add("--steps", action="store_true", help="keep all step times in the JSON result")
    add("--out", type=Path, default=ROOT / "build" / "bench", help="folder of the results")
    args = parser.parse_args(arguments)
    args.engines = args.engines.split(",")
    if unknown := [name for name in args.engines if name not in ENGINES]:
        parser.error(f"no engine {', '.join(unknown)}: choose from {', '.join(ENGINES)}")
    defaults = (QUICK_FILES, QUICK_FILE_SECONDS, QUICK_SECONDS) if args.quick else (0, 60.0, None)
    for name, value in zip(("files", "file_seconds", "budget_seconds"), defaults, strict=True):
        if getattr(args, name) is None:
            setattr(args, name, value)
    return args


def find_inputs(args: argparse.Namespace) -> tuple[list[SchemaFile], TokenizerFile, str]:
    """Return the schema files, the tokenizer, and where they are from."""
    folder = os.environ.get("MASKWRIGHT_TEST_DATA")
    if folder:
        root = Path(folder)
        tokenizer = root / "tokenizers" / args.tokenizer / "tokenizer.json"
        corpus = load_corpus(root / "maskbench")
        if not corpus or not tokenizer.exists():
            raise SystemExit(f"MASKWRIGHT_TEST_DATA={folder}: no maskbench/*.jsonl or {tokenizer}")
        return corpus, read_tokenizer(tokenizer, args.tokenizer), "MaskBench"
    path = args.out / "synthetic" / "tokenizer.json"
    synthetic_tokenizer.write(path)
    return load_corpus(OWN_SCHEMAS), read_tokenizer(path, "synthetic"), "the schemas of benchmarks/"


def start(
    names: Sequence[str], tokenizer: TokenizerFile, args: argparse.Namespace
) -> tuple[dict[str, EngineProcess], list[str]]:
    """Start the engines that are installed; also return lines about the others."""
    running: dict[str, EngineProcess] = {}
    missing: list[str] = []
    for name in names:
        engine = EngineProcess(
            name, tokenizer, seconds=args.file_seconds, memory_mib=args.memory_mib
        )
        try:
            engine.start()
        except UnavailableError as error:
            missing.append(f"Left out: {name} ({error})")
            print(missing[-1], file=sys.stderr)
        else:
            running[name] = engine
    return running, missing


def measure(
    engines: dict[str, EngineProcess],
    files: Sequence[SchemaFile],
    encode: Callable[[str], list[int]],
    budget_seconds: float | None,
) -> dict[str, list[Record]]:
    """Measure all files, each with all engines before the next; stop when the budget is spent."""
    records: dict[str, list[Record]] = {name: [] for name in engines}
    names = list(engines)
    begin = time.monotonic()
    for k, file in enumerate(files):
        if budget_seconds is not None and time.monotonic() - begin > budget_seconds:
            break
        ids = [encode(instance.text) for instance in file.instances]
        # Who goes first changes, so that no engine always finds the caches of the same other one.
        turn = k % len(names)
        for name in names[turn:] + names[:turn]:
            records[name].append(engines[name].measure(file, ids))
        if sys.stderr.isatty():
            print(f"\r{k + 1}/{len(files)} ", end="", file=sys.stderr, flush=True)
    return records


def describe(run: dict[str, Any]) -> list[str]:
    """Say in lines what was run."""
    cut = "" if run["measured"] == run["files"] else f", {run['measured']} measured in time"
    first = (
        f"{run['files']} of {run['corpus_files']} files of {run['corpus']} (seed {run['seed']})"
        f"{cut}; vocabulary {run['tokenizer']}, {run['vocab_size']:,} tokens; texts encoded by "
        f"{run['encoder']}."
    )
    second = (
        f"One thread, a new compiler per file, {run['file_seconds']:g} s per file and engine. A "
        f"reading of the clock costs {run['clock_ns']} ns and is in every figure. Ratio: the "
        "peer's figure divided by ours."
    )
    return [first, second, *run["missing"]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison and write `results.json` and `results.md`."""
    args = parse(arguments)
    corpus, tokenizer, source = find_inputs(args)
    files = sample(
        [file for file in corpus if args.match in file.name], args.files or len(corpus), args.seed
    )
    print(f"seed {args.seed}: {len(files)} files of {source}", file=sys.stderr)
    encode, encoder = make_encoder(tokenizer)
    watch = LoadWatch()
    engines, missing = start(args.engines, tokenizer, args)
    if not engines:
        print("no engine is installed", file=sys.stderr)
        return 1
    try:
        records = measure(engines, files, encode, args.budget_seconds)
    finally:
        for engine in engines.values():
            engine.stop()
    subject = next(iter(engines))
    run: dict[str, Any] = {
        "command": shlex.join(["python", "-m", "benchmarks.run", *(arguments or sys.argv[1:])]),
        "corpus": source,
        "corpus_files": len(corpus),
        "files": len(files),
        "measured": len(records[subject]),
        "seed": args.seed,
        "tokenizer": tokenizer.description,
        "vocab_size": tokenizer.vocab_size,
        "encoder": encoder,
        "file_seconds": args.file_seconds,
        "clock_ns": max(engine.info["clock_ns"] for engine in engines.values()),
        "missing": missing,
        "machine": watch.finish(),
    }
    run["description"] = describe(run)
    measured = {n: {"info": e.info, "records": records[n]} for n, e in engines.items()}
    result = report.data(run, measured, subject)
    names = [file.name for file in files[: run["measured"]]]
    result["files"] = report.per_file(names, measured, with_steps=args.steps)
    text = report.markdown(result, result["files"])
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "results.json").write_text(json.dumps(result, indent=1), encoding="utf-8")
    (args.out / "results.md").write_text(text, encoding="utf-8")
    print(text)
    print(f"written to {args.out}/results.json and results.md", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
