"""Whether a JSON text is valid under a schema: `jsonschema`, made exact.

The library judges by Python's patterns, and reads decimals as binary fractions. Here patterns are
ECMAScript's, numbers are int or Decimal (a number without fraction is an int however it is
written), and lengths are code points, as Python's are. The library's `uniqueItems` sorts, and
overlooks `[1, true, 1]`; that one is replaced too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal, localcontext
from functools import cache
from typing import Any

import jsonschema
from jsonschema.exceptions import ValidationError

from ecmascript import UnsureError, search

LIBRARIES = {
    "draft4": jsonschema.Draft4Validator,
    "draft6": jsonschema.Draft6Validator,
    "draft7": jsonschema.Draft7Validator,
    "draft2019-09": jsonschema.Draft201909Validator,
    "draft2020-12": jsonschema.Draft202012Validator,
}
"""The library's classes by the short names of the drafts."""

# Beyond the exponents that are admitted for integers.
_MAX_INTEGER_DIGITS = 4000
_PRECISION = 1000


def exact_number(text: str) -> Any:
    """A number as int or Decimal.

    Raises:
        UnsureError: Its exponent is beyond both.
    """
    try:
        value = Decimal(text)
    except ArithmeticError:
        raise UnsureError(text) from None
    if value.adjusted() < _MAX_INTEGER_DIGITS and value == value.to_integral_value():
        return int(value)
    return value


def exact_loads(text: str | bytes) -> Any:
    """A JSON text with exact numbers."""
    return json.loads(text, parse_float=exact_number)


class Judge:
    """The verdicts of one schema.

    Args:
        schema_text: The schema as JSON text.
        draft: What it is written in, unless its `$schema` says so; a key of LIBRARIES.
        options: Of the library's class, such as `registry`.
    """

    def __init__(self, schema_text: str, draft: str = "draft2020-12", **options: Any) -> None:
        schema = exact_loads(schema_text)
        library = jsonschema.validators.validator_for(schema, default=LIBRARIES[draft])
        if isinstance(schema, dict):
            schema.pop("$schema", None)  # a reference to the root would go back to the library's
        self._validator = _exact_class(library)(schema, **options)

    def is_valid(self, text: str | bytes) -> bool | None:
        """Whether a JSON text is valid; None if the judge cannot know.

        Raises:
            ValueError: It is no JSON.
        """
        try:
            instance = exact_loads(text)
            with localcontext() as context:
                context.prec = _PRECISION
                return bool(self._validator.is_valid(instance))
        except (UnsureError, ArithmeticError):
            return None


@cache
def _exact_class(library: Any) -> Any:
    own = {
        "additionalProperties": _additional_properties,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "uniqueItems": _unique_items,
    }
    return jsonschema.validators.extend(library, own)


def _pattern(validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "string") and not search(pattern, instance):
        yield ValidationError("pattern")


def _pattern_properties(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "object"):
        for pattern, inner in value.items():
            for name, member in instance.items():
                if search(pattern, name):
                    yield from validator.descend(member, inner, path=name, schema_path=pattern)


def _additional_properties(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "object"):
        for name, member in instance.items():
            listed = name in schema.get("properties", {})
            if not listed and not any(search(p, name) for p in schema.get("patternProperties", {})):
                yield from validator.descend(member, value, path=name)


def _unique_items(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if value and validator.is_type(instance, "array"):
        items = [identity(item) for item in instance]
        if len(set(items)) < len(items):
            yield ValidationError("uniqueItems")


def identity(value: Any) -> Any:
    """What is equal exactly for values that JSON Schema calls equal; hashable."""
    if isinstance(value, list):
        return ("array", *map(identity, value))
    if isinstance(value, dict):
        return ("object", frozenset((name, identity(member)) for name, member in value.items()))
    return (isinstance(value, bool), value)
