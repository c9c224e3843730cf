"""How an engine compiles formats, as it was told when it was made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from maskwright import DiskCacheError, GrammarError
from maskwright.chat import ChatEngine
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
