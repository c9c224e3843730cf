"""``maskwright chat``: a conversation at the terminal, each answer held to a format if one is set.

Idea: a line is what the user says, or a command that begins with a slash. Answers go to standard
output as they are written, everything else to standard error, so that a conversation can be piped.
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any, Final

from maskwright.cli import exit_codes
from maskwright.cli.errors import UsageError, quoted
from maskwright.cli.formats import (
    ebnf_format,
    named_format,
    refuse_other_than_text,
    regex_format,
    schema_format,
)
from maskwright.cli.loading import load_model
from maskwright.cli.output import write_text
from maskwright.cli.schema_options import schema_options
from maskwright.errors import MaskwrightError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator

    from maskwright.chat import ChatEngine, ChatUsage

_HELP: Final = """\
/schema FILE|JSON  answers are JSON under a schema
/regex PATTERN     answers match a regular expression
/ebnf FILE|TEXT    answers match a grammar
/text              answers are free text
/reset             forget the conversation
/usage             what the last answer has cost
/quit              end, as the end of the input does"""


def run_chat(arguments: Namespace) -> int:
    """Run the command; see `maskwright chat --help`."""
    for option in ("schema", "ebnf"):
        _refuse_standard_input(getattr(arguments, option), f"--{option}")
    json_options = schema_options(arguments)
    first = named_format(arguments, json_options)
    if arguments.system is not None:
        refuse_other_than_text(arguments.system, "--system")
    loaded = load_model(arguments.model, json_options)
    options = {
        "max_tokens": arguments.max_tokens,
        "temperature": arguments.temperature,
        "seed": arguments.seed,
    }
    with loaded as session:
        output_format = None if first is None else first.value
        chat = Chat(session.engine, output_format, arguments.system, options, json_options)
        for line in _lines():
            if not chat.take(line):
                break
    return exit_codes.RUNTIME_ERROR if chat.has_failed else exit_codes.OK


def _lines() -> Iterator[str]:
    """The lines of standard input; at a terminal with a prompt, and until Ctrl-D."""
    if sys.stdin is None:  # closed by the caller
        return
    if not sys.stdin.isatty():
        try:
            yield from sys.stdin
        except UnicodeDecodeError as error:
            raise UsageError(f"standard input is not text: {error}") from error
        return
    _tell("type what you want to say, or /help; Ctrl-D ends")
    with contextlib.suppress(EOFError):
        while True:
            yield input("> ")


class Chat:
    """One conversation.

    Args:
        engine: Answers.
        output_format: What answers must be, as `Session.generate` takes it.
        system: What comes before the conversation; None: nothing.
        options: Fields of every request.
        json_options: How the engine compiles JSON Schemas.
    """

    def __init__(
        self,
        engine: ChatEngine,
        output_format: Any,
        system: str | None,
        options: dict[str, Any],
        json_options: dict[str, Any],
    ) -> None:
        self._engine = engine
        self._format = output_format
        self._first = [] if system is None else [{"role": "system", "content": system}]
        self._messages = list(self._first)
        self._options = options
        self._json_options = json_options
        self._usage: ChatUsage | None = None
        self._commands: dict[str, Callable[[str], None]] = {
            "/schema": self._set_schema,
            "/regex": self._set_regex,
            "/ebnf": self._set_ebnf,
            "/text": self._set_text,
            "/reset": self._reset,
            "/usage": self._tell_usage,
            "/help": lambda _rest: print(_HELP, file=sys.stderr),
        }
        self.has_failed = False
        """Whether something could not be done."""

    def take(self, line: str) -> bool:
        """Take a line; False if it ends the conversation."""
        text = line.strip()
        if text == "/quit":
            return False
        try:
            refuse_other_than_text(text, "the line")
            if text.startswith("/"):
                self._run_command(text)
            elif text:
                self._answer(text)
        except (UsageError, MaskwrightError) as error:
            self.has_failed = True
            _tell(str(error))
        return True

    def _run_command(self, text: str) -> None:
        name, _, rest = text.partition(" ")
        command = self._commands.get(name)
        if command is None:
            raise UsageError(f"there is no command {quoted(name)}; /help lists them")
        command(rest.strip())

    def _set_schema(self, rest: str) -> None:
        _refuse_standard_input(rest, "/schema")
        self._format = schema_format(rest, "/schema", self._json_options).value

    def _set_regex(self, rest: str) -> None:
        self._format = regex_format(rest, "/regex").value

    def _set_ebnf(self, rest: str) -> None:
        _refuse_standard_input(rest, "/ebnf")
        self._format = ebnf_format(rest, "/ebnf").value

    def _set_text(self, _rest: str) -> None:
        self._format = None

    def _reset(self, _rest: str) -> None:
        self._messages = list(self._first)

    def _tell_usage(self, _rest: str) -> None:
        if self._usage is None:
            raise UsageError("there was no answer yet")
        figures = self._usage.to_dict()
        for name, value in {**figures, **figures.pop("extra")}.items():
            if name != "extra":
                shown = f"{value:.6g}" if isinstance(value, float) else value
                print(f"{name:22} {shown}", file=sys.stderr)

    def _answer(self, text: str) -> None:
        """Ask, show the answer as it comes, and keep both; Ctrl-C cuts the answer off."""
        from maskwright.chat.request import ChatRequest
        from maskwright.chat.response_format import format_of

        asked = [*self._messages, {"role": "user", "content": text}]
        request = ChatRequest.read(
            self._options, messages=asked, response_format=format_of(self._format)
        )
        answer, finish_reason = "", None
        with self._engine.deltas(request) as deltas:
            try:
                for delta in deltas:
                    write_text(delta.text)
                    answer += delta.text
                    finish_reason = delta.finish_reason
            except KeyboardInterrupt:
                _tell("interrupted")
            finally:
                if answer:
                    write_text("\n")
        self._messages = [*asked, {"role": "assistant", "content": answer}]
        self._usage = deltas.usage or self._usage
        if deltas.ending is not None and deltas.ending.at_token_limit:
            _tell("the answer took all its tokens; raise --max-tokens if it should be longer")
        if finish_reason == "length":
            _tell("cut off; raise --max-tokens to let answers end")


def _refuse_standard_input(argument: str | None, origin: str) -> None:
    if argument == "-":
        raise UsageError(
            f"{origin} is '-', and standard input has the conversation; name a file, or give the "
            "text itself"
        )


def _tell(message: str) -> None:
    print(f"maskwright: {message}", file=sys.stderr, flush=True)
