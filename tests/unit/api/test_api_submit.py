"""GrammarCompiler.submit: futures of compilations, cancelled, timed out, shared and awaited.

Threads meet at events; each wait has a time limit, so that a fault fails and cannot hang.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
import weakref
from concurrent import futures
from typing import Any

import pytest

from maskwright import (
    CompiledGrammar,
    CompileTimeoutError,
    Grammar,
    GrammarCompiler,
    GrammarError,
    GrammarSyntaxError,
    LimitExceededError,
    TokenizerInfo,
    UnsatisfiableGrammarError,
    _core,
    compile_requests,
)
from maskwright import compiler as module
from maskwright.compile_requests import CompileRequest

SECONDS = 30
INFO = TokenizerInfo([*(chr(i) for i in range(32, 127)), ""], stop_token_ids=95)
# Takes minutes: each state of the product is one of 2^20, and the limits below allow that.
SLOW = {"allOf": [{"pattern": "^[ab]*a[ab]{20}$"}, {"pattern": "^[ab]*b[ab]{19}$"}]}
NO_LIMITS = {"max_lang_states": 2**32 - 1}


class Gate:
    """Holds up the front-end for one text, in whatever thread it runs."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go = threading.Event()
        self.calls = 0
        self.thread = threading.current_thread()
        """The one that came last."""

    def __call__(self, source: str) -> CompileRequest:
        def make_grammar() -> Grammar:
            self.calls += 1
            self.thread = threading.current_thread()
            self.begun.set()
            assert self.go.wait(SECONDS)
            return Grammar.from_regex(source)

        return CompileRequest(("gated", source), make_grammar)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A gate at the front-end of regular expressions; opened at the end of the test, too."""
    gate = Gate()
    monkeypatch.setitem(compile_requests.KINDS, "regex", gate)
    monkeypatch.setattr(module, "regex_request", gate)
    yield gate
    gate.go.set()


@pytest.fixture
def compiler() -> GrammarCompiler:
    return GrammarCompiler(INFO, max_threads=1)


def test_every_kind(compiler: GrammarCompiler) -> None:
    grammar = Grammar.from_regex("x+")
    submitted = [
        compiler.submit("json_schema", {"type": "integer"}, any_order=True),
        compiler.submit("json_schema", '{"const": 1}'),
        compiler.submit("json_schema", dict[str, int]),
        compiler.submit("regex", "[0-9]{2}"),
        compiler.submit("grammar", 'a ::= "q"', root_rule_name="a"),
        compiler.submit("grammar", grammar),
        compiler.submit("builtin_json"),
    ]
    assert [future.result(SECONDS) for future in submitted] == [
        compiler.compile_json_schema({"type": "integer"}, any_order=True),
        compiler.compile_json_schema('{"const": 1}'),
        compiler.compile_json_schema(dict[str, int]),
        compiler.compile_regex("[0-9]{2}"),
        compiler.compile_grammar('a ::= "q"', root_rule_name="a"),
        compiler.compile_grammar(grammar),
        compiler.compile_builtin_json_grammar(),
    ]


def test_what_is_known_is_there_at_once(compiler: GrammarCompiler) -> None:
    compiled = compiler.compile_regex("a")
    future = compiler.submit("regex", "a")
    assert isinstance(future, futures.Future)
    assert future.done()
    assert future.result() is compiled
    assert not future.cancel()
    assert (compiler.stats().grammars.hits, compiler.stats().grammars.misses) == (1, 1)


@pytest.mark.parametrize(
    ("kind", "source", "error"),
    [
        ("regex", "(", GrammarSyntaxError),
        ("grammar", "root ::=", GrammarSyntaxError),
        ("grammar", 'root ::= "a" root', UnsatisfiableGrammarError),
        ("json_schema", "{", GrammarSyntaxError),
        ("json_schema", {"type": "integer", "minimum": 1, "maximum": 0}, UnsatisfiableGrammarError),
    ],
)
def test_errors_come_with_the_future(
    compiler: GrammarCompiler, kind: str, source: Any, error: type[Exception]
) -> None:
    future = compiler.submit(kind, source)
    caught = future.exception(SECONDS)
    assert type(caught) is error
    with pytest.raises(error) as expected:
        getattr(compiler, f"compile_{kind}")(source)
    assert str(caught) == str(expected.value)
    assert vars(caught) == vars(expected.value)
    assert compiler.stats().grammars.entries == compiler.stats().grammars.in_flight == 0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("lark", "a"), ValueError, "kind is 'lark'; expected one of json_schema, regex, grammar"),
        (("regex", "a", 0), ValueError, "timeout_seconds is 0; expected more than 0"),
        (("regex", "a", float("nan")), ValueError, "timeout_seconds is nan"),
        (("regex", "a", True), TypeError, "timeout_seconds is True; expected a number"),
        (("regex", "a", "1"), TypeError, "timeout_seconds is '1'; expected a number"),
        (("builtin_json", "a"), TypeError, "source is a str; expected None for builtin_json"),
        (("grammar", 3), TypeError, "grammar is a int; expected a Grammar or a str"),
    ],
)
def test_bad_arguments(
    compiler: GrammarCompiler, arguments: Any, error: type[Exception], message: str
) -> None:
    kind, source, *limit = arguments
    with pytest.raises(error, match=message):
        compiler.submit(kind, source, timeout_seconds=limit[0] if limit else None)
    with pytest.raises(TypeError, match="no_such_option"):
        compiler.submit("regex", "a", no_such_option=1)


def test_one_computation_for_all_who_ask(compiler: GrammarCompiler, gate: Gate) -> None:
    first = compiler.submit("regex", "a")
    assert gate.begun.wait(SECONDS)
    others = [compiler.submit("regex", "a") for _ in range(5)]
    assert compiler.stats().grammars.in_flight == 1
    assert not first.done()
    gate.go.set()
    assert {id(future.result(SECONDS)) for future in [first, *others]} == {id(first.result())}
    assert compiler.compile_regex("a") is first.result()
    assert gate.calls == 1
    assert (compiler.stats().grammars.hits, compiler.stats().grammars.misses) == (6, 1)


def test_a_caller_takes_over_what_waits_for_a_thread(compiler: GrammarCompiler, gate: Gate) -> None:
    running = compiler.submit("regex", "a")  # on the only thread
    assert gate.begun.wait(SECONDS)
    waiting = compiler.submit("grammar", 'root ::= "b"')
    assert not waiting.done()
    assert compiler.compile_grammar('root ::= "b"') is waiting.result(0)
    assert not running.done()
    gate.go.set()
    assert running.result(SECONDS) is not None
    assert (compiler.stats().grammars.hits, compiler.stats().grammars.misses) == (1, 2)


def test_what_waits_and_is_cancelled_is_never_begun(compiler: GrammarCompiler, gate: Gate) -> None:
    running = compiler.submit("regex", "a")
    assert gate.begun.wait(SECONDS)
    waiting = [compiler.submit("regex", "b") for _ in range(2)]
    assert waiting[0].cancel()
    assert waiting[0].cancelled()
    assert compiler.stats().grammars.in_flight == 2  # the other one still wants it
    assert waiting[1].cancel()
    assert waiting[1].cancel()
    assert compiler.stats().grammars.in_flight == 1
    last = compiler.submit("regex", "c")
    gate.go.set()
    assert last.result(SECONDS) is not None
    assert running.done()
    assert gate.calls == 2
    for future in waiting:
        with pytest.raises(futures.CancelledError):
            future.result(0)
    assert compiler.stats().grammars.misses == 2


def test_what_runs_and_is_cancelled_is_dropped(compiler: GrammarCompiler, gate: Gate) -> None:
    given_up = compiler.submit("regex", "a")
    assert gate.begun.wait(SECONDS)
    assert given_up.cancel()
    assert futures.wait([given_up], SECONDS).done == {given_up}
    assert compiler.stats().grammars.in_flight == 0
    again = compiler.submit("regex", "a")
    gate.go.set()
    assert again.result(SECONDS) is compiler.compile_regex("a")
    assert gate.calls == 2


def test_others_still_get_what_one_gave_up(compiler: GrammarCompiler, gate: Gate) -> None:
    given_up, kept = [compiler.submit("regex", "a") for _ in range(2)]
    assert gate.begun.wait(SECONDS)
    assert given_up.cancel()
    gate.go.set()
    assert kept.result(SECONDS) is compiler.compile_regex("a")
    assert given_up.cancelled()
    assert gate.calls == 1


def test_the_engine_stops_when_nobody_waits() -> None:
    """Else the only thread would be busy for longer than the test may take."""
    compiler = GrammarCompiler(INFO, max_threads=1, **NO_LIMITS)
    begun = threading.Event()
    compile_ = _core.compile

    def noted(*arguments: Any, **options: Any) -> Any:
        begun.set()
        return compile_(*arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module._core, "compile", noted)
        future = compiler.submit("json_schema", SLOW)
        assert begun.wait(SECONDS)
        assert future.cancel()
    assert compiler.submit("regex", "b").result(SECONDS) is not None


class Model:
    """What looks like a model class with a schema."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self.asked = 0

    def model_json_schema(self) -> Any:
        self.asked += 1
        if isinstance(self._schema, Exception):
            raise self._schema
        return self._schema


