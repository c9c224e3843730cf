"""Keywords that constrain values and are refused by name, unless they say nothing where they stand.

Idea: nothing is dropped silently. A keyword without effect by its own specification (one about
arrays beside `"type": "string"`) is listed as ignored; every other use is an error with the pointer
of the keyword.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ...errors import UnsupportedFeatureError
from .faults import malformed, not_a_schema, unsupported_keyword
from .locations import render

if TYPE_CHECKING:
    from .convert import Converter

__all__ = [
    "FORMATS",
    "contains_count",
    "format_",
    "has_effect",
    "keyword",
    "multiple_of",
    "schema",
    "unique_items",
]

FORMATS = frozenset((
    "date", "date-time", "duration", "email", "hostname", "idn-email", "idn-hostname", "ipv4",
    "ipv6", "iri", "iri-reference", "json-pointer", "regex", "relative-json-pointer", "time", "uri",
    "uri-reference", "uri-template", "uuid",
))  # fmt: skip
"""The formats that some draft defines; any other name is an annotation."""

_CONSTRAINS = {
    "contains": "array",
    "dependencies": "object",
    "dependentRequired": "object",
    "dependentSchemas": "object",
    "format": "string",
    "unevaluatedItems": "array",
    "unevaluatedProperties": "object",
    "uniqueItems": "array",
}


def has_effect(conv: Converter, key: str) -> bool:
    """Whether `type` beside the keyword allows a value that the keyword constrains."""
    types = conv.schema.get("type")
    if types is None or key not in _CONSTRAINS:
        return True
    return _CONSTRAINS[key] in ((types,) if isinstance(types, str) else types)


def keyword(conv: Converter, key: str, _value: Any) -> None:
    """Any keyword that is refused whatever its value."""
    if has_effect(conv, key):
        raise unsupported_keyword(key, conv.location)
    conv.ignore(key)


def schema(conv: Converter, key: str, value: Any) -> None:
    """A keyword with one schema, which says nothing when that is `true`."""
    if not isinstance(value, (dict, bool)):
        raise not_a_schema(value, conv.location, key)
    if value is not True:
        keyword(conv, key, value)


def unique_items(conv: Converter, key: str, value: Any) -> None:
    """`uniqueItems`; false says nothing."""
    if not isinstance(value, bool):
        raise malformed(value, "a Boolean", conv.location, key)
    if value:
        keyword(conv, key, value)


def multiple_of(conv: Converter, key: str, value: Any) -> None:
    """`multipleOf`."""
    number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
    if not number or not value > 0:
        raise malformed(value, "a number above 0", conv.location, key)
    keyword(conv, key, value)


def contains_count(conv: Converter, key: str, _value: Any) -> None:
    """`minContains` and `maxContains`; without `contains` they say nothing."""
    if "contains" not in conv.schema:
        conv.ignore(key)


def format_(conv: Converter, key: str, value: Any) -> None:
    """`format`; refused if it is asserted, has a meaning, and strings are allowed here."""
    if not isinstance(value, str):
        raise malformed(value, "the name of a format as a string", conv.location, key)
    if not conv.assert_format or value not in FORMATS or not has_effect(conv, key):
        conv.ignore(key)
        return
    pointer = render(conv.location, key)
    raise UnsupportedFeatureError(
        f'the format "{value}" at {pointer} is not supported: '
        "with assert_format=False it is read as an annotation",
        code="schema-unsupported-format",
        feature=key,
        pointer=pointer,
    )
