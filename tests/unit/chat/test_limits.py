"""What an engine allows its requests: time to compile, time in all, and how many may wait."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from time import perf_counter
from typing import Any

import pytest

from maskwright import CompileTimeoutError
from maskwright.chat import (
    ChatEngine,
    EngineBusyError,
    RequestTimeoutError,
    error_body,
)
from maskwright.chat.grammar_pool import GrammarPool
from maskwright.compiler import GrammarCompiler
from scripted_model import Gate, ScriptedModel

WAIT = 20
HI = [{"role": "user", "content": "hi"}]
FIELDS = {"messages": HI, "temperature": 0, "max_tokens": 3}
LETTERS = {"type": "grammar", "syntax": "regex", "grammar": "[ab]+"}
MOMENT = 1e-3
"""A limit that is over before what it limits, which is held until it is."""

Make = Callable[..., ChatEngine]


def _text(stream: Any) -> str:
    return "".join(chunk.text for chunk in stream)


class Clock:
    """The scheduler's clock, which the test can put forward by far more than a test takes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead = 0.0
        monkeypatch.setattr(
            "maskwright.chat.scheduler.perf_counter", lambda: perf_counter() + self.ahead
        )


# --- compiling --------------------------------------------------------------------------------


def test_a_compilation_that_takes_too_long(
    engine_of: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags: list[Any] = []
    hold = threading.Event()
    build = GrammarCompiler._build

    def held(compiler: Any, grammar: Any, computation: Any) -> Any:
        flags.append(computation.stop)
        assert hold.wait(WAIT)
        return build(compiler, grammar, computation)

    engine = engine_of(ScriptedModel([b"a"] * 9), compile_timeout_seconds=MOMENT)
    with monkeypatch.context() as patch:
        patch.setattr(GrammarCompiler, "_build", held)
        with pytest.raises(CompileTimeoutError, match=r"timeout_seconds = 0\.001") as caught:
            engine.complete(FIELDS, response_format=LETTERS)
        assert all(flag.is_set for flag in flags)
        hold.set()
    body = error_body(caught.value)["error"]
    assert (body["type"], body["code"], body["param"]) == (
        "invalid_request_error",
        "compile-timeout",
        "response_format",
    )
    assert engine.complete(FIELDS).text == "aaa"


def test_compilations_in_time(engine_of: Make) -> None:
    engine = engine_of(ScriptedModel([b"a"] * 9), compile_timeout_seconds=1e9)
    formats = [LETTERS, {"type": "json_object", "schema": {"const": 1}}]
    formats += [{"type": "grammar", "grammar": 'root ::= "a"'}]
    texts = [engine.complete(FIELDS, response_format=format_).text for format_ in formats]
    assert texts == ["aa", "1", "a"]


# --- requests ---------------------------------------------------------------------------------


def _overtime(stream: Any) -> RequestTimeoutError:
    with pytest.raises(RequestTimeoutError) as caught:
        _text(stream)
    return caught.value


def test_a_request_that_runs_too_long(engine_of: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    def before(call: int) -> None:
        clock.ahead += 5000 if call == 4 else 1000

    model = ScriptedModel([b"a"] * 99, before=before)
    engine = engine_of(model, request_timeout_seconds=8000)
    stream = engine.stream(FIELDS, max_tokens=50)
    assert [next(stream).text for _ in range(5)] == ["a"] * 5  # the last call was too long
    error = _overtime(stream)
    assert str(error) == (
        "the request took longer than request_timeout_seconds = 8000, waiting included; ask for "
        "fewer tokens, ask again when fewer requests run, or allow more"
    )
    body = error_body(error)["error"]
    assert (body["type"], body["code"], body["param"]) == ("server_error", "request-timeout", None)
    clock.ahead = 0
    assert engine.complete(FIELDS).text == "aaa"
    assert model.seen == [[]]


def test_a_request_that_waits_too_long(engine_of: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    gate = Gate(1)
    model = ScriptedModel([b"a"] * 99, before=gate)
    engine = engine_of(model, request_timeout_seconds=5000)
    streams = [engine.stream(FIELDS) for _ in range(3)]
    assert gate.reached.wait(WAIT)
    clock.ahead = 6000
    gate.open.set()
    for stream in streams:
        _overtime(stream)
    clock.ahead = 0
    assert engine.complete(FIELDS).text == "aaa"
    assert sum(len(ids) > 1 for ids in model.evaluated) == 2  # two were never begun


def test_a_request_whose_grammar_takes_too_long(
    engine_of: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold = threading.Event()
    monkeypatch.setattr(GrammarPool, "acquire", lambda *_: hold.wait(WAIT) and [])
    engine = engine_of(ScriptedModel(), request_timeout_seconds=MOMENT)
    _overtime(engine.stream(FIELDS, response_format=LETTERS))  # while the engine waits for it
    hold.set()


def test_limits_that_nobody_reaches(engine_of: Make) -> None:
    engine = engine_of(ScriptedModel([b"a"] * 9), request_timeout_seconds=1e300, max_waiting=10**9)
    assert engine.complete(FIELDS, response_format=LETTERS).text == "aa"


# --- waiting ----------------------------------------------------------------------------------


def _fill(engine: ChatEngine, gate: Gate, *counts: int) -> list[Any]:
    """Streams of requests with so many choices; the first is held in its first call."""
    first = engine.stream(FIELDS, n=counts[0])
    assert gate.reached.wait(WAIT)
    return [first, *(engine.stream(FIELDS, n=n) for n in counts[1:])]


def test_a_request_beyond_those_that_may_wait(engine_of: Make) -> None:
    gate = Gate()
    model = ScriptedModel([b"a"] * 99, max_sequences=2, before=gate)
    engine = engine_of(model, max_waiting=2)
    streams = _fill(engine, gate, 1, 1, 1, 1)  # the second has a sequence, though it is not begun
    for ask in (engine.stream, engine.complete):
        with pytest.raises(EngineBusyError) as caught:
            ask(FIELDS)
    assert str(caught.value) == (
        "as many requests wait for their turn as max_waiting = 2 allows; ask again later"
    )
    body = error_body(caught.value)["error"]
    assert (body["type"], body["code"], body["param"]) == ("rate_limit_error", "engine-busy", None)
    streams.pop(2).close()  # makes room at once
    streams.append(engine.stream(FIELDS))
    with pytest.raises(EngineBusyError):
        engine.stream(FIELDS)
    gate.open.set()
    assert [_text(stream) for stream in streams] == ["aaa"] * 4
    assert engine.complete(FIELDS).text == "aaa"


@pytest.mark.parametrize(
    ("counts", "is_taken"),
    [((2,), True), ((1, 1, 1), False), ((3,), False), ((1, 2), False), ((2, 1), False)],
)
def test_nobody_may_wait(engine_of: Make, counts: tuple[int, ...], is_taken: bool) -> None:
    """Requests are taken while there are sequences for all choices of all of them."""
    gate = Gate()
    engine = engine_of(ScriptedModel([b"a"] * 99, max_sequences=3, before=gate), max_waiting=0)
    (first,) = _fill(engine, gate, 1)
    streams = [first, *(engine.stream(FIELDS, n=n) for n in counts[:-1])]
    if is_taken:
        streams.append(engine.stream(FIELDS, n=counts[-1]))
    else:
        with pytest.raises(EngineBusyError):
            engine.stream(FIELDS, n=counts[-1])
    gate.open.set()
    for stream in streams:
        assert _text(stream).count("a") in {3, 6}


def test_many_threads_are_taken_up_to_the_limit(engine_of: Make) -> None:
    gate = Gate()
    engine = engine_of(ScriptedModel([b"a"] * 99, before=gate), max_waiting=5)
    (first,) = _fill(engine, gate, 1)
    ready = threading.Barrier(12)
    taken: list[Any] = []
    refused = itertools.count()

    def ask() -> None:
        ready.wait(WAIT)
        try:
            taken.append(engine.stream(FIELDS))
        except EngineBusyError:
            next(refused)

    threads = [threading.Thread(target=ask) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    assert (len(taken), next(refused)) == (5, 7)
    gate.open.set()
    assert [_text(stream) for stream in (first, *taken)] == ["aaa"] * 6


# --- what may be said ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compile_timeout_seconds": "1"}, "compile_timeout_seconds is '1'; expected a number"),
        ({"request_timeout_seconds": True}, "request_timeout_seconds is True; expected a number"),
        ({"max_waiting": 1.0}, "max_waiting is 1.0; expected an int"),
        ({"prefill_chunk": None}, "prefill_chunk is None; expected an int"),
    ],
)
def test_options_of_another_type(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        ChatEngine(ScriptedModel(), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compile_timeout_seconds": 0}, "compile_timeout_seconds is 0; expected more than 0"),
        (
            {"request_timeout_seconds": float("nan")},
            "request_timeout_seconds is nan; expected",
        ),
        ({"max_waiting": -1}, "max_waiting is -1; expected at least 0"),
        ({"prefill_chunk": 0}, "prefill_chunk is 0; expected at least 1"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ChatEngine(ScriptedModel(), **options)
