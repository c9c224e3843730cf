"""Checks of what a chat engine is told when it is made."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from maskwright.chat.errors import shown
from maskwright.chat.snapshots import snapshot
from maskwright.compile_requests import json_schema_request
from maskwright.errors import GrammarError, LimitExceededError, UnsupportedFeatureError
from maskwright.shown import printable

_NO_OPTIONS: Final = frozenset({"schema", "recorder", "places"})
"""Arguments of the front-end that are not for those who ask for a grammar."""


def checked_text(name: str, value: object) -> str:
    """Return an option that is text.

    Raises:
        TypeError: It is no str.
        ValueError: It has lone surrogates, which no answer can be sent with.
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} is {shown(value)}; expected a str")
    if printable(value) != value:
        raise ValueError(f"{name} is {shown(value)}; expected Unicode text, no lone surrogates")
    return value


def checked_json_options(given: object, *, plain_spelling: bool) -> dict[str, Any]:
    """Return how JSON Schemas are compiled: what is given, else one layout of the JSON.

    What is returned is a copy, documents of the registry included.

    Raises:
        TypeError: It is no mapping, has an option that there is not, or one of a wrong type.
        MaskwrightError: An option has no meaning, or no effect beside the others; or a document of
            the registry is malformed, or refers to what is not there.
    """
    from maskwright.frontends.json_schema import compile_json_schema

    if not isinstance(given, Mapping | None):
        raise TypeError(f"json_options is {shown(given)}; expected a mapping")
    known = inspect.signature(compile_json_schema).parameters.keys() - _NO_OPTIONS
    options: dict[str, Any] = {
        "any_whitespace": False,
        "number_spelling": "decimal" if plain_spelling else "any",
        **snapshot(dict(given or {})),
    }
    for name in options:
        if name not in known:
            expected = ", ".join(sorted(known))
            raise TypeError(f"json_options has {shown(name)}; expected some of {expected}")
    json_schema_request(True, **options).make_grammar()
    _refuse_idle(options)
    for uri in options.get("registry") or ():
        _check_document(uri, options)
    return options


def _refuse_idle(options: dict[str, Any]) -> None:
    """Refuse options that another one leaves without effect."""
    free = options["any_whitespace"]
    for name in ("separators", "indent") if free else ("max_whitespace_cnt",):
        if options.get(name) is not None:
            raise GrammarError(
                f"json_options has {name} beside any_whitespace={free}, and it has no effect then: "
                f"leave it out, or set any_whitespace to {not free}",
                code="schema-invalid-option",
            )


def _check_document(uri: str, options: dict[str, Any]) -> None:
    """Check what the root of a document of the registry reaches.

    What is well-formed and not supported is left to those who refer to it, if anybody does.
    """
    with suppress(UnsupportedFeatureError, LimitExceededError):
        json_schema_request({"$ref": uri}, **options).make_grammar()
