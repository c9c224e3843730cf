"""What an answer says of its format: keywords without effect, and what options leave out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from maskwright import Grammar
from maskwright.certificate import Certificate, Loosened
from maskwright.chat import ChatEngine, GrammarFormat
from scripted_model import ScriptedModel

FIELDS: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}], "temperature": 0}
TITLED = {"type": "string", "title": "A", "x-note": 1, "maxLength": 3}
LAYOUT = "whitespace: the given separators only"
SPELLING = (
    "number-spelling: decimals only, without exponent, and integers without fraction or -0 where "
    "nothing else may come"
)
IGNORED = ("#/title", "#/x-note")
CERTIFICATE = Certificate(narrowed=(LAYOUT, SPELLING), ignored=IGNORED)
NOTES = {"ignored": ["#/x-note"]}
USAGE = {"stream": True, "stream_options": {"include_usage": True}}

Make = Callable[..., ChatEngine]


@pytest.fixture
def engine(engine_of: Make) -> ChatEngine:
    return engine_of(ScriptedModel([b'"', b"a", b'"']))


def _schema(schema: Any) -> dict[str, Any]:
    return {"type": "json_object", "schema": schema}


def test_ignored_keywords(engine: ChatEngine) -> None:
    completion = engine.complete(FIELDS, response_format=_schema(TITLED))
    assert completion.certificate == CERTIFICATE
    assert completion.to_dict()["maskwright"] == NOTES


def test_options_that_everybody_has_are_no_news(engine: ChatEngine) -> None:
    schema = {"type": "object", "title": "A", "properties": {"a": {"default": 1}, "b": True}}
    completion = engine.complete(FIELDS, response_format=_schema(schema))
    assert completion.certificate is not None
    assert LAYOUT in completion.certificate.narrowed
    assert any("order" in note for note in completion.certificate.narrowed)
    assert set(completion.certificate.ignored) == {"#/title", "#/properties/a/default"}
    assert "ignored" not in completion.to_dict().get("maskwright", {})


def test_loosened_keywords(engine: ChatEngine) -> None:
    plain = Grammar.from_regex('"a"')
    loosened = (Loosened("#/properties/a", "extends", "it is of no draft"),)
    certificate = Certificate(exact=False, loosened=loosened)
    grammar = Grammar(plain.ir, certificate)
    completion = engine.complete(FIELDS, response_format=GrammarFormat(grammar))
    assert completion.certificate == certificate
    assert completion.to_dict()["maskwright"] == {
        "loosened": [
            {"pointer": "#/properties/a", "keyword": "extends", "reason": "it is of no draft"}
        ]
    }


@pytest.mark.parametrize(
    ("response_format", "certificate"),
    [
        (None, None),
        ({"type": "grammar", "syntax": "regex", "grammar": '"a"'}, Certificate()),
    ],
)
def test_nothing_to_say(engine: ChatEngine, response_format: Any, certificate: Any) -> None:
    completion = engine.complete(FIELDS, response_format=response_format)
    assert completion.certificate == certificate
    assert "maskwright" not in completion.to_dict()


def test_streams(engine: ChatEngine) -> None:
    with engine.stream(FIELDS, response_format=_schema(TITLED), **USAGE) as stream:
        assert stream.certificate is None
        chunks = [chunk.to_dict() for chunk in stream]
        assert stream.certificate == CERTIFICATE
    assert [chunk.get("maskwright") for chunk in chunks[:-1]] == [None] * (len(chunks) - 1)
    assert chunks[-1]["maskwright"] == NOTES
    assert chunks[-1]["usage"]["prompt_tokens"] == 8

    async def run() -> Any:
        stream = engine.astream(FIELDS, response_format=_schema(TITLED))
        async for _ in stream:
            pass
        return stream.certificate

    assert asyncio.run(run()) == CERTIFICATE


def test_each_source_has_its_own(engine: ChatEngine) -> None:
    """Schemas that share one compiled grammar differ in what was ignored."""
    for note in ("x-a", "x-b"):
        schema = {"type": "string", note: "A"}
        completion = engine.complete(FIELDS, response_format=_schema(schema))
        assert completion.to_dict()["maskwright"] == {"ignored": [f"#/{note}"]}


def test_choices_that_took_every_token(engine_of: Make) -> None:
    """Only those that are complete under a format: one that is cut off says so as it ends."""
    word = {"type": "grammar", "syntax": "regex", "grammar": "(ab)+"}
    scripts = {"long": [b"ab"] * 9, "short": [b"ab"], "hi": [b"ab"] * 9}
    engine = engine_of(ScriptedModel(scripts=scripts, max_sequences=2))

    def ask(content: str, **fields: Any) -> Any:
        messages = [{"role": "user", "content": content}]
        return engine.complete(FIELDS, **{"messages": messages, "max_tokens": 4, **fields})

    squeezed = ask("long", response_format=word, n=2)
    assert [choice.text for choice in squeezed.choices] == ["ababab"] * 2
    assert {choice.finish_reason for choice in squeezed.choices} == {"stop"}
    assert squeezed.at_token_limit == (0, 1)
    assert squeezed.to_dict()["maskwright"] == {"at_token_limit": [0, 1]}
    for free in (
        ask("short", response_format=word),
        ask("long", response_format=word, max_tokens=40),
        ask("long"),  # "length"
        ask("long", response_format=word, stop="abab"),
    ):
        assert free.at_token_limit == ()
        assert "maskwright" not in free.to_dict()
    with engine.stream(FIELDS, response_format=word, max_tokens=4, **USAGE) as stream:
        assert [chunk.to_dict() for chunk in stream][-1]["maskwright"] == {"at_token_limit": [0]}
