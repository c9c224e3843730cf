"""The chat engine with the embedded model: every answer is what its format says, whatever is asked.

The schemas are in `data/chat/schemas.json`, each under the name of what it describes.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from maskwright.chat import ChatEngine, LlamaCppModel
from maskwright.errors import MatcherError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from maskwright.chat import ChatCompletion

pytestmark = [pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(600)]

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")

_SCHEMAS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / "data" / "chat" / "schemas.json").read_text(encoding="utf-8")
)
_SEQUENCES = 8
_ROOM = 64
"""Tokens of an answer; every schema has a text within them."""


@pytest.fixture(scope="module")
def engine(embedded_model: Path) -> Iterator[ChatEngine]:
    model = LlamaCppModel(embedded_model, context_size=256, max_sequences=_SEQUENCES)
    with ChatEngine(model) as engine:
        yield engine
    model.close()


def _request(name: str, **fields: Any) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": f"Write {name} as JSON."}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": _SCHEMAS[name]},
        },
        "max_tokens": _ROOM,
        **fields,
    }


def _check(name: str, text: str) -> None:
    """Refuse a text that is no instance of a schema, formats included."""
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    jsonschema.Draft202012Validator(_SCHEMAS[name], format_checker=checker).validate(
        json.loads(text)
    )


@pytest.fixture(scope="module", params=[0.0, 2.0], ids=["greedy", "hot"])
def completion_of(request: Any, engine: ChatEngine) -> Callable[[str], ChatCompletion]:
    """The answers to all schemas, asked at the same time."""
    with ThreadPoolExecutor(len(_SCHEMAS)) as threads:
        answers = {
            name: threads.submit(
                engine.complete, _request(name, temperature=request.param, seed=number)
            )
            for number, name in enumerate(_SCHEMAS)
        }
    return lambda name: answers[name].result()


@pytest.mark.parametrize("name", _SCHEMAS)
def test_the_answer_is_valid(completion_of: Callable[[str], ChatCompletion], name: str) -> None:
    completion = completion_of(name)
    (choice,) = completion.choices
    assert choice.finish_reason == "stop"
    assert completion.usage.completion_tokens <= _ROOM
    _check(name, choice.text)


@pytest.mark.parametrize("name", list(_SCHEMAS)[::4])
def test_the_smallest_budget_is_enough(engine: ChatEngine, name: str) -> None:
    with pytest.raises(MatcherError, match="max_tokens") as caught:
        engine.complete(_request(name, max_tokens=1))  # a value and a stop token are two
    assert caught.value.code == "matcher-budget-too-small"
    least = int(str(caught.value).rsplit(" ", 1)[1])
    for more in (0, 3):
        completion = engine.complete(_request(name, max_tokens=least + more, temperature=2.0))
        assert completion.usage.completion_tokens <= least + more
        assert completion.choices[0].finish_reason == "stop"
        _check(name, completion.text)


def test_each_of_several_choices_is_valid(engine: ChatEngine) -> None:
    name = "a person"
    completion = engine.complete(_request(name, n=5, temperature=1.5, seed=7))
    texts = [choice.text for choice in completion.choices]
    for text in texts:
        _check(name, text)
    assert len(set(texts)) > 1
    again = engine.complete(_request(name, n=5, temperature=1.5, seed=7))
    assert [choice.text for choice in again.choices] == texts


def test_chunks_are_the_answer(engine: ChatEngine) -> None:
    request = _request("a movie review", seed=3, temperature=1.0, logprobs=True, top_logprobs=3)
    whole = engine.complete(request)
    pieces = [chunk.text for chunk in engine.stream(request)]
    assert "".join(pieces) == whole.text
    assert len(pieces) > 5
    _check("a movie review", whole.text)
    for token in whole.choices[0].tokens:
        assert token.logprob is not None
        assert token.logprob <= 0
        assert len(token.top) <= 3


def test_a_stop_string_does_not_cut_an_answer_short(engine: ChatEngine) -> None:
    # The stop string is inside every answer; only where the answer is complete does it end one.
    completion = engine.complete(_request("a city", stop=['", "', "}"], temperature=0.0))
    _check("a city", completion.text)


def test_free_text_ends_at_a_stop_string(engine: ChatEngine) -> None:
    request: dict[str, Any] = {
        "messages": [{"role": "user", "content": "Count from one to ten, in words."}],
        "max_tokens": 40,
        "temperature": 0.0,
    }
    whole = engine.complete(request).text
    stop = whole[10:14]
    stopped = engine.complete(request, stop=[stop])
    assert stopped.text == whole[: whole.index(stop)]
    assert stopped.choices[0].finish_reason == "stop"


def test_eight_streams_at_a_time_are_as_each_alone(engine: ChatEngine) -> None:
    names = list(_SCHEMAS)[20:28]
    requests = [_request(name, seed=5, temperature=1.0) for name in names]
    alone = [engine.complete(request).text for request in requests]
    streams = [engine.stream(request) for request in requests]
    with ThreadPoolExecutor(len(streams)) as threads:
        together = list(threads.map(lambda stream: "".join(c.text for c in stream), streams))
    assert together == alone
    for name, text in zip(names, together, strict=True):
        _check(name, text)
