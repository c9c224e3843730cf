"""What front-ends use of the compiled module: writing IR and reading schemas, and no engine."""

from __future__ import annotations

from ._core import IrBuilder, IrFragment, KeywordTable, SchemaWalk, read_json

__all__ = ["IrBuilder", "IrFragment", "KeywordTable", "SchemaWalk", "read_json"]
