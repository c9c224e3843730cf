"""`format`: the strings of a named format, where formats are asserted.

Idea: a format is converted once per grammar, whoever asks for it: its expressions are copied from
the committed ones. A name that no draft defines is an annotation.
Cost: the expressions of the formats that occur.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..faults import malformed
from ..scalars import admits_type
from . import FORMATS
from .languages import language

if TYPE_CHECKING:
    from ..convert import Converter

__all__ = ["format_"]


def format_(conv: Converter, key: str, value: Any) -> None:
    """`format`; ignored unless it is asserted, has a meaning, and strings are allowed here."""
    if not isinstance(value, str):
        raise malformed(value, "the name of a format as a string", conv.location, key)
    asserted = conv.assert_format or conv.resource.dialect.assert_format
    if not asserted or value not in FORMATS or not admits_type(conv, "string"):
        conv.ignore(key)
        return
    found = conv.formats.get(value)
    if found is None:
        found = conv.formats[value] = _nodes(conv, value)
        if FORMATS[value].narrowed is not None:
            conv.facts.add(f"format {value}")
    for node in found:
        conv.add(node)


def _nodes(conv: Converter, name: str) -> list[int]:
    builder = conv.builder
    nodes = [builder.string_language(builder.copy(language(name)))]
    max_length = FORMATS[name].max_length
    if max_length is not None:
        nodes.append(builder.string_length(0, max_length))
    return nodes
