"""Figures of an engine: each request in one place, at every moment."""

from __future__ import annotations

import dataclasses
import itertools
import random
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

from maskwright import GrammarSyntaxError
from maskwright.chat import ChatEngine, EngineBusyError, ModelError, RequestStats, ResponseFormat
from scripted_model import ScriptedModel

WAIT = 20
HI = [{"role": "user", "content": "hi"}]  # "<user>hi": 8 tokens
FIELDS = {"messages": HI, "temperature": 0, "max_tokens": 3}
LETTERS = {"type": "grammar", "syntax": "regex", "grammar": "[ab]+"}
NONE = RequestStats(
    running=0,
    waiting=0,
    finished=0,
    failed=0,
    cancelled=0,
    refused=0,
    prompt_tokens=0,
    completion_tokens=0,
)

Make = Callable[..., ChatEngine]


class Never(ResponseFormat):
    """A format that nobody compiles."""

    def submit(self, _compiler: Any, **_options: Any) -> Future[Any]:
        return Future()


class Steps:
    """Lets the model make one call after the other."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.may_go = threading.Semaphore(0)

    def __call__(self, _call: int) -> None:
        self.begun.release()
        assert self.may_go.acquire(timeout=WAIT)

    def wait(self) -> None:
        assert self.begun.acquire(timeout=WAIT)

    def go(self, calls: int = 1000) -> None:
        self.may_go.release(calls)


def _now(engine: ChatEngine, **expected: int) -> None:
    assert engine.stats().requests == dataclasses.replace(NONE, **expected)


def test_an_engine_that_nobody_asked(engine_of: Make) -> None:
    engine = engine_of(ScriptedModel())
    _now(engine)
    assert (engine.stats().grammar_set_ups, engine.stats().grammar_cache_hits) == (0, 0)


def test_a_request_on_its_way(engine_of: Make) -> None:
    steps = Steps()
    engine = engine_of(ScriptedModel([b"a"] * 9, before=steps), max_waiting=1)
    first = engine.stream(FIELDS)
    steps.wait()
    _now(engine, running=1, prompt_tokens=8)
    second = engine.stream(FIELDS)
    _now(engine, running=1, waiting=1, prompt_tokens=8)
    with pytest.raises(EngineBusyError):
        engine.stream(FIELDS)
    _now(engine, running=1, waiting=1, refused=1, prompt_tokens=8)
    steps.go(1)
    steps.wait()
    _now(engine, running=1, waiting=1, refused=1, prompt_tokens=8, completion_tokens=1)
    second.close()
    _now(engine, running=1, cancelled=1, refused=1, prompt_tokens=8, completion_tokens=1)
    steps.go()
    assert "".join(chunk.text for chunk in first) == "aaa"
    _now(engine, finished=1, cancelled=1, refused=1, prompt_tokens=8, completion_tokens=3)


def test_a_request_that_is_cancelled_while_it_runs(engine_of: Make) -> None:
    steps = Steps()
    engine = engine_of(ScriptedModel([b"a"] * 9, before=steps))
    stream = engine.stream(FIELDS, max_tokens=50)
    for _ in range(2):
        steps.wait()
        steps.go(1)
    steps.wait()
    stream.close()
    steps.go()
    engine.complete(FIELDS)  # after the other was taken out
    assert engine.stats().requests.cancelled == 1
    _now(engine, finished=1, cancelled=1, prompt_tokens=16, completion_tokens=3 + 3)


def test_requests_that_fail(engine_of: Make) -> None:
    def before(call: int) -> None:
        if call == 2:
            raise ModelError("no", code="model-failed")

    engine = engine_of(ScriptedModel([b"a"] * 9, before=before))
    with pytest.raises(ModelError):
        engine.complete(FIELDS)
    _now(engine, failed=1, prompt_tokens=8, completion_tokens=2)
    with pytest.raises(GrammarSyntaxError):
        engine.complete(FIELDS, response_format={**LETTERS, "grammar": "("})
    _now(engine, failed=2, prompt_tokens=16, completion_tokens=2)
    _streams = [engine.stream(FIELDS, response_format=Never()) for _ in range(2)]
    engine.close()
    requests = engine.stats().requests
    assert (requests.failed, requests.running, requests.waiting) == (4, 0, 0)


def test_set_ups_and_those_from_the_cache(engine_of: Make) -> None:
    engine = engine_of(ScriptedModel([b"a"] * 9))
    for pattern in ("[ab]+", "[ab]+", "a{2}", "[ab]+"):
        engine.complete(FIELDS, response_format={**LETTERS, "grammar": pattern})
    engine.complete(FIELDS)
    stats = engine.stats()
    assert (stats.grammar_set_ups, stats.grammar_cache_hits) == (4, 2)
    assert stats.compiler.grammars.entries == 2


class Caller(threading.Thread):
    """Asks one request after the other, and counts what became of them."""

    def __init__(self, engine: ChatEngine, start: threading.Barrier, seed: int) -> None:
        super().__init__()
        self._engine, self._at_start = engine, start
        self._random = random.Random(seed)
        self.finished = self.failed = self.left = self.refused = self.tokens = 0

    def run(self) -> None:
        self._at_start.wait(WAIT)
        for _ in range(REQUESTS):
            try:
                self._ask()
            except ModelError:
                self.failed += 1
            except EngineBusyError:
                self.refused += 1

    def _ask(self) -> None:
        n, response_format = self._random.choice([1, 1, 3]), self._random.choice([None, LETTERS])
        with self._engine.stream(FIELDS, n=n, response_format=response_format) as stream:
            if self._random.random() < 0.3:
                next(stream)
                self.left += 1  # and may have ended by itself until it is cancelled
                return
            list(stream)
        assert stream.usage is not None
        self.finished += 1
        self.tokens += stream.usage.total_tokens


THREADS, REQUESTS = 6, 15


@pytest.mark.parametrize("seed", range(3))
def test_figures_of_one_moment(engine_of: Make, seed: int) -> None:
    """While threads ask, cancel and fail, each request is counted once in every look."""
    failing = {random.Random(seed).randrange(200) for _ in range(6)}

    def before(call: int) -> None:
        if call in failing:
            raise ModelError("now and then", code="model-failed")

    engine = engine_of(ScriptedModel([b"a"] * 99, max_sequences=3, before=before), max_waiting=4)
    start = threading.Barrier(THREADS + 1)
    callers = [Caller(engine, start, seed * 100 + number) for number in range(THREADS)]
    for caller in callers:
        caller.start()
    start.wait(WAIT)
    looks = [NONE]
    while any(caller.is_alive() for caller in callers):
        looks.append(engine.stats().requests)
    engine.close()
    looks.append(engine.stats().requests)

    total = {
        name: sum(getattr(caller, name) for caller in callers)
        for name in ("finished", "failed", "left", "refused", "tokens")
    }
    end = looks[-1]
    assert end.refused == total["refused"]
    assert _accepted(end) + end.refused == THREADS * REQUESTS
    assert (end.running, end.waiting) == (0, 0)
    assert 0 <= end.finished - total["finished"] <= total["left"]
    assert 0 <= end.failed - total["failed"] <= total["left"]
    assert end.prompt_tokens + end.completion_tokens >= total["tokens"]
    for before_it, now in itertools.pairwise(looks):
        assert now.running <= 3
        assert _accepted(now) >= _accepted(before_it)
        for name in ("finished", "failed", "cancelled", "refused", "completion_tokens"):
            assert getattr(now, name) >= getattr(before_it, name)


def _accepted(stats: RequestStats) -> int:
    return stats.running + stats.waiting + stats.finished + stats.failed + stats.cancelled
