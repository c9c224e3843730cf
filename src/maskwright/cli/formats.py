"""Formats as a command line names them: files, JSON text, patterns.

Everything is checked here, so that a faulty format is told before a model is loaded or asked.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from maskwright.cli.errors import UsageError, quoted
from maskwright.errors import GrammarError

if TYPE_CHECKING:
    from maskwright.grammar import Grammar


_MOST_SHOWN: Final = 400
"""Characters of a file's name."""


def schema_text(argument: str, origin: str, *, may_be_text: bool = False) -> str:
    """The text of a JSON Schema.

    Args:
        argument: The name of a file.
        origin: What the user has called it, for messages.
        may_be_text: Whether the argument may also be the schema itself.

    Raises:
        UsageError: There is no such file, or it is no schema that can be used.
    """
    from maskwright.grammar import Grammar

    is_text = may_be_text and (_looks_like_text(argument) or _is_json(argument))
    text = argument if is_text else read_file(argument, origin)
    _checked(lambda: Grammar.from_json_schema(text), origin if is_text else argument)
    return text


def ebnf_grammar(argument: str, origin: str, *, may_be_text: bool = False) -> Grammar:
    """A grammar in EBNF; arguments and errors as for `schema_text`."""
    from maskwright.grammar import Grammar

    is_text = may_be_text and _looks_like_text(argument)
    text = argument if is_text else read_file(argument, origin)
    grammar: Grammar = _checked(lambda: Grammar.from_ebnf(text), origin if is_text else argument)
    return grammar


def regex_grammar(pattern: str, origin: str) -> Grammar:
    """The grammar of a regular expression; errors as for `schema_text`."""
    from maskwright.grammar import Grammar

    if not pattern:
        raise UsageError(f"{origin} is ''; expected a regular expression that matches some text")

    grammar: Grammar = _checked(lambda: Grammar.from_regex(pattern), origin)
    return grammar


def read_file(name: str, origin: str) -> str:
    """The text of a file.

    Raises:
        UsageError: It cannot be read, or the name is no name but the text itself.
    """
    if _looks_like_text(name):
        raise UsageError(
            f"{origin} is {quoted(name)}; expected the name of a file: put the text into a file"
        )
    return read_text(name, origin)


def read_text(name: str, origin: str) -> str:
    """The text of a file, whatever its name.

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


def _name(name: str) -> str:
    """The name of a file, in quotes only if it is none that a person would read."""
    return name if len(name) <= _MOST_SHOWN and name.isprintable() else quoted(name)


def _looks_like_text(argument: str) -> bool:
    """Whether an argument is a schema or a grammar, and not the name of a file."""
    return argument.lstrip().startswith(("{", "[")) or "::=" in argument


def _is_json(argument: str) -> bool:
    """Whether an argument is a JSON value that no file is called by, such as ``true``."""
    try:
        json.loads(argument)
    except ValueError:
        return False
    return True


def _checked(make: Any, origin: str) -> Any:
    try:
        return make()
    except GrammarError as error:
        raise UsageError(f"{origin}: {error}") from error
