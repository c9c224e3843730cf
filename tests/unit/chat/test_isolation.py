"""What one request does wrong ends that request, with an error of its own, and no other."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from maskwright.chat import (
    ChatEngine,
    ChatRequest,
    EngineClosedError,
    EngineThreadError,
    ModelError,
    RequestError,
)
from maskwright.tokenizers import from_tokens
from scripted_model import ScriptedModel

WAIT = 20
HI = [{"role": "user", "content": "hi"}]
FIELDS = {"messages": HI, "temperature": 0, "max_tokens": 3}

Make = Callable[..., ChatEngine]


def _read_only(logits: Any) -> Any:
    logits = logits.copy()
    logits.setflags(write=False)
    return logits


@pytest.mark.parametrize("spoil", [lambda x: np.vstack([x, x])[::2][:, ::-1], _read_only])
def test_logits_of_another_layout(
    engine_of: Make, monkeypatch: pytest.MonkeyPatch, spoil: Any
) -> None:
    model = ScriptedModel([b"a"] * 9)
    engine, evaluate = engine_of(model), model.evaluate
    with monkeypatch.context() as patch:
        patch.setattr(model, "evaluate", lambda inputs: spoil(evaluate(inputs)))
        with pytest.raises(ModelError, match="contiguous") as caught:
            engine.complete(FIELDS)
    assert caught.value.code == "model-logits"
    assert engine.complete(FIELDS).text == "aaa"


def test_a_processor_cannot_reach_the_rows_of_others(engine_of: Make) -> None:
    def spoil(generated: Any, row: Any) -> None:
        generated.clear()
        whole = row if row.base is None else row.base
        whole.setflags(write=False)

    engine = engine_of(ScriptedModel([b"a"] * 9, max_sequences=2))
    with engine.stream(FIELDS) as other:
        assert engine.complete(FIELDS, processors=[spoil]).text == "aaa"
        assert "".join(chunk.text for chunk in other) == "aaa"


@pytest.mark.parametrize(
    "error", [StopIteration, StopAsyncIteration, GeneratorExit, asyncio.CancelledError]
)
def test_what_would_read_as_the_end_is_an_error(engine_of: Make, error: type[Exception]) -> None:
    def stop(generated: Any, _row: Any) -> None:
        if generated:
            raise error

    async def read() -> None:
        async for _ in engine.astream(FIELDS, processors=[stop]):
            pass

    engine = engine_of(ScriptedModel([b"a"] * 9))
    with pytest.raises(ModelError, match="end of the answer") as caught:
        list(engine.stream(FIELDS, processors=[stop]))
    assert isinstance(caught.value.__cause__, error)
    with pytest.raises(ModelError, match="end of the answer"):
        asyncio.run(read())


def test_a_processor_cannot_wait_for_its_engine(engine_of: Make) -> None:
    engine = engine_of(ScriptedModel([b"a"] * 9))
    with pytest.raises(EngineThreadError) as caught:
        engine.complete(FIELDS, processors=[lambda *_: engine.complete(FIELDS)])
    assert caught.value.code == "engine-thread"


@pytest.mark.parametrize("error", [SystemExit, ZeroDivisionError])
def test_a_sequence_whose_clearing_fails_is_lost(
    engine_of: Make, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    def fail(_sequence: int) -> None:
        raise error

    model = ScriptedModel([b"a"] * 9)
    engine = engine_of(model)
    monkeypatch.setattr(model, "clear_sequence", fail)
    assert engine.complete(FIELDS).text == "aaa"
    with pytest.raises(ModelError, match="only 0"):
        engine.complete(FIELDS)


@pytest.mark.parametrize(
    "change",
    [{"n": 0}, {"n": None}, {"response_format": None}, {"max_tokens": 0}, {"messages": ()}],
)
def test_a_changed_request_is_checked(change: dict[str, Any]) -> None:
    with pytest.raises(RequestError) as caught:
        dataclasses.replace(ChatRequest.read(FIELDS), **change)
    assert caught.value.param == next(iter(change))


@pytest.mark.parametrize("field", ["role", "content"])
def test_lone_surrogates(field: str) -> None:
    with pytest.raises(RequestError, match="lone surrogate at character 2") as caught:
        ChatRequest.read(messages=[{**HI[0], field: "a\ud800"}])
    assert caught.value.param == f"messages[0].{field}"


@pytest.mark.parametrize("key", [10**30, "9" * 30, "inf", 2.7, True, "1_0", "\u0665", "-1", -1])
def test_keys_of_the_bias(key: Any) -> None:
    with pytest.raises(RequestError, match="has the key") as caught:
        ChatRequest.read(messages=HI, logit_bias={key: 1})
    assert caught.value.param == "logit_bias"


def test_a_key_of_the_bias_that_is_there_twice() -> None:
    with pytest.raises(RequestError, match="the key 5 twice"):
        ChatRequest.read(messages=HI, logit_bias={"5": 1, "05": 2})


@pytest.mark.parametrize("chunk", [1.5, True, "x"])
def test_a_chunk_that_is_no_int(chunk: Any) -> None:
    with pytest.raises(TypeError, match="expected an int"):
        ChatEngine(ScriptedModel(), prefill_chunk=chunk)


def test_a_prompt_far_beyond_the_context_is_not_tokenized(
    engine_of: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel([b"a"] * 9, context_size=20)
    engine = engine_of(model)
    monkeypatch.setattr(model, "tokenize", pytest.fail)
    with pytest.raises(ModelError, match="characters, more than 20 tokens") as caught:
        engine.complete(FIELDS, messages=[{"role": "user", "content": "a" * 500}])
    assert caught.value.code == "prompt-too-long"


@pytest.mark.parametrize("ids", [5, [1.5], [-1], [10**9], "abc"])
def test_a_prompt_of_no_tokens(engine_of: Make, monkeypatch: pytest.MonkeyPatch, ids: Any) -> None:
    model = ScriptedModel([b"a"] * 9)
    engine = engine_of(model)
    monkeypatch.setattr(model, "tokenize", lambda _text: ids)
    with pytest.raises(ModelError) as caught:
        engine.complete(FIELDS)
    assert caught.value.code == "model-prompt"


def test_an_answer_that_can_only_be_empty(engine_of: Make) -> None:
    vocabulary = from_tokens([bytes((byte,)) for byte in range(256)], stop_token_ids=[])
    engine = engine_of(ScriptedModel([97], vocabulary=vocabulary, max_sequences=2))
    empty = {"type": "grammar", "syntax": "regex", "grammar": ""}
    answer = engine.complete(FIELDS, response_format=empty, n=2)
    assert [(c.text, c.finish_reason, c.tokens) for c in answer.choices] == [("", "stop", ())] * 2
    with engine.stream(FIELDS, response_format=empty) as stream:
        assert [(chunk.text, chunk.finish_reason) for chunk in stream] == [("", "stop")]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_is_refused(engine_of: Make) -> None:
    engine = engine_of(ScriptedModel([b"a"] * 9))
    assert engine.complete(FIELDS).text == "aaa"
    child = os.fork()
    if child == 0:
        try:
            engine.complete(FIELDS)
        except EngineClosedError:
            os._exit(7)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert engine.complete(FIELDS).text == "aaa"
