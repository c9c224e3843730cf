"""Times applying a bitmask to logits on the CPU, as multiples of copying the same logits.

Part of micro.py. Logits are torch's where torch is installed, so that all three dtypes are there,
and xgrammar's function for the CPU is timed on the same arrays where that is.
"""

from __future__ import annotations

import importlib
import itertools
import statistics
import time
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = (1, 64)
# Share of the tokens that are allowed: between two members of an object few are, inside a string
# nearly all.
MASKS = (("sparse", 0.0002), ("half", 0.5), ("dense", 0.999))


def optional(name: str) -> Any:
    """Return a module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def medians_us(calls: list[Callable[[], Any]], samples: int) -> list[float]:
    """Return the median time of each call; they take turns, so that all meet the same machine."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(samples + 2):
        for call, own in zip(calls, times, strict=True):
            start = time.perf_counter_ns()
            call()
            own.append((time.perf_counter_ns() - start) / 1000.0)
    return [statistics.median(own[2:]) for own in times]


def random_bitmask(rows: int, vocab_size: int, share: float) -> Any:
    """Return a bitmask that allows a share of the tokens, at random."""
    allowed = np.random.default_rng(rows).random((rows, (vocab_size + 31) // 32 * 32)) < share
    return np.packbits(allowed, axis=1, bitorder="little").view(np.int32)


def apply_times(library: Any, vocab_size: int, samples: int) -> list[tuple[str, float, str]]:
    """Time one call for each dtype, number of rows and kind of mask.

    Args:
        library: The package maskwright.
        vocab_size: Tokens in a row.
        samples: Calls for one figure.

    Returns:
        Name, microseconds, and the comparison as text, of each.
    """
    torch, peer = optional("torch"), optional("xgrammar")
    dtypes = ("float32", "float16", "bfloat16") if torch is not None else ("float32", "float16")
    results = []
    for dtype, rows, (label, share) in itertools.product(dtypes, ROWS, MASKS):
        bitmask = random_bitmask(rows, vocab_size, share)
        if torch is None:
            logits = np.zeros((rows, vocab_size), dtype=dtype)
        else:
            bitmask = torch.from_numpy(bitmask)
            logits = torch.zeros(rows, vocab_size, dtype=getattr(torch, dtype))
        calls = [copy_of_bytes(logits.nbytes), call_of(library, logits, bitmask)]
        if torch is not None and peer is not None:
            calls.append(call_of(peer, logits, bitmask))
        floor, took, *theirs = medians_us(calls, samples)
        note = f"{took / floor:.2f} copies"
        if theirs:
            note += f"; xgrammar {theirs[0] / took:.1f} times as long"
        results.append((f"apply to {rows} x {vocab_size:,} {dtype}, {label} mask", took, note))
    return results


def copy_of_bytes(size: int) -> Callable[[], Any]:
    """Return a call that copies so many bytes."""
    source = np.zeros(size, dtype=np.uint8)
    target = source.copy()
    return lambda: np.copyto(target, source)


def call_of(library: Any, logits: Any, bitmask: Any) -> Callable[[], Any]:
    """Return a call of a library's function for the CPU."""
    return lambda: library.apply_token_bitmask_inplace(logits, bitmask, backend="cpu")
