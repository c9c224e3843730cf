"""Reading a schema given as JSON text (RFC 8259), exactly and at any depth.

Idea: a native reader does the work in nearly all cases. Whatever it stumbles over (a syntax error,
a duplicate key, NaN) is read again by the scanner of this file, which knows positions: it gives the
error to show. Both keep every number exact, and use an explicit stack.
Cost: linear; the second scanner is some 100 times slower and runs on faulty texts only.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

from ..._native import read_json
from ...errors import GrammarSyntaxError

__all__ = ["parse_json"]

# int() refuses longer texts on its own; Decimal has no such limit.
_MAX_INT_DIGITS = 4000

_WHITESPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_STRING = re.compile(r'"((?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)"')
_STRING_PREFIX = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_LITERALS = {"true": True, "false": False, "null": None}


def parse_json(text: str) -> Any:
    """Return the value of a JSON text; numbers with a fraction or exponent become ``Decimal``.

    Raises:
        GrammarSyntaxError: The text is no JSON, or an object in it has a duplicate key (code
            ``schema-invalid-json``; with line, column and the offending line).
    """
    try:
        return read_json(text)
    except (ValueError, ArithmeticError):
        return _Scanner(text).value()


class _Scanner:
    """A JSON reader with an explicit stack: arrays and objects under construction."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        # Each entry: the container, and for an object the key whose value is being read.
        self._stack: list[tuple[Any, str | None]] = []

    def _error(self, message: str, offset: int | None = None) -> GrammarSyntaxError:
        return GrammarSyntaxError(
            f"the schema is not valid JSON: {message}",
            code="schema-invalid-json",
            source=self._text,
            offset=self._at if offset is None else offset,
        )

    def _skip(self) -> str:
        match = _WHITESPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._text[self._at : self._at + 1]

    def _found(self) -> str:
        char = self._text[self._at : self._at + 1]
        return f"found {json.dumps(char, ensure_ascii=False)}" if char else "found the end"

    def value(self) -> Any:
        """Read the whole text."""
        while True:
            done, value = self._open()
            while done:
                if not self._stack:
                    if self._skip():
                        raise self._error(f"expected nothing after the value, {self._found()}")
                    return value
                done, value = self._close(value)

    def _open(self) -> tuple[bool, Any]:
        """Start a value: (True, value) when it is complete, else its container is on the stack."""
        char = self._skip()
        if char == "[":
            self._at += 1
            if self._skip() == "]":
                self._at += 1
                return True, []
            self._stack.append(([], None))
            return False, None
        if char == "{":
            self._at += 1
            if self._skip() == "}":
                self._at += 1
                return True, {}
            members: dict[str, Any] = {}
            self._stack.append((members, self._key(members)))
            return False, None
        return True, self._scalar(char)

    def _close(self, value: Any) -> tuple[bool, Any]:
        """Put a complete value into the innermost container, and end that one if it ends here."""
        container, key = self._stack.pop()
        if key is None:
            container.append(value)
        else:
            container[key] = value
        end = "]" if key is None else "}"
        char = self._skip()
        if char == end:
            self._at += 1
            return True, container
        if char != ",":
            raise self._error(f'expected "," or "{end}", {self._found()}')
        self._at += 1
        self._stack.append((container, None if key is None else self._key(container)))
        return False, None

    def _key(self, members: dict[str, Any]) -> str:
        if self._skip() != '"':
            raise self._error(f"expected a key in double quotes, {self._found()}")
        offset = self._at
        key = self._string()
        if key in members:
            shown = json.dumps(key[:60], ensure_ascii=False)
            raise self._error(f"duplicate key {shown}; expected each key once in an object", offset)
        if self._skip() != ":":
            raise self._error(f'expected ":" after a key, {self._found()}')
        self._at += 1
        return key

    def _string(self) -> str:
        match = _STRING.match(self._text, self._at)
        if match is not None:
            self._at = match.end()
            decoded: str = json.loads(match.group())
            return decoded
        prefix = _STRING_PREFIX.match(self._text, self._at)
        self._at = prefix.end() if prefix else self._at
        char = self._text[self._at : self._at + 1]
        if not char:
            raise self._error("a string does not end; expected a closing double quote")
        if char == "\\":
            raise self._error(r"invalid escape; expected one of \" \\ \/ \b \f \n \r \t \uXXXX")
        raise self._error(
            f"raw control character U+{ord(char):04X} in a string; expected an escape"
        )

    def _scalar(self, char: str) -> Any:
        if char == '"':
            return self._string()
        match = _NUMBER.match(self._text, self._at)
        if match is not None:
            self._at = match.end()
            return self._number(match)
        for name, literal in _LITERALS.items():
            if self._text.startswith(name, self._at):
                self._at += len(name)
                return literal
        misread = self._at == 0 and self._text != ""
        hint = " (the text of a schema, no file name or other language)" if misread else ""
        raise self._error(f"expected a value{hint}, {self._found()}")

    def _number(self, match: re.Match[str]) -> int | Decimal:
        if match.group(2) is None and match.group(3) is None:
            digits = match.group()
            return int(digits) if len(digits) < _MAX_INT_DIGITS else Decimal(digits)
        try:
            return Decimal(match.group())
        except ArithmeticError:
            message = "the exponent of a number is out of range"
            raise self._error(message, match.start()) from None
