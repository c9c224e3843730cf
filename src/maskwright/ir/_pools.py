"""The two pools behind the builder: words and bytes.

Idea: a record is written once, straight into a flat list of ints, so that no object is made per
expression or node; equal byte strings share one place, and so do equal texts.
Cost: amortised constant per word.
"""

from __future__ import annotations

from itertools import accumulate, chain
from typing import TYPE_CHECKING

from .format import NONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_MAX_SHARED = 8  # texts of longer lists are written without looking for equal ones


def check_bounds(minimum: int, maximum: int | None) -> int:
    """Check ``0 <= minimum <= maximum`` and return the word for ``maximum``."""
    if not 0 <= minimum < NONE:
        raise ValueError(f"minimum {minimum} is outside 0..{NONE - 1}")
    if maximum is None:
        return NONE
    if not minimum <= maximum < NONE:
        raise ValueError(f"maximum {maximum} is outside {minimum}..{NONE - 1}")
    return maximum


class Pools:
    """Word pool, byte pool and the record offsets of expressions and nodes."""

    def __init__(self) -> None:
        self._words: list[int] = []
        self._bytes = bytearray()
        self._byte_refs: dict[bytes, tuple[int, int]] = {}
        self._text_refs: dict[str, tuple[int, int]] = {}
        self._expr_offsets: list[int] = []
        self._node_offsets: list[int] = []
        self._shared_exprs: dict[tuple[int, ...], int] = {}
        self._shared_nodes: dict[tuple[int, ...], int] = {}

    def _bytes_ref(self, data: bytes) -> tuple[int, int]:
        ref = self._byte_refs.get(data)
        if ref is None:
            ref = self._byte_refs[data] = (len(self._bytes), len(data))
            self._bytes += data
        return ref

    def _text_ref(self, text: str) -> tuple[int, int]:
        ref = self._text_refs.get(text)
        if ref is None:
            data = text.encode("utf-8")
            ref = self._text_refs[text] = (len(self._bytes), len(data))
            self._bytes += data
        return ref

    def _add_refs(self, items: Sequence[bytes]) -> None:
        self._words.append(len(items))
        self._words += chain.from_iterable(map(self._bytes_ref, items))

    def _add_texts(self, words: list[int], texts: Iterable[str]) -> None:
        """Append the count and references of texts; each one counts once."""
        unique = dict.fromkeys(texts)
        words.append(len(unique))
        if len(unique) <= _MAX_SHARED:
            words += chain.from_iterable(map(self._text_ref, unique))
            return
        encoded = [text.encode("utf-8") for text in unique]
        lengths = [*map(len, encoded)]
        offsets = accumulate(lengths, initial=len(self._bytes))
        words += chain.from_iterable(zip(offsets, lengths, strict=False))
        self._bytes += b"".join(encoded)

    def _check_exprs(self, ids: Sequence[int]) -> None:
        if ids and not (min(ids) >= 0 and max(ids) < len(self._expr_offsets)):
            raise ValueError(f"unknown expression id among {list(ids)[:8]}")

    def _check_nodes(self, ids: Sequence[int]) -> None:
        if ids and not (min(ids) >= 0 and max(ids) < len(self._node_offsets)):
            raise ValueError(f"unknown node id among {list(ids)[:8]}")
