"""What is hard about using a grammar, not about the grammar: rollback, forks, threads, caches.

Each scenario takes Maskwright and a vocabulary and returns what it measured, by name in
microseconds or as said there; it raises `AssertionError` if an answer is wrong.
"""

from __future__ import annotations

import json
import random
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.engines.maskwright import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    Figures = dict[str, float]

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 40},
        "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "maxItems": 6},
        "tree": {"$ref": "#/$defs/tree"},
        "count": {"type": "integer", "minimum": 0, "maximum": 5000},
    },
    "required": ["name", "count"],
    "additionalProperties": False,
    "$defs": {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
}
TEXT = json.dumps(
    {"name": "Zoë 😀 of many", "tags": ["a", "b", "c"], "tree": [[[], [[]]]], "count": 4711}
)


class World:
    """A vocabulary, and short forms of what every scenario does."""

    def __init__(self, package: Any, info: Any, encode: Callable[[str], list[int]]) -> None:
        self.package, self.info = package, info
        self.ids = encode(TEXT)
        self.stop: int = info.stop_token_ids[0]
        self.words = (info.vocab_size + 31) // 32

    def compiler(self, **options: Any) -> Any:
        return self.package.GrammarCompiler(self.info, **options)

    def matcher(self, schema: Any = SCHEMA) -> Any:
        compiled = self.compiler().compile_json_schema(json.dumps(schema), **OPTIONS)
        return self.package.GrammarMatcher(compiled)

    def mask(self, matcher: Any) -> bytes:
        row = np.zeros((1, self.words), dtype=np.int32)
        matcher.fill_next_token_bitmask(row)
        return row.tobytes()

    def masks(self, matcher: Any) -> list[bytes]:
        """Return the masks along the text, the one behind its last token included."""
        found = [self.mask(matcher)]
        for token in self.ids:
            assert matcher.accept_token(token), f"token {token} refused"
            found.append(self.mask(matcher))
        return found


def timed_us(action: Callable[[], Any]) -> float:
    """Return the microseconds of one call."""
    start = time.perf_counter_ns()
    action()
    return (time.perf_counter_ns() - start) / 1000.0


def rollback(world: World) -> Figures:
    """Rollback over calls, counters and the stop token gives back the mask of that place."""
    matcher = world.matcher()
    expected = world.masks(matcher)
    assert matcher.accept_token(world.stop), "the stop token was refused"
    assert matcher.is_terminated()
    source, path, slowest = random.Random(5), [*world.ids, world.stop], 0.0
    for _ in range(300):
        steps = source.randint(1, len(path))
        slowest = max(slowest, timed_us(partial(matcher.rollback, steps)))
        at = len(path) - steps
        assert world.mask(matcher) == expected[at], f"another mask after a rollback to {at}"
        for token in path[at:]:
            assert matcher.accept_token(token), "a token was refused after a rollback"
    return {"rollback, slowest": slowest}


def fork_storm(world: World) -> Figures:
    """20,000 forks along a text, all alive: each goes its own way and disturbs no other."""
    matcher = world.matcher()
    expected = world.masks(matcher)
    matcher.reset()
    forks, slowest = [], 0.0
    start = time.perf_counter_ns()
    for k in range(20_000):
        if (at := k % len(world.ids)) == 0:
            matcher.reset()
        forks.append((at, matcher.fork()))
        matcher.accept_token(world.ids[at])
    each = (time.perf_counter_ns() - start) / 1000.0 / len(forks)
    for at, fork in forks[::37]:
        slowest = max(slowest, timed_us(partial(fork.accept_token, world.ids[at])))
        assert world.mask(fork) == expected[at + 1], "a fork has another mask"
    return {"fork and accept": each, "accept in a fork, slowest": slowest}


