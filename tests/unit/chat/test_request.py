"""Requests: what is read, what is refused and how that is told."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from maskwright import Grammar
from maskwright.chat import ChatRequest, RequestError, SamplingParameters
from maskwright.chat.idle_fields import IDLE_VALUES, IGNORED_FIELDS
from maskwright.chat.response_format import GrammarFormat, RegexFormat, SchemaFormat

HI = [{"role": "user", "content": "hi"}]
SHAPE = '{"type": "json_schema", "json_schema": {"name": "answer", "schema": {...}}}'
HUGE = "x" * 10_000


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
        request.n = 1  # type: ignore[misc]  # the fault


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
        ({"messages": []}, "messages", "is empty; expected a list of messages: [{"),
        ({"messages": None}, "messages", "is missing; expected a list of messages: [{"),
        (
            {"messages": "hi"},
            "messages",
            'is text; expected a list of messages: [{"role": "user", "content": "Hi"}]',
        ),
        ({"messages": HI[0]}, "messages", "is one object; expected a list of messages: [{"),
        ({"messages": 5}, "messages", "is a int; expected a list of messages: [{"),
        ({"messages": ["hi"]}, "messages[0]", 'is text; expected an object: {"role": "user"'),
        ({"messages": [{"role": 5}]}, "messages[0].role", "is 5; expected a role such as"),
        (
            {"messages": [*HI, {"role": "assistant", "content": None}]},
            "messages[1].content",
            (
                "is null or missing; expected text or a list of text parts, as in "
                '{"role": "assistant", "content": "Hi"}; or leave the message out'
            ),
        ),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content", "is 5; expected"),
        ({"messages": [5]}, "messages[0]", "is a int; expected an object"),
        ({"messages": [{"content": "x"}]}, "messages[0].role", 'expected a role such as "user"'),
        ({"messages": [{"role": "user"}]}, "messages[0].content", "expected text or a list"),
        (
            {"messages": [*HI, {"role": "user", "content": [{"type": "image_url"}]}]},
            "messages[1].content[0]",
            'is no text; expected {"type": "text", "text": "..."}',
        ),
        (
            {"messages": [{"role": "assistant", "content": "", "name": ["x"]}]},
            "messages[0].name",
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
        ChatRequest.read(HI)  # type: ignore[arg-type]  # the fault


@pytest.mark.parametrize(
    ("fields", "param"),
    [
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
        (
            {"type": "json_schema"},
            "response_format.json_schema",
            f"is missing; expected an object, as in {SHAPE}",
        ),
        (
            {"type": "json_schema", "json_schema": {"name": "n"}},
            "response_format.json_schema.schema",
            "is missing or null; expected a JSON Schema",
        ),
        (
            {"type": "json_schema", "json_schema": {"name": 5, "schema": {}}},
            "response_format.json_schema.name",
            "is 5; expected text",
        ),
        (
            {"type": "json_schema", "json_schema": {"strict": 1, "schema": {}}},
            "response_format.json_schema.strict",
            "expected true or false",
        ),
        ({"type": "json_object", "schema": 5}, "response_format.schema", "is a int; expected a"),
        ({"type": "grammar"}, "response_format.grammar", "is missing or null; expected text"),
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


@pytest.mark.parametrize(
    ("value", "param", "message"),
    [
        ("json_object", "", 'is text; expected an object such as {"type": "json_object"}'),
        ("json_schema", "", f"is text; expected an object such as {SHAPE}"),
        ({"type": "object"}, ".type", "is 'object'; expected one of {}; a schema goes {}"),
        ({"anyOf": [{}]}, ".type", "is None; expected one of {}; a schema goes {}"),
        ({"type": ["null"]}, ".type", "is ['null']; expected one of {}; a schema goes {}"),
        (
            {"type": "json_schema", "schema": {"type": "object"}},
            ".schema",
            f"stands in the wrong place; expected {SHAPE}",
        ),
        (
            {"type": "json_schema", "strict": True, "json_schema": {"schema": {}}},
            ".strict",
            f"stands in the wrong place; expected {SHAPE}",
        ),
        (
            {"type": "json_schema", "json_schema": '{"type": "object"}'},
            ".json_schema",
            f"is text; expected an object, as in {SHAPE}",
        ),
        (
            {"type": "json_schema", "json_schema": {"type": "object"}},
            ".json_schema",
            f"is a schema itself; expected it one level deeper: {SHAPE}",
        ),
        (int, "", "is a type; expected an object: wrap it as SchemaFormat(...)"),
        (
            Grammar.from_regex("a"),
            "",
            "is a Grammar; expected an object: wrap it as GrammarFormat(...)",
        ),
    ],
)
def test_a_schema_in_a_wrong_place_is_told_where_it_belongs(
    value: Any, param: str, message: str
) -> None:
    kinds = '"text", "json_object", "json_schema", "grammar"'
    if "goes" in message:
        message = message.format(kinds, f"here: {SHAPE}")
    with pytest.raises(RequestError) as caught:
        _read(response_format=value)
    assert str(caught.value) == f"response_format{param} {message}"
    assert (caught.value.code, caught.value.param) == ("request-field", f"response_format{param}")


def test_what_clients_send_by_default_has_no_effect() -> None:
    nothing = dict.fromkeys(
        ("n", "stop", "logit_bias", "response_format", "tools", "tool_choice", "max_tokens", "seed")
    )
    assert _read(**nothing) == _read()
    empty = {"stop": [], "logit_bias": {}, "stream": False, "response_format": {"type": "text"}}
    assert _read(**empty) == _read()
    for name, idle in IDLE_VALUES.items():
        for value in idle.values:
            assert _read(**{name: value}) == _read()
    assert _read(tools=[], tool_choice="none", parallel_tool_calls=True) == _read()
    answer = {"role": "assistant", "content": "a", "refusal": None, "annotations": []}
    answer |= {"audio": None, "function_call": None, "tool_calls": []}
    request = ChatRequest.read(messages=[*HI, answer])
    assert request.messages[1] == {"role": "assistant", "content": "a"}
    schema = {"type": "json_schema", "json_schema": {"name": "n", "strict": None, "schema": {}}}
    assert _read(response_format={**schema, "schema": None}) == _read(response_format=schema)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"tools": [{"type": "function"}]},
            (
                "tools is [{'type': 'function'}]; expected an empty list: calls of functions are "
                "not supported yet; leave it out"
            ),
        ),
        ({"tool_choice": "required"}, "tool_choice is 'required'; expected "),
        ({"tool_choice": {"type": "function"}}, "tool_choice is {'type': 'function'}; expected"),
        ({"parallel_tool_calls": 1}, "parallel_tool_calls is 1; expected true or false"),
        ({"functions": [{}]}, "functions is [{}]; expected an empty list"),
        ({"modalities": ["text", "audio"]}, "modalities is ['text', 'audio']; expected "),
    ],
)
def test_what_is_not_there_yet_is_refused_by_name(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError) as caught:
        _read(**fields)
    assert str(caught.value).startswith(message)
    assert (caught.value.code, caught.value.param) == ("request-not-supported", next(iter(fields)))


def test_calls_in_a_message_are_refused_by_name() -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
    with pytest.raises(RequestError, match="calls of functions, which are not") as caught:
        ChatRequest.read(messages=[*HI, message])
    assert caught.value.code == "request-not-supported"
    assert caught.value.param == "messages[1].tool_calls"


@pytest.mark.parametrize(
    "fields",
    [
        {"messages": [{"role": [HUGE]}]},
        {"messages": [{"role": "user", "content": "a", HUGE: 5}]},
        {"messages": [{"role": HUGE, "content": None}]},
        {"messages": [{"role": "user", "content": {HUGE: 5}}]},
        {"response_format": {"type": HUGE}},
        {"response_format": {"type": "text", HUGE: 1}},
        {"response_format": {"type": "grammar", "grammar": "a", "syntax": HUGE}},
        {HUGE: 5},
        {"tool_choice": HUGE},
        {"temperature": HUGE},
        {"seed": 10**5000},
        {"max_tokens": 10**5000, "max_completion_tokens": 1},
        {"logit_bias": {HUGE: 1}},
        {"logit_bias": {"5": HUGE}},
        {"stop": {HUGE: 1}},
        {"n": HUGE},
    ],
)
def test_huge_values_are_cut(fields: dict[str, Any]) -> None:
    with pytest.raises(RequestError) as caught:
        _read(**fields)
    assert len(str(caught.value)) < 400
    assert len(caught.value.param or "") < 150


@pytest.mark.parametrize("make", [int, np.int32, np.uint64])
def test_integers_of_any_type(make: Any) -> None:
    fields = dict.fromkeys(("n", "max_tokens", "seed", "top_k", "top_logprobs"), make(3))
    request = _read(**fields, logprobs=True, logit_bias={make(3): make(2)})
    assert request == _read(**dict.fromkeys(fields, 3), logprobs=True, logit_bias={3: 2})
    for value in (request.n, request.max_tokens, request.top_logprobs, request.sampling.seed):
        assert type(value) is int
    replaced = dataclasses.replace(request, n=make(2), max_tokens=make(9))
    assert (type(replaced.n), type(replaced.max_tokens)) == (int, int)


@pytest.mark.parametrize("make", [float, Fraction, Decimal, np.float16, np.float64])
def test_numbers_of_any_type(make: Any) -> None:
    names = ("temperature", "top_p", "min_p", "presence_penalty", "frequency_penalty")
    fields = dict.fromkeys((*names, "repetition_penalty"), make(0.5))
    request = _read(**fields, logit_bias={7: make(0.5)})
    assert request == _read(**dict.fromkeys(fields, 0.5), logit_bias={7: 0.5})
    for name in fields:
        assert type(getattr(request.sampling, name)) is float
    assert SamplingParameters(frequency_penalty=make(0.5)).frequency_penalty == 0.5


@pytest.mark.parametrize("name", ["n", "max_tokens", "seed", "top_k", "top_logprobs"])
@pytest.mark.parametrize("value", [True, 2.0, "2", Fraction(2), Decimal(2), [2], np.array(2)])
def test_what_is_no_integer(name: str, value: Any) -> None:
    with pytest.raises(RequestError, match=rf"^{name} is .*; expected an? (integer|whole number)"):
        _read(**{name: value}, logprobs=True)


@pytest.mark.parametrize("name", ["temperature", "min_p", "frequency_penalty"])
@pytest.mark.parametrize(
    "value", [True, "1", 1j, [1], np.array(0.5), np.bool_(1), Decimal("sNaN"), np.float32("inf")]
)
def test_what_is_no_number(name: str, value: Any) -> None:
    with pytest.raises(RequestError, match=f"^{name} is .*; expected a number"):
        _read(**{name: value})


def test_a_request_that_is_made_by_hand_is_checked_and_plain() -> None:
    part = {"type": "text", "text": "hi"}
    request = ChatRequest([{"role": "user", "content": [part]}], stop="END")  # type: ignore[arg-type,list-item]  # the fault
    assert (request.messages, request.stop) == (tuple(HI), ("END",))
