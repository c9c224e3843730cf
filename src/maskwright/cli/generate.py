"""``maskwright generate``: one prompt, one answer in a given format."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from maskwright.cli import exit_codes
from maskwright.cli.errors import UsageError
from maskwright.cli.formats import named_format, read_standard_input, refuse_other_than_text
from maskwright.cli.loading import load_model
from maskwright.cli.output import write_text
from maskwright.cli.schema_options import refuse_schema_options, schema_options
from maskwright.errors import GrammarError

if TYPE_CHECKING:
    from argparse import Namespace

    from maskwright.chat.result import Result


def run_generate(arguments: Namespace) -> int:
    """Run the command; see `maskwright generate --help`."""
    _refuse_two_readers(arguments)
    if arguments.schema is None:
        refuse_schema_options(arguments)
        json_options: dict[str, Any] = {}
    else:
        json_options = schema_options(arguments)
    output_format = named_format(arguments, json_options)
    prompt = _prompt(arguments.prompt)
    loaded = load_model(arguments.model, json_options)
    try:
        result = loaded.generate(
            prompt,
            None if output_format is None else output_format.value,
            max_tokens=arguments.max_tokens,
            temperature=arguments.temperature,
            seed=arguments.seed,
            on_text=None if arguments.json else write_text,
        )
    except GrammarError as error:
        if output_format is None:
            raise
        raise UsageError(f"{output_format.origin}: {error}") from error
    if arguments.json:
        write_text(json.dumps(_as_object(result), ensure_ascii=False, allow_nan=False))
    write_text("\n")
    _report(result)
    return exit_codes.OK if result.finish_reason == "stop" else exit_codes.CUT_OFF


def _refuse_two_readers(arguments: Namespace) -> None:
    for option in ("schema", "ebnf"):
        if arguments.prompt == "-" and getattr(arguments, option) == "-":
            raise UsageError(
                f"--{option} - reads standard input, and so does the prompt; give the prompt as "
                "an argument, or put one of them into a file"
            )


def _prompt(argument: str) -> str:
    if argument != "-":
        prompt, origin = argument, "the prompt"
    else:
        prompt, origin = read_standard_input("the prompt"), "the prompt on standard input"
    refuse_other_than_text(prompt, origin)
    if not prompt.strip():
        raise UsageError("the prompt is empty; expected some text as argument or standard input")
    return prompt


def _as_object(result: Result) -> dict[str, Any]:
    return {
        "text": result.text,
        "parsed": _finite(result.parsed),
        "finish_reason": result.finish_reason,
        "at_token_limit": result.at_token_limit,
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
    """Warn about what the limit did to a text; tell a person at a terminal what the run cost."""
    if result.finish_reason == "length":
        print(
            f"maskwright: cut off after {result.usage.completion_tokens} tokens; raise "
            "--max-tokens to let the text end",
            file=sys.stderr,
        )
    elif result.at_token_limit:
        print(
            f"maskwright: the text took all {result.usage.completion_tokens} tokens; raise "
            "--max-tokens if it should be longer",
            file=sys.stderr,
        )
    elif sys.stderr.isatty():
        usage = result.usage
        print(
            f"maskwright: {usage.completion_tokens} tokens, {usage.tokens_per_second:.0f} per "
            f"second, masks {usage.mask_share:.2%} of the time",
            file=sys.stderr,
        )
