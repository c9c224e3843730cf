r"""Strings and character classes of the EBNF front-end.

Every escape denotes one code point, ``\xHH`` too: ``"\xe9"`` is U+00E9, two bytes in UTF-8. Bytes
that are no UTF-8 text are written with the macro ``Bytes("hex")``. In a class, ``\]``, ``\[``,
``\-`` and ``\^`` are known as well; in a string ``\[`` and ``\]``. A ``-`` first, last or after
a range is itself. ``[]`` matches nothing and ``[^]`` any character. Cost: linear.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ...errors import GrammarSyntaxError
from ...ir.format import MAX_CODE_POINT, SURROGATES
from ...ir.ranges import complement, normalise

if TYPE_CHECKING:
    from ...ir.ranges import CharRanges

_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_CHARACTER = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)|.", re.DOTALL)

_SIMPLE: Final = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "'": "'",
    "?": "?",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "b": "\b",
    "f": "\f",
    "a": "\a",
    "v": "\v",
    "0": "\0",
    "e": "\x1b",
}
_IN_STRING: Final = {**_SIMPLE, "[": "[", "]": "]"}
_IN_CLASS: Final = {**_IN_STRING, "-": "-", "^": "^"}

_HEX_DIGITS: Final = {"x": 2, "u": 4, "U": 8}
_REGEX_CLASSES: Final = {"d": "[0-9]", "w": "[A-Za-z0-9_]", "s": "[ \\t\\n\\r]"}


def _unescape(found: re.Match[str], simple: dict[str, str], source: str, start: int) -> str:
    """Return the character of one escape, which starts at ``start + found.start()``."""
    single = found.group(4)
    offset = start + found.start()
    if single is not None:
        if single in simple:
            return simple[single]
        raise _bad_escape(single, source, offset)
    code_point = int(found.group(1) or found.group(2) or found.group(3), 16)
    if SURROGATES[0] <= code_point <= SURROGATES[1]:
        raise GrammarSyntaxError(
            f"escape {found.group()} is a surrogate, which is no character; "
            "write a character beyond U+FFFF as one \\UXXXXXXXX escape",
            code="ebnf-surrogate",
            source=source,
            offset=offset,
        )
    if code_point > MAX_CODE_POINT:
        raise GrammarSyntaxError(
            f"escape {found.group()} is beyond U+10FFFF, the last code point",
            code="ebnf-escape-out-of-range",
            source=source,
            offset=offset,
        )
    return chr(code_point)


def _bad_escape(letter: str, source: str, offset: int) -> GrammarSyntaxError:
    if letter in _HEX_DIGITS:
        hint = f"expected {_HEX_DIGITS[letter]} hexadecimal digits after \\{letter}"
    elif letter in _REGEX_CLASSES:
        hint = f"regex classes are not known here; write {_REGEX_CLASSES[letter]}"
    else:
        hint = (
            r"known are \" \\ \/ \' \? \n \r \t \b \f \a \v \0 \e \xHH \uXXXX \UXXXXXXXX; "
            r"write \\ for a backslash"
        )
    shown = letter if letter.isprintable() else f"U+{ord(letter):04X}"
    return GrammarSyntaxError(
        f"bad escape \\{shown}: {hint}", code="ebnf-bad-escape", source=source, offset=offset
    )


def decode_string(text: str, source: str, offset: int) -> str:
    """Return the characters that a string token (with its quotes) stands for."""
    body = text[1:-1]
    if "\\" not in body:
        return body
    start = offset + 1
    return _ESCAPE.sub(lambda found: _unescape(found, _IN_STRING, source, start), body)


def _characters(body: str, source: str, start: int) -> list[tuple[int, int, bool]]:
    """Return code point, offset and "is a bare hyphen" of each character of a class body."""
    result: list[tuple[int, int, bool]] = []
    for found in _CHARACTER.finditer(body):
        text = found.group()
        if len(text) > 1:
            escape = _ESCAPE.match(body, found.start())
            if escape is not None:
                text = _unescape(escape, _IN_CLASS, source, start)
            result.append((ord(text), start + found.start(), False))
        else:
            result.append((ord(text), start + found.start(), text == "-"))
    return result


def decode_class(text: str, source: str, offset: int) -> CharRanges:
    """Return the code point ranges that a class token (with its brackets) stands for."""
    negated = text.startswith("[^")
    skipped = 2 if negated else 1
    characters = _characters(text[skipped:-1], source, offset + skipped)
    ranges: list[tuple[int, int]] = []
    index, count = 0, len(characters)
    while index < count:
        lo, place, _ = characters[index]
        hi = lo
        if index + 2 < count and characters[index + 1][2]:
            hi = characters[index + 2][0]
            index += 2
            if hi < lo:
                raise GrammarSyntaxError(
                    f"reversed range in a class: U+{lo:04X} is after U+{hi:04X}; "
                    "swap the ends, or write \\- for a hyphen",
                    code="ebnf-reversed-range",
                    source=source,
                    offset=place,
                )
        index += 1
        ranges.append((lo, hi))
    normal = normalise(ranges)
    return complement(normal) if negated else normal
