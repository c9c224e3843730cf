"""Medians of single operations of Maskwright, to watch between two changes.

    python -m benchmarks.micro

Short operations are timed in batches, so that the clock's own cost does not count, and the median
is taken over many batches: it survives a busy machine better than a mean. Where a floor is known,
a copy of one row, the figure is also given as a multiple of it, measured in the same run. The
figures are about this engine alone; run.py compares engines.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __package__ in {None, ""}:  # started as a file: make the folder importable as a package
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.apply_micro import apply_times
from benchmarks.engines.maskwright import OPTIONS
from benchmarks.machine import LoadWatch
from benchmarks.report import markdown_table, number
from benchmarks.tokens import TokenizerFile, find_tokenizer, make_encoder

if TYPE_CHECKING:
    from collections.abc import Callable

FIELDS = 256
SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1, "maxLength": 200},
        "year": {"type": "integer", "minimum": 1900, "maximum": 2100},
        "tags": {"type": "array", "items": {"enum": ["draft", "final", "review"]}},
        "authors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "mail": {"type": ["string", "null"]}},
                "required": ["name"],
            },
        },
    },
    "required": ["title", "year"],
}
TEXT = json.dumps(
    {
        "title": "A survey of constrained decoding, with measurements",
        "year": 2031,
        "tags": ["draft", "review"],
        "authors": [
            {"name": "N. Okafor", "mail": None},
            {"name": "L. Berg", "mail": "l@b.example"},
        ],
    }
)


@dataclass(frozen=True)
class Figure:
    """The median time of an operation."""

    name: str
    median_us: float
    samples: int
    note: str = ""


def median_us(
    operation: Callable[[], Any], *, batch: int = 1, samples: int, warm_up: int = 1
) -> float:
    """Return the median time of one call in microseconds, over `samples` batches of calls."""
    for _ in range(warm_up):
        operation()
    times = []
    for _ in range(samples):
        start = time.perf_counter_ns()
        for _ in range(batch):
            operation()
        times.append((time.perf_counter_ns() - start) / batch)
    return statistics.median(times) / 1000.0


def wide_schema(fields: int = FIELDS) -> str:
    """Return the text of a schema with many members of several types, half of them required."""
    kinds: list[dict[str, Any]] = [
        {"type": "string"},
        {"type": "integer"},
        {"type": "string", "maxLength": 40},
        {"type": "array", "items": {"type": "number"}},
        {"enum": ["low", "medium", "high"]},
        {"type": ["boolean", "null"]},
    ]
    properties = {f"field_{k}": kinds[k % len(kinds)] for k in range(fields)}
    required = [name for k, name in enumerate(properties) if k % 2]
    return json.dumps({"type": "object", "properties": properties, "required": required})


def walk(matcher: Any, bitmask: Any, ids: list[int], action: Callable[[int], Any]) -> list[Any]:
    """Call `action` with each token at its place in the text; return what it returned."""
    results = []
    for token in ids:
        results.append(action(token))
        matcher.fill_next_token_bitmask(bitmask)
        if not matcher.accept_token(token):
            raise SystemExit(f"token {token} was refused: the text does not match the schema")
    matcher.reset()
    return results


def row_copy_us(info: Any) -> float:
    """Return the median time to copy one row of the bitmask: what no warm mask can be below."""
    import numpy as np

    source = np.zeros((info.vocab_size + 31) // 32, dtype=np.int32)
    target = source.copy()
    return median_us(lambda: np.copyto(target, source), batch=200, samples=99)


def matcher_figures(library: Any, info: Any, ids: list[int], samples: int) -> list[Figure]:
    """Time mask, its id, accept, rollback and fork along a text whose masks are all known."""
    import numpy as np

    compiler = library.GrammarCompiler(info, max_threads=1)
    matcher = library.GrammarMatcher(compiler.compile_json_schema(json.dumps(SCHEMA), **OPTIONS))
    bitmask = np.zeros((1, (info.vocab_size + 31) // 32), dtype=np.int32)
    walk(matcher, bitmask, ids, lambda _: None)  # makes every mask warm

    def accept_all_and_reset() -> None:
        for token in ids:
            matcher.accept_token(token)
        matcher.reset()

    def accept_and_roll_back(token: int) -> None:
        matcher.accept_token(token)
        matcher.rollback(1)

    def time_fill(_: int) -> float:
        return median_us(lambda: matcher.fill_next_token_bitmask(bitmask), batch=50, samples=9)

    def time_mask_id(_: int) -> float:
        return median_us(matcher.next_mask_id, batch=50, samples=9)

    def time_rollback(token: int) -> float:
        return median_us(lambda: accept_and_roll_back(token), batch=20, samples=5)

    def time_fork(_: int) -> float:
        return median_us(matcher.fork, batch=20, samples=5)

    copy = row_copy_us(info)
    fills = walk(matcher, bitmask, ids, time_fill)
    mask_ids = walk(matcher, bitmask, ids, time_mask_id)
    rollbacks = walk(matcher, bitmask, ids, time_rollback)
    forks = walk(matcher, bitmask, ids, time_fork)
    accepts = median_us(accept_all_and_reset, samples=samples) / len(ids)
    fill, slowest = statistics.median(fills), max(fills)
    return [
        Figure("copy of one row", copy, 99),
        Figure("warm mask, median over a text", fill, len(fills), f"{fill / copy:.1f} copies"),
        Figure("warm mask, slowest of a text", slowest, len(fills), f"{slowest / copy:.1f} copies"),
        Figure("next_mask_id, median over a text", statistics.median(mask_ids), len(mask_ids)),
        Figure("accept_token", accepts, samples),
        Figure("accept_token and rollback", statistics.median(rollbacks), len(rollbacks)),
        Figure("fork", statistics.median(forks), len(forks)),
    ]


# What a first mask has to walk: (name, compile method, source, text before the mask). A string's
# is mostly a known class of characters and a residue, the others have no class that helps.
COLD = (
    ("string, a class and its residue", "compile_json_schema", '{"type": "string"}', '"'),
    ("bounded string", "compile_json_schema", '{"type": "string", "maxLength": 9}', '"'),
    ("start of any JSON value", "compile_json_schema", "{}", ""),
    ("member name of an open object", "compile_json_schema", '{"type": "object"}', '{"'),
    ("regex [a-z ]+, a full walk", "compile_regex", "[a-z ]+x", ""),
    ("regex of words", "compile_regex", r"(\w+ )*\w+", ""),
)


def cold_figures(library: Any, info: Any, samples: int) -> list[Figure]:
    """Time first masks of new grammars, and count the trie nodes that they visit."""
    import numpy as np

    bitmask = np.zeros((1, (info.vocab_size + 31) // 32), dtype=np.int32)
    figures = []
    for name, method, source, before in COLD:
        options = OPTIONS if method == "compile_json_schema" else {}
        times = []
        for _ in range(samples):
            compiler = library.GrammarCompiler(info, max_threads=1)
            matcher = library.GrammarMatcher(getattr(compiler, method)(source, **options))
            if before and not matcher.accept_string(before):
                raise SystemExit(f"{before!r} was refused by {source}")
            nodes = compiler.stats().visited_nodes
            start = time.perf_counter_ns()
            matcher.fill_next_token_bitmask(bitmask)
            times.append((time.perf_counter_ns() - start) / 1000.0)
        nodes = compiler.stats().visited_nodes - nodes
        middle = statistics.median(times)
        note = f"{nodes:,} nodes" + (f", {middle * 1000 / nodes:.1f} ns each" if nodes else "")
        figures.append(Figure(f"first mask: {name}", middle, samples, note))
    return figures


def compile_figures(library: Any, info: Any, samples: int) -> list[Figure]:
    """Time compiles from text with a new compiler each, and the first mask after one."""
    import numpy as np

    bitmask = np.zeros((1, (info.vocab_size + 31) // 32), dtype=np.int32)

    def compile_text(text: str) -> Any:
        return library.GrammarCompiler(info, max_threads=1).compile_json_schema(text, **OPTIONS)

    def first_mask(text: str) -> None:
        library.GrammarMatcher(compile_text(text)).fill_next_token_bitmask(bitmask)

    small, wide = json.dumps(SCHEMA), wide_schema()
    operations: dict[str, Callable[[], Any]] = {
        "compile, 6 fields": lambda: compile_text(small),
        "compile to first mask, 6 fields": lambda: first_mask(small),
        f"compile, {FIELDS} fields": lambda: compile_text(wide),
        f"compile to first mask, {FIELDS} fields": lambda: first_mask(wide),
    }
    return [
        Figure(name, median_us(operation, samples=samples), samples)
        for name, operation in operations.items()
    ]


def apply_figures(library: Any, info: Any, samples: int) -> list[Figure]:
    """Time applying bitmasks to logits."""
    times = apply_times(library, info.vocab_size, samples)
    return [Figure(name, took, samples, note) for name, took, note in times]


def vocabulary_figures(library: Any, tokenizer: TokenizerFile, info: Any) -> list[Figure]:
    """Time the trie and what else is built from a vocabulary's tokens, and reading its file."""
    tokens = info.decoded_vocab
    build = median_us(
        lambda: library.TokenizerInfo(
            tokens, vocab_size=info.vocab_size, stop_token_ids=info.stop_token_ids
        ),
        samples=5,
    )
    read = median_us(lambda: library.TokenizerInfo.from_file(tokenizer.path), samples=3)
    return [
        Figure(f"build the trie of {len(tokens):,} tokens", build, 5),
        Figure("read the tokenizer's file and build", read, 3),
    ]


