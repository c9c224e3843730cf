"""Names of the EBNF macros, shared by the printer, which writes them, and the EBNF front-end."""

from __future__ import annotations

from typing import Final

#: ``Bytes("e2ff")``: raw bytes, which no EBNF string can hold.
BYTES_MACRO: Final = "Bytes"

#: All names that have a meaning of their own before "(".
MACRO_NAMES: Final = frozenset(
    {
        BYTES_MACRO,
        "ExcludeToken",
        "Intersect",
        "JsonSchema",
        "Literals",
        "Not",
        "Regex",
        "Substring",
        "TagDispatch",
        "TextUntil",
        "Token",
        "TokenTagDispatch",
    }
)
