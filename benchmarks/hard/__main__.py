"""Run the hard inputs and scenarios: `python -m benchmarks.hard [--engines ...] [--match ...]`.

Each input has a limit of time; what takes longer is killed and reported. Scenarios are for
Maskwright alone. Writes `hard.json` and `hard.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.engines import ENGINES
from benchmarks.hard import arrays, enums, grammars, objects, patterns, strings, unions
from benchmarks.hard.budget import row
from benchmarks.hard.page import markdown
from benchmarks.hard.scenarios import SCENARIOS
from benchmarks.hard.vocabularies import VOCABULARIES
from benchmarks.machine import LoadWatch
from benchmarks.measure import start
from benchmarks.process import ONE_THREAD, ROOT
from benchmarks.tokens import TokenizerFile, find_tokenizer, make_encoder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.hard.case import Case
    from benchmarks.process import EngineProcess

FAMILIES = (strings, arrays, enums, unions, objects, patterns, grammars)


def all_cases() -> Iterator[Case]:
    """Yield the inputs of all families."""
    for family in FAMILIES:
        yield from family.cases()


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    add = parser.add_argument
    add("--engines", default="maskwright", help=f"of {', '.join(ENGINES)}; with commas")
    add("--tokenizer", default="llama3_1", help="a folder of the test data")
    add("--match", default="", help="only inputs whose family/name contains this")
    add("--seconds", type=float, default=60.0, help="limit per input and engine")
    add("--repeats", type=int, default=3, help="readings of a warm step; the least counts")
    add("--memory-mib", type=int, default=8192, help="address space of an engine")
    add("--out", type=Path, default=ROOT / "build" / "bench", help="folder of the results")
    add("--docs", type=Path, help="also write the page into this folder")
    args = parser.parse_args(arguments)
    args.engines = args.engines.split(",")
    if unknown := [name for name in args.engines if name not in ENGINES]:
        parser.error(f"--engines: no {', '.join(unknown)}: choose from {', '.join(ENGINES)}")
    return args


def run_case(
    case: Case,
    engines: dict[str, EngineProcess],
    encode: Callable[[str], list[int]],
    repeats: int,
) -> dict[str, Any]:
    """Measure an input with every engine that reads its kind, each time in a new process.

    So the memory of one input is not that which another has given back.
    """
    ids = [encode(instance.text) for instance in case.file.instances]
    rows = {}
    for name, engine in engines.items():
        if case.file.kind in ENGINES[name].kinds:
            record = engine.measure(case.file, ids, split=True, cpu_time=True, repeats=repeats)
            rows[name] = row(case, record)
            engine.stop()
    return rows


def run_scenario(name: str, tokenizer: TokenizerFile, seconds: float) -> dict[str, Any]:
    """Run a scenario in a subprocess; return `figures`, or `wrong` and why."""
    command = [sys.executable, "-m", "benchmarks.hard.scenario", name, str(tokenizer.path)]
    command += [str(tokenizer.vocab_size), str(tokenizer.stop_token_id)]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, **ONE_THREAD},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"wrong": f"took more than {seconds:g} s"}
    if done.returncode:
        return {"wrong": (done.stderr.strip().splitlines() or ["crash"])[-1]}
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def say(name: str, result: str) -> None:
    """Report progress."""
    print(f"{name}: {result}", file=sys.stderr, flush=True)


def run(args: argparse.Namespace, command: str) -> dict[str, Any]:
    """Run everything that was asked for; return the JSON result."""
    watch = LoadWatch()
    tokenizer = find_tokenizer(args.tokenizer)
    encode, _ = make_encoder(tokenizer)
    engines, missing = start(
        args.engines, tokenizer, seconds=args.seconds, memory_mib=args.memory_mib
    )
    cases: dict[str, Any] = {}
    scenarios: dict[str, Any] = {}
    try:
        for case in all_cases():
            if args.match in case.name:
                cases[case.name] = run_case(case, engines, encode, args.repeats)
                for name, found in cases[case.name].items():
                    say(f"{case.name} [{name}]", ", ".join([found["verdict"], *found["over"]]))
    finally:
        for engine in engines.values():
            engine.stop()
    for name in (*SCENARIOS, *VOCABULARIES) if "maskwright" in engines else ():
        if args.match in f"scenarios/{name}":
            scenarios[name] = run_scenario(name, tokenizer, args.seconds)
            say(f"scenarios/{name}", scenarios[name].get("wrong", "right"))
    run_info = {
        "command": command,
        "tokenizer": tokenizer.description,
        "vocab_size": tokenizer.vocab_size,
        "seconds": args.seconds,
        "missing": missing,
        "machine": watch.finish(),
    }
    return {"run": run_info, "cases": cases, "scenarios": scenarios}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, write the results, print the page."""
    args = parse(arguments)
    command = shlex.join(["python", "-m", "benchmarks.hard", *(arguments or sys.argv[1:])])
    result = run(args, command)
    page = markdown(result)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "hard.json").write_text(json.dumps(result, indent=1), encoding="utf-8")
    (args.out / "hard.md").write_text(page, encoding="utf-8")
    if args.docs:
        (args.docs / "benchmarks_hard.md").write_text(page, encoding="utf-8")
    print(page)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
