"""Leaves of IR as EBNF text: strings, bytes, classes and legal rule names.

Every text here is one that the EBNF front-end reads back to the same leaf. Cost: linear.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from .format import MAX_CODE_POINT
from .macros import BYTES_MACRO, MACRO_NAMES
from .ranges import complement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .ranges import CharRanges

_LEGAL_NAME = re.compile(r"[A-Za-z_.-][A-Za-z0-9_.-]*")
_ILLEGAL = re.compile(r"[^A-Za-z0-9_.-]+")
_SIMPLE: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_IN_CLASS: Final = {**{c: "\\" + c for c in "\\[]^-"}, "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _escape(character: str, simple: dict[str, str]) -> str:
    if character in simple:
        return simple[character]
    if character.isprintable():
        return character
    code_point = ord(character)
    if code_point <= 0xFF:
        return f"\\x{code_point:02x}"
    return f"\\u{code_point:04x}" if code_point <= 0xFFFF else f"\\U{code_point:08x}"


def quote(text: str) -> str:
    """Return an EBNF string for the text."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(_escape(character, _SIMPLE) for character in text) + '"'


def quote_bytes(data: bytes) -> str:
    """Return an EBNF string for UTF-8 bytes, else the macro ``Bytes("hex")``."""
    try:
        return quote(data.decode("utf-8"))
    except UnicodeDecodeError:
        return f'{BYTES_MACRO}("{data.hex()}")'


def class_text(ranges: CharRanges) -> str:
    """Return an EBNF class for normalised ranges: ``[]`` for none, ``[^]`` for all."""
    negated = bool(ranges) and ranges[0][0] == 0 and ranges[-1][1] == MAX_CODE_POINT
    if negated:
        ranges = complement(ranges)
    parts = []
    for lo, hi in ranges:
        parts.append(_class_end(lo))
        if hi > lo:
            parts.append(("-" if hi > lo + 1 else "") + _class_end(hi))
    return f"[{'^' if negated else ''}{''.join(parts)}]"


def _class_end(code_point: int) -> str:
    return _escape(chr(code_point), _IN_CLASS)


class Names:
    """Hands out legal, unique rule names."""

    def __init__(self) -> None:
        self._taken: set[str] = set(MACRO_NAMES)
        self._next: dict[str, int] = {}

    def claim(self, name: str) -> bool:
        """Take the name as it is, if it is legal and free."""
        if name in self._taken or not _LEGAL_NAME.fullmatch(name) or not name.strip("."):
            return False
        self._taken.add(name)
        return True

    def make(self, name: str) -> str:
        """Take a legal name that is as near as possible."""
        base = _ILLEGAL.sub("_", name) or "_"
        if not base.strip(".") or base[0].isdigit():
            base = "_" + base
        result = base
        while not self.claim(result):
            number = self._next[base] = self._next.get(base, 1) + 1
            result = f"{base}-{number}"
        return result


def arguments(items: Iterable[bytes]) -> str:
    """Return byte strings as macro arguments."""
    return ", ".join(quote_bytes(item) for item in items)
