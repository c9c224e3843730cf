"""Runs a command: one dispatcher, and one place where errors become messages and exit codes.

Idea: standard output carries the result and nothing else, so that it can be piped; all messages go
to standard error. Commands are imported when they run, so ``--help`` is fast and needs no extras.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TYPE_CHECKING, Final

from maskwright.cli import exit_codes
from maskwright.cli.errors import OutputError, UsageError, quoted
from maskwright.cli.parser import command_line_parser
from maskwright.errors import GrammarError, LimitExceededError, MaskwrightError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

_WITH_PROMPT: Final = ("generate", "demo")
"""Commands whose last argument is a prompt."""


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
        arguments, rest = command_line_parser().parse_known_args(argv)
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


def _run(arguments: Namespace) -> int:
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
