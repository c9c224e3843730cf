"""Parses the command line and runs a command.

What it does: one parser, one dispatcher, one place where errors become messages and exit codes.
Idea: standard output carries the result and nothing else, so that it can be piped; all messages go
to standard error. Commands are imported when they run, so ``--help`` is fast and needs no extras.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import os
import sys
from typing import TYPE_CHECKING, Any, Final, NoReturn

from maskwright.cli import exit_codes
from maskwright.cli.errors import OutputError, UsageError, quoted
from maskwright.errors import GrammarError, LimitExceededError, MaskwrightError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_EPILOG: Final = """\
exit codes:
  0    the text is complete
  1    something failed while running (a missing package, a model that cannot be loaded), or
       `check` was given an instance that the schema does not admit
  2    wrong usage, or a prompt, schema, pattern or grammar that cannot be used with this model
       and --max-tokens
  3    the text was cut off by --max-tokens
  130  interrupted
"""


_WITH_PROMPT: Final = ("generate", "demo")
"""Commands whose last argument is a prompt."""
_MOST_SHOWN: Final = 300
"""Characters of what argparse says, which may quote an argument."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: Arguments without the program's name; None takes those of the process.

    Returns:
        The exit code.
    """
    if sys.stderr is None:  # closed by the caller; print() would fall back to standard output
        sys.stderr = io.StringIO()
    if sys.stdout is None:
        return _fail(
            "standard output is closed; expected a place for the text", exit_codes.RUNTIME_ERROR
        )
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        arguments, rest = _parser().parse_known_args(argv)
        _refuse_rest(rest, arguments.command)
        code = _run(arguments)
        sys.stdout.flush()
    except SystemExit as stop:  # argparse has printed its help
        return stop.code if isinstance(stop.code, int) else exit_codes.USAGE_ERROR
    except BrokenPipeError:
        _silence_stdout()
        return exit_codes.OK
    except KeyboardInterrupt:
        return _fail("interrupted", exit_codes.INTERRUPTED)
    except (UsageError, GrammarError, LimitExceededError) as error:
        return _fail(str(error), exit_codes.USAGE_ERROR)
    except (MaskwrightError, OutputError, ImportError, OSError, MemoryError) as error:
        return _fail(str(error) or type(error).__name__, _code_of(error))
    return code


def _code_of(error: Exception) -> int:
    """Whether other arguments would do, as ``--max-tokens`` that a format is too long for."""
    if not isinstance(error, MaskwrightError) or isinstance(error, ImportError):
        return exit_codes.RUNTIME_ERROR
    from maskwright.chat.errors import is_invalid_request

    return exit_codes.USAGE_ERROR if is_invalid_request(error) else exit_codes.RUNTIME_ERROR


def _refuse_rest(rest: list[str], command: str) -> None:
    """Refuse arguments that no parser knows; often the rest of a prompt without quotes."""
    if not rest:
        return
    option = next((word for word in rest if word.startswith("-")), None)
    if option is not None:
        raise UsageError(
            f"unknown option {quoted(option)}; `maskwright {command} --help` lists them"
        )
    if command in _WITH_PROMPT:
        raise UsageError(
            f"unexpected {quoted(rest[0])} after the prompt; put the whole prompt in quotes"
        )
    raise UsageError(f"unexpected {quoted(rest[0])}; `maskwright {command} --help` tells more")


def _run(arguments: argparse.Namespace) -> int:
    if arguments.command == "demo":
        from maskwright.cli.demo import run_demo

        return run_demo(arguments)
    if arguments.command == "check":
        from maskwright.cli.check import run_check

        return run_check(arguments)
    if arguments.command == "chat":
        from maskwright.cli.chat import run_chat

        return run_chat(arguments)
    from maskwright.cli.generate import run_generate

    return run_generate(arguments)


def _fail(message: str, code: int) -> int:
    """Print a message after whatever text has come so far."""
    if sys.stdout is not None:
        try:
            sys.stdout.flush()
        except OSError:  # nobody reads, or a full disk
            _silence_stdout()
    with contextlib.suppress(OSError):
        print(f"maskwright: {message}", file=sys.stderr, flush=True)
    return code


def _silence_stdout() -> None:
    """Keep the interpreter from complaining at exit about a pipe that nobody reads."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):  # a replaced stdout has no descriptor
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="maskwright",
        description="Generate text that has exactly the format you ask for.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="show the version number and exit"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_generate(commands.add_parser("generate", help="answer a prompt in a given format"))
    _add_chat(commands.add_parser("chat", help="talk with a model, answers in given formats"))
    _add_check(commands.add_parser("check", help="examine a JSON Schema, and an instance of it"))
    _add_demo(commands.add_parser("demo", help="watch a small model fill in a JSON Schema"))
    return parser


