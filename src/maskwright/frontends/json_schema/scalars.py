"""Keywords about any value (`type`, `enum`, `const`) and about strings (length, `pattern`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import (
    GrammarSyntaxError,
    InvalidSchemaError,
    LimitExceededError,
    UnsupportedFeatureError,
)
from ...ir import format as f
from ..regex import search
from .constants import constants_node
from .counts import add_counts
from .faults import malformed
from .locations import render

if TYPE_CHECKING:
    from .convert import Converter

__all__ = [
    "admits_type",
    "const",
    "enum",
    "nullable",
    "pattern",
    "pattern_expression",
    "string_length",
    "type_",
]

_EXPECTED = "one of the types " + ", ".join(f.TYPE_MASKS)

# Searches that find something, if only the empty string, in every string.
_MATCHES_ALL = frozenset(("", "^", "$", ".*", "^.*", ".*$", ".*?", "(.*)"))


def admits_type(conv: Converter, name: str) -> bool:
    """Whether `type` beside a keyword allows values of a type; also where it is malformed."""
    types = conv.schema.get("type")
    if isinstance(types, str):
        return types == name
    return name in types if isinstance(types, (list, tuple)) else True


def type_(conv: Converter, key: str, value: Any) -> None:
    """`type`: a name or an array of names."""
    or_null = conv.nullable and conv.schema.get("nullable") is True
    mask = _type_mask(conv, key, value)
    if or_null:
        mask |= f.TYPE_NULL
    if mask & (f.TYPE_INTEGER | f.TYPE_NUMBER) == f.TYPE_INTEGER:
        conv.facts.add("exact numbers")
    conv.add(conv.builder.types(mask))


def nullable(conv: Converter, key: str, _value: Any) -> None:
    """`nullable`: belongs to `type`, and has no effect without it."""
    if "type" not in conv.schema:
        conv.ignore(key)


def _type_mask(conv: Converter, key: str, value: Any) -> int:
    mask = f.TYPE_MASKS.get(value) if isinstance(value, str) else None
    if mask is not None:
        return mask
    if isinstance(value, str) or not isinstance(value, (list, tuple)) or not value:
        expected = f"{_EXPECTED}, or a non-empty array of them"
        raise malformed(value, expected, conv.location, key)
    mask = 0
    for index, name in enumerate(value):
        bit = f.TYPE_MASKS.get(name) if isinstance(name, str) else None
        if bit is None:
            raise malformed(name, _EXPECTED, conv.location, key, str(index))
        mask |= bit
    return mask


def enum(conv: Converter, key: str, value: Any) -> None:
    """`enum`: any one of the values; of none, no value."""
    if not isinstance(value, (list, tuple)):
        raise malformed(value, "an array of values", conv.location, key)
    conv.add(constants_node(conv, value, key))


def const(conv: Converter, key: str, value: Any) -> None:
    """`const`: exactly this value."""
    conv.add(constants_node(conv, (value,), key))


def string_length(conv: Converter, key: str, _value: Any) -> None:
    """`minLength`, `maxLength`, in code points."""
    add_counts(conv, key, "minLength", "maxLength", conv.builder.string_length)


def pattern(conv: Converter, key: str, value: Any) -> None:
    """`pattern`: a search in the string, of ECMA-262."""
    if not isinstance(value, str):
        raise malformed(value, "a regular expression as a string", conv.location, key)
    if value in _MATCHES_ALL:
        return
    conv.add(conv.builder.string_language(pattern_expression(conv, value, key)))


def pattern_expression(conv: Converter, text: str, *tokens: str) -> int:
    """Return the expression of a pattern that stands at `tokens` below the schema at hand."""
    known = conv.patterns.get(text)
    if known is None:
        known = conv.patterns[text] = _lower(conv, text, *tokens)
    return known


def _lower(conv: Converter, text: str, *tokens: str) -> int:
    """Return the expression of a pattern; errors say where in the schema it stands."""
    try:
        return search(conv.builder, text)
    except GrammarSyntaxError as error:
        pointer = render(conv.location, *tokens)
        raise InvalidSchemaError(
            f"the pattern at {pointer} is no regular expression: {error}",
            code="schema-invalid-pattern",
            pointer=pointer,
        ) from error
    except UnsupportedFeatureError as error:
        pointer = render(conv.location, *tokens)
        raise UnsupportedFeatureError(
            f"the pattern at {pointer} is not supported: {error}",
            code=error.code,
            feature=error.feature,
            pointer=pointer,
        ) from error
    except LimitExceededError as error:
        raise LimitExceededError(
            f"the pattern at {render(conv.location, *tokens)} is too large: {error}",
            code=error.code,
            limit=error.limit,
            value=error.value,
        ) from error
