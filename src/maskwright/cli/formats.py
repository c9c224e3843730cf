"""Formats as a command line names them: a file, ``-`` for standard input, or the text itself.

Idea: all commands read them here, and all of a format is checked here, with the options that it is
used with, so that a faulty one is told before a model is loaded or asked.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from maskwright.cli.errors import UsageError, quoted
from maskwright.errors import GrammarError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Mapping

_MOST_SHOWN: Final = 400
"""Characters of a file's name."""
_MOST_NAMED: Final = 5
"""Keywords without effect."""


@dataclass(frozen=True)
class NamedFormat:
    """What a command was asked to hold its output to.

    Attributes:
        value: As `Session.generate` takes it: a schema's text, or a `Grammar`.
        text: The schema, pattern or grammar as it is written.
        origin: What messages call it: the file, or the option.
        is_schema: Whether it is a JSON Schema.
    """

    value: Any
    text: str
    origin: str
    is_schema: bool = False


def named_format(arguments: Namespace, json_options: Mapping[str, Any]) -> NamedFormat | None:
    """The format that ``--schema``, ``--regex`` or ``--ebnf`` asks for; None: free text.

    Args:
        arguments: The parsed command line.
        json_options: What a schema is compiled with.

    Raises:
        UsageError: It cannot be read, or not be used.
    """
    if arguments.regex is not None:
        return regex_format(arguments.regex, "--regex")
    if arguments.ebnf is not None:
        return ebnf_format(arguments.ebnf, "--ebnf")
    if arguments.schema is not None:
        return schema_format(arguments.schema, "--schema", json_options)
    return None


def schema_format(argument: str, origin: str, json_options: Mapping[str, Any]) -> NamedFormat:
    """A JSON Schema; under it, and not under a grammar, answers are parsed.

    A message on standard error names keywords that have no effect, such as mistyped ones.

    Args:
        argument: A file, ``-``, or the schema itself.
        origin: What the user has called it, for messages.
        json_options: What it is compiled with.

    Raises:
        UsageError: It cannot be read, or not be used.
    """
    from maskwright.grammar import Grammar

    text, origin = read_source(argument, origin, is_text=is_schema_text)
    grammar: Grammar = _checked(lambda: Grammar.from_json_schema(text, **json_options), origin)
    if unknown := grammar.certificate.unknown:
        named = ", ".join(unknown[:_MOST_NAMED])
        print(
            f"maskwright: {origin}: {named} without effect; `maskwright check` tells more",
            file=sys.stderr,
        )
    return NamedFormat(text, text, origin, is_schema=True)


def ebnf_format(argument: str, origin: str) -> NamedFormat:
    """A grammar in EBNF; arguments and errors as for `schema_format`."""
    from maskwright.grammar import Grammar

    text, origin = read_source(argument, origin, is_text=is_ebnf_text)
    return NamedFormat(_checked(lambda: Grammar.from_ebnf(text), origin), text, origin)


def regex_format(pattern: str, origin: str) -> NamedFormat:
    """A regular expression, which is always given as it is."""
    from maskwright.grammar import Grammar

    if not pattern:
        raise UsageError(f"{origin} is ''; expected a regular expression that matches some text")
    return NamedFormat(_checked(lambda: Grammar.from_regex(pattern), origin), pattern, origin)


def read_source(
    argument: str, origin: str, *, is_text: Callable[[str], bool] = lambda _argument: False
) -> tuple[str, str]:
    """The text that an argument stands for, and what messages call it.

    Args:
        argument: A file, ``-`` for standard input, or the text.
        origin: What messages call it if it is the text.
        is_text: Whether an argument is the text itself.

    Raises:
        UsageError: It cannot be read.
    """
    if argument == "-":
        return read_standard_input(origin), "standard input"
    if is_text(argument):
        return argument, origin
    return read_file(argument, origin), argument


def read_file(name: str, origin: str) -> str:
    """The text of a file.

    Raises:
        UsageError: It cannot be read.
    """
    if not name:
        raise UsageError(f"{origin} is ''; expected the name of a file")
    try:
        return Path(name).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read {_name(name)}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8 text: {error}") from error
    except ValueError as error:  # a name that no file can have
        raise UsageError(f"cannot read {quoted(name)}: {error}") from error


def read_standard_input(origin: str) -> str:
    """The text that comes on standard input; nothing if the caller has closed it.

    Raises:
        UsageError: It is no text.
    """
    if sys.stdin is None:
        return ""
    if sys.stdin.isatty():
        print(f"maskwright: type {origin}, then press Ctrl-D", file=sys.stderr)
    try:
        return sys.stdin.read().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise UsageError(f"{origin} on standard input is not text: {error}") from error


def refuse_other_than_text(text: str, origin: str) -> None:
    """Refuse what is no UTF-8 text; its bytes arrive as lone surrogates.

    Raises:
        UsageError: It is none.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"{origin} is not UTF-8 text at character {error.start + 1}; convert it to UTF-8"
        ) from error


def is_schema_text(argument: str) -> bool:
    """Whether an argument is a JSON Schema, and not the name of a file: ``./true`` is one."""
    if argument.lstrip().startswith(("{", "[")):
        return True
    try:
        json.loads(argument)
    except (RecursionError, ValueError):
        return False
    return True


def is_ebnf_text(argument: str) -> bool:
    """Whether an argument is a grammar, and not the name of a file."""
    return "::=" in argument


def _name(name: str) -> str:
    """The name of a file, in quotes only if it is none that a person would read."""
    return name if len(name) <= _MOST_SHOWN and name.isprintable() else quoted(name)


def _checked(make: Callable[[], Any], origin: str) -> Any:
    try:
        return make()
    except GrammarError as error:
        raise UsageError(f"{origin}: {error}") from error
