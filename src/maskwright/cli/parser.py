"""The command line: what commands there are, what they take, and what `--help` says of them.

Nothing of the package is imported but what `--help` needs, so it is fast and needs no extras.
"""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any, Final, NoReturn

from maskwright.cli.errors import UsageError, quoted
from maskwright.cli.schema_options import add_schema_options

if TYPE_CHECKING:
    from collections.abc import Callable

_EPILOG: Final = """\
exit codes:
  0    done: the text is complete, or `check` found nothing wrong
  1    something failed while running: a package that is not installed, a model that fails, a full
       disk, a faulty line of a `chat`; or the instance of `check` is not admitted
  2    what you gave cannot be used: an option, a prompt, a file, a model file, a schema, a pattern
       or a grammar, also one that takes more than --max-tokens
  3    the text was cut off by --max-tokens
  130  interrupted
"""
_FORMATS: Final = """\
A format is a file, '-' for standard input, or the schema or grammar itself."""
_MOST_SHOWN: Final = 300
"""Characters of what argparse says, which may quote an argument."""


def command_line_parser() -> argparse.ArgumentParser:
    """Make the parser of all commands."""
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
    _add_check(commands.add_parser("check", help="examine a schema or grammar, and a text of it"))
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
    _add_formats(parser)
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object: text, parsed, finish_reason, at_token_limit, usage; parsed is "
        "null if a number is too large for a double",
    )
    _add_model_options(parser, max_tokens=512, temperature=0.0)
    add_schema_options(parser)


def _add_chat(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Talk with a model, line by line. Answers go to standard output as they are written. "
        "Lines that begin with a slash are commands; /help lists them. A format holds for all "
        "answers until a command sets another; say in words what you want, too."
    )
    _add_formats(parser)
    parser.add_argument("--system", metavar="TEXT", help="system message before the conversation")
    _add_model_options(parser, max_tokens=512, temperature=0.7)
    add_schema_options(parser)


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Say what becomes of each keyword of a JSON Schema, what can make answers long without "
        "bound, and, for an instance, the first place where it leaves the schema's language and "
        "what could have stood there; for a regular expression or a grammar, the latter two. The "
        "language is the one that `generate` writes with the same options. The instance is read as "
        "it is written: order of members and spacing count; whitespace around JSON does not."
    )
    parser.usage = (
        "%(prog)s [options] SCHEMA [INSTANCE]\n"
        "       %(prog)s [options] (--schema S | --regex R | --ebnf G) [INSTANCE]"
    )
    parser.add_argument(
        "first", metavar="SCHEMA", nargs="?", help="JSON Schema: a file, '-', or the schema itself"
    )
    parser.add_argument(
        "second", metavar="INSTANCE", nargs="?", help="text to judge: a file, or '-'"
    )
    _add_formats(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_schema_options(parser)


def _add_demo(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Run the small embedded model on a prompt, within a JSON Schema, and show each token as it "
        "comes, the parsed result, and what the masks cost."
    )
    parser.add_argument("prompt", nargs="?", help="a prompt of your own about a person")
    _add_model_options(parser, max_tokens=256, temperature=0.7)


def _add_formats(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("format", _FORMATS)
    formats = group.add_mutually_exclusive_group()
    formats.add_argument("--schema", metavar="FILE|JSON", help="JSON Schema")
    formats.add_argument("--regex", metavar="R", help="regular expression, as it is")
    formats.add_argument("--ebnf", metavar="FILE|TEXT", help="EBNF grammar")


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
