"""What goes wrong while requests run: who is told, and that the engine goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from typing_extensions import Self

from maskwright import GrammarMatcher, MatcherError
from maskwright.batch import BatchGrammarMatcher
from maskwright.chat import ChatEngine, EngineClosedError, ModelError, error_body
from maskwright.chat.decoder import Decoder
from maskwright.chat.grammar_pool import GrammarPool
from scripted_model import ScriptedModel

WAIT = 20
HI = [{"role": "user", "content": "hi"}]
LETTERS = {"type": "grammar", "syntax": "regex", "grammar": "[ab]+"}

Make = Callable[..., ChatEngine]


def _ask(engine: ChatEngine, **fields: Any) -> Any:
    return engine.complete({"messages": HI, "temperature": 0, "max_tokens": 3, **fields})


def _works(engine: ChatEngine, model: ScriptedModel) -> None:
    for response_format in (None, LETTERS):
        completion = _ask(engine, n=model.max_sequences, response_format=response_format)
        assert {choice.text[:2] for choice in completion.choices} == {"aa"}
    assert model.seen == [[]] * model.max_sequences
    assert engine._scheduler._sequences.free == model.max_sequences


@pytest.mark.parametrize("call", [0, 1, 2])
@pytest.mark.parametrize(
    "make_error",
    [lambda: ModelError("no memory", code="model-failed"), ZeroDivisionError, SystemExit],
)
def test_a_model_that_fails_ends_those_of_the_call(
    engine_of: Make, call: int, make_error: Callable[[], BaseException]
) -> None:
    error = make_error()  # not a parameter itself: its traceback keeps engines alive
    reached, hold = threading.Event(), threading.Event()

    def before(number: int) -> None:
        reached.set()
        assert hold.wait(WAIT)
        if number == call:
            raise error

    model = ScriptedModel([b"a"] * 99, max_sequences=2, before=before)
    engine = engine_of(model)
    fields = {"messages": HI, "temperature": 0, "max_tokens": 9}
    streams = [engine.stream(fields)]
    assert reached.wait(WAIT)  # alone in the first call; the third waits for a sequence
    streams += [engine.stream(fields), engine.stream(fields, response_format=LETTERS)]
    hold.set()
    outcomes, raised_errors = [], []
    for stream in streams:
        try:
            outcomes.append("".join(chunk.text for chunk in stream))
        except type(error) as raised:
            outcomes.append("failed" if error in (raised, raised.__cause__) else "otherwise")
            raised_errors.append(raised)
    assert len(set(map(id, raised_errors))) == len(raised_errors)
    assert {str(raised) for raised in raised_errors} == {str(error)}
    assert outcomes == ["failed", "a" * 9 if call == 0 else "failed", "a" * 8]
    _works(engine, model)


class _OddError(Exception):
    """Takes other arguments than it has, and has a message of its own making."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")
        self.second = second


class _LonelyError(Exception):
    """Cannot be copied."""

    def __new__(cls, *arguments: object) -> Self:
        assert arguments == ("alone",)
        return super().__new__(cls, *arguments)

    def __init__(self, text: str) -> None:
        super().__init__(text, "made")


@pytest.mark.parametrize("error", [_OddError(1, 2), _LonelyError("alone"), StopIteration(5)])
def test_each_of_several_callers_has_an_error_of_its_own(engine_of: Make, error: Exception) -> None:
    reached, hold = threading.Event(), threading.Event()

    def before(number: int) -> None:
        reached.set()
        assert hold.wait(WAIT)
        if number == 1:
            raise error

    engine = engine_of(ScriptedModel([b"a"] * 99, max_sequences=2, before=before))
    fields = {"messages": HI, "temperature": 0, "max_tokens": 9}
    streams = [engine.stream(fields)]
    assert reached.wait(WAIT)
    streams.append(engine.stream(fields))
    hold.set()
    told: list[Any] = []
    for stream in streams:
        with pytest.raises((type(error), ModelError)) as caught:
            list(stream)
        told.append(caught.value)
    assert told[0] is not told[1]
    for one in told:
        if isinstance(error, StopIteration):
            assert one.code == "model-stop-iteration"
            assert one.__cause__.__cause__ is error
            continue
        assert one.__cause__ is error
        if isinstance(error, _OddError):
            assert (str(one), one.second, type(one)) == ("1 and 2", 2, _OddError)
        else:
            assert one.code == "model-call-failed"
            assert str(one) == f"the model, its tokenizer or a logit processor failed: {error!r}"


