"""Runs the conformance suites and compares with the committed baselines.

Usage: ``python -m conformance.run [suite ...] [--update] [--seed N]`` with ``tests`` on the path.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from conformance import baseline
from conformance.cases import SUITES, Case, data_folder, load
from conformance.verdicts import Verdict, run_case
from ecmascript import NO_NODE, NODE

SEED_VARIABLE = "MASKWRIGHT_CONFORMANCE_SEED"
_CHUNK = 40
_WIDTH = 400


def new_seed(default: int | None = None) -> int:
    """Return the seed that the environment asks for; else the default, or a fresh one."""
    given = os.environ.get(SEED_VARIABLE)
    if given:
        return int(given)
    return random.SystemRandom().randrange(10**6) if default is None else default


def main(argv: list[str] | None = None) -> int:
    """Run the command; 0 if nothing is worse than the baseline."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    unknown = set(arguments.suites) - set(SUITES)
    if unknown:
        parser.error(f"no such suite: {', '.join(sorted(unknown))}")
    if data_folder() is None:
        print("set MASKWRIGHT_TEST_DATA to the data folder", file=sys.stderr)
        return 2
    seed = new_seed() if arguments.seed is None else arguments.seed
    print(f"seed {seed} (--seed {seed} repeats this run)")
    if NODE is None:
        print(f"no walks through schemas with patterns: {NO_NODE}")
    worse: list[str] = []
    better: list[str] = []
    for suite in arguments.suites or SUITES:
        start = time.perf_counter()
        results = run_suite(suite, seed, arguments)
        files = baseline.summary(results)
        seconds = time.perf_counter() - start
        unfinished = sum(verdict.unfinished for _, verdict in results)
        counts = f"{baseline.totals(files)}, {unfinished} walks without an end"
        print(f"{suite}: {counts} ({seconds:.0f} s)", flush=True)
        lines = baseline.compare(baseline.read(suite), results)
        worse += lines[0]
        better += lines[1]
        if arguments.update:
            baseline.write(suite, files)
    _show("better than the baseline", better, arguments.shown)
    _show("WORSE than the baseline", worse, arguments.shown)
    if better and not arguments.update:
        print(f"write the better results down: {baseline.UPDATE}")
    return 1 if worse and not arguments.update else 0


def run_suite(suite: str, seed: int, arguments: argparse.Namespace) -> list[tuple[Case, Verdict]]:
    """Run all cases of a suite in some processes."""
    cases = load(suite)
    chunks = [cases[at : at + _CHUNK] for at in range(0, len(cases), _CHUNK)]
    if arguments.jobs == 1:
        return [pair for chunk in chunks for pair in _run_chunk(chunk, seed, arguments)]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        futures = [pool.submit(_run_chunk, chunk, seed, arguments) for chunk in chunks]
        return [pair for future in futures for pair in future.result()]


def _run_chunk(cases: list[Case], seed: int, arguments: Any) -> list[tuple[Case, Verdict]]:
    found = []
    for case in cases:
        verdict = run_case(case, seed, spelled=arguments.spellings, walks=arguments.walks)
        found.append((case, verdict))
    return found


def _show(title: str, lines: list[str], count: int) -> None:
    if lines:
        print(f"{len(lines)} {title}:")
        for line in lines[:count]:
            print(f"  {line[:_WIDTH]}")
        if len(lines) > count:
            print(f"  and {len(lines) - count} more (--shown shows more)")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="conformance")
    parser.add_argument("suites", nargs="*", metavar="suite", help=", ".join(SUITES))
    parser.add_argument("--update", action="store_true", help="write the baselines")
    parser.add_argument("--seed", type=int, help=f"or {SEED_VARIABLE}; default: a fresh one")
    parser.add_argument("--spellings", type=int, default=6, help="texts per instance")
    parser.add_argument("--walks", type=int, default=20, help="random walks per schema")
    parser.add_argument("--shown", type=int, default=60, help="lines to show of each kind")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    return parser


if __name__ == "__main__":
    sys.exit(main())
