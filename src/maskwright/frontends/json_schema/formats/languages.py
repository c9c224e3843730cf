"""The languages of the formats as IR: written by a script, committed, and copied into grammars.

Idea: reading the patterns of a format takes milliseconds, so a file holds what they become, an IR
buffer per format whose root rule is the language (``tools/make_formats.py`` writes it). It is read
when the first format is met, and each format when it is met first.

The file: a line ``name bytes`` per format, an empty line, and the buffers in that order.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from typing import TYPE_CHECKING

from ....ir import Builder, Fragment
from ...regex import write_shared

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .pattern import Format

__all__ = ["FILE_NAME", "language", "pack", "written"]

FILE_NAME = "languages.bin"


@cache
def language(name: str) -> Fragment:
    """Return the language of a format, without the bound on its length."""
    return Fragment(_buffers()[name])


@cache
def _buffers() -> dict[str, bytes]:
    data = pkgutil.get_data(__package__, FILE_NAME)
    assert data is not None
    header, _, rest = data.partition(b"\n\n")
    buffers: dict[str, bytes] = {}
    at = 0
    for line in header.decode("ascii").splitlines():
        name, size = line.split(" ")
        buffers[name] = rest[at : at + int(size)]
        at += int(size)
    return buffers


def written(found: Format) -> bytes:
    """Return the IR of a format, made from its patterns."""
    builder = Builder()
    root = builder.rule("root")
    expr = write_shared(builder, found.pattern)
    if found.excluded is not None:
        excluded = write_shared(builder, found.excluded)
        expr = builder.intersect([expr, builder.complement(excluded)])
    builder.define(root, expr)
    return builder.finish(root)


def pack(formats: Mapping[str, Format]) -> bytes:
    """Return the file for formats by name."""
    buffers = {name: written(found) for name, found in sorted(formats.items())}
    header = "".join(f"{name} {len(buffer)}\n" for name, buffer in buffers.items())
    return header.encode("ascii") + b"\n" + b"".join(buffers.values())
