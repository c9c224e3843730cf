r"""Position, options and errors of one parse; and the escapes, which atoms and classes share.

Idea: one pass. A construct that ECMA-262 admits under the ``u`` flag is read so; only where that
fails, and the caller did not ask for ``u``, the web-legacy reading (Annex B) takes its place, over
code points. So ``\-`` and ``{`` are literal, while ``\p{L}`` and ``\u{1F600}`` keep their meaning
in the same pattern. Letters that Annex B would read as themselves although other dialects give
them a meaning (``\h``, ``\Q``, ``\U``) are refused by name instead of silently matching a letter;
``\A``, ``\z`` and ``\Z`` are the text anchors (with ``u`` they are errors).
Source: ECMA-262, "Patterns" and Annex B, "Regular Expressions Patterns".
"""

from __future__ import annotations

import re
from typing import NoReturn

from ...errors import GrammarSyntaxError, UnsupportedFeatureError
from . import charset
from .charset import CharRanges

CharOrSet = int | CharRanges

_CONTROL = {"t": 0x09, "n": 0x0A, "v": 0x0B, "f": 0x0C, "r": 0x0D}
_SYNTAX_CHARACTERS = frozenset("^$\\.*+?()[]{}|/")
_FOREIGN_LETTERS = {
    "a": "the bell, write \\x07",
    "e": "escape, write \\x1B",
    "h": "horizontal space, write [ \\t]",
    "H": "no horizontal space, write [^ \\t]",
    "R": "a line break, write (?:\\r\\n|\\n|\\r)",
    "K": "a reset of the match start",
    "G": "the end of the last match",
    "X": "a grapheme cluster",
    "Q": "the start of quoted text, escape each character",
    "E": "the end of quoted text, escape each character",
    "N": "a named character, write it as \\u{...}",
    "U": "a code point, write it as \\u{...}",
}
_HEX2 = re.compile(r"[0-9A-Fa-f]{2}")
_HEX4 = re.compile(r"[0-9A-Fa-f]{4}")
_HEX_BRACED = re.compile(r"\{([0-9A-Fa-f]+)\}")
_LOW_SURROGATE = re.compile(r"\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})")
_OCTAL = re.compile(r"[0-3][0-7]{0,2}|[4-7][0-7]?")
_SURE_OCTAL = re.compile(r"0|[1-3][0-7]{2}")
"""What every dialect with octal escapes reads as one."""
_LETTER_HINTS = {
    "x": "write \\xHH with two digits, or \\u{H...}",
    "u": "write \\uHHHH with four digits, or \\u{H...}",
    "c": "write \\cA to \\cZ for a control character",
    "g": "write a back reference as \\1 or \\k<name>",
    "k": "it refers to a named group, and there is none: (?<name>...)",
}
_PROPERTY = re.compile(r"\{([A-Za-z0-9_]+)(?:=([A-Za-z0-9_]+))?\}")


def unsupported(pattern: str, feature: str, message: str, offset: int) -> UnsupportedFeatureError:
    """Return the error for a construct of a pattern that is known, but not supported."""
    return UnsupportedFeatureError(
        message,
        code=f"regex-unsupported-{feature.replace(' ', '-')}",
        feature=feature,
        source=pattern,
        offset=offset,
    )