def main() -> int:
    """Measure and print a table; also write it as JSON on request."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tokenizer", default="llama3_1", help="a folder of the test data")
    parser.add_argument("--samples", type=int, default=50, help="repetitions of longer operations")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    args = parser.parse_args()
    import maskwright

    tokenizer = find_tokenizer(args.tokenizer)
    encode, _ = make_encoder(tokenizer)
    watch = LoadWatch()
    info = maskwright.TokenizerInfo.from_file(
        tokenizer.path, vocab_size=tokenizer.vocab_size, stop_token_ids=[tokenizer.stop_token_id]
    )
    gc.collect()
    gc.freeze()
    figures = matcher_figures(maskwright, info, encode(TEXT), args.samples)
    figures += apply_figures(maskwright, info, args.samples)
    figures += cold_figures(maskwright, info, args.samples)
    figures += compile_figures(maskwright, info, args.samples)
    figures += vocabulary_figures(maskwright, tokenizer, info)
    machine = watch.finish()
    rows = [(f.name, number(f.median_us), f.note, f.samples) for f in figures]
    print(f"Vocabulary {tokenizer.description}, {tokenizer.vocab_size:,} tokens. {machine}\n")
    print(markdown_table(("operation", "median µs", "", "samples"), rows))
    if args.json:
        data = {"machine": machine, "figures": [vars(figure) for figure in figures]}
        args.json.write_text(json.dumps(data, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
