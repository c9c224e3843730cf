"""EBNF front-end: GBNF-compatible grammar text to IR."""

from __future__ import annotations

from .parser import compile_ebnf

__all__ = ["compile_ebnf"]
