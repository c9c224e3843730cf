"""Runs engines over files and gathers their records: interleaved, within a budget of time."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from benchmarks.process import EngineProcess, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.data import SchemaFile
    from benchmarks.stats import Record
    from benchmarks.tokens import TokenizerFile


def start(
    names: Sequence[str],
    tokenizer: TokenizerFile,
    *,
    seconds: float,
    memory_mib: int,
    shared: bool = False,
) -> tuple[dict[str, EngineProcess], list[str]]:
    """Start the engines that are installed; also return lines about the others.

    Args:
        names: Of `ENGINES`.
        tokenizer: The vocabulary.
        seconds: Limit per file.
        memory_mib: Limit on the address space of each process.
        shared: One compiler per engine over all files.
    """
    engines = [
        EngineProcess(name, tokenizer, seconds=seconds, memory_mib=memory_mib, shared=shared)
        for name in names
    ]
    for engine in engines:
        engine.launch()
    reasons = {engine.name: why_unavailable(engine) for engine in engines}
    running = {engine.name: engine for engine in engines if reasons[engine.name] is None}
    missing = [f"Left out: {name} ({why})" for name, why in reasons.items() if why is not None]
    for line in missing:
        print(line, file=sys.stderr)
    return running, missing


def why_unavailable(engine: EngineProcess) -> str | None:
    """Wait until an engine is ready; return why it won't be, or None."""
    try:
        engine.start()
    except UnavailableError as error:
        return str(error)
    return None


def measure(
    engines: Mapping[str, EngineProcess],
    files: Sequence[SchemaFile],
    encode: Callable[[str], list[int]],
    budget_seconds: float | None = None,
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
