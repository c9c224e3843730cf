"""The errors of this front-end, so that all of them read alike.

Idea: every message says what was found, where, and what was expected. Values are described by kind
and a clipped excerpt; nothing here recurses into a value, however deeply it is nested.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from ...errors import InvalidSchemaError, UnsupportedFeatureError, how_to_read
from ...shown import cut
from .locations import Location, render

__all__ = [
    "describe",
    "malformed",
    "non_string_key",
    "not_a_schema",
    "quoted_name",
    "surrogate",
    "unsupported_keyword",
]

_MAX_EXCERPT = 60


def _clip(text: str) -> str:
    return text if len(text) <= _MAX_EXCERPT else text[: _MAX_EXCERPT - 3] + "..."


def describe(value: Any) -> str:
    """Say in a few words what a value is, such as ``the number 5`` or ``an empty array``."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if value.bit_length() > 256:
            return f"an integer of {value.bit_length()} bits"
        return f"the number {int(value)}"
    if isinstance(value, (float, Decimal)):
        return _clip(f"the number {value}")
    if isinstance(value, str):
        return "the string " + _clip(json.dumps(value[: _MAX_EXCERPT + 1], ensure_ascii=False))
    if isinstance(value, (list, tuple)):
        return "an array" if value else "an empty array"
    if isinstance(value, dict):
        return "an object" if value else "an empty object"
    return f"a Python value of type {type(value).__qualname__}"


def quoted_name(name: str) -> str:
    """Return a member's name as messages show it: in quotes, and cut if it is long."""
    return json.dumps(cut(name, _MAX_EXCERPT), ensure_ascii=False)


def malformed(
    value: Any,
    expected: str,
    location: Location,
    *tokens: str,
    code: str = "schema-invalid-value",
) -> InvalidSchemaError:
    """Return the error for a keyword whose value is not of the form its specification gives."""
    pointer = render(location, *tokens)
    return InvalidSchemaError(
        f"{describe(value)} at {pointer}: expected {expected}", code=code, pointer=pointer
    )


def not_a_schema(value: Any, location: Location, *tokens: str) -> InvalidSchemaError:
    """Return the error for something other than a schema where a schema stands."""
    is_within = tokens or isinstance(location, tuple)
    expected = "a schema (an object or a Boolean)" + ("" if is_within else _how_to_pass(value))
    return malformed(value, expected, location, *tokens, code="schema-not-a-schema")


def _how_to_pass(value: Any) -> str:
    """Say what to pass instead of something that is not far from a schema; else nothing."""
    if value is None:
        return "; pass True for any JSON value"
    if isinstance(value, (list, tuple, set, frozenset)):
        return (
            '; pass {"anyOf": [...]} for one of several schemas, {"enum": [...]} for one of '
            'several values, {"type": "array"} for an array'
        )
    if isinstance(value, Mapping):
        return "; pass dict(...) of it"
    return how_to_read(value, "its text or the parsed object")


def non_string_key(key: Any, location: Location, *tokens: str) -> InvalidSchemaError:
    """Return the error for a Python dict with a key that no JSON object can have."""
    pointer = render(location, *tokens)
    return InvalidSchemaError(
        f"{describe(key)} is a key of the object at {pointer}: expected only strings as keys",
        code="schema-non-string-key",
        pointer=pointer,
    )


def surrogate(text: str, location: Location, *tokens: str) -> InvalidSchemaError:
    """Return the error for a lone surrogate in a string that values are compared with."""
    pointer = render(location, *tokens)
    return InvalidSchemaError(
        f"the string {json.dumps(text[:_MAX_EXCERPT])} at {pointer} contains a lone surrogate, "
        "which no UTF-8 text can contain: expected Unicode characters only",
        code="schema-lone-surrogate",
        pointer=pointer,
    )


def unsupported_keyword(
    keyword: str, location: Location, reason: str = ""
) -> UnsupportedFeatureError:
    """Return the error for a keyword that constrains values and is not supported."""
    pointer = render(location, keyword)
    detail = reason or "remove it, or express it with the supported keywords"
    return UnsupportedFeatureError(
        f'the keyword "{keyword}" at {pointer} is not supported: {detail}',
        code="schema-unsupported-keyword",
        feature=keyword,
        pointer=pointer,
    )
