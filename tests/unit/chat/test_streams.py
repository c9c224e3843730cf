"""Answers in chunks, for callers with and without an event loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from maskwright.chat import ChatChunk, ChatEngine, RequestError
from maskwright.errors import GrammarSyntaxError
from scripted_model import ScriptedModel

HI = [{"role": "user", "content": "hi"}]
SCRIPT = [b"ab", b"\xe2", b"\x82", b"\xac", b"c"]

Make = Callable[..., ChatEngine]


def _fields(**fields: Any) -> dict[str, Any]:
    return {"messages": HI, "temperature": 0, **fields}


def test_chunks_are_whole_code_points(engine_of: Make) -> None:
    chunks = list(engine_of(ScriptedModel(SCRIPT)).stream(_fields()))
    assert [(chunk.text, chunk.finish_reason) for chunk in chunks] == [
        ("ab", None),
        ("\u20ac", None),
        ("c", None),
        ("", "stop"),
    ]
    assert [len(chunk.tokens) for chunk in chunks] == [1, 3, 1, 1]


def test_chunks_as_openai_lays_them_out(engine_of: Make) -> None:
    engine = engine_of(ScriptedModel([b"ab", b"c"]))
    stream = engine.stream(_fields(stream=True, stream_options={"include_usage": True}))
    chunks = [chunk.to_dict() for chunk in stream]
    json.dumps(chunks)
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert len({chunk["id"] for chunk in chunks}) == 1
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks[:-1]]
    assert deltas == [{"role": "assistant", "content": "ab"}, {"content": "c"}, {}]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks[:-1]] == [None, None, "stop"]
    assert [chunk["usage"] for chunk in chunks[:-1]] == [None] * 3
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["completion_tokens"] == 3
    assert stream.usage.completion_tokens == 3


@pytest.mark.parametrize("said", [{}, {"stream": None}, {"stream": False}, {"stream": True}])
def test_who_asks_for_a_stream_need_not_say_so(engine_of: Make, said: dict[str, Any]) -> None:
    engine = engine_of(ScriptedModel([b"ab"]))
    fields = _fields(stream_options={"include_usage": True}, **said)
    *_, last = engine.stream(fields)
    assert last.to_dict()["usage"]["completion_tokens"] == 2

    async def last_of_astream() -> Any:
        chunks = [chunk async for chunk in engine.astream(fields)]
        return chunks[-1].to_dict()["usage"]

    assert asyncio.run(last_of_astream())["completion_tokens"] == 2


def test_options_of_a_stream_are_refused_for_an_answer_in_one_piece(engine_of: Make) -> None:
    with pytest.raises(RequestError, match="stream_options is given without stream"):
        engine_of(ScriptedModel()).complete(_fields(stream_options={"include_usage": True}))


def test_the_usage_comes_only_if_it_is_asked_for(engine_of: Make) -> None:
    engine = engine_of(ScriptedModel([b"ab"]))
    chunks = [chunk.to_dict() for chunk in engine.stream(_fields(stream=True))]
    assert all(chunk["choices"] and "usage" not in chunk for chunk in chunks)


def test_grammar_figures_are_in_the_last_chunk(engine_of: Make) -> None:
    engine = engine_of(ScriptedModel())
    response_format = {"type": "grammar", "syntax": "regex", "grammar": "ab"}
    fields = _fields(stream=True, stream_options={"include_usage": True})
    *_, last = engine.stream(fields, response_format=response_format)
    assert {"grammar_init_s", "grammar_per_token_s"} <= last.to_dict()["usage"]["extra"].keys()


def test_an_empty_answer_has_a_role(engine_of: Make) -> None:
    (chunk,) = engine_of(ScriptedModel()).stream(_fields())
    assert chunk.to_dict()["choices"][0]["delta"] == {"role": "assistant", "content": ""}


def test_logprobs_come_with_the_text(engine_of: Make) -> None:
    stream = engine_of(ScriptedModel(SCRIPT)).stream(_fields(logprobs=True))
    contents = [chunk.to_dict()["choices"][0]["logprobs"]["content"] for chunk in stream]
    assert [[bytes(entry["bytes"]) for entry in content] for content in contents] == [
        [b"ab"],
        [b"\xe2", b"\x82", b"\xac"],
        [b"c"],
        [],
    ]


def test_what_may_become_a_stop_string_is_held_back(engine_of: Make) -> None:
    engine = engine_of(ScriptedModel([b"ab", b"c", b"ab", b"a"]))
    texts = [chunk.text for chunk in engine.stream(_fields(stop="ba"))]
    assert texts == ["a", "bc", "a", ""]
    engine = engine_of(ScriptedModel([b"ab", b"c", b"ab"]))
    texts = [chunk.text for chunk in engine.stream(_fields(stop="ba"))]
    assert texts == ["a", "bc", "a", "b"]


def test_chunks_of_several_choices(engine_of: Make) -> None:
    engine = engine_of(ScriptedModel([b"ab", b"c"], max_sequences=2))
    chunks = list(engine.stream(_fields(n=2)))
    for index in range(2):
        of_one = [chunk for chunk in chunks if chunk.index == index]
        assert "".join(chunk.text for chunk in of_one) == "abc"
        assert [chunk.is_first for chunk in of_one] == [True, False, False]
        assert of_one[-1].finish_reason == "stop"


def test_errors_come_out_of_the_iterator(engine_of: Make) -> None:
    response_format = {"type": "grammar", "syntax": "regex", "grammar": "("}
    stream = engine_of(ScriptedModel()).stream(_fields(response_format=response_format))
    with pytest.raises(GrammarSyntaxError):
        next(stream)
    assert list(stream) == []


def test_in_an_event_loop(engine_of: Make) -> None:
    engine = engine_of(ScriptedModel([b"ab", b"c"], max_sequences=4))
    usage = {"stream": True, "stream_options": {"include_usage": True}}

    async def chunks() -> list[ChatChunk]:
        async with engine.astream(_fields(**usage)) as stream:
            found = [chunk async for chunk in stream]
        assert stream.usage is found[-1].usage
        return found

    async def run() -> tuple[Any, ...]:
        asked = [engine.acomplete(_fields(n=n)) for n in (1, 2, 3, 1)]
        return tuple(await asyncio.gather(*asked, chunks()))

    *completions, found = asyncio.run(run())
    for completion in completions:
        assert {choice.text for choice in completion.choices} == {"abc"}
    assert "".join(chunk.text for chunk in found) == "abc"
    assert found[-1].usage.completion_tokens == 3


def test_errors_in_an_event_loop(engine_of: Make) -> None:
    response_format = {"type": "grammar", "syntax": "regex", "grammar": "("}
    engine = engine_of(ScriptedModel())
    with pytest.raises(GrammarSyntaxError):
        asyncio.run(engine.acomplete(_fields(response_format=response_format)))
