"""Grammars that are compiled while a request is cancelled, its engine closed, its program ended."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from maskwright.chat import ChatEngine, EngineClosedError, ResponseFormat
from maskwright.chat.grammar_pool import GrammarPool
from maskwright.chat.set_up import Outcome, SetUp
from maskwright.compiler import GrammarCompiler
from maskwright.work_pool import WorkPool
from scripted_model import ScriptedModel, scripted_vocabulary

WAIT = 20
HI = [{"role": "user", "content": "hi"}]
FIELDS = {"messages": HI, "temperature": 0, "max_tokens": 3}
LETTERS = {"type": "grammar", "syntax": "regex", "grammar": "[ab]+"}

Make = Callable[..., ChatEngine]


class HeldBuilds:
    """Holds what the core compiles until it is let go, and has its stop flags."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun = threading.Semaphore(0)
        self.open = threading.Event()
        self.flags: list[Any] = []
        build = GrammarCompiler._build

        def held(compiler: Any, grammar: Any, computation: Any) -> Any:
            self.flags.append(computation.stop)
            self.begun.release()
            assert self.open.wait(WAIT)
            return build(compiler, grammar, computation)

        monkeypatch.setattr(GrammarCompiler, "_build", held)

    def wait(self) -> None:
        assert self.begun.acquire(timeout=WAIT)

    @property
    def stopped(self) -> list[bool]:
        return [flag.is_set for flag in self.flags]


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> Any:
    held = HeldBuilds(monkeypatch)
    yield held
    held.open.set()


@pytest.fixture
def model() -> Any:
    """A model whose first call lasts until the test ends, or until ``release`` is called."""
    hold = threading.Event()
    scripted = ScriptedModel([b"a"] * 99, max_sequences=2, before=lambda _call: hold.wait(WAIT))
    scripted.release = hold.set  # type: ignore[attr-defined]  of this test
    yield scripted
    hold.set()


def test_closing_the_stream_stops_the_compilation(
    engine_of: Make, builds: HeldBuilds, model: Any
) -> None:
    engine = engine_of(model)
    stream = engine.stream(FIELDS, response_format=LETTERS)
    builds.wait()
    assert builds.stopped == [False]
    stream.close()
    assert builds.stopped == [True]  # at once, though the model has not answered
    model.release()
    builds.open.set()
    assert engine.complete(FIELDS, response_format=LETTERS).text == "aa"
    assert len(builds.flags) == 2  # the first one came to nothing


def test_forgetting_the_stream_stops_the_compilation(
    engine_of: Make, builds: HeldBuilds, model: Any
) -> None:
    engine = engine_of(model)
    stream = engine.stream(FIELDS, response_format=LETTERS)
    builds.wait()
    del stream
    gc.collect()
    assert builds.stopped == [False]  # a destructor takes no lock: the engine's thread does it
    model.release()
    assert engine.complete(FIELDS).text == "aaa"
    assert builds.stopped == [True]


