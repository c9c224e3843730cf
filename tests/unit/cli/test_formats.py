"""Formats are named in one way by all commands, and mean the same language in all of them."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from fake_llama_cpp import fake_llama_cpp
from maskwright.chat import Session
from maskwright.chat import session as session_module
from maskwright.chat.chat_engine import ChatEngine
from maskwright.cli import main
from scripted_model import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NUMBER = '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}'
STRINGS = '{"type": "array", "items": {"type": "string", "format": "date"}, "maxItems": 2}'
FORMATS = [
    ("schema", '{"const": true}', "true"),
    ("schema", "true", "true"),
    ("ebnf", 'root ::= "true"\n', "true"),
    ("regex", "true|x", "true"),
]


@pytest.fixture
def write(monkeypatch: Any, capsys: Any) -> Callable[..., tuple[int, str, str]]:
    """Have `generate` or `chat` write a text if it may, and return code, output and messages."""

    def run(command: str, text: str, *options: str) -> tuple[int, str, str]:
        def load(_path: object, engine_options: dict[str, Any] | None = None) -> Session:
            model = ScriptedModel([bytes((byte,)) for byte in text.encode()])
            return Session(model, ChatEngine(model, **(engine_options or {})))

        monkeypatch.setattr(session_module, "load", load)
        if command == "chat":
            monkeypatch.setattr(sys, "stdin", io.StringIO("hi\n"))
        prompt = [] if command == "chat" else ["hi"]
        code = main([command, *prompt, *options, "--temperature", "0", "--max-tokens", "60"])
        return (code, *capsys.readouterr())

    return run


@pytest.mark.parametrize(("option", "value", "text"), FORMATS)
@pytest.mark.parametrize("command", ["generate", "check"])
@pytest.mark.parametrize("where", ["argument", "file", "standard input"])
def test_every_place_of_a_format(
    write: Any,
    tmp_path: Path,
    monkeypatch: Any,
    capsys: Any,
    option: str,
    value: str,
    text: str,
    command: str,
    where: str,
) -> None:
    if where == "file" and option != "regex":
        (tmp_path / "format").write_text(value)
        value = str(tmp_path / "format")
    elif where == "standard input" and option != "regex":
        monkeypatch.setattr(sys, "stdin", io.StringIO(value))
        value = "-"
    if command == "generate":
        assert write(command, text, f"--{option}", value)[:2] == (0, f"{text}\n")
    else:
        (tmp_path / "text").write_text(f"{text}\n")
        assert main(["check", f"--{option}", value, str(tmp_path / "text")]) == 0
        assert capsys.readouterr().out.endswith("instance: accepted\n")


@pytest.mark.parametrize(
    ("schema", "text", "option"),
    [
        (NUMBER, '{"a": 150.0E-1}', ["--number-spelling", "any"]),
        (NUMBER, '{"a":1}', ["--any-whitespace"]),
        (NUMBER, '{"a": 1, "b": 2}', ["--open"]),
        (STRINGS, '["today"]', ["--annotate-format"]),
        ('{"type": "string", "nullable": true}', "null", ["--nullable"]),
        (
            '{"properties": {"a": {}, "b": {}}, "type": "object"}',
            '{"b": 1, "a": 2}',
            ["--any-order"],
        ),
        (NUMBER.replace("integer", "number"), '{"a": 1.0}', []),
        (NUMBER, '{"a": 1}', []),
    ],
)
def test_the_language_is_the_same_in_all_commands(
    write: Any, tmp_path: Path, capsys: Any, schema: str, text: str, option: list[str]
) -> None:
    (tmp_path / "instance").write_text(text)

    def admitted(options: list[str]) -> list[bool]:
        main(["check", "--json", schema, str(tmp_path / "instance"), *options])
        judged = json.loads(capsys.readouterr().out)["instance"]["accepted"]
        written = [
            write(command, text, "--schema", schema, *options)[1] == f"{text}\n"
            for command in ("generate", "chat")
        ]
        return [judged, *written]

    assert admitted(option) == [True] * 3
    if option:
        assert admitted([]) == [False] * 3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a":1}', "--any-whitespace lifts that"),
        ('{ "a": 1}', "--any-whitespace lifts that"),
        ('{"a":1, "b": 2}', "--any-whitespace lifts that"),
        ('{"a": 15e0}', "--number-spelling any lifts that"),
    ],
)
def test_check_says_which_option_admits_a_spelling(
    tmp_path: Path, capsys: Any, text: str, reason: str
) -> None:
    (tmp_path / "instance").write_text(text)
    assert main(["check", NUMBER, str(tmp_path / "instance")]) == 1
    assert reason in capsys.readouterr().out


def test_white_space_that_must_stand_there_is_told(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "instance").write_text('["2031-07-01","2031-07-02"]')
    assert main(["check", "--json", STRINGS, str(tmp_path / "instance")]) == 1
    assert json.loads(capsys.readouterr().out)["instance"]["expected"] == [' "']


def test_check_of_a_grammar(tmp_path: Path, capsys: Any) -> None:
    grammar = 'root ::= list "."\nlist ::= item ("," item)* | "(" list ")"\nitem ::= [a-c]{1,3}'
    (tmp_path / "text").write_text("(a,bd).\n")
    assert main(["check", "--json", "--ebnf", grammar, str(tmp_path / "text")]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["ebnf"] == "--ebnf"
    assert found["warnings"] == [
        {"pointer": "rule list", "reason": "a repetition has no upper bound"},
        {"pointer": "rule list", "reason": "the rule comes back to itself"},
    ]
    instance = found["instance"]
    assert (instance["line"], instance["column"], instance["found"]) == (1, 5, "d).")
    assert instance["expected"] == [").", ",", "a", "b", "c"]
    assert main(["check", "--ebnf", grammar, str(tmp_path / "text")]) == 1
    assert "line 1, column 5: found" in capsys.readouterr().out


def test_check_of_a_pattern(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "text").write_text("a  b\n\n")
    assert main(["check", "--json", "--regex", r"a +b\n", str(tmp_path / "text")]) == 0
    assert json.loads(capsys.readouterr().out)["warnings"] == [
        {"pointer": "the pattern", "reason": "a repetition has no upper bound"}
    ]
    assert main(["check", "--regex", "a{1,3} ", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["warnings"] == []
    (tmp_path / "text").write_text("aab")
    assert main(["check", "--regex", "a+ ", "--json", str(tmp_path / "text")]) == 1
    assert json.loads(capsys.readouterr().out)["instance"]["expected"] == [" ", "a"]
    assert main(["check", "--regex", "(?=a)b"]) == 2
    out = capsys.readouterr().out
    assert "NOT usable" in out
    assert "matches the pattern" in out


def test_a_grammar_that_is_named_as_a_schema(capsys: Any, tmp_path: Path) -> None:
    (tmp_path / "a.ebnf").write_text('root ::= "a"')
    assert main(["check", str(tmp_path / "a.ebnf")]) == 2
    assert "a grammar is named with --ebnf" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["generate", "hi"], ["chat"], ["demo"]])
def test_a_model_that_cannot_be_used_is_wrong_usage(
    command: list[str], capsys: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", fake_llama_cpp())
    for path in (tmp_path / "none.gguf", tmp_path):
        assert main([*command, "--model", str(path)]) == 2
        err = capsys.readouterr().err
        assert err.startswith(f"maskwright: --model: cannot read {path}")
