"""Values that no request can have, and that compare, count or print in odd ways."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from maskwright import Grammar
from maskwright.chat import (
    ChatEngine,
    ChatRequest,
    GrammarFormat,
    RegexFormat,
    RequestError,
    error_body,
)
from scripted_model import ScriptedModel

HI = [{"role": "user", "content": "hi"}]
SURROGATE = "\ud800"

Make = Callable[..., ChatEngine]


class Odd:
    """Equal to nothing, without saying so."""

    __hash__ = None  # type: ignore[assignment]  # as Python spells "not hashable"

    def __eq__(self, other: object) -> Any:
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("top_k", np.array([1, 2])),
        ("top_k", Decimal("sNaN")),
        ("temperature", Decimal("sNaN")),
        ("messages", np.array([1, 2])),
        ("modalities", [Odd()]),
        ("modalities", Odd()),
        ("tools", [Odd()]),
        ("tool_choice", np.array([1, 2])),
        ("stop", np.array(["a", "b"])),
        ("response_format", {"type": [np.array([1, 2])]}),
    ],
)
def test_fields(field: str, value: Any) -> None:
    with pytest.raises(RequestError) as caught:
        ChatRequest.read({"messages": HI, field: value})
    assert (caught.value.param or "").partition(".")[0] == field


@pytest.mark.parametrize("make", [lambda: RegexFormat(5), lambda: GrammarFormat(None)])  # type: ignore[arg-type]  # the fault
def test_formats(make: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match=r"is a (int|NoneType); expected a"):
        make()


@pytest.mark.parametrize("processors", [5, [5], "ab", [np.array([1, 2])], None])
def test_processors(engine_of: Make, processors: Any) -> None:
    engine = engine_of(ScriptedModel([b"a"] * 9))
    with pytest.raises(TypeError, match=r"processors (is|has) .*; expected (a list of )?functions"):
        engine.stream(messages=HI, processors=processors)
    assert engine.stats().requests.failed == 0


def test_processors_that_come_once_are_kept_for_all_choices(engine_of: Make) -> None:
    calls: list[int] = []

    def note(generated: Any, _row: Any) -> None:
        calls.append(len(generated))

    engine = engine_of(ScriptedModel([b"a"] * 9, max_sequences=2))
    engine.complete(messages=HI, n=2, max_tokens=1, processors=iter([note]))
    assert calls == [0, 0]


def test_deltas_of_what_is_no_request(engine_of: Make) -> None:
    with pytest.raises(TypeError, match="request is 5; expected a ChatRequest"):
        engine_of(ScriptedModel()).deltas(5)  # type: ignore[arg-type]  # the fault


def _refuse() -> None:
    raise RequestError("a\ud800", code="request-field", param="b\ud800")


@pytest.mark.parametrize(
    "ask",
    [
        lambda: ChatRequest.read({"messages": HI, SURROGATE: 1}),
        _refuse,
        lambda: Grammar.from_json_schema({"properties": {SURROGATE: {"type": SURROGATE}}}),
        lambda: Grammar.from_json_schema({"$ref": "#/" + SURROGATE}),
        lambda: Grammar.from_json_schema({}, dialect=SURROGATE),
        lambda: Grammar.from_regex("(" + SURROGATE),
    ],
)
def test_bodies_can_be_sent(ask: Callable[[], Any]) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  of any kind
        ask()
    body = json.dumps(error_body(caught.value), ensure_ascii=False).encode()
    assert b"\\ud800" in body or b"\xef\xbf\xbd" in body
    str(caught.value).encode()
