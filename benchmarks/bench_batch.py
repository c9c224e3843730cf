"""Medians of one step of an engine for many requests: batch calls against loops.

    python -m benchmarks.bench_batch

Nothing is downloaded: vocabularies and grammars are made up. Draft trees: 96 requests of 6 nodes
each, against a loop over `traverse_draft_tree` of this engine and, if it is installed, of xgrammar,
each with views of the arrays that were made beforehand. Fills: 256 matchers, warm. The contenders
take turns in changing order, so that other work on the machine meets all of them alike. Arrays are
torch tensors if torch is installed, else numpy's. xgrammar compiles these grammars for minutes if
the vocabulary is large, so it takes part there on request only (`--large-peer`).
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.util
import random
import statistics
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __package__ in {None, ""}:  # started as a file: make the folder importable as a package
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.machine import LoadWatch
from benchmarks.report import markdown_table, number

if TYPE_CHECKING:
    from collections.abc import Callable

THREADS = (1, 2, 4, 8)
REQUESTS, NODES = 96, 6
FILLED = 256
LARGE = 10_000  # tokens
GRAMMARS = (
    'root ::= "{" member ("," member)* "}"\nmember ::= [a-f]+ ":" ([0-9]+ | root)',
    'root ::= ([a-z] | "(" root ")")* ',
    'root ::= [a-z]{2,40} ("," [0-9]{1,5})*',
    'root ::= ("[" root "]")* [a-m]? ',
)
LETTERS = [*"abcdefghijklmnopqrstuvwxyz", *"0123456789", *"{}[]():,"]


@dataclass(frozen=True)
class Drafts:
    """A tree for each request, whose tokens are mostly allowed, as nested lists."""

    children: list[list[int]]
    siblings: list[list[int]]
    tokens: list[list[int]]


def made_up_vocabulary(size: int) -> list[str]:
    """Return letters, digits, punctuation and words of them, and a stop token as the last one."""
    source = random.Random(size)
    tokens = dict.fromkeys(LETTERS)
    while len(tokens) < size - 1:
        tokens["".join(source.choices(LETTERS[:26], k=source.randint(2, 7)))] = None
    return [*tokens, "</s>"]


def random_tree(source: random.Random) -> tuple[list[int], list[int], list[int]]:
    """Return first children, next siblings and parents of a random tree."""
    parents = [-1] + [source.randrange(max(0, k - 3), k) for k in range(1, NODES)]
    children, siblings = [-1] * NODES, [-1] * NODES
    for node in range(NODES - 1, 0, -1):
        siblings[node] = children[parents[node]]
        children[parents[node]] = node
    return children, siblings, parents


def allowed_token(matcher: Any, size: int, source: random.Random) -> int | None:
    """Return a random token that the matcher accepts, if one is found soon."""
    tries = (source.randrange(size) for _ in range(300))
    return next((token for token in tries if matcher.validate_tokens([token])), None)


def make_drafts(matchers: list[Any], size: int, source: random.Random) -> Drafts:
    """Return a tree for each matcher; every eighth token is any token."""
    drafts = Drafts([], [], [])
    for matcher in matchers:
        children, siblings, parents = random_tree(source)
        forks, tokens = [matcher.fork()], [0]
        for node in range(1, NODES):
            fork = forks[parents[node]].fork()
            token = allowed_token(fork, size, source) if source.random() > 1 / 8 else None
            tokens.append(source.randrange(size) if token is None else token)
            fork.accept_token(tokens[-1])
            forks.append(fork)
        drafts.children.append(children)
        drafts.siblings.append(siblings)
        drafts.tokens.append(tokens)
    return drafts


def walks_of(matchers: list[Any], size: int, source: random.Random) -> list[list[int]]:
    """Move each matcher a few tokens on, and return the tokens."""
    walks = []
    for matcher in matchers:
        walk: list[int] = []
        for _ in range(source.randint(1, 8)):
            token = allowed_token(matcher, size - 1, source)
            if token is not None and matcher.accept_token(token):
                walk.append(token)
        walks.append(walk)
    return walks


def make_matchers(library: Any, vocabulary: list[str], number: int) -> list[Any]:
    """Return so many matchers of the grammars in turn, at the start."""
    info = library.TokenizerInfo(vocabulary, stop_token_ids=[len(vocabulary) - 1])
    compiler = library.GrammarCompiler(info, max_threads=1)
    compiled = [compiler.compile_grammar(grammar) for grammar in GRAMMARS]
    return [library.GrammarMatcher(compiled[k % len(compiled)]) for k in range(number)]


def medians_us(contenders: dict[str, Callable[[], Any]], samples: int) -> dict[str, float]:
    """Return the median time of a call of each in microseconds; the order changes."""
    source = random.Random(7)
    times: dict[str, list[int]] = {name: [] for name in contenders}
    order = list(contenders.items())
    for _, call in order * 3:
        call()
    for _ in range(samples):
        source.shuffle(order)
        for name, call in order:
            start = time.perf_counter_ns()
            call()
            times[name].append(time.perf_counter_ns() - start)
    return {name: statistics.median(values) / 1000 for name, values in times.items()}


def tensor(values: Any, dtype: str) -> Any:
    """Return an array of torch or, without it, of numpy."""
    if importlib.util.find_spec("torch"):
        torch: Any = importlib.import_module("torch")
        return torch.tensor(values, dtype=getattr(torch, dtype))
    import numpy as np

    return np.array(values, dtype=dtype)


def tree_figures(library: Any, peer: Any, vocabulary: list[str], samples: int) -> dict[str, float]:
    """Time the draft trees of all requests."""
    source = random.Random(5)
    size, words = len(vocabulary), (len(vocabulary) + 31) // 32
    matchers = make_matchers(library, vocabulary, REQUESTS)
    walks = walks_of(matchers, size, source)
    drafts = make_drafts(matchers, size, source)
    children = tensor(drafts.children, "int64")
    siblings = tensor(drafts.siblings, "int64")
    tokens = tensor(drafts.tokens, "int64")
    masks = {
        name: tensor([[0] * words] * (REQUESTS * NODES), "int32")
        for name in ("batch", "loop", "peer")
    }

    def views(name: str) -> list[tuple[Any, ...]]:
        blocks = [masks[name][k * NODES : (k + 1) * NODES] for k in range(REQUESTS)]
        return list(zip(children, siblings, tokens, blocks, strict=True))

    def loop_over(own: list[Any], arguments: list[tuple[Any, ...]]) -> Callable[[], None]:
        def call() -> None:
            for matcher, arrays in zip(own, arguments, strict=True):
                matcher.traverse_draft_tree(*arrays)

        return call

    contenders: dict[str, Callable[[], Any]] = {}
    for threads in THREADS:
        batch = library.BatchGrammarMatcher(threads)
        contenders[f"batch, threads={threads}"] = partial(
            batch.batch_traverse_draft_tree, matchers, children, siblings, tokens, masks["batch"]
        )
    contenders["own loop"] = loop_over(matchers, views("loop"))
    if peer is not None:
        others = make_matchers(peer, vocabulary, REQUESTS)
        for matcher, walk in zip(others, walks, strict=True):
            for token in walk:
                matcher.accept_token(token)
        contenders["xgrammar's loop"] = loop_over(others, views("peer"))
    figures = medians_us(contenders, samples)
    if not bool((masks["batch"] == masks["loop"]).all()):
        raise SystemExit("batch and loop differ")
    return figures


def fill_figures(library: Any, peer: Any, vocabulary: list[str], samples: int) -> dict[str, float]:
    """Time the masks of many matchers, all known."""
    source = random.Random(6)
    matchers = make_matchers(library, vocabulary, FILLED)
    walks = walks_of(matchers, len(vocabulary), source)
    mask = tensor([[0] * ((len(vocabulary) + 31) // 32)] * FILLED, "int32")

    def loop() -> None:
        for row, matcher in enumerate(matchers):
            matcher.fill_next_token_bitmask(mask, row)

    contenders: dict[str, Callable[[], Any]] = {"own loop": loop}
    for threads in THREADS:
        call = library.BatchGrammarMatcher(threads).batch_fill_next_token_bitmask
        contenders[f"batch, threads={threads}"] = partial(call, matchers, mask)
    if peer is not None:
        others = make_matchers(peer, vocabulary, FILLED)
        for matcher, walk in zip(others, walks, strict=True):
            for token in walk:
                matcher.accept_token(token)
        call = peer.BatchGrammarMatcher(1).batch_fill_next_token_bitmask
        contenders["xgrammar's batch, threads=1"] = partial(call, others, mask)
    return medians_us(contenders, samples)


def draft_figures(library: Any, vocabulary: list[str], samples: int) -> dict[str, float]:
    """Time a draft of six tokens that is accepted and taken back."""
    matcher = make_matchers(library, vocabulary, 2)[1]

    def call() -> None:
        for token in range(6):
            matcher.accept_token(token)
        matcher.rollback(6)

    return medians_us({"6 tokens accepted and rolled back": call}, samples)


def main() -> int:
    """Measure and print a table for each kind of work."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--vocabulary", type=int, nargs="*", default=[101, 128_000])
    parser.add_argument("--large-peer", action="store_true", help="xgrammar with all of them")
    args = parser.parse_args()
    import maskwright

    has_peer = importlib.util.find_spec("xgrammar") is not None
    watch = LoadWatch()
    gc.collect()
    gc.freeze()
    for size in args.vocabulary:
        vocabulary = made_up_vocabulary(size)
        takes_part = has_peer and (args.large_peer or size <= LARGE)
        peer = importlib.import_module("xgrammar") if takes_part else None
        trees = tree_figures(maskwright, peer, vocabulary, args.samples)
        fills = fill_figures(maskwright, peer, vocabulary, args.samples)
        draft = draft_figures(maskwright, vocabulary, args.samples)
        print(f"\nVocabulary of {size:,}, medians of {args.samples}\n")
        for title, figures in (
            (f"{REQUESTS} draft trees of {NODES} nodes", trees),
            (f"{FILLED} warm masks", fills),
            ("draft of one request", draft),
        ):
            first = figures.get("own loop", 0.0)
            rows = [
                (name, number(us), f"{us / first:.2f}" if first else "")
                for name, us in figures.items()
            ]
            print(markdown_table((title, "µs", "of the loop"), rows) + "\n")
    print(watch.finish())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
