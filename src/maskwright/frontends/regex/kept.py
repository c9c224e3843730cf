"""Patterns that were read before, as fragments, which are copied in a fraction of the time.

Idea: schemas repeat each other's patterns, and what a pattern becomes depends on nothing but its
text. The fragments that were used last are kept per process: no compiler owns them, so they are in
no `CompilerStats`, and `clear_cache()` leaves them.
Cost: a copy of the expressions; `_MAX_KEPT` fragments of `_MAX_BYTES` are 8 MiB at most.
"""

from __future__ import annotations

import threading

from ...ir import Builder, Fragment
from .classes import forget_classes
from .lowering import lower

__all__ = ["forget", "search"]

_MAX_KEPT = 1024
_MAX_BYTES = 8192

_lock = threading.Lock()
_kept: dict[str, Fragment] = {}  # least recently used first


def search(builder: Builder, pattern: str) -> int:
    """Write the texts in which a pattern finds something; as `lower` with ``search=True``.

    Raises:
        MaskwrightError: What `lower` raises.
    """
    with _lock:
        fragment = _kept.pop(pattern, None)
        if fragment is not None:
            _kept[pattern] = fragment
    if fragment is None:
        ir = _written(pattern)
        fragment = Fragment(ir)
        if len(ir) <= _MAX_BYTES:
            _keep(pattern, fragment)
    return builder.copy(fragment)


def forget() -> None:
    """Keep nothing of what was read so far. For measurements of a first reading."""
    with _lock:
        _kept.clear()
    forget_classes()


def _keep(pattern: str, fragment: Fragment) -> None:
    with _lock:
        if len(_kept) >= _MAX_KEPT:
            del _kept[next(iter(_kept))]
        _kept[pattern] = fragment


def _written(pattern: str) -> bytes:
    builder = Builder()
    root = builder.rule("root")
    builder.define(root, lower(builder, pattern, search=True))
    return builder.finish(root)
