"""Checks of the options that a schema is compiled with.

Idea: an option is checked whether or not the schema comes to need it, so a faulty one shows with
the first schema, and its message names the option and no place in the schema.
"""

from __future__ import annotations

import re
from operator import index
from typing import Any

from ...errors import GrammarError, UnsupportedFeatureError
from ...ir import format as f
from ...shown import shown
from .counts import MAX_COUNT
from .dialects import DEFAULT, Dialect, dialect_named

__all__ = [
    "check_flags",
    "checked_count",
    "checked_dialect",
    "checked_separators",
    "checked_spelling",
    "checked_whitespace",
]

_DEFAULT_SEPARATORS = (b", ", b": ")
_ITEM_SEPARATOR = re.compile(r"[ \t\n\r]*,[ \t\n\r]*")
_KEY_SEPARATOR = re.compile(r"[ \t\n\r]*:[ \t\n\r]*")


def check_flags(**flags: object) -> None:
    """Check options that are true or false.

    Raises:
        TypeError: One is no bool.
    """
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name} is {shown(value)}; expected True or False")


def checked_count(name: str, value: Any, most: int | None = None) -> int:
    """Return an option that is a number of things, of 0 or more.

    Raises:
        TypeError: It is no integer.
        GrammarError: It is out of range.
    """
    count = value if type(value) is int else _as_integer(name, value, most)
    if count < 0 or (most is not None and count > most):
        raise _invalid(f"{name} is {shown(count)}: expected an integer {_bounds(most)}")
    return count


def checked_dialect(name: str | None) -> Dialect:
    """Return the dialect of schemas that name none.

    Raises:
        TypeError: The name is no text.
        GrammarError: There is no such dialect.
    """
    if name is None:
        return DEFAULT
    if not isinstance(name, str):
        raise TypeError(f"dialect is a {type(name).__name__}; expected a str or None")
    found = dialect_named(name)
    if found is None:
        raise _invalid(
            f'the dialect "{name}" is not known: expected draft4, draft6, draft7, draft2019-09, '
            "draft2020-12 or the URI of a meta-schema"
        )
    return found


def checked_separators(
    separators: Any, indent: int | None, *, any_whitespace: bool
) -> tuple[bytes, bytes]:
    """Return what stands between items, and between key and value.

    Raises:
        TypeError: They are no two texts, or ``indent`` is no integer.
        GrammarError: They are no separators of JSON, or there is an ``indent`` that would matter.
    """
    if indent is not None:
        checked_count("indent", indent)
        if not any_whitespace:
            raise UnsupportedFeatureError(
                "the option indent is not supported: use indent=None, or any_whitespace=True",
                code="schema-unsupported-option",
                feature="indent",
            )
    if separators is None:
        return (b",", b":") if any_whitespace else _DEFAULT_SEPARATORS
    if not isinstance(separators, tuple | list | str) or not all(
        isinstance(text, str) for text in separators
    ):
        raise TypeError(f"separators are {shown(separators)}; expected two str: (', ', ': ')")
    item, key = tuple(separators) if len(separators) == 2 else ("", "")
    if not (_ITEM_SEPARATOR.fullmatch(item) and _KEY_SEPARATOR.fullmatch(key)):
        raise _invalid(
            f"separators are {', '.join(map(shown, separators))}: expected two, a comma and a "
            "colon, each with JSON whitespace around it at most"
        )
    return (b",", b":") if any_whitespace else (item.encode("ascii"), key.encode("ascii"))


def checked_spelling(spelling: Any) -> Any:
    """Return how numbers are spelled.

    Raises:
        GrammarError: There is no such spelling.
    """
    if not isinstance(spelling, str) or spelling not in f.NUMBER_SPELLINGS.values():
        raise _invalid(
            f"number_spelling is {shown(spelling)}: expected 'any', 'decimal' or 'plain'"
        )
    return spelling


def checked_whitespace(count: int | None, default: int, *, any_whitespace: bool) -> int:
    """Return how many bytes of whitespace may stand at one place.

    Raises:
        TypeError: The count is no integer.
        GrammarError: It is out of range.
    """
    given = default if count is None else checked_count("max_whitespace_cnt", count, MAX_COUNT)
    return given if any_whitespace else 0


def _as_integer(name: str, value: Any, most: int | None) -> int:
    message = f"{name} is {shown(value)}; expected an integer {_bounds(most)}"
    if isinstance(value, bool):
        raise TypeError(message)
    try:
        return index(value)
    except TypeError as error:  # also of an array, which is one only if it has one element
        raise TypeError(message) from error


def _bounds(most: int | None) -> str:
    return "of 0 or more" if most is None else f"from 0 to {most}"


def _invalid(message: str) -> GrammarError:
    return GrammarError(message, code="schema-invalid-option")
