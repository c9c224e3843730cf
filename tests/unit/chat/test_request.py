"""Requests: what is read, what is refused and how that is told."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from maskwright.chat import ChatRequest, RequestError
from maskwright.chat.request import IGNORED_FIELDS
from maskwright.chat.response_format import GrammarFormat, RegexFormat, SchemaFormat

HI = [{"role": "user", "content": "hi"}]


def _read(**fields: Any) -> ChatRequest:
    return ChatRequest.read({"messages": HI}, **fields)


def test_everything_at_once() -> None:
    request = ChatRequest.read(
        {
            "messages": [
                {"role": "system", "content": "S"},
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
                },
            ],
            "max_completion_tokens": 7,
            "temperature": 0.5,
            "top_p": 0.9,
            "top_k": 5,
            "min_p": 0.1,
            "seed": -1,
            "n": 3,
            "stop": ["x", "yz"],
            "logit_bias": {"5": -100, "7": 2.5},
            "presence_penalty": 1,
            "frequency_penalty": -1,
            "repetition_penalty": 1.1,
            "logprobs": True,
            "top_logprobs": 2,
            "stream": True,
            "stream_options": {"include_usage": True},
            "user": "u",
            "tools": None,
        }
    )
    assert [dict(message) for message in request.messages] == [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "ab"},
    ]
    assert (request.max_tokens, request.n, request.stop) == (7, 3, ("x", "yz"))
    assert request.sampling.logit_bias == {5: -100, 7: 2.5}
    assert request.sampling.seed == 2**64 - 1
    assert (request.sampling.presence_penalty, request.sampling.frequency_penalty) == (1, -1)
    assert (request.logprobs, request.top_logprobs) == (True, 2)
    assert request.stream
    assert request.include_usage
    with pytest.raises(dataclasses.FrozenInstanceError):
        request.n = 1  # type: ignore[misc]


def test_defaults_are_those_of_the_api() -> None:
    request = _read()
    assert request.response_format.is_text
    assert (request.sampling.temperature, request.sampling.top_p) == (1.0, 1.0)
    assert (request.max_tokens, request.n, request.stop) == (None, 1, ())
    assert {request.stream, request.include_usage, request.logprobs} == {False}


def test_fields_that_change_nothing_are_ignored() -> None:
    assert _read(**dict.fromkeys(IGNORED_FIELDS, "anything")) == _read()


def test_top_k_of_minus_one_is_all() -> None:
    assert _read(top_k=-1).sampling.top_k == 0


@pytest.mark.parametrize(
    ("fields", "param", "message"),
    [
        ({"messages": []}, "messages", "is not there or empty; expected a list of messages"),
        ({"messages": "hi"}, "messages", "expected a list of messages"),
        ({"messages": [5]}, "messages[0]", "is a int; expected an object"),
        ({"messages": [{"content": "x"}]}, "messages[0].role", "expected a role such as 'user'"),
        ({"messages": [{"role": "user"}]}, "messages[0].content", "expected text or a list"),
        (
            {"messages": [*HI, {"role": "user", "content": [{"type": "image_url"}]}]},
            "messages[1].content[0]",
            'is no text; expected {"type": "text", "text": "..."}',
        ),
        (
            {"messages": [{"role": "assistant", "content": "", "tool_calls": []}]},
            "messages[0].tool_calls",
            "is a list; expected text",
        ),
        ({"max_tokens": 0}, "max_tokens", "is 0; expected an integer at least 1"),
        ({"max_tokens": 2.0}, "max_tokens", "is 2.0; expected an integer"),
        ({"max_tokens": 2, "max_completion_tokens": 3}, "max_tokens", "give one"),
        ({"temperature": -1}, "temperature", "is -1; expected a number at least 0"),
        ({"temperature": "hot"}, "temperature", "is 'hot'; expected a number"),
        ({"top_p": 0}, "top_p", "is 0; expected a number above 0"),
        ({"top_k": -2}, "top_k", "is -2; expected a whole number"),
        ({"seed": 1.5}, "seed", "is 1.5; expected an integer"),
        ({"n": 0}, "n", "is 0; expected an integer from 1 to 128"),
        ({"n": True}, "n", "is True; expected an integer"),
        ({"stop": ""}, "stop", "has ''; expected texts that are not empty"),
        ({"stop": ["a", 5]}, "stop", "has 5; expected texts"),
        ({"stop": ["a"] * 17}, "stop", "expected text, or a list of at most 16"),
        ({"logit_bias": []}, "logit_bias", "is a list; expected an object"),
        ({"logit_bias": {"x": 1}}, "logit_bias", "has the key 'x'; expected token ids"),
        ({"logit_bias": {"5": 101}}, "logit_bias", "logit_bias[5] is 101; expected"),
        ({"presence_penalty": 3}, "presence_penalty", "is 3; expected a number from -2 to 2"),
        ({"repetition_penalty": 0}, "repetition_penalty", "is 0; expected a number from 0.01"),
        ({"logprobs": 1}, "logprobs", "is 1; expected true or false"),
        ({"top_logprobs": 1}, "top_logprobs", "is given without logprobs"),
        ({"logprobs": True, "top_logprobs": 21}, "top_logprobs", "from 0 to 20"),
        ({"stream_options": {}}, "stream_options", "is given without stream"),
        ({"stream": True, "stream_options": 5}, "stream_options", "is a int; expected an object"),
        (
            {"stream": True, "stream_options": {"include_usage": 1}},
            "stream_options.include_usage",
            "is 1; expected true or false",
        ),
    ],
)
def test_fields_out_of_range(fields: dict[str, Any], param: str, message: str) -> None:
    with pytest.raises(RequestError) as caught:
        _read(**fields)
    assert message in str(caught.value)
    assert (caught.value.code, caught.value.param) == ("request-field", param)


def test_a_request_that_is_no_object() -> None:
    with pytest.raises(RequestError, match="the request is a list; expected an object"):
        ChatRequest.read(HI)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"tools": [{}]}, "tools"),
        ({"temprature": 1}, "temprature"),
        ({"stream": True, "stream_options": {"x": 1}}, "stream_options.x"),
        ({"stream": True, "stream_options": {"user": 1}}, "stream_options.user"),
        ({"response_format": {"type": "text", "x": 1}}, "response_format.x"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": {}, "x": 1}}},
            "response_format.json_schema.x",
        ),
    ],
)
def test_unknown_fields_are_refused_by_name(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(RequestError) as caught:
        _read(**fields)
    assert (caught.value.code, caught.value.param) == ("request-unknown-field", param)
    assert str(caught.value) == f"the field {param!r} is not supported; leave it out"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"type": "json_object"}, SchemaFormat(True)),
        ({"type": "json_object", "schema": '{"type": "null"}'}, SchemaFormat('{"type": "null"}')),
        (
            {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": {}}},
            SchemaFormat({}),
        ),
        ({"type": "grammar", "grammar": 'root ::= "a"'}, GrammarFormat('root ::= "a"')),
        ({"type": "grammar", "syntax": "regex", "grammar": "a+"}, RegexFormat("a+")),
    ],
)
def test_formats(value: dict[str, Any], expected: object) -> None:
    assert _read(response_format=value).response_format == expected


def test_text_is_no_format() -> None:
    assert _read(response_format={"type": "text"}).response_format.is_text


@pytest.mark.parametrize(
    ("value", "param", "message"),
    [
        (5, "response_format", "is a int; expected an object"),
        ({}, "response_format.type", 'is None; expected one of "text", "json_object"'),
        ({"type": "xml"}, "response_format.type", "is 'xml'; expected one of"),
        ({"type": "json_schema"}, "response_format.json_schema", "is a null; expected an object"),
        (
            {"type": "json_schema", "json_schema": {"name": "n"}},
            "response_format.json_schema.schema",
            "is a null; expected a JSON Schema",
        ),
        (
            {"type": "json_schema", "json_schema": {"name": 5, "schema": {}}},
            "response_format.json_schema.name",
            "is a int; expected text",
        ),
        (
            {"type": "json_schema", "json_schema": {"strict": 1, "schema": {}}},
            "response_format.json_schema.strict",
            "expected true or false",
        ),
        ({"type": "json_object", "schema": 5}, "response_format.schema", "is a int; expected a"),
        ({"type": "grammar"}, "response_format.grammar", "is a null; expected text"),
        (
            {"type": "grammar", "grammar": "x", "syntax": "abnf"},
            "response_format.syntax",
            'is \'abnf\'; expected "ebnf" or "regex"',
        ),
    ],
)
def test_formats_of_a_wrong_shape(value: Any, param: str, message: str) -> None:
    with pytest.raises(RequestError) as caught:
        _read(response_format=value)
    assert message in str(caught.value)
    assert (caught.value.code, caught.value.param) == ("request-field", param)


def test_lark_is_refused_by_name() -> None:
    with pytest.raises(RequestError, match='"lark", which is not supported yet') as caught:
        _read(response_format={"type": "grammar", "syntax": "lark", "grammar": "start: /a/"})
    assert caught.value.code == "request-not-supported"
