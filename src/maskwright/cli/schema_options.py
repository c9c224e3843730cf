"""The options that say how a JSON Schema is read: the same in all commands, and so is the language.

Idea: an option that is not given is left to the chat engine's own default, in `check` too. So what
`check` says of a schema and an instance holds for what `generate` and `chat` would write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maskwright.cli.errors import UsageError, quoted
from maskwright.cli.formats import read_file
from maskwright.errors import MaskwrightError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_schema_options(parser: ArgumentParser) -> None:
    """Add them to the parser of a command."""
    group = parser.add_argument_group(
        "how a JSON Schema is read", "the same in generate, chat and check"
    )
    group.add_argument(
        "--open",
        action="store_true",
        help="strict_mode=False: members and items that the schema does not name are admitted",
    )
    group.add_argument("--any-order", action="store_true", help="members may come in any order")
    group.add_argument(
        "--any-whitespace",
        action="store_true",
        help="whitespace may stand between any two tokens; else one space after , and :",
    )
    group.add_argument(
        "--number-spelling",
        choices=["any", "decimal", "plain"],
        help="how numbers may be written; any: also 150.0E-1; decimal: 15 (the default); plain: "
        "each in one way",
    )
    group.add_argument(
        "--annotate-format", action="store_true", help="formats are annotations only"
    )
    group.add_argument("--nullable", action="store_true", help="OpenAPI's nullable admits null")
    group.add_argument("--dialect", metavar="D", help="the draft of a schema without $schema")
    group.add_argument(
        "--registry",
        metavar="URI=FILE",
        action="append",
        help="another document that references may lead to; can be repeated",
    )


def schema_options(arguments: Namespace) -> dict[str, Any]:
    """Options of `GrammarCompiler.compile_json_schema`: what is given, and the engine's defaults.

    Raises:
        UsageError: One has no meaning, or its file cannot be read.
    """
    from maskwright.chat.engine_options import checked_json_options

    given = _given(arguments)
    try:
        return checked_json_options(given, plain_spelling=True)
    except (MaskwrightError, TypeError) as error:
        raise UsageError(f"the options of JSON Schemas: {error}") from error


def refuse_schema_options(arguments: Namespace) -> None:
    """Refuse options that have no effect, since there is no schema.

    Raises:
        UsageError: There is one.
    """
    for name in _given(arguments):
        option = {"strict_mode": "open", "assert_format": "annotate-format"}.get(name, name)
        raise UsageError(
            f"--{option.replace('_', '-')} is for JSON Schemas, and there is none; name one with "
            "--schema, or leave it out"
        )


def _given(arguments: Namespace) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if arguments.open:
        options["strict_mode"] = False
    if arguments.annotate_format:
        options["assert_format"] = False
    for name in ("any_order", "any_whitespace", "nullable", "number_spelling", "dialect"):
        value = getattr(arguments, name)
        if value:
            options[name] = value
    if arguments.registry:
        options["registry"] = dict(map(_document, arguments.registry))
    return options


def _document(entry: str) -> tuple[str, str]:
    """The URI and the text of another document."""
    uri, separator, name = entry.rpartition("=")
    if not separator:
        raise UsageError(f"--registry is {quoted(entry)}; expected URI=FILE")
    return uri, read_file(name, "the file of --registry")
