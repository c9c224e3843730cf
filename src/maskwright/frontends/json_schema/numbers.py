"""Numbers as exact decimals, and the keywords that constrain them.

Idea: a bound or divisor goes to the core as plain decimal text, so no binary rounding comes between
the schema and its meaning. A Python float stands for the shortest decimal that reads back as it
(its `repr`), which is what its author wrote.
Cost: linear in the digits; `1e999999999` would have a billion, hence the limit.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ...errors import LimitExceededError, UnsupportedFeatureError
from .faults import malformed
from .locations import render

if TYPE_CHECKING:
    from .convert import Converter

__all__ = ["MAX_NUMBER_DIGITS", "bounds", "multiple_of", "number_text"]

MAX_NUMBER_DIGITS = 2000
"""Default for the digits that a number may have once its exponent is written out."""

_BITS_PER_DIGIT = 3.33
_MAX_DIVISOR_UNITS = 2**59
"""What a divisor may be in units of its last digit: residues must fit the core's words."""

_FINITE = "a finite number"


def number_text(conv: Converter, value: Any, expected: str, *tokens: str) -> str:
    """Return a number as normalised plain decimal text, such as ``-12.5``.

    Args:
        conv: The conversion at hand.
        value: What should be a number.
        expected: What to say when it is none.
        tokens: Where it stands below the location at hand.

    Raises:
        InvalidSchemaError: It is no finite number.
        LimitExceededError: It has too many digits without exponent.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        if value.bit_length() <= conv.max_number_digits * _BITS_PER_DIGIT:
            return int.__repr__(value)
        raise _too_long(conv, tokens)
    if isinstance(value, float):
        value = Decimal(float.__repr__(value))
    elif not isinstance(value, Decimal):
        raise malformed(value, expected, conv.location, *tokens)
    if not value.is_finite():
        raise malformed(value, _FINITE, conv.location, *tokens)
    if not value:
        return "0"
    text = str(value)
    if "E" not in text and 2 * len(text) <= conv.max_number_digits:
        # Short and without exponent, as nearly all are.
        return text.rstrip("0").rstrip(".") if "." in text else text
    _, digits, exponent = value.as_tuple()
    if len(digits) + abs(int(exponent)) > conv.max_number_digits:
        raise _too_long(conv, tokens)
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _too_long(conv: Converter, tokens: tuple[str, ...]) -> LimitExceededError:
    limit = conv.max_number_digits
    return LimitExceededError(
        f"the number at {render(conv.location, *tokens)} has more than "
        f"max_number_digits = {limit} digits when it is written without exponent",
        code="schema-number-digits",
        limit="max_number_digits",
        value=limit,
    )


_KEYS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def bounds(conv: Converter, key: str, _value: Any) -> None:
    """`minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`; the first does all of them."""
    schema = conv.schema
    for name in _KEYS:
        if name == key:
            break
        if name in schema:
            return
    low, low_flag, low_exclusive = _side(conv, "minimum", "exclusiveMinimum")
    high, high_flag, high_exclusive = _side(conv, "maximum", "exclusiveMaximum")
    number = conv.builder.number
    if low is not None or high is not None:
        conv.add(number(low, high, low_flag, high_flag))
        conv.facts.add("exact numbers")
    if low_exclusive is not None or high_exclusive is not None:
        conv.add(number(low_exclusive, high_exclusive, True, True))
        conv.facts.add("exact numbers")


def _side(conv: Converter, key: str, exclusive_key: str) -> tuple[str | None, bool, str | None]:
    """Return inclusive bound, whether a Boolean makes it exclusive, and the exclusive bound."""
    schema = conv.schema
    bound = None
    if key in schema:
        bound = number_text(conv, schema[key], "a number", key)
    if exclusive_key not in schema:
        return bound, False, None
    exclusive: Any = schema[exclusive_key]
    form = conv.resource.dialect.exclusive
    if isinstance(exclusive, bool):
        if form == "number":
            expected = f'a number (the Boolean form beside "{key}" is that of draft 4)'
            raise malformed(exclusive, expected, conv.location, exclusive_key)
        if exclusive and bound is None:
            expected = f'"{key}" beside it, which it makes exclusive'
            raise malformed(exclusive, expected, conv.location, exclusive_key)
        return bound, exclusive, None
    if form == "boolean":
        expected = "a Boolean (the form with a number came with draft 6)"
        raise malformed(exclusive, expected, conv.location, exclusive_key)
    return bound, False, number_text(conv, exclusive, "a number", exclusive_key)


def multiple_of(conv: Converter, key: str, value: Any) -> None:
    """`multipleOf`: a divisor above 0."""
    expected = "a number above 0"
    text = number_text(conv, value, expected, key)
    if text == "0" or text.startswith("-"):
        raise malformed(value, expected, conv.location, key)
    if int(text.replace(".", "").strip("0")) > _MAX_DIVISOR_UNITS:
        pointer = render(conv.location, key)
        raise UnsupportedFeatureError(
            f'the "{key}" at {pointer} is not supported: '
            "expected a divisor of at most 17 significant digits",
            code="schema-unsupported-divisor",
            feature=key,
            pointer=pointer,
        )
    conv.facts.add("exact numbers")
    conv.add(conv.builder.multiple_of(text))
