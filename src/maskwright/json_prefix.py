"""Where a prefix of JSON text ends: its JSON pointer, and whether that is inside a string.

Idea: the text is read token by token, and what may come next is known at each, so that a text
which is not the beginning of JSON is not taken for one.
Cost: linear in the text.
"""

from __future__ import annotations

import json
import re
from typing import Final

__all__ = ["ends_in_string", "pointer_of"]

# What may stand in a string; at the end of the text an escape may be cut off.
_STRING: Final = re.compile(
    r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*'
    r'(?:(?P<closed>")|(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z)'
)
_NUMBER: Final = re.compile(
    r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9.eE+-])"
    r"|-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:(?<=[0-9])[eE][+-]?)?)?\Z"
)
_WORDS: Final = ("true", "false", "null")
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_CLOSING: Final = {"{": "}", "[": "]"}


def ends_in_string(text: str) -> bool:
    """Return whether a prefix of JSON text ends inside a string."""
    at = 0
    while (at := text.find('"', at)) >= 0:
        end = _string_end(text, at)
        if end is None:
            return True
        at = end
    return False


def pointer_of(text: str) -> str | None:
    """Return the JSON pointer of the value that a prefix of JSON text ends in.

    None: no JSON text begins so.
    """
    reader = _Reader(text)
    return reader.pointer() if reader.read() else None


class _Reader:
    """Reads a prefix of JSON text.

    Args:
        text: The text.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._open: list[str] = []  # the brackets
        self._path: list[str | int | None] = []  # of each; None: before or within a name
        self._name = ""  # the last one
        self._next = "value"  # or "first" of a bracket, "name", ":" or "," behind a value

    def read(self) -> bool:
        """Read the text; False: it does not begin as JSON does."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at == len(self._text):
                return True
            if not self._read_token(self._text[self._at]):
                return False

    def pointer(self) -> str:
        """Return the place that was read up to."""
        path = self._path
        if path and path[-1] is None:
            path = path[:-1]  # the place is the object
        tokens = [str(part).replace("~", "~0").replace("/", "~1") for part in path]
        return "#" + "".join(f"/{token}" for token in tokens)

    def _read_token(self, char: str) -> bool:
        last = self._open[-1] if self._open else ""
        if char in "}]":
            return self._next in ("first", ",") and _CLOSING.get(last) == char and self._close()
        if self._next == ",":
            return char == "," and bool(last) and self._begin_another()
        if self._next == ":":
            self._path[-1] = self._name
            self._next = "value"
            self._at += 1
            return char == ":"
        if self._next == "name" or (self._next == "first" and last == "{"):
            return self._read_name()
        return self._read_value(char)

    def _close(self) -> bool:
        self._open.pop()
        self._path.pop()
        return self._go_on(self._at + 1)

    def _begin_another(self) -> bool:
        index = self._path[-1]
        self._path[-1] = index + 1 if isinstance(index, int) else None
        self._next = "value" if isinstance(index, int) else "name"
        self._at += 1
        return True

    def _read_name(self) -> bool:
        found = _STRING.match(self._text, self._at)
        if found is None:
            return False
        if found["closed"]:
            self._name = json.loads(found.group())
        self._at = found.end()
        self._next = ":"
        return True

    def _read_value(self, char: str) -> bool:
        if char in "{[":
            self._open.append(char)
            self._path.append(None if char == "{" else 0)
            self._next = "first"
            self._at += 1
            return True
        if char in "tfn":
            rest = self._text[self._at : self._at + 5]
            word = next(word for word in _WORDS if word[0] == char)
            return (rest.startswith(word) or word.startswith(rest)) and self._go_on(
                min(self._at + len(word), len(self._text))
            )
        found = (_STRING if char == '"' else _NUMBER).match(self._text, self._at)
        return found is not None and self._go_on(found.end())

    def _go_on(self, at: int) -> bool:
        """Go on behind a value."""
        self._at = at
        self._next = ","
        return True


def _string_end(text: str, at: int) -> int | None:
    """Return where the string that starts at a quote ends; None: beyond the text."""
    at += 1
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == '"':
            return at + 1
        at += 1
    return None
