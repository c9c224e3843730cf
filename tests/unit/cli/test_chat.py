"""``maskwright chat`` with a scripted model and lines from a pipe."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from maskwright.chat import ModelError, Session
from maskwright.chat import session as session_module
from maskwright.cli import main
from scripted_model import ScriptedModel


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Iterator[Callable[..., Any]]:
    """Runs a conversation: model and lines in; exit code, standard output and error out."""

    def run(model: ScriptedModel, lines: list[str], *options: str) -> tuple[int, str, str]:
        monkeypatch.setattr(session_module, "load", lambda *_, **__: Session(model))
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        code = main(["chat", "--temperature", "0", *options])
        return (code, *capsys.readouterr())

    return run


def _letters(text: str) -> list[bytes]:
    return [bytes([byte]) for byte in text.encode()]


def _prompts(model: ScriptedModel) -> list[str]:
    return [bytes(ids).decode() for ids in model.evaluated if len(ids) > 1]


def test_a_conversation_is_kept(chat: Any) -> None:
    model = ScriptedModel([b"abc"])
    assert chat(model, ["one", "", "two"]) == (0, "abc\nabc\n", "")
    assert _prompts(model) == ["<user>one", "<user>one<assistant>abc<user>two"]


def test_a_schema_that_is_no_object(chat: Any) -> None:
    model = ScriptedModel([b"1"])
    assert chat(model, ["/schema true", "one"]) == (0, "1\n", "")
    code, _, told = chat(model, ["/schema false", "/schema 5", "one"])
    assert code == 1
    assert "the number 5" in told


def test_what_the_limit_and_a_mistyped_schema_did_is_told(chat: Any) -> None:
    model = ScriptedModel([b'"', *_letters("a" * 9)])
    lines = ['/schema {"type": "string", "maxlength": 2}', "one"]
    code, out, err = chat(model, lines, "--max-tokens", "6")
    assert (code, out) == (0, '"aaa"\n')
    assert err.splitlines() == [
        "maskwright: /schema: #/maxlength without effect; `maskwright check` tells more",
        "maskwright: the answer took all its tokens; raise --max-tokens if it should be longer",
    ]


def test_reset_and_system(chat: Any) -> None:
    model = ScriptedModel([b"abc"])
    assert chat(model, ["one", "/reset", "two", "/quit", "three"], "--system", "S")[0] == 0
    assert _prompts(model) == ["<system>S<user>one", "<system>S<user>two"]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("schema", '{"const": true}'),
        ("regex", "true|x"),
        ("ebnf", 'root ::= "true"'),
    ],
)
@pytest.mark.parametrize("where", ["option", "command", "file"])
def test_formats(chat: Any, tmp_path: Path, option: str, value: str, where: str) -> None:
    if where == "file" and option != "regex":
        path = tmp_path / "format"
        path.write_text(value)
        value = str(path)
    model = ScriptedModel([b"true", b"q"])
    if where == "command":
        lines, options = ["free", f"/{option} {value}", "held", "/text", "free"], []
        expected = "trueq\ntrue\ntrueq\n"
    else:
        lines, options, expected = (
            ["held", "/text", "free"],
            [f"--{option}", value],
            "true\ntrueq\n",
        )
    assert chat(model, lines, *options) == (0, expected, "")


def test_a_faulty_format_is_told_before_a_model_is_loaded(monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr(session_module, "load", None)
    for option, value in (("--schema", '{"type": 5}'), ("--regex", "("), ("--ebnf", "a ::=")):
        assert main(["chat", option, value]) == 2
        assert capsys.readouterr().err.startswith(f"maskwright: {option}: ")


def test_faulty_commands_change_nothing(chat: Any) -> None:
    model = ScriptedModel([b"true"])
    lines = ["/regex true", "/regex (", "/schema /nowhere", "/explode", "/usage", "/schema", "hi"]
    code, out, err = chat(model, lines)
    assert (code, out) == (1, "true\n")
    messages = err.splitlines()
    assert messages[0].startswith("maskwright: /regex: ")
    assert "maskwright: cannot read /nowhere: No such file or directory" in messages
    assert "maskwright: there is no command '/explode'; /help lists them" in messages
    assert "maskwright: there was no answer yet" in messages
    assert "maskwright: /schema is ''; expected the name of a file" in err


def test_usage_of_the_last_answer(chat: Any) -> None:
    _, out, err = chat(ScriptedModel([b"true"]), ["/regex true", "hi", "/usage"])
    assert out == "true\n"
    names = [line.split()[0] for line in err.splitlines()]
    assert {"prompt_tokens", "completion_tokens", "total_tokens", "grammar_init_s"} <= {*names}
    assert "prompt_tokens          8\n" in err


def test_help(chat: Any) -> None:
    _, out, err = chat(ScriptedModel(), ["/help"])
    assert out == ""
    assert "/schema FILE|JSON" in err


def test_an_answer_that_is_cut_off(chat: Any) -> None:
    code, out, err = chat(ScriptedModel([b"a"] * 9), ["hi"], "--max-tokens", "3")
    assert (code, out) == (0, "aaa\n")
    assert err == "maskwright: cut off; raise --max-tokens to let answers end\n"


def test_a_model_that_fails_once(chat: Any) -> None:
    def before(call: int) -> None:
        if call == 1:
            raise ModelError("no memory", code="model-failed")

    model = ScriptedModel([b"a"], before=before)
    code, out, err = chat(model, ["one", "two"])
    assert (code, out, err) == (1, "a\na\n", "maskwright: no memory\n")
    assert _prompts(model) == ["<user>one", "<user>two"]  # what has failed is not kept


def test_an_interruption_keeps_what_has_come(chat: Any) -> None:
    def before(call: int) -> None:
        if call == 2:
            raise KeyboardInterrupt

    model = ScriptedModel([b"a"] * 9, before=before)
    code, out, err = chat(model, ["one", "two"])
    assert (code, out) == (0, "aa\naaaaaaaaa\n")
    assert err == "maskwright: interrupted\n"
    assert _prompts(model) == ["<user>one", "<user>one<assistant>aa<user>two"]


def test_a_terminal_has_a_prompt(monkeypatch: Any, capsys: Any) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    lines = iter(["hi"])

    def answer(prompt: str) -> str:
        assert prompt == "> "
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr(session_module, "load", lambda *_, **__: Session(ScriptedModel([b"abc"])))
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr("builtins.input", answer)
    assert main(["chat"]) == 0
    out, err = capsys.readouterr()
    assert out == "abc\n"
    assert "Ctrl-D ends" in err


def test_a_reader_that_has_left_ends_quietly(chat: Any, monkeypatch: Any) -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError(text)

    monkeypatch.setattr(sys, "stdout", Closed())
    assert chat(ScriptedModel([b"a"]), ["hi", "hi"])[0] == 0


def test_without_standard_input(monkeypatch: Any) -> None:
    monkeypatch.setattr(session_module, "load", lambda *_, **__: Session(ScriptedModel()))
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["chat"]) == 0


@pytest.mark.parametrize(
    ("line", "told"),
    [("a\udcff", "the line is not UTF-8 text at character 2"), ("/schema a\0b", "cannot read")],
)
def test_lines_that_cannot_be_used(chat: Any, line: str, told: str) -> None:
    code, text, messages = chat(ScriptedModel([b"abc"]), [line, "hi"])
    assert (code, text) == (1, "abc\n")
    assert told in messages


def test_a_system_message_that_is_no_text(chat: Any) -> None:
    code, text, messages = chat(ScriptedModel([b"abc"]), ["hi"], "--system", "\udcff")
    assert (code, text) == (2, "")
    assert "--system is not UTF-8 text" in messages
