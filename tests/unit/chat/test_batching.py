"""Several requests and choices at a time: who is with whom in a call of the model."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from maskwright.chat import ChatEngine, ChatRequest
from maskwright.chat.grammar_pool import GrammarPool
from scripted_model import Gate, ScriptedModel

WAIT = 20


def _messages(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def _regex(pattern: str) -> dict[str, Any]:
    return {"type": "grammar", "syntax": "regex", "grammar": pattern}


def _start(engine: ChatEngine, *texts: str, **fields: Any) -> list[Any]:
    """Streams of requests, one for each text."""
    fields.setdefault("temperature", 0)
    return [engine.stream(messages=_messages(text), **fields) for text in texts]


def _text(stream: Any) -> str:
    return "".join(chunk.text for chunk in stream)


def test_requests_share_the_calls_of_the_model(engine_of: Callable[..., ChatEngine]) -> None:
    gate = Gate()
    model = ScriptedModel(
        scripts={"one": [b"a", b"b", b"c"], "two": [b"x", b"y"]}, max_sequences=2, before=gate
    )
    engine = engine_of(model)
    (first,) = _start(engine, "first")  # holds the thread until both others have come
    assert gate.reached.wait(WAIT)
    one, two = _start(engine, "one", "two")
    first.close()
    gate.open.set()
    assert (_text(one), _text(two)) == ("abc", "xy")
    assert [len(call) for call in model.calls[1:]] == [2, 2, 2, 1]
    assert sorted(model.seen) == [[], []]


def test_the_grammar_is_set_up_beside_the_prompt(
    engine_of: Callable[..., ChatEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    both = threading.Barrier(2)
    acquire = GrammarPool.acquire

    def set_up(pool: GrammarPool, *arguments: Any) -> Any:
        both.wait(WAIT)  # until the model is at the prompt
        return acquire(pool, *arguments)

    monkeypatch.setattr(GrammarPool, "acquire", set_up)
    model = ScriptedModel([b"a"], before=lambda call: call or both.wait(WAIT))
    completion = engine_of(model).complete(
        messages=_messages("hi"), response_format=_regex("[ab]"), temperature=0
    )
    assert completion.text == "a"


def test_the_logits_of_a_prompt_wait_for_the_grammar(
    engine_of: Callable[..., ChatEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    is_open = threading.Event()
    acquire = GrammarPool.acquire

    def slow(pool: GrammarPool, *arguments: Any) -> Any:
        assert is_open.wait(WAIT)
        return acquire(pool, *arguments)

    monkeypatch.setattr(GrammarPool, "acquire", slow)
    engine = engine_of(ScriptedModel([b"b", b"c"], max_sequences=3))
    held = engine.stream(
        messages=_messages("held"), response_format=_regex("[ab][a-c]"), temperature=0, n=2
    )
    (free,) = _start(engine, "free")
    assert (
        _text(free) == "bc"
    )  # while the other's prompt was evaluated and its grammar is not there
    is_open.set()
    assert sorted(_text(held)) == sorted("bcbc")


def test_a_batch_answers_as_each_request_alone(engine_of: Callable[..., ChatEngine]) -> None:
    texts = [f"request {i}" for i in range(12)]
    formats = [_regex("[a-f]{3,9}"), _regex("(ab|cd)+"), {"type": "json_object"}, None]
    fields = [
        {
            "response_format": formats[i % 4],
            "seed": i,
            "temperature": 3.0,
            "max_tokens": 12,
            "frequency_penalty": 0.5 if i % 3 else 0.0,
            "stop": ["e"] if i % 2 else [],
        }
        for i in range(12)
    ]
    alone = engine_of(ScriptedModel())
    expected = [
        alone.complete(messages=_messages(text), **field).choices[0]
        for text, field in zip(texts, fields, strict=True)
    ]
    for size, chunk in ((12, 256), (3, 256), (5, 4)):
        engine = engine_of(ScriptedModel(max_sequences=size), prefill_chunk=chunk)
        streams = [
            engine.deltas(_request(text, field)) for text, field in zip(texts, fields, strict=True)
        ]
        for stream, choice in zip(streams, expected, strict=True):
            deltas = list(stream)
            assert "".join(delta.text for delta in deltas) == choice.text
            assert tuple(delta.token for delta in deltas) == choice.tokens
            assert deltas[-1].finish_reason == choice.finish_reason


def _request(text: str, fields: dict[str, Any]) -> Any:
    return ChatRequest.read(messages=_messages(text), **fields)


def test_many_threads_at_one_engine(engine_of: Callable[..., ChatEngine]) -> None:
    engine = engine_of(ScriptedModel([b"ab", b"c"], max_sequences=4))
    barrier = threading.Barrier(8)
    texts: list[str] = []

    def ask(number: int) -> None:
        barrier.wait(WAIT)
        for _ in range(5):
            fields = {"response_format": _regex(f"[a-d]{{{number + 1}}}")}
            completion = engine.complete(messages=_messages("hi"), temperature=0, **fields)
            texts.append(completion.text)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    assert sorted(map(len, texts)) == sorted([n + 1 for n in range(8)] * 5)


def test_a_long_prompt_keeps_the_others_waiting_for_a_chunk_only(
    engine_of: Callable[..., ChatEngine],
) -> None:
    gate = Gate(2)
    model = ScriptedModel([b"a"] * 9, max_sequences=2, before=gate)
    engine = engine_of(model, prefill_chunk=10)
    short, *_ = _start(engine, "hi", max_tokens=9)
    assert gate.reached.wait(WAIT)
    (long,) = _start(engine, "x" * 44, max_tokens=2)  # 50 tokens with what is around them
    gate.open.set()
    assert (_text(short), _text(long)) == ("a" * 9, "aa")
    shared = [[len(token_ids) for _, token_ids in call] for call in model.calls[3:8]]
    assert shared == [[1, 10]] * 5


def test_chunks_are_shared_in_the_order_of_the_requests(
    engine_of: Callable[..., ChatEngine],
) -> None:
    gate = Gate()
    model = ScriptedModel(max_sequences=3, before=gate)
    engine = engine_of(model, prefill_chunk=10)
    (first,) = _start(engine, "first")
    assert gate.reached.wait(WAIT)
    streams = _start(engine, "x" * 9, "y" * 9)  # 15 tokens each
    first.close()
    gate.open.set()
    for stream in streams:
        assert _text(stream) == ""
    assert [[len(ids) for _, ids in call] for call in model.calls[1:]] == [[10], [5, 5], [10]]


def test_choices_share_the_prompt_and_differ(engine_of: Callable[..., ChatEngine]) -> None:
    model = ScriptedModel(max_sequences=3)
    engine = engine_of(model)
    fields = {"messages": _messages("hi"), "temperature": 9, "seed": 7, "max_tokens": 20}
    completion = engine.complete(n=3, response_format=_regex("[a-z]{9,}"), **fields)
    texts = [choice.text for choice in completion.choices]
    assert [choice.index for choice in completion.choices] == [0, 1, 2]
    assert len(set(texts)) == 3
    assert model.calls[0] == [(0, list(b"<user>hi"))]
    assert all(len(token_ids) == 1 for call in model.calls[1:] for _, token_ids in call)
    assert completion.usage.prompt_tokens == 8
    assert completion.usage.completion_tokens == sum(len(c.tokens) for c in completion.choices)
    # The first choice is what one alone would be.
    single = engine.complete(response_format=_regex("[a-z]{9,}"), **fields)
    assert single.text == texts[0]
    assert model.seen == [[], [], []]


def test_more_choices_than_sequences_wait_for_their_turn(
    engine_of: Callable[..., ChatEngine],
) -> None:
    gate = Gate()
    model = ScriptedModel([b"a"], max_sequences=3, before=gate)
    engine = engine_of(model)
    streams = [
        engine.stream(messages=_messages(f"request {n}"), n=n, temperature=0) for n in (2, 3, 1)
    ]
    assert gate.reached.wait(WAIT)
    gate.open.set()
    for n, stream in zip((2, 3, 1), streams, strict=True):
        assert _text(stream) == "a" * n
    # First come, first served: the third does not overtake the second.
    begun = [bytes(ids) for ids in model.evaluated if len(ids) > 1]
    assert begun == [f"<user>request {n}".encode() for n in (2, 3, 1)]


def test_a_choice_that_ends_early_makes_place(engine_of: Callable[..., ChatEngine]) -> None:
    fields = {"temperature": 50, "response_format": _regex("[a-m]{20}|[n-z]"), "n": 2}

    def lengths(seed: int) -> list[int]:
        engine = engine_of(ScriptedModel(max_sequences=2))
        completion = engine.complete(messages=_messages("pair"), seed=seed, **fields)
        return [len(choice.text) for choice in completion.choices]

    seed = next(seed for seed in range(100) if lengths(seed) == [20, 1])
    gate = Gate()
    model = ScriptedModel(scripts={"single": [b"b"]}, max_sequences=2, before=gate)
    engine = engine_of(model)
    pair = engine.stream(messages=_messages("pair"), seed=seed, **fields)
    (single,) = _start(engine, "single")
    gate.open.set()
    assert (len(_text(pair)), _text(single)) == (21, "b")
    (call,) = [call for call in model.calls if (1, list(b"<user>single")) in call]
    assert [sequence for sequence, _ in call] == [0, 1]  # beside the other choice of the pair


@pytest.mark.parametrize("formats", [("a{3}", "b{3}"), ("[ab]{2}", "[ab]{2}")])
def test_grammars_of_one_batch_do_not_mix(
    engine_of: Callable[..., ChatEngine], formats: tuple[str, str]
) -> None:
    gate = Gate()
    model = ScriptedModel([b"a", b"b", b"a"], max_sequences=3, before=gate)
    engine = engine_of(model)
    streams = [
        engine.stream(messages=_messages("x"), temperature=0, response_format=response_format)
        for response_format in (_regex(formats[0]), _regex(formats[1]), None)
    ]
    gate.open.set()
    expected = [("aaa", "bbb", "aba"), ("ab", "ab", "aba")][formats[0] == "[ab]{2}"]
    assert tuple(map(_text, streams)) == expected
