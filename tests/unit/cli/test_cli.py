"""The command line, with a scripted model behind it."""

from __future__ import annotations

import errno
import io
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from maskwright.chat import MissingDependencyError, Session
from maskwright.chat import session as session_module
from maskwright.chat.grammar_pool import GrammarPool
from maskwright.chat.response_format import SchemaFormat
from maskwright.cli import main
from maskwright.errors import InvalidSchemaError
from scripted_model import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ScriptedModel]]:
    """Put a scripted model behind the commands."""
    sessions: list[Session] = []

    def install(*script: int | bytes, **options: Any) -> ScriptedModel:
        model = ScriptedModel(script, **options)
        sessions.append(Session(model))
        monkeypatch.setattr(session_module, "load", lambda *_, **__: sessions[-1])
        return model

    yield install
    for session in sessions:
        session.close()


def _schema_file(tmp_path: Path, text: str = '{"enum": ["abc", true]}') -> str:
    path = tmp_path / "schema.json"
    path.write_text(text)
    return str(path)


def test_text_goes_to_stdout_and_nothing_else(use: Any, capsys: Any) -> None:
    use(b"abc", b" ", b"ab")
    assert main(["generate", "hi"]) == 0
    assert capsys.readouterr() == ("abc ab\n", "")


def test_prompt_from_stdin(use: Any, monkeypatch: Any, capsys: Any) -> None:
    for arguments in (["generate"], ["generate", "-"]):
        model = use(b"a")
        monkeypatch.setattr(sys, "stdin", io.StringIO("from a pipe\n"))
        assert main(arguments) == 0
        assert bytes(model.evaluated[0]) == b"<user>from a pipe\n"
    assert capsys.readouterr().out == "a\na\n"


def test_json_output(use: Any, tmp_path: Path, capsys: Any) -> None:
    use(b'"', b"ab", b"c")
    assert main(["generate", "hi", "--json", "--schema", _schema_file(tmp_path)]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["text"] == '"abc"'
    assert value["parsed"] == "abc"
    assert value["finish_reason"] == "stop"
    assert value["usage"]["completion_tokens"] == 5


def test_prompt_from_stdin_that_is_no_text(monkeypatch: Any, capsys: Any) -> None:
    raw = io.BytesIO(b"caf\xe9")
    for errors in ("strict", "surrogateescape"):  # the second in the locale C
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(raw, "utf-8", errors=errors))
        raw = io.BytesIO(b"caf\xe9")
        assert main(["generate"]) == 2
        err = capsys.readouterr().err
        assert err.startswith("maskwright: the prompt on standard input is not ")
        assert err.count("\n") == 1


def test_non_ascii_text(use: Any, capsys: Any) -> None:
    use(b"\xc3\xa9x")
    assert main(["generate", "hi"]) == 0
    assert capsys.readouterr().out == "\u00e9x\n"


def test_regex(use: Any, capsys: Any) -> None:
    use(b"x")
    assert main(["generate", "hi", "--regex", "ab|true"]) == 0
    assert capsys.readouterr().out.strip() in ("ab", "true")


def test_ebnf(use: Any, tmp_path: Path, capsys: Any) -> None:
    use(b"true")
    path = tmp_path / "g.ebnf"
    path.write_text('root ::= "true" | "ab"')
    assert main(["generate", "hi", "--ebnf", str(path)]) == 0
    assert capsys.readouterr().out == "true\n"