def _add_generate(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Answer a prompt. The answer goes to standard output as it is written; without a format it "
        "is free text. The format restricts the answer but is not shown to the model: say in the "
        "prompt what you want."
    )
    parser.add_argument(
        "prompt", nargs="?", default="-", help="the prompt; '-' or nothing reads standard input"
    )
    formats = parser.add_mutually_exclusive_group()
    formats.add_argument("--schema", metavar="FILE", help="file with a JSON Schema")
    formats.add_argument("--regex", metavar="R", help="regular expression for the whole answer")
    formats.add_argument("--ebnf", metavar="FILE", help="file with an EBNF grammar")
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object: text, parsed, finish_reason, usage; parsed is null if a "
        "number is too large for a double",
    )
    _add_model_options(parser, max_tokens=512, temperature=0.0)


def _add_chat(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Talk with a model, line by line. Answers go to standard output as they are written. "
        "Lines that begin with a slash are commands; /help lists them. A format holds for all "
        "answers until a command sets another; say in words what you want, too."
    )
    formats = parser.add_mutually_exclusive_group()
    formats.add_argument("--schema", metavar="FILE|JSON", help="JSON Schema, or a file with one")
    formats.add_argument("--regex", metavar="R", help="regular expression for whole answers")
    formats.add_argument("--ebnf", metavar="FILE|TEXT", help="EBNF grammar, or a file with one")
    parser.add_argument("--system", metavar="TEXT", help="system message before the conversation")
    _add_model_options(parser, max_tokens=512, temperature=0.7)


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Say what becomes of each keyword of a JSON Schema, what can make answers long without "
        "bound, and, for an instance, the first place where it leaves the schema's language and "
        "what could have stood there. The instance is read as it is written: order of members and "
        "spacing count; whitespace around it does not."
    )
    parser.add_argument("schema", metavar="SCHEMA", help="file with a JSON Schema")
    parser.add_argument("instance", metavar="INSTANCE", nargs="?", help="file with an instance")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--open",
        action="store_true",
        help="strict_mode=False: members and items that the schema does not name are admitted",
    )
    parser.add_argument("--any-order", action="store_true", help="members may come in any order")
    parser.add_argument(
        "--number-spelling",
        choices=["any", "decimal", "plain"],
        default="any",
        help="how numbers may be written; decimal: 15, not 150.0E-1; plain: each in one way",
    )
    parser.add_argument(
        "--annotate-format", action="store_true", help="formats are annotations only"
    )
    parser.add_argument("--nullable", action="store_true", help="OpenAPI's nullable admits null")
    parser.add_argument("--dialect", metavar="D", help="the draft of a schema without $schema")
    parser.add_argument(
        "--registry",
        metavar="URI=FILE",
        action="append",
        default=[],
        help="another document that references may lead to; can be repeated",
    )


def _add_demo(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Run the small embedded model on a prompt, within a JSON Schema, and show each token as it "
        "comes, the parsed result, and what the masks cost."
    )
    parser.add_argument("prompt", nargs="?", help="a prompt of your own about a person")
    _add_model_options(parser, max_tokens=256, temperature=0.7)


def _add_model_options(
    parser: argparse.ArgumentParser, *, max_tokens: int, temperature: float
) -> None:
    parser.add_argument("--model", metavar="GGUF", help="model file (default: the embedded model)")
    parser.add_argument(
        "--max-tokens",
        type=_number(int, 1),
        default=max_tokens,
        metavar="N",
        help="the most tokens to generate (default: %(default)s)",
    )
    parser.add_argument(
        "--temperature",
        type=_number(float, 0),
        default=temperature,
        metavar="T",
        help="0 takes the most likely token, 1 samples freely (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=_number(int, 0, 2**64 - 1), metavar="S", help="make sampling repeatable"
    )


def _number(kind: type[int | float], low: float, high: float = math.inf) -> Callable[[str], float]:
    """An argument type: a finite number of a kind that is within bounds."""

    def parse(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high or value == math.inf:
            name = "an integer" if kind is int else "a number"
            bounds = f"at least {low}" if high == math.inf else f"from {low} to {high}"
            raise argparse.ArgumentTypeError(f"{quoted(text)}: expected {name}, {bounds}")
        return value

    return parse


class _Parser(argparse.ArgumentParser):
    """Tells wrong usage as all else is told: in one line."""

    def error(self, message: str) -> NoReturn:
        """Have `main` say what is wrong, and where to look."""
        if len(message) > _MOST_SHOWN:
            message = message[:_MOST_SHOWN] + "..."
        raise UsageError(f"{message}; `{self.prog} --help` tells more")


class _Version(argparse.Action):
    """Prints the version; looking it up takes longer than all of ``--help``."""

    def __call__(self, parser: argparse.ArgumentParser, *_rest: Any) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version("maskwright")
        except PackageNotFoundError:
            number = "(not installed)"
        print(f"maskwright {number}")
        parser.exit()
