"""The one way to make IR: a builder that writes the flat buffer of ``maskwright.ir.format``.

Idea: front-ends call one method per expression or schema node and get an id back; the record goes
straight into the word pool of the native builder, nothing is kept as objects, and ``finish`` only
joins the pools. Cost: a native call per record; no recursion. Arguments are checked cheaply, and a
wrong one is a programming error of the front-end (ValueError), never a user's. The core, and the
reader, validate the buffer in full.
"""

from __future__ import annotations

from ._expr_builder import ExpressionBuilder

__all__ = ["Builder"]


class Builder(ExpressionBuilder):
    """Writes expressions, rules and schema nodes; all methods return integer ids.

    Example:
        >>> builder = Builder()
        >>> root = builder.rule("root")
        >>> builder.define(root, builder.repeat(builder.literal(b"ab"), 0, None))
        >>> buffer = builder.finish(root)
        >>> buffer[:4]
        b'MWIR'
    """

    __slots__ = ()
