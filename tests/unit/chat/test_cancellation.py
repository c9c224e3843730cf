"""Requests that are cancelled, and engines that are closed, at each place where they can wait."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from maskwright.chat import ChatEngine, ChatRequest, EngineClosedError
from maskwright.chat.grammar_pool import GrammarPool
from scripted_model import ScriptedModel

WAIT = 20
HI = [{"role": "user", "content": "hi"}]
LETTERS = {"type": "grammar", "syntax": "regex", "grammar": "[ab]+"}

Make = Callable[..., ChatEngine]


class Gate:
    """Holds whoever comes at a place until it is opened."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.open = threading.Event()

    def wait(self, *_anything: object) -> None:
        self.reached.set()
        assert self.open.wait(WAIT)


def _model(gate: Gate, call: int, *, sequences: int = 1) -> ScriptedModel:
    """A model that writes letters without end, held at one of its calls."""

    def before(number: int) -> None:
        if number == call:
            gate.wait()

    return ScriptedModel([b"a"] * 900, max_sequences=sequences, before=before)


def _stream(engine: ChatEngine, **fields: Any) -> Any:
    return engine.stream({"messages": HI, "temperature": 0, **fields})


def _works(engine: ChatEngine, model: ScriptedModel) -> None:
    """The engine answers, with all its sequences, and nothing is left of what was cancelled."""
    fields = {"n": model.max_sequences, "max_tokens": 3, "response_format": LETTERS}
    completion = engine.complete(messages=HI, temperature=0, **fields)
    assert [choice.text for choice in completion.choices] == ["aa"] * model.max_sequences
    assert model.seen == [[]] * model.max_sequences
    scheduler = engine._scheduler
    assert not scheduler.roster.all()
    assert scheduler._sequences.free == model.max_sequences


def test_while_queued(engine_of: Make) -> None:
    gate = Gate()
    model = _model(gate, 1)
    engine = engine_of(model)
    first, second, third = (_stream(engine, max_tokens=3) for _ in range(3))
    assert gate.reached.wait(WAIT)
    second.close()
    gate.open.set()
    assert ["".join(c.text for c in stream) for stream in (first, third)] == ["aaa", "aaa"]
    assert list(second) == []
    assert sum(len(ids) > 1 for ids in model.evaluated) == 2  # the prompt of the second never came
    _works(engine, model)


@pytest.mark.parametrize("response_format", [None, LETTERS])
def test_while_the_prompt_is_evaluated(engine_of: Make, response_format: Any) -> None:
    gate = Gate()
    model = _model(gate, 1)
    engine = engine_of(model, prefill_chunk=2)
    stream = _stream(engine, response_format=response_format)
    assert gate.reached.wait(WAIT)
    stream.close()
    gate.open.set()
    _works(engine, model)
    assert model.evaluated[:3] == [[*b"<u"], [*b"se"], [*b"<u"]]  # the rest of it never came


@pytest.mark.parametrize("is_refused", [False, True])
def test_while_the_grammar_is_set_up(
    engine_of: Make, monkeypatch: pytest.MonkeyPatch, is_refused: bool
) -> None:
    gate = Gate()
    given_back: list[Any] = []
    done = threading.Event()
    acquire, give_back = GrammarPool.acquire, GrammarPool.give_back

    def slow(pool: GrammarPool, *arguments: Any) -> Any:
        gate.wait()
        if is_refused:
            raise ValueError("refused")
        return acquire(pool, *arguments)

    def note(pool: GrammarPool, matchers: list[Any]) -> None:
        give_back(pool, matchers)
        given_back.extend(matchers)
        if matchers or gate.open.is_set():
            done.set()

    monkeypatch.setattr(GrammarPool, "acquire", slow)
    monkeypatch.setattr(GrammarPool, "give_back", note)
    model = ScriptedModel([b"a"] * 900)
    engine = engine_of(model)
    stream = _stream(engine, response_format=LETTERS)
    assert gate.reached.wait(WAIT)
    stream.close()
    # Others do not wait for it, and have its sequence.
    assert engine.complete(messages=HI, temperature=0, max_tokens=2).text == "aa"
    gate.open.set()
    assert done.wait(WAIT)
    assert len(given_back) == (0 if is_refused else 1)
    monkeypatch.setattr(GrammarPool, "acquire", acquire)
    _works(engine, model)


@pytest.mark.parametrize("response_format", [None, LETTERS])
def test_while_tokens_come(engine_of: Make, response_format: Any) -> None:
    gate = Gate()
    model = _model(gate, 3, sequences=2)
    engine = engine_of(model)
    stream = _stream(engine, response_format=response_format, n=2)
    assert next(stream).text == "a"
    assert gate.reached.wait(WAIT)
    stream.close()
    gate.open.set()
    assert list(stream) == []
    assert stream.usage is None
    _works(engine, model)
    assert len(model.calls) == 4 + 2  # the stop token of the second one is forced


