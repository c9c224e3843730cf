"""Checks of what a chat engine is told when it is made."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Final

from maskwright.chat.errors import shown
from maskwright.compile_requests import json_schema_request

_NO_OPTIONS: Final = frozenset({"schema", "recorder", "places"})
"""Arguments of the front-end that are not for those who ask for a grammar."""


def checked_count(name: str, value: object, least: int) -> int:
    """Return an option that is a number of things.

    Raises:
        TypeError: It is no int.
        ValueError: It is below `least`.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is {shown(value)}; expected an int")
    if value < least:
        raise ValueError(f"{name} is {value}; expected at least {least}")
    return value


def checked_limit(name: str, value: object) -> int | None:
    """Return an option that limits a number of things, None for no limit; see `checked_count`."""
    return None if value is None else checked_count(name, value, 0)


def checked_seconds(name: str, value: object) -> float | None:
    """Return an option that limits a time, None for no limit.

    Raises:
        TypeError: It is no number.
        ValueError: It is not positive.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} is {shown(value)}; expected a number or None")
    if not value > 0:
        raise ValueError(f"{name} is {value}; expected more than 0")
    return value


def checked_json_options(given: object, *, plain_spelling: bool) -> dict[str, Any]:
    """Return how JSON Schemas are compiled: what is given, else one layout of the JSON.

    Raises:
        TypeError: It is no mapping, has an option that there is not, or one of a wrong type.
        MaskwrightError: An option has no meaning; or a document of the registry is malformed.
    """
    from maskwright.frontends.json_schema import compile_json_schema

    if not isinstance(given, Mapping | None):
        raise TypeError(f"json_options is {shown(given)}; expected a mapping")
    known = inspect.signature(compile_json_schema).parameters.keys() - _NO_OPTIONS
    options: dict[str, Any] = {
        "any_whitespace": False,
        "number_spelling": "decimal" if plain_spelling else "any",
        **(given or {}),
    }
    for name in options:
        if name not in known:
            expected = ", ".join(sorted(known))
            raise TypeError(f"json_options has {shown(name)}; expected some of {expected}")
    json_schema_request(True, **options).make_grammar()
    return options
