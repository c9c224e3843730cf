"""The forms in which a schema is given: JSON text, dicts, and whatever pydantic can read.

Idea: types become JSON Schema through pydantic, which is loaded only then; this package has no
opinion of its own about what a dataclass or a ``Literal`` means. Members keep the order in which
they are declared.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from decimal import Decimal
from io import IOBase
from os import PathLike
from typing import Any

from ...errors import InvalidSchemaError, MissingDependencyError, how_to_read
from .faults import describe, not_a_schema
from .json_text import parse_json

__all__ = ["schema_of"]

# Values that are neither schemas nor types: a mistake, and no reason to load pydantic.
_VALUES = (
    *(int, float, Decimal, type(None)),
    *(list, tuple, set, frozenset, Mapping),
    *(bytes, bytearray, memoryview, PathLike, IOBase),
)


def schema_of(source: Any) -> dict[str, Any] | bool:
    """Return a schema as an object or a Boolean, whatever form it was given in.

    Args:
        source: A dict or bool, JSON text, a pydantic model or ``TypeAdapter``, or a type: a
            dataclass, ``TypedDict``, ``NamedTuple``, ``Enum``, ``list[int]``, ``Literal``,
            ``int | None``, ``Annotated[...]`` and so on.

    Raises:
        GrammarSyntaxError: The text is no JSON.
        InvalidSchemaError: It is no schema (``schema-not-a-schema``), or pydantic makes none of it
            (``schema-unsupported-type``).
        MissingDependencyError: It is a type, and pydantic is not installed.

    Example:
        >>> schema_of('{"type": "string"}')
        {'type': 'string'}
    """
    if isinstance(source, str):
        source = parse_json(source)
    elif isinstance(source, (dict, bool)):
        return source
    elif callable(getattr(source, "model_json_schema", None)):
        source = source.model_json_schema()
    elif not (isinstance(source, _VALUES) or how_to_read(source)):
        source = _schema_of_type(source)
    if isinstance(source, (dict, bool)):
        return source
    raise not_a_schema(source, None)


def _schema_of_type(source: Any) -> Any:
    try:
        import pydantic
    except ImportError as error:
        raise MissingDependencyError(
            f"{_named(source)} as a schema needs pydantic: pip install pydantic, or pass the JSON "
            "Schema itself",
            code="missing-dependency",
        ) from error
    try:
        adapter = (
            source if isinstance(source, pydantic.TypeAdapter) else pydantic.TypeAdapter(source)
        )
        with warnings.catch_warnings():
            # A default that JSON has no form for is left out of the schema, which loses nothing.
            warnings.simplefilter("ignore", pydantic.json_schema.PydanticJsonSchemaWarning)
            return adapter.json_schema()
    except (pydantic.PydanticUserError, NameError) as error:
        raise InvalidSchemaError(
            f"{_named(source)} has no JSON Schema: {str(error).splitlines()[0]}; expected a type "
            "that pydantic can validate, or a schema as a dict or JSON text",
            code="schema-unsupported-type",
            pointer="#",
        ) from error


def _named(source: Any) -> str:
    name = getattr(source, "__qualname__", None)
    return f"the type {name}" if isinstance(name, str) else describe(source)