def test_the_schema_of_a_type_is_stopped_like_any_other() -> None:
    compiler = GrammarCompiler(INFO, max_threads=1, **NO_LIMITS)
    begun = threading.Event()
    compile_ir = module._core.compile

    def noted(*args: Any, **options: Any) -> Any:
        begun.set()
        return compile_ir(*args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module._core, "compile", noted)
        future = compiler.submit("json_schema", Model(SLOW))
        assert begun.wait(SECONDS)
        assert future.cancel()
    assert compiler.submit("regex", "b").result(SECONDS) is not None
    limited = compiler.submit("json_schema", Model(SLOW), timeout_seconds=0.05)
    assert isinstance(limited.exception(SECONDS), CompileTimeoutError)
    assert compiler.submit("regex", "c").result(SECONDS) is not None
    assert compiler.stats().grammars.in_flight == 0


def test_the_schema_of_a_type_is_asked_for_by_a_thread(compiler: GrammarCompiler) -> None:
    schema = {"type": "integer"}
    compiled = compiler.submit("json_schema", Model(schema)).result(SECONDS)
    assert compiled is compiler.submit("json_schema", schema).result()
    broken = RuntimeError("no schema")
    assert compiler.submit("json_schema", Model(broken)).exception(SECONDS) is broken
    assert isinstance(
        compiler.submit("json_schema", Model({"type": 1})).exception(SECONDS), GrammarError
    )


