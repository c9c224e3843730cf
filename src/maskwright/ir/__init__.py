"""The intermediate representation that every front-end produces and the core compiles.

``Builder`` writes it; ``maskwright.ir.reader.read`` gives its reading form and
``maskwright.ir.printer.to_ebnf`` its text. Those two are not loaded here: compiling needs neither.
"""

from __future__ import annotations

from .._native import IrFragment as Fragment
from .builder import Builder

__all__ = ["Builder", "Fragment"]
