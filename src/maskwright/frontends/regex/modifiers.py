"""What may follow ``(?`` beside the usual groups: modifiers, and what is refused by name.

Source: ECMA-262, "Patterns"; ES2025 modifiers ``(?i-s:...)``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .scanner import Scanner

_MODIFIERS = re.compile(r"\(\?([A-Za-z]*)(?:-([A-Za-z]*))?([:)])")
_NUMBERED_CALL = re.compile(r"\(\?[+-]?[0-9]")
_FLAG_HINTS = {
    "x": "take comments and free spacing out of the pattern",
    "a": "\\d, \\w and \\b are about ASCII already",
    "u": "\\d and \\w are about ASCII: write \\p{Nd} and [\\p{L}\\p{N}_]",
}
_FOREIGN_GROUPS = (
    ("(?>", "atomic group", "an atomic group changes what matches; use (?:...)"),
    ("(?|", "branch reset group", "use (?:...)"),
    ("(?(", "conditional group", "write the cases as alternatives"),
    ("(?P>", "recursion", "patterns cannot call groups; use a grammar"),
    ("(?&", "recursion", "patterns cannot call groups; use a grammar"),
    ("(?R", "recursion", "patterns cannot call groups; use a grammar"),
)


def refuse_foreign_group(scanner: Scanner) -> None:
    """Refuse a group that other dialects have.

    Raises:
        UnsupportedFeatureError: There is one at the scanner's place.
    """
    pattern, start = scanner.pattern, scanner.pos
    for opener, feature, advice in _FOREIGN_GROUPS:
        if pattern.startswith(opener, start):
            scanner.unsupported(feature, f"{opener}...) is not supported: {advice}", start)
    if _NUMBERED_CALL.match(pattern, start):
        scanner.unsupported("recursion", "patterns cannot call groups; use a grammar", start)


def read_modifiers(scanner: Scanner, flags: frozenset[str]) -> tuple[frozenset[str], int]:
    """Return the flags within a group such as ``(?i-s:``, and the length of that.

    Args:
        scanner: Stands before the group, and stays there.
        flags: Those around it.

    Raises:
        GrammarSyntaxError: There is no such group.
        UnsupportedFeatureError: It has a flag that is not known.
    """
    start = scanner.pos
    match = _MODIFIERS.match(scanner.pattern, start)
    if match is None or match[0] in ("(?-:", "(?)", "(?-)"):
        scanner.fail(
            "bad-group",
            "expected (?:...), (?=...), (?!...), (?<=...), (?<!...), (?<name>...) or (?i:...)",
            start,
        )
    added, removed = match[1], match[2] or ""
    letters = added + removed
    for letter in letters:
        if letter not in "ims":
            hint = _FLAG_HINTS.get(letter, "use i, m, s")
            scanner.unsupported("inline flag", f"there is no inline flag {letter}; {hint}", start)
    if len(set(letters)) < len(letters):
        scanner.fail("bad-flag", f"a flag stands twice in {match[0]}", start)
    if match[3] != ":":
        part = "the part it is for" if start else "the whole pattern"
        scanner.fail(
            "inline-flags",
            f"{match[0]} is no valid syntax in ECMA-262; write (?{match[0][2:-1]}:...) around "
            f"{part}",
            start,
        )
    return (flags | set(added)) - set(removed), len(match[0])
