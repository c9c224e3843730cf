"""Applies bitmasks with operations of torch, on any device that it has.

Idea: bits are unpacked to bytes, as Booleans that ``masked_fill_`` takes, some rows at a time, so
that they need a bounded amount of memory. Compiled, nothing is unpacked in memory.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from .request import Request

    MaskRows = Callable[[torch.Tensor, torch.Tensor], None]

__all__ = ["apply", "apply_compiled"]

# Logits that are masked at a time.
_MAX_ELEMENTS = 1 << 25


def apply(request: Request) -> None:
    """Mask the rows of a request, without compiling anything.

    Args:
        request: What to do.
    """
    _apply_with(_mask_rows, request)


def apply_compiled(request: Request) -> None:
    """Mask the rows of a request by what ``torch.compile`` makes of `apply`; compiled once.

    Args:
        request: What to do. The first call of a process takes seconds.
    """
    _apply_with(_compiled(), request)


@functools.cache
def _compiled() -> MaskRows:
    return torch.compile(_mask_rows, dynamic=True)


def _apply_with(mask_rows: MaskRows, request: Request) -> None:
    logits, bitmask, size = request.logits, request.bitmask, request.vocab_size
    if request.num_rows == 0 or logits.shape[1] == 0:
        return
    words = bitmask[:, : (size + 31) // 32]
    rows = request.row_numbers()
    step = max(1, _MAX_ELEMENTS // logits.shape[1])
    for begin in range(0, request.num_rows, step):
        if rows is None:
            part = slice(begin, begin + step)
            _mask(mask_rows, logits[part], words[part], size)
        else:
            chosen = rows[begin : begin + step]
            values = logits.index_select(0, chosen)
            _mask(mask_rows, values, words.index_select(0, chosen), size)
            logits.index_copy_(0, chosen, values)


def _mask(mask_rows: MaskRows, logits: torch.Tensor, words: torch.Tensor, size: int) -> None:
    if size != 0:
        mask_rows(logits[:, :size], words)
    if size != logits.shape[1]:
        logits[:, size:].fill_(float("-inf"))


def _mask_rows(logits: torch.Tensor, words: torch.Tensor) -> None:
    """Mask as many logits as there are columns, of which the words have a bit each."""
    shifts = torch.arange(0, 32, 8, dtype=torch.int32, device=words.device)
    octets = ((words.unsqueeze(-1) >> shifts) & 0xFF).to(torch.uint8)
    bits = torch.tensor([1, 2, 4, 8, 16, 32, 64, 128], dtype=torch.uint8, device=words.device)
    refused = ((octets.unsqueeze(-1) & bits) == 0).flatten(1)[:, : logits.shape[1]]
    logits.masked_fill_(refused, float("-inf"))