def test_cancelling_the_task_stops_the_compilation(
    engine_of: Make, builds: HeldBuilds, model: Any
) -> None:
    engine = engine_of(model)

    async def run() -> None:
        task = asyncio.create_task(engine.acomplete(FIELDS, response_format=LETTERS))
        await asyncio.get_running_loop().run_in_executor(None, builds.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert builds.stopped == [True]


def test_closing_the_engine_stops_the_compilation(engine_of: Make, builds: HeldBuilds) -> None:
    engine = engine_of(ScriptedModel())
    stream = engine.stream(FIELDS, response_format=LETTERS)
    builds.wait()
    engine.close()  # waits for no compilation
    assert builds.stopped == [True]
    with pytest.raises(EngineClosedError):
        list(stream)


def test_others_still_get_the_grammar(
    engine_of: Make, builds: HeldBuilds, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted, submit = threading.Semaphore(0), GrammarPool.compile

    def noted(pool: GrammarPool, response_format: ResponseFormat) -> Any:
        future = submit(pool, response_format)
        submitted.release()
        return future

    monkeypatch.setattr(GrammarPool, "compile", noted)
    engine = engine_of(ScriptedModel([b"a"] * 99, max_sequences=2))
    first, second = (engine.stream(FIELDS, response_format=LETTERS) for _ in range(2))
    for _ in range(2):
        assert submitted.acquire(timeout=WAIT)
    first.close()
    assert not any(builds.stopped)
    builds.open.set()
    assert "".join(chunk.text for chunk in second) == "aa"
    assert len(builds.flags) == 1


def test_set_ups_that_cannot_be_stopped_keep_nobody_waiting(engine_of: Make) -> None:
    hold, begun = threading.Event(), threading.Semaphore(0)

    class Slow(ResponseFormat):
        def submit(self, compiler: Any, **_options: Any) -> Any:
            begun.release()
            assert hold.wait(WAIT)
            return compiler.submit("regex", "a")

    engine = engine_of(ScriptedModel([b"a"] * 9, max_sequences=8))
    streams = [engine.stream(FIELDS, response_format=Slow()) for _ in range(8)]
    for _ in streams:
        assert begun.acquire(timeout=WAIT)
    for stream in streams:
        stream.close()
    regex = {"type": "grammar", "syntax": "regex", "grammar": "a{2}"}
    assert engine.complete(FIELDS, response_format=regex).text == "aa"
    hold.set()


class Tasks(WorkPool):
    """A pool whose tasks the test runs itself."""

    def __init__(self) -> None:
        super().__init__(1)
        self.tasks: list[Callable[[], None]] = []
        self.has_ended = False

    def submit(self, task: Callable[[], None], *, urgent: bool = True) -> None:
        del urgent
        if self.has_ended:
            raise RuntimeError("no more threads")
        self.tasks.append(task)

    def run_next(self) -> None:
        self.tasks.pop(0)()


class Promised(ResponseFormat):
    """A format that is compiled when the test says so."""

    def __init__(self) -> None:
        self.future: Future[Any] = Future()
        self.on_submit: Callable[[], object] = lambda: None

    def submit(self, _compiler: Any, **_options: Any) -> Future[Any]:
        self.on_submit()
        return self.future


class Manual:
    """A set-up that goes on when the test says so."""

    def __init__(self) -> None:
        self.grammars = GrammarPool(scripted_vocabulary())
        self.tasks = self.grammars.threads = Tasks()
        self.format = Promised()
        self.outcomes: list[Outcome] = []
        self.set_up = SetUp(self.grammars, self.format, 2, 9, self.outcomes.append)
        self.compiled = self.grammars.compiler.compile_regex("[ab]+")


def test_a_set_up_makes_matchers_on_a_thread_of_its_own() -> None:
    it = Manual()
    it.tasks.run_next()
    it.format.future.set_result(it.compiled)
    assert it.outcomes == []  # whoever has compiled it does not make them
    it.tasks.run_next()
    (outcome,) = it.outcomes
    assert [m.compiled_grammar for m in outcome.matchers] == [it.compiled] * 2
    assert (outcome.error, it.tasks.tasks) == (None, [])


def test_a_grammar_that_is_there_takes_one_task() -> None:
    it = Manual()
    it.format.future.set_result(it.compiled)
    it.tasks.run_next()
    assert (len(it.outcomes[0].matchers), it.tasks.tasks) == (2, [])


def test_a_set_up_that_is_cancelled_before_it_begins() -> None:
    it = Manual()
    it.format.on_submit = pytest.fail
    it.set_up.cancel()
    it.tasks.run_next()
    assert [type(outcome.error) for outcome in it.outcomes] == [EngineClosedError]


def test_a_set_up_that_is_cancelled_while_it_is_submitted() -> None:
    it = Manual()
    it.format.on_submit = it.set_up.cancel
    it.tasks.run_next()
    assert it.format.future.cancelled()
    assert [type(outcome.error) for outcome in it.outcomes] == [EngineClosedError]


def test_a_set_up_that_is_cancelled_while_it_is_compiled() -> None:
    it = Manual()
    it.tasks.run_next()
    it.set_up.cancel()
    assert it.format.future.cancelled()
    it.set_up.cancel()
    while it.tasks.tasks:
        it.tasks.run_next()
    assert [type(outcome.error) for outcome in it.outcomes] == [EngineClosedError]


def test_a_set_up_without_threads_fails() -> None:
    it = Manual()
    it.tasks.run_next()
    it.tasks.has_ended = True
    it.format.future.set_result(it.compiled)
    assert [type(outcome.error) for outcome in it.outcomes] == [RuntimeError]


def _run(body: str) -> str:
    """Run a program that has an engine, and return what it writes; it must end by itself."""
    start = """
        import threading
        from maskwright.chat import ChatEngine
        from maskwright.compiler import GrammarCompiler
        from scripted_model import ScriptedModel
        engine = ChatEngine(ScriptedModel([97] * 9, max_sequences=2))
        fields = {"messages": [{"role": "user", "content": "hi"}], "temperature": 0}
        fields["response_format"] = {"type": "grammar", "syntax": "regex", "grammar": "[ab]{3}"}
        begun = threading.Event()
        build, may_end = GrammarCompiler._build, lambda: False
        def held(compiler, grammar, computation):
            begun.set()
            while not computation.stop.is_set and not may_end():
                threading.Event().wait(0.01)
            return build(compiler, grammar, computation)
        GrammarCompiler._build = held
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(start) + textwrap.dedent(body)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
        timeout=2 * WAIT,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_a_program_ends_while_a_grammar_is_compiled() -> None:
    written = _run("""
        stream = engine.stream(fields)
        begun.wait()
        print("the end")
    """)
    assert written == "the end\n"


def test_a_thread_that_outlives_the_main_thread_has_its_answer() -> None:
    written = _run("""
        def ask():
            while threading.main_thread().is_alive():
                threading.Event().wait(0.01)
            print(engine.complete(fields).text)
        from maskwright.chat import scheduler
        looks, look = [], scheduler.program_ends
        scheduler.program_ends = lambda: looks.append(look()) or looks[-1]
        may_end = lambda: len(looks) > 2  # the engine has asked whether the program ends
        threading.Thread(target=ask).start()
    """)
    assert written == "aaa\n"