def test_a_type_that_waits_for_a_thread_is_cancelled(compiler: GrammarCompiler, gate: Gate) -> None:
    running = compiler.submit("regex", "a")
    assert gate.begun.wait(SECONDS)
    model = Model(True)
    waiting = compiler.submit("json_schema", model)
    assert waiting.cancel()
    gate.go.set()
    assert running.result(SECONDS) is not None
    assert compiler.submit("json_schema", True).result(SECONDS) is not None
    assert model.asked == 0


def test_a_stop_flag_ends_a_compilation_before_it_begins() -> None:
    flag = _core.StopFlag()
    ir = Grammar.from_regex("a").ir
    assert _core.compile(ir, INFO._core, stop=flag) is not None
    flag.set()
    assert flag.is_set
    with pytest.raises(futures.CancelledError, match="nobody waits for this compilation"):
        _core.compile(ir, INFO._core, stop=flag)
    assert _core.compile(ir, INFO._core) is not None


def test_a_time_limit_ends_the_future_and_the_work() -> None:
    compiler = GrammarCompiler(INFO, max_threads=1, **NO_LIMITS)
    future = compiler.submit("json_schema", SLOW, timeout_seconds=0.05)
    with pytest.raises(CompileTimeoutError) as caught:
        future.result(SECONDS)
    assert str(caught.value) == (
        'compiling a grammar of kind "json_schema" took longer than timeout_seconds = 0.05, '
        "waiting for a thread included; allow more, or simplify it"
    )
    error = caught.value
    assert (error.code, error.kind) == ("compile-timeout", "json_schema")
    assert (error.timeout_seconds, isinstance(error, TimeoutError)) == (0.05, True)
    assert compiler.submit("regex", "b", timeout_seconds=SECONDS).result(SECONDS) is not None
    assert compiler.stats().grammars.in_flight == 0


def test_a_time_limit_is_that_of_one_caller(compiler: GrammarCompiler, gate: Gate) -> None:
    short = compiler.submit("regex", "a", timeout_seconds=0.01)
    long = compiler.submit("regex", "a", timeout_seconds=1e9)
    assert isinstance(short.exception(SECONDS), CompileTimeoutError)
    assert not short.cancel()
    gate.go.set()
    assert long.result(SECONDS) is compiler.compile_regex("a")
    assert gate.calls == 1