def test_bad_grammar_is_shown_with_file_and_place(use: Any, tmp_path: Path, capsys: Any) -> None:
    use()
    path = tmp_path / "g.ebnf"
    path.write_text('root ::= "a"\nb = "what"\n')
    assert main(["generate", "hi", "--ebnf", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"maskwright: {path}: ")
    assert 'at line 2, column 3\n  b = "what"\n    ^' in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"type": 5}', "the number 5 at #/type: expected "),
        ('{"extends": {}}', 'the keyword "extends" at #/extends is not supported'),
        ('{"type": "null", "type": "string"}', 'duplicate key "type"'),
        ('{"minimum": NaN}', "not valid JSON: expected a value, found "),
        ('{\n "a" 1}', "not valid JSON: expected "),
        ('{"type": ', "found the end at line 1, column 10"),
        ("[" * 100_000, "found the end"),
        ("\xff", "is not UTF-8 text"),
    ],
)
def test_bad_schema_is_told_before_a_model_is_loaded(
    monkeypatch: Any, tmp_path: Path, capsys: Any, content: str, message: str
) -> None:
    monkeypatch.setattr(session_module, "load", None)
    path = tmp_path / "schema.json"
    path.write_bytes(content.encode("latin-1"))
    assert main(["generate", "hi", "--schema", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"maskwright: {path}")
    assert message in err


def test_refusal_by_the_engine_names_the_file(
    use: Any, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    def refuse(*_arguments: object) -> None:
        raise InvalidSchemaError("cannot", code="x", pointer="#")

    use()
    monkeypatch.setattr(GrammarPool, "acquire", refuse)
    name = _schema_file(tmp_path, "true")
    assert main(["generate", "hi", "--schema", name]) == 2
    assert capsys.readouterr().err == f"maskwright: {name}: cannot\n"


def test_bad_regex_names_the_option(capsys: Any) -> None:
    assert main(["generate", "hi", "--regex", "("]) == 2
    assert capsys.readouterr().err.startswith("maskwright: --regex: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["generate", "hi", "--schema", "/nowhere/x.json"], "cannot read /nowhere/x.json"),
        (["generate", "  "], "prompt is empty"),
        (["generate", "hi", "--max-tokens", "0"], "expected an integer, at least 1"),
        (["generate", "hi", "--max-tokens", "x"], "expected an integer"),
        (["generate", "hi", "--temperature", "nan"], "expected a number, at least 0"),
        (["generate", "hi", "--seed", "-1"], "from 0 to 18446744073709551615"),
        (["generate", "hi", "--regex", "a", "--ebnf", "b"], "not allowed with"),
        (["generate", "hi", "--schema", '{"type": 5}'], "--schema: the number 5 at #/type"),
        (["generate", "--schema", "-"], "--schema - reads standard input, and so does the prompt"),
        (["generate", "--ebnf", "-"], "--ebnf - reads standard input, and so does the prompt"),
        (["chat", "--schema", "-"], "--schema is '-', and standard input has the conversation"),
        (["generate", "hi", "--open"], "--open is for JSON Schemas, and there is none"),
        (["generate", "hi", "--regex", "a", "--annotate-format"], "--annotate-format is for"),
        (["check", "--ebnf", 'root ::= "a"', "--dialect", "draft7"], "--dialect is for JSON"),
        (["check"], "there is nothing to check; expected SCHEMA, --schema, --regex or --ebnf"),
        (["check", "-", "-"], "SCHEMA and INSTANCE are both '-'"),
        (["check", "--regex", "a", "b", "c"], "unexpected 'c'; beside --regex there is one"),
        (["generate", "hi", "--schema", "true", "--dialect", "x"], 'dialect "x" is not known'),
        (["generate", "hi", "--schema", "true", "--registry", "a"], "expected URI=FILE"),
        (["generate", "hi", "--ebnf", ""], "--ebnf is ''; expected the name of a file"),
        (["generate", "hi", "--schema", ""], "--schema is ''; expected the name of a file"),
        (["generate", "hi", "--regex", ""], "--regex is ''; expected a regular expression"),
        (["chat", "--regex", ""], "--regex is ''; expected a regular expression"),
        (["chat", "--ebnf", ""], "--ebnf is ''; expected the name of a file"),
        (["chat", "extra"], "unexpected 'extra'; `maskwright chat --help` tells more"),
        (["check", "a", "b", "c"], "unexpected 'c'; `maskwright check --help` tells more"),
        (["check", ""], "SCHEMA is ''; expected the name of a file"),
        (["generate", "say", "hi"], "unexpected 'hi' after the prompt; put the whole prompt in"),
        (["generate", "hi", "--top-k", "3"], "unknown option '--top-k'; `maskwright generate"),
        (["generate", "a\udcff"], "the prompt is not UTF-8 text at character 2"),
        ([], "COMMAND"),
        (["explode"], "invalid choice"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str, capsys: Any) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.startswith("maskwright: ")
    assert err.count("\n") == 1
    assert len(err) < 500


@pytest.mark.parametrize("command", [["generate", "hi"], ["chat"], ["demo"]])
@pytest.mark.parametrize(
    "arguments",
    [
        ["--seed", "-1"],
        ["--seed", "1.5"],
        ["--seed", ""],
        ["--seed", str(2**64)],
        ["--seed", "9" * 5000],
        ["--max-tokens", "0"],
        ["--max-tokens", "-3"],
        ["--max-tokens", "1e3"],
        ["--max-tokens", "inf"],
        ["--max-tokens", "9" * 5000],
        ["--temperature", "-0.5"],
        ["--temperature", "inf"],
        ["--temperature", "1e999"],
    ],
)
def test_numbers_out_of_range_are_wrong_usage(
    command: list[str], arguments: list[str], use: Any, capsys: Any
) -> None:
    use(b"a")
    assert main([*command, *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"maskwright: argument {arguments[0]}: ")
    assert f"; `maskwright {command[0]} --help` tells more\n" in err
    assert err.count("\n") == 1
    assert len(err) < 400


def test_the_largest_numbers_are_taken(use: Any, capsys: Any) -> None:
    use(b"a")
    numbers = ["--seed", str(2**64 - 1), "--max-tokens", "9" * 400, "--temperature", "1e308"]
    assert main(["generate", "hi", *numbers]) in (0, 3)
    assert "Traceback" not in capsys.readouterr().err


def test_a_limit_that_no_answer_fits_is_wrong_usage(use: Any, capsys: Any) -> None:
    use(*[b"a"] * 9)
    assert main(["generate", "hi", "--regex", "a{9}", "--max-tokens", "3"]) == 2
    out, err = capsys.readouterr()
    assert "the format takes" in err
    assert (out, err.count("\n")) == ("", 1)


def test_cut_off_has_its_own_exit_code(use: Any, capsys: Any) -> None:
    use(*[b"a"] * 9)
    assert main(["generate", "hi", "--max-tokens", "4"]) == 3
    out, err = capsys.readouterr()
    assert out == "aaaa\n"
    assert err == ("maskwright: cut off after 4 tokens; raise --max-tokens to let the text end\n")


def test_a_text_that_took_every_token_is_told(use: Any, capsys: Any) -> None:
    use(*[b"a"] * 9)
    assert main(["generate", "hi", "--regex", "a+", "--max-tokens", "4"]) == 0
    assert capsys.readouterr() == (
        "aaa\n",
        "maskwright: the text took all 4 tokens; raise --max-tokens if it should be longer\n",
    )


def test_keywords_without_effect_are_told(use: Any, capsys: Any) -> None:
    use(b'"', b"ab", b'"')
    schema = '{"type": "string", "maxlength": 2, "title": "A", "requierd": []}'
    assert main(["generate", "hi", "--schema", schema]) == 0
    err = capsys.readouterr().err
    assert err.startswith("maskwright: --schema: #/maxlength, #/requierd without effect; ")
    assert err.count("\n") == 1


def test_runtime_error(monkeypatch: Any, capsys: Any) -> None:
    def missing(_path: object) -> None:
        raise MissingDependencyError("install it", code="missing-dependency")

    monkeypatch.setattr(session_module, "load", missing)
    assert main(["generate", "hi"]) == 1
    assert capsys.readouterr() == ("", "maskwright: install it\n")
    assert main(["demo"]) == 1


def test_broken_installation_is_one_line(monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setitem(sys.modules, "maskwright.chat.session", None)
    monkeypatch.delattr("maskwright.chat.session")
    assert main(["generate", "hi"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_interruption_keeps_what_has_come(use: Any, capsys: Any) -> None:
    def interrupt(step: int) -> None:
        if step == 2:
            raise KeyboardInterrupt

    use(*[b"a"] * 9, before=interrupt)
    assert main(["generate", "hi"]) == 130
    assert capsys.readouterr() == ("aa", "maskwright: interrupted\n")


def test_reader_that_has_left_ends_quietly(use: Any, monkeypatch: Any, capsys: Any) -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError(text)

    use(b"a")
    monkeypatch.setattr(sys, "stdout", Closed())
    assert main(["generate", "hi"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("arguments", [["generate", "hi"], ["generate", "hi", "--json"]])
def test_full_disk(use: Any, monkeypatch: Any, capsys: Any, arguments: list[str]) -> None:
    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    use(b"a")
    monkeypatch.setattr(sys, "stdout", Full())
    assert main(arguments) == 1
    assert capsys.readouterr().err == (
        "maskwright: cannot write to standard output: No space left on device\n"
    )


def test_closed_streams(use: Any, monkeypatch: Any, capsys: Any) -> None:
    use(b"a", b"b")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", None)
        patch.setattr(sys, "stdin", None)
        assert main(["generate", "hi", "--max-tokens", "1"]) == 3
        assert main(["generate"]) == 2
    assert capsys.readouterr().out == "a\n"  # messages do not stray to standard output
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        assert main(["generate", "hi"]) == 1
    assert "standard output is closed" in capsys.readouterr().err


def test_interruption_while_the_model_loads() -> None:
    # As llama.cpp does: the signal arrives in a callback, where ctypes swallows exceptions.
    code = """
import ctypes, os, signal
from maskwright.cli.loading import interruption_ends_process

@ctypes.CFUNCTYPE(None)
def callback():
    signal.raise_signal(signal.SIGINT)

before = signal.getsignal(signal.SIGINT)
with interruption_ends_process():
    pass
assert signal.getsignal(signal.SIGINT) is before
with interruption_ends_process():
    os.close(2)
    callback()
print("went on")
"""
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "maskwright: interrupted\n")


def test_terminal_gets_a_summary(use: Any, monkeypatch: Any) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    use(b"a")
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    assert main(["generate", "hi"]) == 0
    assert screen.getvalue().startswith("maskwright: 2 tokens, ")
    assert screen.getvalue().count("\n") == 1


def test_version_and_help(capsys: Any) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("maskwright ")
    assert main(["--help"]) == 0
    help_text = capsys.readouterr().out
    for code in ("0 ", "1 ", "2 ", "3 ", "130"):
        assert f"\n  {code}" in help_text
    assert main(["generate", "--help"]) == 0


INSTANCE: dict[str, Any] = {
    "name": "Ren\u00e9e",
    "age": 40,
    "occupation": "keeper",
    "skills": ["one", "two", "three"],
    "home": {"town": "Brest", "country": "France"},
}


@pytest.fixture
def demo(use: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put a model behind the demo that writes an instance, whatever the schema of the demo says."""

    def install(**members: Any) -> None:
        text = json.dumps({**INSTANCE, **members}, ensure_ascii=False)
        use(*(bytes([byte]) for byte in text.encode()))

        def submit_instance(_format: Any, compiler: Any, *, json_options: Any, **_: Any) -> Any:
            assert "properties" in _format.schema
            assert not json_options["any_whitespace"]
            return compiler.submit("json_schema", True)  # so that a wrong one can be written

        monkeypatch.setattr(SchemaFormat, "submit", submit_instance)

    return install


def test_demo_shows_tokens_result_and_cost(demo: Any, capsys: Any) -> None:
    demo()
    assert main(["demo", "--seed", "1", "--temperature", "0"]) == 0
    out = capsys.readouterr().out
    assert '{|"|n|a|m|e|"' in out
    assert "|\u00e9|" in out
    assert '"country": "France"' in out
    assert "of the time" in out
    pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    assert "jsonschema finds it valid" in out


def test_demo_tells_a_wrong_result(demo: Any, capsys: Any) -> None:
    pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    demo(age=4)
    assert main(["demo", "--temperature", "0"]) == 1
    assert "finds it WRONG" in capsys.readouterr().out


def test_demo_cut_off(demo: Any, capsys: Any, monkeypatch: Any) -> None:
    demo()
    monkeypatch.setattr("maskwright.chat.grammar_pool._set_budget", lambda *_: None)
    assert main(["demo", "--max-tokens", "5"]) == 3
    assert "Cut off" in capsys.readouterr().out


def test_as_a_program() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "maskwright.cli", "generate", "hi", "--schema", "/nowhere.json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert ran.stderr.startswith("maskwright: cannot read /nowhere.json: ")


def test_help_imports_neither_numpy_nor_a_model_engine() -> None:
    code = (
        "import sys; from maskwright.cli import main; main(['--help']);"
        "sys.exit(any(name in sys.modules for name in ('numpy', 'llama_cpp', 'pydantic')))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=60)
    assert ran.returncode == 0