def test_closing_wakes_whoever_waits(engine_of: Make) -> None:
    gate = Gate()
    model = _model(gate, 0)
    engine = engine_of(model)
    stream = _stream(engine)
    found: list[Any] = []
    reader = threading.Thread(target=lambda: found.append(list(stream)))
    reader.start()
    assert gate.reached.wait(WAIT)
    stream.close()
    reader.join(WAIT)
    assert found == [[]]  # though the model has not answered yet

    async def run() -> None:
        waiting = engine.astream(messages=HI)
        task = asyncio.create_task(waiting.__anext__())
        await asyncio.sleep(0)
        await waiting.aclose()
        with pytest.raises(StopAsyncIteration):
            await task

    asyncio.run(run())
    gate.open.set()
    _works(engine, model)


def test_a_stream_that_is_forgotten(engine_of: Make) -> None:
    gate = Gate()
    model = _model(gate, 3)
    engine = engine_of(model)
    stream = _stream(engine)
    assert next(stream).text == "a"
    assert gate.reached.wait(WAIT)
    del stream
    gc.collect()
    gate.open.set()
    _works(engine, model)
    assert len(model.calls) == 4 + 2  # the stop token of the second one is forced


def test_destructors_wait_for_no_lock(engine_of: Make) -> None:
    """The collector may run them in a thread that holds any lock."""
    engine = engine_of(ScriptedModel([b"a"] * 900, max_sequences=2))
    roster = engine._scheduler.roster
    stream = _stream(engine)
    forgotten = threading.Thread(target=stream._deltas.__del__)
    with roster._lock:
        forgotten.start()
        forgotten.join(WAIT)
        assert not forgotten.is_alive()

    def close() -> None:
        with roster._lock:
            roster.close()

    closing = threading.Thread(target=close, daemon=True)
    closing.start()
    closing.join(WAIT)
    assert not closing.is_alive()


def test_after_the_end(engine_of: Make) -> None:
    model = ScriptedModel([b"a"] * 900)
    engine = engine_of(model)
    with _stream(engine, max_tokens=2) as stream:
        assert "".join(chunk.text for chunk in stream) == "aa"
    stream.close()
    _works(engine, model)


def test_a_block_that_is_left(engine_of: Make) -> None:
    gate = Gate()
    model = _model(gate, 3)
    engine = engine_of(model)
    request = ChatRequest.read(messages=HI)
    with engine.deltas(request) as deltas:
        next(deltas)  # what leaves the block, by whatever way, cancels
    gate.open.set()
    _works(engine, model)


def test_a_cancelled_task(engine_of: Make) -> None:
    gate = Gate()
    model = _model(gate, 2)
    engine = engine_of(model)

    async def run() -> None:
        task = asyncio.create_task(engine.acomplete(messages=HI))
        await asyncio.get_running_loop().run_in_executor(None, gate.reached.wait, WAIT)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    gate.open.set()
    _works(engine, model)


def test_an_event_loop_that_is_gone(engine_of: Make) -> None:
    gate = Gate()
    model = _model(gate, 2)
    engine = engine_of(model)
    streams: list[Any] = []  # keeps it from being cancelled when the loop ends

    async def run() -> None:
        streams.append(engine.astream(messages=HI))
        await streams[0].__anext__()

    asyncio.run(run())
    gate.open.set()
    _works(engine, model)


@pytest.mark.parametrize("call", [0, 2])
def test_closing_ends_all_requests(engine_of: Make, call: int) -> None:
    gate = Gate()
    model = _model(gate, call)
    engine = engine_of(model)
    streams = [_stream(engine, response_format=f) for f in (LETTERS, None, LETTERS)]
    assert gate.reached.wait(WAIT)
    closing = threading.Thread(target=engine.close)
    closing.start()
    gate.open.set()
    closing.join(WAIT)
    assert not closing.is_alive()
    for stream in streams:
        with pytest.raises(EngineClosedError, match="is closed"):
            list(stream)
    assert model.seen == [[]]


def test_closing_while_a_grammar_is_set_up(
    engine_of: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    monkeypatch.setattr(GrammarPool, "acquire", gate.wait)
    engine = engine_of(ScriptedModel())
    stream = _stream(engine, response_format=LETTERS)
    assert gate.reached.wait(WAIT)
    engine.close()
    with pytest.raises(EngineClosedError):
        list(stream)
    gate.open.set()


def test_an_engine_that_is_forgotten_ends_its_thread() -> None:
    engine = ChatEngine(ScriptedModel([b"a"]))
    thread = engine._scheduler._thread
    stream = engine.stream(messages=HI, temperature=0)
    del engine
    gc.collect()
    assert "".join(chunk.text for chunk in stream) == "a"  # a stream keeps its engine
    del stream
    gc.collect()
    thread.join(WAIT)
    assert not thread.is_alive()


def test_an_interpreter_ends_while_a_request_runs() -> None:
    code = (
        "from scripted_model import ScriptedModel\n"
        "from maskwright.chat import ChatEngine\n"
        "engine = ChatEngine(ScriptedModel([97] * 10**5, context_size=10**6))\n"
        "stream = engine.stream(messages=[{'role': 'user', 'content': 'hi'}])\n"
        "print(next(stream).text)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
        timeout=WAIT,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "a\n", "")