def test_a_limit_of_the_engine_is_no_time_limit(compiler: GrammarCompiler) -> None:
    future = compiler.submit("json_schema", SLOW, timeout_seconds=SECONDS)
    assert isinstance(future.exception(SECONDS), LimitExceededError)


def test_awaiting(compiler: GrammarCompiler) -> None:
    async def work() -> CompiledGrammar:
        first = await compiler.submit("regex", "a")
        several = await asyncio.gather(
            *(compiler.submit("regex", f"b{n}") for n in range(10)),
            return_exceptions=True,
        )
        assert len(set(map(id, several))) == 10
        with pytest.raises(GrammarSyntaxError):
            await compiler.submit("regex", "(")
        return first

    assert asyncio.run(work()) is compiler.compile_regex("a")


def test_a_task_that_is_cancelled_cancels(compiler: GrammarCompiler, gate: Gate) -> None:
    async def work() -> bool:
        future = compiler.submit("regex", "a")

        async def ask() -> CompiledGrammar:
            return await future

        task = asyncio.ensure_future(ask())
        await asyncio.get_running_loop().run_in_executor(None, gate.begun.wait, SECONDS)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return future.cancelled()

    assert asyncio.run(work())
    assert compiler.stats().grammars.in_flight == 0


def test_callbacks(compiler: GrammarCompiler, gate: Gate) -> None:
    called = threading.Event()
    future = compiler.submit("regex", "a")
    future.add_done_callback(lambda done: called.set() if done is future else None)
    assert not called.is_set()
    gate.go.set()
    assert called.wait(SECONDS)
    assert futures.wait([future], SECONDS).not_done == set()


def test_a_callback_may_compile_on_the_only_thread(compiler: GrammarCompiler, gate: Gate) -> None:
    """It takes over what waits behind it, or would wait for itself."""
    first = compiler.submit("regex", "a")
    assert gate.begun.wait(SECONDS)
    second = compiler.submit("grammar", 'root ::= "b"')
    got: list[CompiledGrammar] = []
    first.add_done_callback(lambda _: got.append(compiler.compile_grammar('root ::= "b"')))
    gate.go.set()
    assert second.result(SECONDS) in got


def test_without_a_cache() -> None:
    compiler = GrammarCompiler(INFO, cache_enabled=False)
    found = [compiler.submit("regex", "a") for _ in range(2)]
    assert found[0].result(SECONDS) is not found[1].result(SECONDS)
    assert compiler.stats().grammars.misses == 0


def test_a_compiler_that_is_dropped_finishes_what_it_was_given(gate: Gate) -> None:
    compiler = GrammarCompiler(INFO, max_threads=1)
    submitted = [compiler.submit("regex", "a"), compiler.submit("regex", "b")]
    assert gate.begun.wait(SECONDS)
    thread = gate.thread
    assert thread is not threading.current_thread()
    dropped = weakref.ref(compiler)
    del compiler
    gate.go.set()
    assert all(future.result(SECONDS) is not None for future in submitted)
    thread.join(SECONDS)
    assert not thread.is_alive()
    gc.collect()
    assert dropped() is None


def test_submitted_work_goes_before_masks_ahead(gate: Gate) -> None:
    compiler = GrammarCompiler(INFO, max_threads=1, precompute="background")
    running = compiler.submit("regex", "a")
    assert gate.begun.wait(SECONDS)
    order: list[str] = []
    compiler._pool.submit(lambda: order.append("ahead"), urgent=False)
    second = compiler.submit("grammar", 'root ::= "b"')
    second.add_done_callback(lambda _: order.append("submitted"))
    gate.go.set()
    assert running.result(SECONDS) is not second.result(SECONDS)
    assert compiler._precomputer is not None
    assert compiler._precomputer.wait(SECONDS)
    assert order == ["submitted", "ahead"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_waits_for_no_future_of_its_parent(gate: Gate) -> None:
    compiler = GrammarCompiler(INFO, max_threads=1)
    future = compiler.submit("regex", "a", timeout_seconds=1e6)
    assert gate.begun.wait(SECONDS)
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        good = future.cancelled() and compiler.stats().grammars.in_flight == 0
        gate.go.set()
        good = good and compiler.submit("regex", "a", timeout_seconds=SECONDS).result() is not None
        os._exit(0 if good else 1)
    _, status = os.waitpid(child, 0)
    gate.go.set()
    assert os.waitstatus_to_exitcode(status) == 0
    assert future.result(SECONDS) is not None
