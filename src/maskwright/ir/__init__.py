"""The intermediate representation that every front-end produces and the core compiles."""

from __future__ import annotations

from .builder import Builder

__all__ = ["Builder"]