def drafts(world: World) -> Figures:
    """Draft tokens with a bad one somewhere: the acceptable prefix, and nothing has changed."""
    matcher = world.matcher()
    expected = world.masks(matcher)
    matcher.reset()
    bad = next(t for t in range(world.info.vocab_size) if not allowed(expected[3], t))
    slowest = 0.0
    for at in range(3):
        draft = [*world.ids[at:3], bad, *world.ids[3:]]
        start = time.perf_counter_ns()
        length = matcher.validate_tokens(draft)
        slowest = max(slowest, (time.perf_counter_ns() - start) / 1000.0)
        assert length == 3 - at, f"{length} tokens of a draft are acceptable, expected {3 - at}"
        assert world.mask(matcher) == expected[at], "a draft changed the matcher"
        matcher.accept_token(world.ids[at])
    return {"validate a draft, slowest": slowest}


def allowed(mask: bytes, token: int) -> bool:
    """Whether the mask has the token."""
    return bool(mask[token >> 3] >> (token & 7) & 1)


def threads(world: World) -> Figures:
    """32 threads on one cold grammar see the masks that one thread sees."""
    expected = world.masks(world.matcher())
    compiled = world.compiler().compile_json_schema(json.dumps(SCHEMA), **OPTIONS)
    barrier, wrong = threading.Barrier(32), []

    def work() -> None:
        matcher = world.package.GrammarMatcher(compiled)
        barrier.wait()
        if world.masks(matcher) != expected:
            wrong.append(1)

    pool = [threading.Thread(target=work) for _ in range(32)]
    start = time.perf_counter_ns()
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join()
    assert not wrong, f"{len(wrong)} threads saw other masks"
    return {"32 threads, a text each, in all": (time.perf_counter_ns() - start) / 1000.0}


def numbered(k: int) -> str:
    """Return the text of a schema that no other number has."""
    properties = {f"field_{k}": {"type": "integer", "maximum": k}, "note": {"type": "string"}}
    return json.dumps({"type": "object", "properties": properties, "required": [f"field_{k}"]})


def eviction(world: World) -> Figures:
    """A matcher whose grammar was evicted goes on as before."""
    expected = world.masks(world.matcher())
    compiler = world.compiler(cache_limit_bytes=1 << 20)
    matcher = world.package.GrammarMatcher(
        compiler.compile_json_schema(json.dumps(SCHEMA), **OPTIONS)
    )
    for at, token in enumerate(world.ids):
        for k in range(20):
            other = compiler.compile_json_schema(numbered(at * 20 + k), **OPTIONS)
            world.mask(world.package.GrammarMatcher(other))
        assert world.mask(matcher) == expected[at], "another mask after an eviction"
        assert matcher.accept_token(token)
    size = compiler.get_cache_size_bytes()
    assert compiler.stats().grammars.evictions > 0, "nothing was evicted"
    return {"cache at the end, KiB": size / 1024}


def many_grammars(world: World) -> Figures:
    """10,000 distinct grammars through one compiler, a mask of each, in bounded memory."""
    compiler = world.compiler(cache_limit_bytes=32 << 20)
    times = []
    for k in range(10_000):
        start = time.perf_counter_ns()
        compiled = compiler.compile_json_schema(numbered(k), **OPTIONS)
        world.mask(world.package.GrammarMatcher(compiled))
        times.append((time.perf_counter_ns() - start) / 1000.0)
    size = compiler.get_cache_size_bytes()
    assert size <= 48 << 20, f"the cache holds {size >> 20} MiB, its limit is 32"
    head, tail = sorted(times[:1000]), sorted(times[-1000:])
    return {
        "compile to first mask, first 1,000, median": head[500],
        "last 1,000, median": tail[500],
        "slowest": max(times),
        "cache at the end, KiB": size / 1024,
    }


SCENARIOS: dict[str, Callable[[World], Figures]] = {
    "rollback over calls, counters and the stop token": rollback,
    "fork storm": fork_storm,
    "drafts with bad tokens": drafts,
    "32 threads on one cold grammar": threads,
    "eviction during use": eviction,
    "10,000 distinct grammars": many_grammars,
}
