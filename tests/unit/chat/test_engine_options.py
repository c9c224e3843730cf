"""How an engine compiles formats, as it was told when it was made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from maskwright import DiskCacheError, GrammarError
from maskwright.chat import ChatEngine, error_body
from scripted_model import ScriptedModel

Make = Callable[..., ChatEngine]

TWO = {"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}


def _written(engine_of: Make, text: str, schema: Any, **json_options: Any) -> str:
    """What a model writes that would write a text."""
    model = ScriptedModel([bytes((byte,)) for byte in text.encode()])
    engine = engine_of(model, json_options=json_options)
    return engine.complete(
        messages=[{"role": "user", "content": "hi"}],
        response_format={"type": "json_object", "schema": schema},
        temperature=0,
        max_tokens=40,
    ).text


@pytest.mark.parametrize(
    ("text", "schema", "options"),
    [
        ('{"b": 1, "a": 2}', {"type": "object", **TWO}, {"any_order": True}),
        ('{"a": 1, "b": 2, "c": 3}', {"type": "object", **TWO}, {"strict_mode": False}),
        ("null", {"type": "integer", "nullable": True}, {"nullable": True}),
        ('"a"', {"type": "string", "format": "date"}, {"assert_format": False}),
        ("[1,2]", {"type": "array", "items": {"type": "integer"}}, {"separators": (",", ":")}),
        (
            "[1,  2]",
            {"type": "array", "items": {"type": "integer"}},
            {"any_whitespace": True, "max_whitespace_cnt": 2},
        ),
        ("[3]", {"$ref": "urn:x"}, {"registry": {"urn:x": {"const": [3]}}}),
        ('"a"', {"$ref": "#/$defs/b", "$defs": {"b": True}, "const": "b"}, {"dialect": "draft7"}),
    ],
)
def test_options_for_schemas(
    engine_of: Make, text: str, schema: Any, options: dict[str, Any]
) -> None:
    if options.keys() != {"registry"}:
        assert _written(engine_of, text, schema) != text
    assert _written(engine_of, text, schema, **options) == text


def test_options_are_taken_when_the_engine_is_made(engine_of: Make) -> None:
    options = {"any_order": True}
    engine = engine_of(ScriptedModel(list(b'{"b": 1')), json_options=options)
    options["any_order"] = False
    answer = engine.complete(
        messages=[{"role": "user", "content": "hi"}],
        response_format={"type": "json_object", "schema": {"type": "object", **TWO}},
        temperature=0,
        max_tokens=40,
    )
    assert answer.text.startswith('{"b": 1')


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"any_oder": 1}, TypeError, "json_options has 'any_oder'; expected some of any_order, "),
        ({"schema": True}, TypeError, "json_options has 'schema'; expected some of any_order, "),
        ([("any_order", True)], TypeError, r"json_options is \[.*\]; expected a mapping"),
        ({"dialect": "draft3"}, GrammarError, 'the dialect "draft3" is not known'),
        ({"indent": 2}, GrammarError, "indent"),
        ({"registry": {"urn:x#a": True}}, GrammarError, "urn:x#a"),
    ],
)
def test_options_that_mean_nothing(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ChatEngine(ScriptedModel(), json_options=options)


def _ask(engine: ChatEngine) -> Any:
    return engine.complete(
        messages=[{"role": "user", "content": "hi"}],
        response_format={"type": "json_object", "schema": {"const": "a"}},
        temperature=0,
    ).text


def test_a_disk_cache(engine_of: Make, tmp_path: Path) -> None:
    engines = [engine_of(ScriptedModel(), disk_cache=tmp_path) for _ in range(2)]
    assert [_ask(engine) for engine in engines] == ['"a"'] * 2
    stats = [engine.stats().compiler.disk_cache for engine in engines]
    assert [(s.hits, s.misses) for s in stats if s is not None] == [(0, 1), (1, 0)]


def test_a_disk_cache_that_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DiskCacheError):
        ChatEngine(ScriptedModel(), disk_cache=tmp_path / "file")


def test_masks_ahead(engine_of: Make) -> None:
    lazy, eager = (engine_of(ScriptedModel(), precompute=mode) for mode in ("lazy", "eager"))
    assert _ask(lazy) == _ask(eager) == '"a"'
    assert lazy.stats().compiler.masks < eager.stats().compiler.masks
    with pytest.raises(ValueError, match="precompute is 'never'"):
        ChatEngine(ScriptedModel(), precompute="never")  # type: ignore[arg-type]  refused


# --- what is checked when the engine is made ---------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_constant_values": "x"}, "max_constant_values is 'x'; expected an integer"),
        ({"max_dynamic_scopes": 1.5}, "max_dynamic_scopes is 1.5; expected an integer"),
        ({"max_whitespace_cnt": 1.5}, "max_whitespace_cnt is 1.5; expected an integer from 0 to"),
        ({"any_whitespace": True, "max_whitespace_cnt": []}, r"max_whitespace_cnt is \[\]; expect"),
        ({"any_order": "yes"}, "any_order is 'yes'; expected True or False"),
        ({"nullable": 1}, "nullable is 1; expected True or False"),
        ({"separators": 5}, "separators are 5; expected two str"),
        ({"registry": 5}, "registry is a int; expected a mapping"),
        ({"registry": {5: True}}, "a key of registry is the number 5; expected a URI"),
    ],
)
def test_json_options_of_a_wrong_type(options: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        ChatEngine(ScriptedModel(), json_options=options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"max_constant_values": -1},
            "max_constant_values is -1: expected an integer of 0 or more",
        ),
        ({"max_ignored_bytes": -5}, "max_ignored_bytes is -5: expected an integer of 0 or more"),
        ({"max_whitespace_cnt": -1}, "max_whitespace_cnt is -1: expected an integer from 0 to"),
        ({"number_spelling": []}, r"number_spelling is \[\]: expected 'any'"),
        ({"max_whitespace_cnt": 2}, "max_whitespace_cnt beside any_whitespace=False"),
        ({"any_whitespace": True, "separators": (",", ":")}, "separators beside any_whitespace=T"),
        ({"registry": {"urn:x": "{"}}, 'the registry\'s document "urn:x"'),
        ({"registry": {"urn:x": 5}}, "the number 5 at urn:x#: expected a schema"),
        ({"registry": {"urn:x": None}}, "null at urn:x#: expected a schema"),
        ({"registry": {"urn:x": {"$ref": "#/nope"}}}, "nope"),
        ({"registry": {"urn:x": {"type": "strin"}}}, "strin"),
    ],
)
def test_json_options_without_meaning(options: Any, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        ChatEngine(ScriptedModel(), json_options=options)


def test_a_registry_may_hold_what_is_not_supported(engine_of: Make) -> None:
    registry = {"urn:a": {"extends": {}}, "urn:b": {"const": "b"}}
    assert _written(engine_of, '"b"', {"$ref": "urn:b"}, registry=registry) == '"b"'


def test_the_registry_is_copied(engine_of: Make) -> None:
    registry = {"urn:x": {"enum": ["a", "b"]}}
    engine = engine_of(ScriptedModel(list(b'"b"')), json_options={"registry": registry})
    registry["urn:x"]["enum"].remove("b")
    registry.clear()
    answer = engine.complete(
        messages=[{"role": "user", "content": "hi"}],
        response_format={"type": "json_object", "schema": {"$ref": "urn:x"}},
        temperature=0,
    )
    assert answer.text == '"b"'


def test_no_client_is_blamed_for_a_document_of_the_registry(engine_of: Make) -> None:
    registry = {"urn:x": {"$defs": {"bad": {"type": "strin"}}}}
    engine = engine_of(ScriptedModel(), json_options={"registry": registry})
    with pytest.raises(GrammarError) as caught:
        engine.complete(
            messages=[{"role": "user", "content": "hi"}],
            response_format={"type": "json_object", "schema": {"$ref": "urn:x#/$defs/bad"}},
        )
    body = error_body(caught.value)["error"]
    assert (body["type"], body["param"]) == ("server_error", None)
    assert body["pointer"] == "urn:x#/$defs/bad/type"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"request_timeout_seconds": 10**400}, ValueError, "request_timeout_seconds is 1000"),
        ({"compile_timeout_seconds": 10**400}, ValueError, "compile_timeout_seconds is 1000"),
        (
            {"cache_limit_bytes": 10**30},
            ValueError,
            "cache_limit_bytes is 1000.*; expected at most",
        ),
        ({"disk_cache": "a\0b"}, DiskCacheError, r"disk_cache is 'a\\x00b', which no folder"),
        ({"disk_cache": "a\ud800"}, DiskCacheError, r"disk_cache is 'a\\ud800', which no folder"),
        ({"disk_cache": ""}, DiskCacheError, "disk_cache is '', which no folder"),
        ({"disk_cache": 5}, TypeError, "disk_cache is 5; expected the path"),
        ({"model_name": 5}, TypeError, "model_name is 5; expected a str"),
        ({"model_name": "\ud800"}, ValueError, "lone surrogates"),
    ],
)
def test_other_options(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ChatEngine(ScriptedModel(), **options)
