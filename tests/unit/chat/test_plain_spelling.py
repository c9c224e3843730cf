r"""Plain spelling: ``\u`` escapes only where nothing else can come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from maskwright.chat import ChatEngine, Session
from maskwright.chat.plain_spelling import PlainSpelling
from maskwright.tokenizers import from_tokens
from scripted_model import STOP, ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Iterable

_BYTES = [bytes((byte,)) for byte in range(256)]
_WORDS = [b"\\u", b'"\\', b"\\\\", b"n\\u00", b"\\\\u", b"ame", b'\\"']


def _answer(schema: Any, script: Iterable[bytes]) -> str:
    tokens = [*_BYTES, *_WORDS, STOP]
    vocabulary = from_tokens(tokens, stop_token_ids=[len(tokens) - 1])
    model = ScriptedModel(script, vocabulary=vocabulary)
    with Session(model) as session:
        result = session.generate("hi", schema, max_tokens=40)
    assert result.finish_reason == "stop"
    return result.text


@pytest.mark.parametrize(
    "script",
    [
        [b'"', b"\\", b"u"],  # the backslash comes first: what it leads to is looked up
        [b'"\\', b"u"],
        [b'"', b"\\u", b"0"],
        [b'"', b"n\\u00", b"6"],
        [b'"', b"n", b"\\", b"u"],
    ],
)
def test_a_constant_is_written_plainly(script: list[bytes]) -> None:
    assert _answer({"const": "name"}, script) == '"name"'


def test_member_names_are_written_plainly() -> None:
    schema = {"type": "object", "properties": {"name": {"const": True}}, "required": ["name"]}
    assert _answer(schema, [b"{", b'"', b"n", b"\\", b"u", b"0"]) == '{"name": true}'


def test_other_escapes_stay() -> None:
    script = [b'"', b"\\", b"n", b"\\\\", b"u", b"\\\\u", b'\\"', b"\\", b"\\", b"u", b'"']
    assert _answer({"type": "string"}, script) == r'"\n\\u\\u\"\\u"'


@pytest.mark.parametrize("script", ["15.0", "150.0E-1", "15e0"])
def test_an_integer_is_written_plainly(script: str) -> None:
    schema = {"type": "integer", "minimum": 15, "maximum": 15}
    assert _answer(schema, [bytes([byte]) for byte in script.encode()]) == "15"


def test_u_after_an_open_backslash_is_left_out_in_free_strings() -> None:
    text = _answer({"type": "string", "maxLength": 3}, [b'"', b"\\", b"u", b'"'])
    assert text.startswith('"\\')
    assert "\\u" not in text


@pytest.mark.parametrize("code_point", [0x00, 0x1F])
def test_an_escape_without_alternative_is_written(code_point: int) -> None:
    text = _answer({"const": f"a{chr(code_point)}b"}, [b'"', b"a", b"\\", b"u", b"0", b"0"])
    assert text.lower() == f'"a\\u{code_point:04x}b"'


def test_if_all_tokens_lead_to_an_escape_one_is_chosen() -> None:
    tokens = [b'"', b"a\\", b"b\\", b"u", b"0", b"1", STOP]
    vocabulary = from_tokens(tokens, stop_token_ids=[6])
    model = ScriptedModel([b'"', b"b\\"], vocabulary=vocabulary)
    model.tokenize = lambda _text: [0]  # type: ignore[method-assign]  # of one test
    model._split = lambda seen: ("", seen[1:])  # type: ignore[method-assign]  # of one test
    with ChatEngine(model) as engine:
        completion = engine.complete(
            messages=[{"role": "user", "content": "hi"}],
            response_format={"type": "json_object", "schema": {"enum": ["a\1", "b\1"]}},
            logprobs=True,
            top_logprobs=5,
            temperature=0,
        )
    assert completion.text == r'"b\u0001"'
    assert [data for _, data, _ in completion.choices[0].tokens[1].top] == [b"b\\", b"a\\"]


def test_grammars_are_left_alone() -> None:
    from maskwright import Grammar

    assert _answer(Grammar.from_regex(r"\\u|abc"), [b"\\u"]) == "\\u"


@pytest.mark.parametrize(
    ("plain_spelling", "text"), [(True, "[15, 19.90]"), (False, "[150.0E-1, 5e-1]")]
)
def test_numbers_are_written_plainly_unless_told_otherwise(plain_spelling: bool, text: str) -> None:
    schema = {"type": "array", "items": {"minimum": 0, "maximum": 20}, "maxItems": 2}
    wanted = [bytes([byte]) for byte in text.encode()]
    with ChatEngine(ScriptedModel(wanted), plain_spelling=plain_spelling) as engine:
        fields = {
            "messages": [{"role": "user", "content": "hi"}],
            "response_format": {"type": "json_object", "schema": schema},
            "temperature": 0,
        }
        assert engine.complete(fields).text == text


@pytest.mark.parametrize(
    ("token", "escapes", "opens"),
    [
        (b"\\", (False, False), (True, False)),
        (b"\\\\", (False, False), (False, True)),
        (b"\\u", (True, False), (False, False)),
        (b"u", (False, True), (False, False)),
        (b"\\\\u", (False, True), (False, False)),
        (b"n\\u00", (True, True), (False, False)),
        (b'"x\\', (False, False), (True, True)),
        (b"plain", (False, False), (False, False)),
        (b"", (False, False), (False, False)),
    ],
)
def test_what_a_token_does(
    token: bytes, escapes: tuple[bool, bool], opens: tuple[bool, bool]
) -> None:
    place = 33  # not in the first word
    spelling = PlainSpelling([*[b""] * place, token])
    rows = [np.unpackbits(row.view(np.uint8), bitorder="little") for row in spelling.plain]
    for is_open in (False, True):
        assert (rows[is_open][place] == 0) == escapes[is_open]
        assert (place in spelling.opening[is_open]) == opens[is_open]
        assert rows[is_open].sum() == 64 - escapes[is_open]
