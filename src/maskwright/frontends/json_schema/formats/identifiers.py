"""`uuid`, `json-pointer`, `relative-json-pointer` and `regex`.

Idea: the syntax of regular expressions nests, so `regex` is a subset that is surely valid: groups
some levels deep, classes of single characters and the usual ranges, no numbered references.
Source: RFC 4122, section 3 (UUID); RFC 6901, section 3 (pointers); draft-handrews-relative-json-
pointer-01, section 3; ECMA-262, "Patterns", with the flag ``u``.
"""

from __future__ import annotations

from .pattern import Format, any_of

__all__ = ["IDENTIFIERS"]

_HEX = "[0-9A-Fa-f]"
_UUID = f"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"
_POINTER = "(?:/(?:[^~/]|~[01])*)*"

_GROUPS_DEEP = 3
_ESCAPE = r"\\(?:[dDwWsSfnrtv\^$\\.*+?()\[\]{}|/]|c[A-Za-z]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})"
_RANGE = r"(?:a-z|A-Z|0-9|a-f|A-F)"
_CLASS = rf"\[\^?(?:{_RANGE}|[^\\\]\[\-]|{_ESCAPE})*\]"
_COUNT = r"\{(?:0|[1-9][0-9]{0,2}),?\}"


def _regex() -> str:
    """Return the pattern of patterns, built from the innermost groups outwards."""
    quantifier = rf"(?:(?:[*+?]|{_COUNT})\??)?"
    atom = any_of(r"[^\\^$.*+?()\[\]{}|/]", r"\.", _ESCAPE, _CLASS)
    edge = any_of(r"[\^$]", r"\\[bB]")
    flat = rf"(?:{atom}{quantifier}|{edge}|\|)*"
    look = rf"\(\?<?[=!]{flat}\)"
    nested = flat
    for _ in range(_GROUPS_DEEP):
        group = rf"\((?:\?:)?{nested}\)"
        nested = rf"(?:(?:{atom}|{group}){quantifier}|{edge}|{look}|\|)*"
    return nested


IDENTIFIERS = {
    "json-pointer": Format(_POINTER),
    "regex": Format(_regex(), narrowed=f"groups {_GROUPS_DEEP} deep, no names or references"),
    "relative-json-pointer": Format(f"(?:0|[1-9][0-9]*)(?:#|{_POINTER})"),
    "uuid": Format(_UUID),
}
