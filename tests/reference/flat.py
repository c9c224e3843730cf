"""Decodes the IR buffer (format version 2) into plain tuples.

This is a second, independent reading of the format: it shares no code with ``maskwright.ir``. It
trusts the buffer; validation is the business of the product. Cost: linear.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

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
        "decimal_numbers": bool(flags & 8),
        "plain_numbers": bool(flags & 16),
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


def _enum_fields(w: _Words) -> dict[str, Any]:
    return {"literals": w.word(), "numbers": w.texts(), "strings": w.texts(), "nodes": w.ids()}


def _object_fields(w: _Words) -> dict[str, Any]:
    members = {w.text(): w.word() for _ in range(w.word())}
    patterns = [(w.word(), w.word()) for _ in range(w.word())]
    return {"members": members, "patterns": patterns, "additional": w.optional()}


def _bounds_fields(w: _Words) -> dict[str, Any]:
    return {"min": w.word(), "max": w.optional()}


_NODE_FIELDS: dict[str, Callable[[_Words], dict[str, Any]]] = {
    "ANY": lambda _: {},
    "NEVER": lambda _: {},
    "TYPES": lambda w: {"mask": w.word()},
    "NUMBER": _number_fields,
    "STRING_LENGTH": _bounds_fields,
    "STRING_LANGUAGE": lambda w: {"expression": w.word()},
    "ENUM": _enum_fields,
    "ARRAY": lambda w: {"prefix": w.ids(), "rest": w.optional()},
    "ITEM_COUNT": _bounds_fields,
    "OBJECT": _object_fields,
    "REQUIRED": lambda w: {"keys": w.texts()},
    "MEMBER_COUNT": _bounds_fields,
    "ALL_OF": lambda w: {"items": w.ids()},
    "ANY_OF": lambda w: {"items": w.ids()},
    "ONE_OF": lambda w: {"items": w.ids()},
    "NOT": lambda w: {"node": w.word()},
    "MULTIPLE_OF": lambda w: {"divisor": w.text()},
    "CONTAINS": lambda w: {"node": w.word(), **_bounds_fields(w)},
    "UNIQUE_ITEMS": lambda _: {},
    "MEMBER_NAMES": lambda w: {"node": w.word()},
    "DEPENDENT_REQUIRED": lambda w: {"key": w.text(), "needed": w.texts()},
}
NODE_KINDS = tuple(_NODE_FIELDS)


def decode(buffer: bytes) -> FlatIr:
    """Decodes a buffer that the builder wrote."""
    n_header = 12
    header = struct.unpack_from(f"<{n_header}I", buffer)
    magic, version, n_exprs, n_rules, n_nodes, n_words, n_bytes, root = header[:8]
    if magic != MAGIC or version != 2:
        raise ValueError(f"not an IR buffer of version 2: magic {magic:#x}, version {version}")
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
        expressions.append(
            Expression(kind, _expression_fields(kind, _Words(words, offset + 1, data)))
        )
    nodes = []
    for offset in table[n_exprs : n_exprs + n_nodes]:
        kind = NODE_KINDS[words[offset]]
        nodes.append(Node(kind, _NODE_FIELDS[kind](_Words(words, offset + 1, data))))
    rules = []
    for i in range(n_rules):
        expr, name_offset, name_length = table[n_exprs + n_nodes + 3 * i :][:3]
        rules.append((data[name_offset : name_offset + name_length].decode("utf-8"), expr))
    return FlatIr(expressions, nodes, rules, root)