class Scanner:
    """The pattern and where the parse stands.

    Attributes:
        pattern: The whole text.
        pos: Offset of the next character.
        legacy: Take the Annex B reading where the ``u`` reading fails.
        any_dialect: Refuse what other dialects read otherwise than Annex B.
    """

    __slots__ = ("any_dialect", "legacy", "pattern", "pos")

    def __init__(self, pattern: str, *, legacy: bool, any_dialect: bool = False) -> None:
        self.pattern = pattern
        self.legacy = legacy
        self.any_dialect = any_dialect
        self.pos = 0

    def fail(self, code: str, message: str, offset: int) -> NoReturn:
        """Raise the syntax error ``regex-<code>`` at an offset."""
        raise GrammarSyntaxError(
            message, code=f"regex-{code}", source=self.pattern, offset=offset
        ) from None

    def unsupported(self, feature: str, message: str, offset: int) -> NoReturn:
        """Raise the error for a construct that is known, but not supported."""
        raise unsupported(self.pattern, feature, message, offset)

    def peek(self, ahead: int = 0) -> str:
        """Return the character at the position, or the empty string behind the end."""
        at = self.pos + ahead
        return self.pattern[at] if at < len(self.pattern) else ""

    def escape(self, *, in_class: bool, ignore_case: bool) -> CharOrSet:
        """Read an escape whose backslash is consumed.

        Returns:
            A code point, in a class perhaps a surrogate; or a set.
        """
        start = self.pos - 1
        char = self.peek()
        if not char:
            self.fail(
                "trailing-backslash",
                "the pattern ends in a backslash; write \\\\ for a literal one",
                start,
            )
        self.pos += 1
        if char in "dDwWsS":
            return class_escape(char, ignore_case=ignore_case)
        if char in "pP":
            return self._property(start, negated=char == "P", ignore_case=ignore_case)
        if char in _CONTROL:
            return _CONTROL[char]
        if char in _SYNTAX_CHARACTERS or (char == "-" and in_class):
            return ord(char)
        if char == "u":
            return self._unicode_escape(start, in_class=in_class)
        if char == "b" and in_class:
            return 0x08
        if "0" <= char <= "9":
            return self._octal(start)
        return self._letter_or_legacy(char, start, in_class=in_class)

    def _letter_or_legacy(self, char: str, start: int, *, in_class: bool) -> int:
        if char == "x":
            match = _HEX2.match(self.pattern, self.pos)
            if match:
                self.pos = match.end()
                return int(match[0], 16)
        elif char == "c":
            letter = self.peek()
            if letter.isascii() and letter.isalpha():
                self.pos += 1
                return ord(letter) % 32
            if self.legacy and in_class and (letter == "_" or "0" <= letter <= "9"):
                if self.any_dialect:
                    code = f"\\x{ord(letter) % 32:02X}"
                    self.unsupported(
                        "letter escape",
                        f"\\c{letter} is the control character {code} in ECMA-262 within a class, "
                        f"and something else elsewhere; write {code} for it",
                        start,
                    )
                self.pos += 1
                return ord(letter) % 32
            if self.legacy:
                self._literal_letter(char, start)
                self.pos -= 1  # Annex B: the backslash is literal, "c" comes next
                return ord("\\")
        elif char in _FOREIGN_LETTERS:
            self.unsupported(
                "letter escape",
                f"\\{char} is no ECMA-262 escape; elsewhere it stands for {_FOREIGN_LETTERS[char]}",
                start,
            )
        if not self.legacy:
            self.fail(
                "bad-escape",
                f"\\{char} is no escape; expected a character class, a syntax character, or "
                "\\xHH, \\uHHHH, \\u{H}; without the u flag it would be read literally",
                start,
            )
        return self._literal_letter(char, start)

    def _literal_letter(self, char: str, start: int) -> int:
        """What Annex B makes of an escape that is none: the character, here if none is misled."""
        if self.any_dialect and char.isascii() and char.isalpha():
            hint = _LETTER_HINTS.get(char, f"write {char} for the letter")
            self.unsupported(
                "letter escape",
                f"\\{char} is no escape here, though ECMA-262 reads it as text; {hint}",
                start,
            )
        return ord(char)

    def _octal(self, start: int) -> int:
        self.pos -= 1
        match = _OCTAL.match(self.pattern, self.pos)
        if self.peek() == "0" and not "0" <= self.peek(1) <= "9":
            self.pos += 1
            return 0
        if not self.legacy:
            self.fail(
                "bad-escape",
                "octal escapes and references to groups that do not exist are no valid escapes; "
                "write \\xHH for a character",
                start,
            )
        if self.any_dialect and _SURE_OCTAL.match(self.pattern, self.pos) is None:
            self.unsupported(
                "octal escape",
                f"there is no group {self.peek()}, and other dialects than ECMA-262 have no octal "
                "escape here; write \\xHH for a character",
                start,
            )
        if match is None:  # \8 and \9
            self.pos += 1
            return ord(self.pattern[self.pos - 1])
        self.pos = match.end()
        return int(match[0], 8)

    def _unicode_escape(self, start: int, *, in_class: bool) -> int:
        match = _HEX4.match(self.pattern, self.pos)
        if match:
            self.pos = match.end()
            code_point = int(match[0], 16)
            low = _LOW_SURROGATE.match(self.pattern, self.pos)
            if 0xD800 <= code_point <= 0xDBFF and low:
                self.pos = low.end()
                code_point = 0x10000 + ((code_point & 0x3FF) << 10 | int(low[1], 16) & 0x3FF)
        else:
            match = _HEX_BRACED.match(self.pattern, self.pos)
            if match is None:
                if self.legacy and self.peek() != "{":
                    return self._literal_letter("u", start)
                self.fail(
                    "bad-escape", "expected \\uHHHH or \\u{H...} with hexadecimal digits", start
                )
            digits = match[1].lstrip("0") or "0"
            self.pos = match.end()
            if len(digits) > 6 or int(digits, 16) > 0x10FFFF:
                self.fail("code-point-range", "code points end at \\u{10FFFF}", start)
            code_point = int(digits, 16)
        if 0xD800 <= code_point <= 0xDFFF and not in_class:
            self.lone_surrogate(start)
        return code_point

    def lone_surrogate(self, offset: int) -> NoReturn:
        """Raise the error for half of a surrogate pair."""
        self.fail(
            "lone-surrogate",
            "half of a surrogate pair is no character and matches nothing in valid text; write "
            "both halves, \\uD83D\\uDE00, or the code point, \\u{1F600}",
            offset,
        )

    def _property(self, start: int, *, negated: bool, ignore_case: bool) -> CharRanges:
        match = _PROPERTY.match(self.pattern, self.pos)
        if match is None:
            self.fail(
                "bad-property",
                "expected \\p{Name} or \\p{Name=Value}, such as \\p{L} or \\p{Script=Greek}",
                start,
            )
        from ...unicode import UnknownPropertyError, property_ranges

        try:
            found = property_ranges(match[1], match[2])
        except UnknownPropertyError as error:
            self.fail(
                "unknown-property",
                f"{error}; names are those of ECMA-262 and case sensitive, such as Lu or "
                "Script=Greek",
                start,
            )
        self.pos = match.end()
        ranges = charset.normalise(found)
        ranges = charset.complement(ranges) if negated else ranges
        return charset.case_closure(ranges) if ignore_case else ranges


def class_escape(char: str, *, ignore_case: bool) -> CharRanges:
    r"""Return the set of ``\d \D \w \W \s \S``; with ignore_case, ``\w`` has U+017F and U+212A."""
    ranges = {"d": charset.DIGITS, "w": charset.WORD, "s": charset.SPACE}[char.lower()]
    if ignore_case and char in "wW":
        ranges = charset.case_closure(ranges)
    return charset.complement(ranges) if char.isupper() else ranges
