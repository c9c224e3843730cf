"""What formats cost the chat engine, with the embedded model on this machine's CPU.

    python -m benchmarks.bench_chat

Needs the extra `demo`. The schemas are the fifty of `tests/data/chat/schemas.json`. Three figures:

- Grammar time per token with several streams at a time: filling its share of the masks, applying
  them and accepting, all that the engine charges to the choice between two of its tokens. First
  pass: formats are new to the engine; second pass: the same ones again.
- Setting a format up, in both passes: compiling it and making, or resetting, its matcher.
- Time to the first token with a format over that without, for each schema with the same prompt,
  nothing else running. Each repeat has a new engine, so every format is compiled anew.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if __package__ in {None, ""}:  # started as a file: make the folder importable as a package
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.machine import LoadWatch
from benchmarks.report import markdown_table
from benchmarks.stats import percentile
from maskwright.chat import ChatEngine, ChatRequest, LlamaCppModel
from maskwright.chat.completion import Delta
from maskwright.chat.job import Event, Job

if TYPE_CHECKING:
    from collections.abc import Iterator

_SCHEMAS = Path(__file__).resolve().parent.parent / "tests" / "data" / "chat" / "schemas.json"
_PROMPT_ROOM = 64  # tokens


def request(name: str, schema: Any, seed: int, max_tokens: int) -> ChatRequest:
    """Return a request for an instance of a schema, or free text if there is none."""
    fields: dict[str, Any] = {}
    if schema is not None:
        fields["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": schema},
        }
    messages = [
        {"role": "system", "content": "You answer with JSON, in the shortest way there is."},
        {"role": "user", "content": f"Write {name} as JSON."},
    ]
    return ChatRequest.read(messages=messages, max_tokens=max_tokens, seed=seed, **fields)


@contextmanager
def grammar_seconds_of_tokens() -> Iterator[list[float]]:
    """Collect what the engine charges to each token, of all requests with one choice.

    The engine tells sums only, so the place that every token goes by is watched meanwhile.
    """
    costs: list[float] = []
    charged: dict[Job, float] = {}
    emit = Job.emit

    def watched(job: Job, event: Event) -> None:
        if isinstance(event, Delta):
            before, charged[job] = charged.get(job, 0.0), job.meter.grammar_seconds
            costs.append(charged[job] - before)
        emit(job, event)

    Job.emit = watched  # type: ignore[method-assign,assignment]  # see above
    try:
        yield costs
    finally:
        Job.emit = emit  # type: ignore[method-assign]  # see above


def streams_table(model: LlamaCppModel, schemas: dict[str, Any], max_tokens: int) -> str:
    """Run all schemas twice, as many at a time as there are sequences, and lay out the costs."""
    rows = []
    requests = [
        request(name, schema, seed, max_tokens)
        for seed, (name, schema) in enumerate(schemas.items())
    ]
    with ChatEngine(model) as engine, ThreadPoolExecutor(model.max_sequences) as threads:
        for label in ("first", "second"):
            with grammar_seconds_of_tokens() as costs:
                usages = [answer.usage for answer in threads.map(engine.complete, requests)]
            set_up = sorted(1e3 * (usage.grammar_init_s or 0.0) for usage in usages)
            costs = sorted(1e6 * cost for cost in costs)
            rows.append(
                (
                    label,
                    len(costs),
                    *(f"{percentile(costs, q):.0f}" for q in (50, 90, 99, 100)),
                    *(f"{percentile(set_up, q):.2f}" for q in (50, 100)),
                )
            )
    header = (
        "pass",
        "tokens",
        "p50 us",
        "p90 us",
        "p99 us",
        "worst us",
        "set-up p50 ms",
        "worst ms",
    )
    return markdown_table(header, rows)


def first_token_ms(engine: ChatEngine, asked: ChatRequest) -> float:
    """Return milliseconds from asking to the first token."""
    start = time.perf_counter()
    with engine.deltas(asked) as deltas:
        next(deltas)
        return (time.perf_counter() - start) * 1e3


def first_token_table(
    model: LlamaCppModel, schemas: dict[str, Any], max_tokens: int, repeats: int
) -> str:
    """Time first tokens with and without a format in turns, and lay out their ratios."""
    held: dict[str, list[float]] = {name: [] for name in schemas}
    free: dict[str, list[float]] = {name: [] for name in schemas}
    for repeat in range(repeats):
        with ChatEngine(model) as engine:
            first_token_ms(
                engine, request("nothing", {"const": 0}, 0, max_tokens)
            )  # loads what is lazy
            for number, (name, schema) in enumerate(schemas.items()):
                turns = [(held, schema), (free, None)]
                for times, asked in turns[:: 1 if (number + repeat) % 2 else -1]:
                    times[name].append(first_token_ms(engine, request(name, asked, 0, max_tokens)))
    ratios = sorted(min(held[name]) / min(free[name]) for name in schemas)
    rows = [
        (
            f"{median(itertools.chain(*held.values())):.1f}",
            f"{median(itertools.chain(*free.values())):.1f}",
            *(f"{percentile(ratios, q):.3f}" for q in (50, 90, 100)),
        )
    ]
    header = ("with a format, ms", "without, ms", "ratio p50", "ratio p90", "worst ratio")
    return markdown_table(header, rows)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--streams", type=int, default=8, help="requests at a time")
    parser.add_argument("--schemas", type=int, default=50, help="how many of the schemas")
    parser.add_argument(
        "--max-tokens", type=int, default=128, help="of an answer, which masks keep complete in it"
    )
    parser.add_argument("--repeats", type=int, default=3, help="of times to the first token")
    parser.add_argument("--threads", type=int, help="CPU threads of the model")
    options = parser.parse_args()
    schemas = json.loads(_SCHEMAS.read_text(encoding="utf-8"))
    schemas = dict(itertools.islice(schemas.items(), options.schemas))
    watch = LoadWatch()
    model = LlamaCppModel(
        context_size=_PROMPT_ROOM + options.max_tokens,
        max_sequences=options.streams,
        threads=options.threads,
    )
    print(f"Grammar time of each token, {options.streams} streams at a time:\n")
    print(streams_table(model, schemas, options.max_tokens))
    print(f"\nTime to the first token, each schema the best of {options.repeats}:\n")
    print(first_token_table(model, schemas, options.max_tokens, options.repeats))
    model.close()
    print("\n" + watch.finish())


if __name__ == "__main__":
    main()
