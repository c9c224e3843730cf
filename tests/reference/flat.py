"""Decodes the IR buffer (format version 1) into plain tuples.

This is a second, independent reading of the format: it shares no code with ``maskwright.ir``. It
trusts the buffer; validation is the business of the product. Cost: linear.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

NONE = 0xFFFFFFFF
MAGIC = 0x5249574D

EXPRESSION_KINDS = (
    "EMPTY",
    "LITERAL",
    "CLASS",
    "SEQUENCE",
    "CHOICE",
    "REPEAT",
    "REF",
    "LITERAL_SET",
    "INTERSECT",
    "COMPLEMENT",
    "TEXT_UNTIL",
    "TOKEN_SET",
    "JSON",
)
NODE_KINDS = (
    "ANY",
    "NEVER",
    "TYPES",
    "NUMBER",
    "STRING_LENGTH",
    "STRING_LANGUAGE",
    "ENUM",
    "ARRAY",
    "ITEM_COUNT",
    "OBJECT",
    "REQUIRED",
    "MEMBER_COUNT",
    "ALL_OF",
    "ANY_OF",
)


@dataclass(frozen=True)
class Expression:
    """One expression: its kind and its fields by name."""

    kind: str
    fields: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.fields[name]
        except KeyError:
            raise AttributeError(name) from None


class Node(Expression):
    """One schema node: its kind and its fields by name."""


@dataclass(frozen=True)
class FlatIr:
    """A decoded buffer. ``rules[i]`` is (name, expression id)."""

    expressions: list[Expression]
    nodes: list[Node]
    rules: list[tuple[str, int]]
    root: int


class _Words:
    """A cursor over the words of one record."""

    def __init__(self, words: tuple[int, ...], at: int, data: bytes) -> None:
        self._words, self._at, self._data = words, at, data

    def word(self) -> int:
        value = self._words[self._at]
        self._at += 1
        return value

    def optional(self) -> int | None:
        value = self.word()
        return None if value == NONE else value

    def blob(self) -> bytes:
        offset, length = self.word(), self.word()
        return self._data[offset : offset + length]

    def text(self) -> str:
        return self.blob().decode("utf-8")

    def ids(self) -> list[int]:
        return [self.word() for _ in range(self.word())]

    def blobs(self) -> list[bytes]:
        return [self.blob() for _ in range(self.word())]

    def texts(self) -> list[str]:
        return [self.text() for _ in range(self.word())]


def _expression_fields(kind: str, w: _Words) -> dict[str, Any]:
    if kind == "EMPTY":
        return {}
    if kind == "LITERAL":
        return {"value": w.blob()}
    if kind == "CLASS":
        return {"ranges": tuple((w.word(), w.word()) for _ in range(w.word()))}
    if kind in ("SEQUENCE", "CHOICE", "INTERSECT"):
        return {"items": w.ids()}
    if kind == "REPEAT":
        return {"body": w.word(), "min": w.word(), "max": w.optional()}
    if kind == "REF":
        return {"rule": w.word()}
    if kind == "LITERAL_SET":
        return {"values": w.blobs()}
    if kind == "COMPLEMENT":
        return {"body": w.word()}
    if kind == "TEXT_UNTIL":
        return {"stops": w.blobs(), "excludes": w.blobs()}
    if kind == "TOKEN_SET":
        return {"exclude": w.word() != 0, "tokens": frozenset(w.ids())}
    node, flags, max_whitespace = w.word(), w.word(), w.word()
    return {
        "node": node,
        "any_order": bool(flags & 1),
        "any_whitespace": bool(flags & 2),
        "strict": bool(flags & 4),
        "max_whitespace": max_whitespace,
        "item_separator": w.blob(),
        "key_separator": w.blob(),
    }


def _number_fields(w: _Words) -> dict[str, Any]:
    flags, low, high = w.word(), w.text(), w.text()
    return {
        "low": low if flags & 1 else None,
        "high": high if flags & 2 else None,
        "low_exclusive": bool(flags & 4),
        "high_exclusive": bool(flags & 8),
    }


def _node_fields(kind: str, w: _Words) -> dict[str, Any]:
    if kind in ("ANY", "NEVER"):
        return {}
    if kind == "TYPES":
        return {"mask": w.word()}
    if kind == "NUMBER":
        return _number_fields(w)
    if kind in ("STRING_LENGTH", "ITEM_COUNT", "MEMBER_COUNT"):
        return {"min": w.word(), "max": w.optional()}
    if kind == "STRING_LANGUAGE":
        return {"expression": w.word()}
    if kind == "ENUM":
        return {
            "literals": w.word(),
            "numbers": w.texts(),
            "strings": w.texts(),
            "nodes": w.ids(),
        }
    if kind == "ARRAY":
        return {"prefix": w.ids(), "rest": w.optional()}
    if kind == "OBJECT":
        members = [(w.text(), w.word()) for _ in range(w.word())]
        return {"members": dict(members), "additional": w.optional()}
    if kind == "REQUIRED":
        return {"keys": w.texts()}
    return {"items": w.ids()}  # ALL_OF, ANY_OF


def decode(buffer: bytes) -> FlatIr:
    """Decodes a buffer that the builder wrote."""
    n_header = 12
    header = struct.unpack_from(f"<{n_header}I", buffer)
    magic, version, n_exprs, n_rules, n_nodes, n_words, n_bytes, root = header[:8]
    if magic != MAGIC or version != 1:
        raise ValueError(f"not an IR buffer of version 1: magic {magic:#x}, version {version}")
    n_tables = n_exprs + n_nodes + 3 * n_rules
    table = struct.unpack_from(f"<{n_tables}I", buffer, 4 * n_header)
    words_at = 4 * (n_header + n_tables)
    words = struct.unpack_from(f"<{n_words}I", buffer, words_at)
    data = buffer[words_at + 4 * n_words :]
    if len(data) != n_bytes:
        raise ValueError(f"byte pool holds {len(data)} bytes, the header says {n_bytes}")

    expressions = []
    for offset in table[:n_exprs]:
        kind = EXPRESSION_KINDS[words[offset]]
        expressions.append(Expression(kind, _expression_fields(kind, _Words(words, offset + 1, data))))
    nodes = []
    for offset in table[n_exprs : n_exprs + n_nodes]:
        kind = NODE_KINDS[words[offset]]
        nodes.append(Node(kind, _node_fields(kind, _Words(words, offset + 1, data))))
    rules = []
    for i in range(n_rules):
        expr, name_offset, name_length = table[n_exprs + n_nodes + 3 * i :][:3]
        rules.append((data[name_offset : name_offset + name_length].decode("utf-8"), expr))
    return FlatIr(expressions, nodes, rules, root)
