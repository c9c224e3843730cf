"""``maskwright generate``: one prompt, one answer in a given format."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from maskwright.cli import exit_codes
from maskwright.cli.errors import UsageError
from maskwright.cli.formats import ebnf_grammar, regex_grammar, schema_text
from maskwright.cli.loading import load_model
from maskwright.cli.output import write_text
from maskwright.errors import GrammarError

if TYPE_CHECKING:
    from argparse import Namespace

    from maskwright.chat.result import Result


def run_generate(arguments: Namespace) -> int:
    """Run the command; see `maskwright generate --help`."""
    output_format = _output_format(arguments)
    prompt = _prompt(arguments.prompt)
    loaded = load_model(arguments.model)
    try:
        result = loaded.generate(
            prompt,
            output_format,
            max_tokens=arguments.max_tokens,
            temperature=arguments.temperature,
            seed=arguments.seed,
            on_text=None if arguments.json else write_text,
        )
    except GrammarError as error:
        raise _with_origin(error, _origin(arguments)) from error
    if arguments.json:
        write_text(json.dumps(_as_object(result), ensure_ascii=False, allow_nan=False))
    write_text("\n")
    _report(result)
    return exit_codes.OK if result.finish_reason == "stop" else exit_codes.CUT_OFF


def _prompt(argument: str) -> str:
    if argument != "-":
        prompt, origin = argument, "the prompt"
    else:
        prompt, origin = _standard_input(), "the prompt on standard input"
    try:
        prompt.encode()
    except UnicodeEncodeError as error:  # bytes that are no text arrive as lone surrogates
        raise UsageError(
            f"{origin} is not UTF-8 text at character {error.start + 1}; convert it to UTF-8"
        ) from error
    if not prompt.strip():
        raise UsageError("the prompt is empty; expected some text as argument or standard input")
    return prompt


def _standard_input() -> str:
    if sys.stdin is None:  # closed by the caller
        return ""
    if sys.stdin.isatty():
        print("maskwright: type the prompt, then press Ctrl-D", file=sys.stderr)
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise UsageError(f"the prompt on standard input is not text: {error}") from error


def _output_format(arguments: Namespace) -> Any:
    """The format that the options ask for, or None; a faulty one is told before a model loads."""
    if arguments.regex is not None:
        return regex_grammar(arguments.regex, "--regex")
    if arguments.ebnf is not None:
        return ebnf_grammar(arguments.ebnf, "--ebnf")
    if arguments.schema is not None:  # under a schema, and not a grammar, the answer is parsed
        return schema_text(arguments.schema, "--schema")
    return None


def _origin(arguments: Namespace) -> str | None:
    """What the format comes from: a file or ``--regex``; None if there is no format."""
    if arguments.regex is not None:
        return "--regex"
    name: str | None = arguments.schema if arguments.schema is not None else arguments.ebnf
    return name


def _with_origin(error: GrammarError, origin: str | None) -> Exception:
    """The error with what the format comes from in front of its message."""
    return error if origin is None else UsageError(f"{origin}: {error}")


def _as_object(result: Result) -> dict[str, Any]:
    return {
        "text": result.text,
        "parsed": _finite(result.parsed),
        "finish_reason": result.finish_reason,
        "usage": result.usage.to_dict(),
    }


def _finite(value: Any) -> Any:
    """The value, or None if a number in it is beyond those that Python reads: see the text."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return None
    return value


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
