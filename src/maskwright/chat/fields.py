"""Takes fields out of an object of a request, and checks them on the way.

Idea: numbers may be of any type that says it is one (Python's, numpy's, fractions, decimals), and
what is read is a plain int or float, so nothing behind this sees another.
"""

from __future__ import annotations

import math
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

from maskwright.chat.errors import field_error, shown, unknown_field


def plain_integer(value: object) -> int | None:
    """An integer of any type as an int; None: it is none. A bool is none, though Python says so."""
    is_bool = isinstance(value, bool)
    return None if is_bool or not isinstance(value, Integral) else int(value)


def plain_number(value: object) -> float | None:
    """A finite real number of any type as a float; None: it is none. A bool is none."""
    is_bool = isinstance(value, bool)
    if is_bool or not isinstance(value, Real | Decimal):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):  # beyond every float; a signaling NaN
        return None
    return number if math.isfinite(number) else None


class FieldReader:
    """Takes fields out of an object; a field that is None is one that is not there.

    Args:
        fields: The object. Not changed.
        within: What its fields' names begin with in messages.
    """

    def __init__(self, fields: dict[str, Any], within: str = "") -> None:
        self._fields = {name: value for name, value in fields.items() if value is not None}
        self._within = within

    def take(self, name: str) -> Any:
        """The value of a field, None if it is not there."""
        return self._fields.pop(name, None)

    def boolean(self, name: str) -> bool:
        """The value of a field that is true or false; false if it is not there.

        Raises:
            RequestError: It is something else.
        """
        value = self.take(name)
        if value is not None and not isinstance(value, bool):
            raise field_error(self._within + name, f"is {shown(value)}; expected true or false")
        return bool(value)

    def text(self, name: str) -> str | None:
        """The value of a field that is text, None if it is not there.

        Raises:
            RequestError: It is something else.
        """
        value = self.take(name)
        if value is not None and not isinstance(value, str):
            raise field_error(self._within + name, f"is {shown(value)}; expected text")
        return value

    def integer(self, name: str, low: int, high: int | None = None) -> int | None:
        """The value of a field that is an integer within bounds, None if it is not there.

        Raises:
            RequestError: It is something else.
        """
        value = self.take(name)
        if value is None:
            return None
        number = plain_integer(value)
        if number is None or number < low or (high is not None and number > high):
            bounds = f"at least {low}" if high is None else f"from {low} to {high}"
            raise field_error(
                self._within + name, f"is {shown(value)}; expected an integer {bounds}"
            )
        return number

    def finish(self, ignored: frozenset[str] = frozenset()) -> None:
        """Refuse what is left, but for what is ignored on purpose.

        Raises:
            RequestError: There is such a field (``request-unknown-field``).
        """
        for name in self._fields:
            if name not in ignored:
                raise unknown_field(f"{self._within}{name}")
