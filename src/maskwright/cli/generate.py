"""``maskwright generate``: one prompt, one answer in a given format."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maskwright.cli import exit_codes
from maskwright.cli.errors import UsageError
from maskwright.errors import GrammarError, GrammarSyntaxError

if TYPE_CHECKING:
    from argparse import Namespace

    from maskwright.chat.result import Result


def run_generate(arguments: Namespace) -> int:
    """Run the command; see `maskwright generate --help`."""
    output_format = _output_format(arguments)
    prompt = _prompt(arguments.prompt)

    from maskwright.chat import session

    loaded = session.load(arguments.model)
    try:
        result = loaded.generate(
            prompt,
            output_format,
            max_tokens=arguments.max_tokens,
            temperature=arguments.temperature,
            seed=arguments.seed,
            on_text=None if arguments.json else _write_text,
        )
    except GrammarError as error:
        raise _in_file(error, arguments.schema or arguments.ebnf) from error
    if arguments.json:
        print(json.dumps(_as_object(result), ensure_ascii=False))
    else:
        print()
    _report(result)
    return exit_codes.OK if result.finish_reason == "stop" else exit_codes.CUT_OFF


def _prompt(argument: str) -> str:
    if argument != "-":
        prompt = argument
    else:
        if sys.stdin.isatty():
            print("maskwright: type the prompt, then press Ctrl-D", file=sys.stderr)
        try:
            prompt = sys.stdin.read()
        except UnicodeDecodeError as error:
            raise UsageError(f"the prompt on standard input is not text: {error}") from error
    if not prompt.strip():
        raise UsageError("the prompt is empty; expected some text as argument or standard input")
    return prompt


def _output_format(arguments: Namespace) -> Any:
    """The format that the options ask for, or None."""
    if arguments.schema is not None:
        return _schema(arguments.schema)
    if arguments.regex is None and arguments.ebnf is None:
        return None
    from maskwright.grammar import Grammar

    if arguments.regex is not None:
        return Grammar.from_regex(arguments.regex)
    text = _read(arguments.ebnf)
    try:
        return Grammar.from_ebnf(text)
    except GrammarError as error:
        raise _in_file(error, arguments.ebnf) from error


def _schema(name: str) -> Any:
    text = _read(name)
    try:
        return json.loads(text)
    except RecursionError as error:
        raise UsageError(f"{name}: the JSON is nested too deep") from error
    except json.JSONDecodeError as error:
        fault = GrammarSyntaxError(
            f"not valid JSON: {error.msg}",
            code="schema-not-json",
            source=text,
            offset=error.pos,
        )
        raise UsageError(f"{name}: {fault}") from error


def _read(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8 text: {error}") from error


def _in_file(error: GrammarError, name: str | None) -> Exception:
    """The error with the file's name in front of its message."""
    return error if name is None else UsageError(f"{name}: {error}")


def _write_text(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _as_object(result: Result) -> dict[str, Any]:
    return {
        "text": result.text,
        "parsed": result.parsed,
        "finish_reason": result.finish_reason,
        "usage": result.usage.as_dict(),
    }


def _report(result: Result) -> None:
    """Warn about a text that was cut off; tell a person at a terminal what the run cost."""
    if result.finish_reason == "length":
        print(
            f"maskwright: cut off after {result.usage.completion_tokens} tokens; raise "
            "--max-tokens to let the text end",
            file=sys.stderr,
        )
    elif sys.stderr.isatty():
        usage = result.usage
        print(
            f"maskwright: {usage.completion_tokens} tokens, {usage.tokens_per_second:.0f} per "
            f"second, masks {usage.mask_share:.2%} of the time",
            file=sys.stderr,
        )
