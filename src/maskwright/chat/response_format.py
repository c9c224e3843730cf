"""What ``response_format`` of a request may be, and how it becomes a compiled grammar.

Idea: one small class per kind of format, and one table from ``type`` to the function that reads it:
a new kind is a class, a reader and a line in `_READERS`. Reading checks the shape only; whether a
schema or grammar can be used, the compiler says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from maskwright.chat.errors import RequestError, field_error, not_supported, shown
from maskwright.chat.fields import FieldReader
from maskwright.compile_requests import grammar_request, regex_request
from maskwright.errors import how_to_read
from maskwright.grammar import Grammar

if TYPE_CHECKING:
    from concurrent.futures import Future

    from maskwright.compiler import CompiledGrammar, GrammarCompiler

_FIELD: Final = "response_format"
_SHAPE: Final = '{"type": "json_schema", "json_schema": {"name": "answer", "schema": {...}}}'
_TYPES: Final = ("object", "array", "string", "integer", "number", "boolean", "null")
_KEYWORDS: Final = ("properties", "$schema", "$ref", "$defs", "enum", "const", "anyOf", "oneOf")
"""Of JSON Schema: an object with one of them is meant to be a schema."""


class ResponseFormat:
    """What an answer must be; the base class is free text."""

    is_json: bool = False
    """Whether all texts of the format are JSON."""

    @property
    def is_text(self) -> bool:
        """Whether anything goes."""
        return type(self) is ResponseFormat

    def submit(
        self,
        compiler: GrammarCompiler,
        *,
        json_options: Mapping[str, Any],
        timeout_seconds: float | None,
    ) -> Future[CompiledGrammar]:
        """Have the format compiled, by `GrammarCompiler.submit`; not for free text.

        Args:
            compiler: The compiler of the model's vocabulary.
            json_options: For a JSON Schema: options of `GrammarCompiler.compile_json_schema`.
            timeout_seconds: How long that may take; None: any time.

        Returns:
            A future that raises a `GrammarError` if the format cannot be used. It is cancelled
            when its request is.
        """
        raise NotImplementedError


TEXT: Final = ResponseFormat()
"""Free text."""


@dataclass(frozen=True)
class SchemaFormat(ResponseFormat):
    """JSON under a schema.

    Attributes:
        schema: Whatever `GrammarCompiler.compile_json_schema` takes; not to be changed while a
            request with it runs.
    """

    schema: Any
    is_json = True

    def submit(
        self,
        compiler: GrammarCompiler,
        *,
        json_options: Mapping[str, Any],
        timeout_seconds: float | None,
    ) -> Future[CompiledGrammar]:
        """Compile the schema."""
        return compiler.submit(
            "json_schema", self.schema, timeout_seconds=timeout_seconds, **json_options
        )


@dataclass(frozen=True)
class RegexFormat(ResponseFormat):
    """Text that a regular expression matches as a whole."""

    pattern: str

    def __post_init__(self) -> None:
        """Check that it is text."""
        regex_request(self.pattern)

    def submit(
        self,
        compiler: GrammarCompiler,
        *,
        json_options: Mapping[str, Any],
        timeout_seconds: float | None,
    ) -> Future[CompiledGrammar]:
        """Compile the pattern."""
        del json_options
        return compiler.submit("regex", self.pattern, timeout_seconds=timeout_seconds)


@dataclass(frozen=True)
class GrammarFormat(ResponseFormat):
    """Text of a grammar: EBNF, or a `maskwright.Grammar`."""

    grammar: str | Grammar

    def __post_init__(self) -> None:
        """Check that it is one of the two."""
        grammar_request(self.grammar)

    def submit(
        self,
        compiler: GrammarCompiler,
        *,
        json_options: Mapping[str, Any],
        timeout_seconds: float | None,
    ) -> Future[CompiledGrammar]:
        """Compile the grammar."""
        del json_options
        return compiler.submit("grammar", self.grammar, timeout_seconds=timeout_seconds)


def format_of(value: Any) -> ResponseFormat:
    """Return the format for a Python object, as `Session.generate` takes it.

    Args:
        value: None for free text, a `ResponseFormat`, a `maskwright.Grammar`; anything else is a
            schema.
    """
    if value is None:
        return TEXT
    if isinstance(value, ResponseFormat):
        return value
    return GrammarFormat(value) if isinstance(value, Grammar) else SchemaFormat(value)


def read_response_format(value: Any) -> ResponseFormat:
    """Read the field of a request.

    Args:
        value: None, a `ResponseFormat`, or an object with ``type``: ``"text"``; ``"json_object"``:
            any JSON value, or one of ``schema``; ``"json_schema"``: with ``json_schema``, an
            object with ``schema`` (``name``, ``description`` and ``strict`` change nothing: a
            schema is always enforced); ``"grammar"``: with ``syntax`` (``"ebnf"`` or ``"regex"``)
            and ``grammar``. A schema is an object, a Boolean or JSON text.

    Raises:
        RequestError: It is something else; with the field at fault.
    """
    if value is None or isinstance(value, ResponseFormat):
        return TEXT if value is None else value
    _refuse_other_than_object(value)
    reader = FieldReader(dict(value), f"{_FIELD}.")
    kind = reader.take("type")
    read = _READERS.get(kind) if isinstance(kind, str) else None
    if read is None:
        kinds = ", ".join(f'"{name}"' for name in _READERS)
        hint = f"; a schema goes here: {_SHAPE}" if _is_schema(value) else ""
        raise _error(f"{shown(kind)}; expected one of {kinds}{hint}", f"{_FIELD}.type")
    response_format = read(reader)
    reader.finish()
    return response_format


def _refuse_other_than_object(value: Any) -> None:
    if isinstance(value, str):
        kind = value if value in _READERS else "json_object"
        example = _SHAPE if kind == "json_schema" else f'{{"type": "{kind}"}}'
        raise _error(f"text; expected an object such as {example}", _FIELD)
    if isinstance(value, Grammar):
        raise _error("a Grammar; expected an object: wrap it as GrammarFormat(...)", _FIELD)
    if isinstance(value, type) or hasattr(value, "json_schema"):  # a TypeAdapter has the latter
        raise _error("a type; expected an object: wrap it as SchemaFormat(...)", _FIELD)
    if not isinstance(value, Mapping):
        raise _error(f"{_a(value)}; expected an object", _FIELD)


def _read_text(_reader: FieldReader) -> ResponseFormat:
    return TEXT


def _read_json_object(reader: FieldReader) -> ResponseFormat:
    schema = reader.take("schema")
    return SchemaFormat(True if schema is None else _schema(schema, f"{_FIELD}.schema"))


def _read_json_schema(reader: FieldReader) -> ResponseFormat:
    place = f"{_FIELD}.json_schema"
    for name in ("schema", "name", "description", "strict"):
        if reader.take(name) is not None:
            raise field_error(f"{_FIELD}.{name}", f"stands in the wrong place; expected {_SHAPE}")
    given = reader.take("json_schema")
    if not isinstance(given, Mapping):
        found = "missing" if given is None else "text" if isinstance(given, str) else _a(given)
        raise _error(f"{found}; expected an object, as in {_SHAPE}", place)
    if "schema" not in given and _is_schema(given):
        raise _error(f"a schema itself; expected it one level deeper: {_SHAPE}", place)
    inner = FieldReader(dict(given), f"{place}.")
    inner.text("name")
    inner.text("description")
    inner.boolean("strict")
    schema = _schema(inner.take("schema"), f"{place}.schema")
    inner.finish()
    return SchemaFormat(schema)


def _read_grammar(reader: FieldReader) -> ResponseFormat:
    syntax = reader.take("syntax")
    text = reader.take("grammar")
    if not isinstance(text, str):
        raise _error(f"{_a(text)}; expected text{how_to_read(text)}", f"{_FIELD}.grammar")
    if syntax is None or syntax == "ebnf":
        return GrammarFormat(text)
    if syntax == "regex":
        return RegexFormat(text)
    if syntax == "lark":
        raise not_supported(
            f"{_FIELD}.syntax", 'is "lark", which is not supported yet; write the grammar as "ebnf"'
        )
    raise _error(f'{shown(syntax)}; expected "ebnf" or "regex"', f"{_FIELD}.syntax")


_READERS: Final[dict[str, Callable[[FieldReader], ResponseFormat]]] = {
    "text": _read_text,
    "json_object": _read_json_object,
    "json_schema": _read_json_schema,
    "grammar": _read_grammar,
}


def _is_schema(fields: Mapping[str, Any]) -> bool:
    """Whether an object has keywords of JSON Schema, and is none of a format."""
    kinds = fields.get("type")
    listed = kinds if isinstance(kinds, list) else [kinds]
    names_type = any(isinstance(kind, str) and kind in _TYPES for kind in listed)
    return names_type or any(keyword in fields for keyword in _KEYWORDS)


def _schema(value: Any, place: str) -> Any:
    if isinstance(value, dict | bool | str):
        return value
    hint = how_to_read(value, "its text or the parsed object")
    raise _error(f"{_a(value)}; expected a JSON Schema: an object, a Boolean or text{hint}", place)


def _a(value: Any) -> str:
    return "missing or null" if value is None else f"a {type(value).__name__}"


def _error(found: str, place: str) -> RequestError:
    return field_error(place, f"is {found}")