@pytest.mark.parametrize("method", ["render_chat", "tokenize"])
def test_a_prompt_that_the_model_refuses(
    engine_of: Make, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    def refuse(_anything: object) -> None:
        raise ModelError("no such role", code="chat-template-failed")

    model = ScriptedModel([b"a"] * 9)
    engine = engine_of(model)
    with monkeypatch.context() as patch:
        patch.setattr(model, method, refuse)
        with pytest.raises(ModelError, match="no such role"):
            _ask(engine)
    _works(engine, model)


def test_a_sequence_that_cannot_be_copied(engine_of: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_source: int, _target: int) -> None:
        raise ModelError("no place", code="model-failed")

    model = ScriptedModel([b"a"] * 9, max_sequences=2)
    engine = engine_of(model)
    with monkeypatch.context() as patch:
        patch.setattr(model, "copy_sequence", fail)
        with pytest.raises(ModelError, match="no place"):
            _ask(engine, n=2)
        assert _ask(engine).text == "aaa"
    _works(engine, model)


def test_a_sequence_that_cannot_be_cleared_is_not_used_again(
    engine_of: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    model = ScriptedModel([b"a"] * 9, max_sequences=2)
    clear = model.clear_sequence

    def fail(sequence: int) -> None:
        if sequence == 0:
            raise ModelError("stuck", code="model-failed")
        clear(sequence)

    engine = engine_of(model)
    monkeypatch.setattr(model, "clear_sequence", fail)
    for _ in range(3):
        assert _ask(engine).text == "aaa"
    assert "cannot clear sequence 0" in caplog.text
    with pytest.raises(ModelError, match=r"needs 2 sequences, and only 1 .* still work") as caught:
        _ask(engine, n=2)
    assert caught.value.code == "model-sequences-lost"


def test_an_error_in_the_set_up(engine_of: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object) -> None:
        raise MemoryError("while compiling")

    model = ScriptedModel([b"a"] * 9)
    engine = engine_of(model)
    with monkeypatch.context() as patch:
        patch.setattr(GrammarPool, "acquire", fail)
        with pytest.raises(MemoryError, match="while compiling") as caught:
            _ask(engine, response_format=LETTERS)
        assert error_body(caught.value)["error"]["type"] == "server_error"
    _works(engine, model)


def test_an_error_in_the_set_up_of_a_later_choice_keeps_the_matchers(
    engine_of: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    def make(pool: GrammarPool, compiled: Any) -> GrammarMatcher:
        made.append(compiled)
        if len(made) == 2:
            raise MemoryError("for the second")
        return original(pool, compiled)

    original = GrammarPool._make
    monkeypatch.setattr(GrammarPool, "_make", make)
    model = ScriptedModel([b"a"] * 9, max_sequences=2)
    engine = engine_of(model)
    with pytest.raises(MemoryError, match="for the second"):
        _ask(engine, n=2, response_format=LETTERS)
    _works(engine, model)
    assert len(made) == 3  # the first one was used again


def test_a_refused_token_is_told_with_its_place(
    engine_of: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stubborn(GrammarMatcher):
        tokens = 0

        def accept_token(self, token_id: int, *, debug_print: bool = False) -> bool:
            self.tokens += 1
            return self.tokens < 3 and super().accept_token(token_id, debug_print=debug_print)

    hold = threading.Event()
    model = ScriptedModel([b"a"] * 99, max_sequences=2, before=lambda _call: hold.wait(WAIT))
    engine = engine_of(model)
    with monkeypatch.context() as patch:
        patch.setattr("maskwright.chat.grammar_pool.GrammarMatcher", Stubborn)
        other = engine.stream(messages=HI, temperature=0, max_tokens=9)
        stream = engine.stream(messages=HI, temperature=0, response_format=LETTERS)
        hold.set()
        assert [next(stream).text, next(stream).text] == ["a", "a"]
        with pytest.raises(MatcherError, match=r"refused token 97 .* at position 2 ") as caught:
            next(stream)
        assert caught.value.code == "matcher-mask-disagrees"
        assert "".join(chunk.text for chunk in other) == "a" * 9
    assert list(stream) == []


def test_a_mask_that_allows_nothing(engine_of: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_batch: Any, _matchers: Any, masks: Any, indices: Any) -> None:
        masks[indices] = 0

    model = ScriptedModel([b"a"] * 9)
    engine = engine_of(model)
    with monkeypatch.context() as patch:
        patch.setattr(BatchGrammarMatcher, "batch_fill_next_token_bitmask", nothing)
        with pytest.raises(MatcherError, match="allows no token") as caught:
            _ask(engine, response_format=LETTERS)
        assert caught.value.code == "matcher-empty-mask"
    _works(engine, model)


def test_a_batch_that_fails_is_asked_one_by_one(
    engine_of: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(GrammarMatcher):
        def fill_next_token_bitmask(
            self, bitmask: Any, index: int = 0, *, debug_print: bool = False
        ) -> bool:
            del bitmask, index, debug_print
            raise MemoryError("of one")

    def fail(*_arguments: Any, **_named: Any) -> None:
        raise MemoryError("of all")

    model = ScriptedModel([b"a"] * 99, max_sequences=2)
    engine = engine_of(model)
    monkeypatch.setattr(BatchGrammarMatcher, "batch_fill_next_token_bitmask", fail)
    assert _ask(engine, response_format=LETTERS).text == "aa"
    monkeypatch.setattr("maskwright.chat.grammar_pool.GrammarMatcher", Broken)
    other = {**LETTERS, "grammar": "[abc]+"}
    with pytest.raises(MemoryError, match="of one"):
        _ask(engine, response_format=other)
    assert _ask(engine, response_format=LETTERS).text == "aa"


def test_a_fault_of_the_engine_itself_leaves_nobody_waiting(
    engine_of: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_arguments: object) -> None:
        raise AssertionError("impossible")

    hold = threading.Event()
    model = ScriptedModel([b"a"] * 9, before=lambda _call: hold.wait(WAIT))
    engine = engine_of(model)
    monkeypatch.setattr("maskwright.chat.scheduler.has_work", fault)
    streams = [engine.stream(messages=HI) for _ in range(3)]
    hold.set()
    for stream in streams:
        with pytest.raises(EngineClosedError) as caught:
            list(stream)
        assert isinstance(caught.value.__cause__, AssertionError)
    with pytest.raises(EngineClosedError):
        _ask(engine)


def test_a_fault_of_the_decoder_ends_those_of_the_call(
    engine_of: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_arguments: object) -> None:
        raise AssertionError("impossible")

    model = ScriptedModel([b"a"] * 9)
    engine = engine_of(model)
    with monkeypatch.context() as patch:
        patch.setattr(Decoder, "step", fault)
        with pytest.raises(AssertionError, match="impossible"):
            _ask(engine)
    _works(engine, model)


def test_logits_of_a_wrong_shape_end_the_request(engine_of: Make) -> None:
    model = ScriptedModel([b"a"] * 9)
    real = model.evaluate
    engine = engine_of(model)
    model.evaluate = lambda parts: real(parts)[:, :-1]  # type: ignore[method-assign]  # of one test
    with pytest.raises(ModelError, match=r"float32 with shape \(1, 263\); expected") as caught:
        _ask(engine)
    assert caught.value.code == "model-logits"
    model.evaluate = lambda parts: real(parts).astype(np.float64)  # type: ignore[method-assign]  # of one test
    with pytest.raises(ModelError, match="float64"):
        _ask(engine)
    model.evaluate = real  # type: ignore[method-assign]  # of one test
    _works(engine, model)
