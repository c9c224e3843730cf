"""`format`: the strings of a named format, where formats are asserted.

Idea: a format is converted once per grammar, whoever asks for it, and the tree of its regular
expression is kept for the next grammar. A name that no draft defines is an annotation.
Cost: the expressions of the formats that occur.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...regex import prepared
from ..faults import malformed
from ..scalars import admits_type
from . import FORMATS

if TYPE_CHECKING:
    from ..convert import Converter
    from .pattern import Format

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
        found = conv.formats[value] = _nodes(conv, FORMATS[value])
        if FORMATS[value].narrowed is not None:
            conv.facts.add(f"format {value}")
    conv.parts += found


def _nodes(conv: Converter, found: Format) -> list[int]:
    builder = conv.builder
    expr = prepared(found.pattern)(builder)
    if found.excluded is not None:
        excluded = prepared(found.excluded)(builder)
        expr = builder.intersect([expr, builder.complement(excluded)])
    nodes = [builder.string_language(expr)]
    if found.max_length is not None:
        nodes.append(builder.string_length(0, found.max_length))
    return nodes
