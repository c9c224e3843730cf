"""Keywords that constrain values and are refused by name, unless they say nothing where they stand.

Idea: nothing is dropped silently. A keyword without effect by its own specification (one about
arrays beside `"type": "string"`) is listed as ignored; every other use is an error with the pointer
of the keyword.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .faults import not_a_schema, unsupported_keyword
from .scalars import admits_type

if TYPE_CHECKING:
    from .convert import Converter

__all__ = ["keyword", "schema"]

_CONSTRAINS = {"unevaluatedItems": "array", "unevaluatedProperties": "object"}


def keyword(conv: Converter, key: str, _value: Any) -> None:
    """Any keyword that is refused whatever its value."""
    if key not in _CONSTRAINS or admits_type(conv, _CONSTRAINS[key]):
        raise unsupported_keyword(key, conv.location)
    conv.ignore(key)


def schema(conv: Converter, key: str, value: Any) -> None:
    """A keyword with one schema, which says nothing when that is `true`."""
    if not isinstance(value, (dict, bool)):
        raise not_a_schema(value, conv.location, key)
    if value is not True:
        keyword(conv, key, value)
