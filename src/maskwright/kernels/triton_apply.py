"""Applies bitmasks with a Triton kernel, on CUDA and ROCm.

Idea: one program per row and block of tokens reads the words of its block and writes minus infinity
where a bit is 0. Logits are never read, so the cost is that of writing those that are masked.

With ``TRITON_INTERPRET=1`` in the environment Triton runs the kernel on the CPU, slowly; that is
how it is tested where there is no GPU.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch
import triton
import triton.language as tl

if TYPE_CHECKING:
    from .request import Request

__all__ = ["IS_INTERPRETED", "apply"]

_BLOCK = 4096


@triton.jit
def _apply_kernel(  # type: ignore[no-untyped-def]  # Triton has types of its own
    logits,  # noqa: ANN001  Triton reads annotations as its own
    bitmask,  # noqa: ANN001
    rows,  # noqa: ANN001
    vocab_size,  # noqa: ANN001
    size,  # noqa: ANN001
    logits_stride,  # noqa: ANN001
    bitmask_stride,  # noqa: ANN001
    HAS_ROWS: tl.constexpr,  # noqa: N803  a constant of the kernel
    BLOCK: tl.constexpr,  # noqa: N803
) -> None:
    row = tl.program_id(0).to(tl.int64)
    if HAS_ROWS:
        row = tl.load(rows + row)
    tokens = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    words = tl.load(
        bitmask + row * bitmask_stride + tokens // 32, mask=tokens < vocab_size, other=0
    )
    refused = ((words >> (tokens % 32)) & 1) == 0
    tl.store(logits + row * logits_stride + tokens, float("-inf"), mask=refused & (tokens < size))


# The kernel runs on the CPU, on tensors of any device that has memory there.
IS_INTERPRETED = not isinstance(_apply_kernel, triton.JITFunction)


def apply(request: Request) -> None:
    """Mask the rows of a request, on the current stream.

    Args:
        request: What to do; on a CUDA or ROCm device unless `IS_INTERPRETED`.
    """
    logits, bitmask = request.logits, request.bitmask
    size = logits.shape[1]
    if request.num_rows == 0 or size == 0:
        return
    rows = request.row_numbers()
    on_device: Any = torch.cuda.device(logits.device) if logits.is_cuda else nullcontext()
    with on_device:
        _apply_kernel[(request.num_rows, triton.cdiv(size, _BLOCK))](
            logits,
            bitmask,
            logits if rows is None else rows,
            request.vocab_size,
            size,
            logits.stride(0),
            bitmask.stride(0),
            HAS_ROWS=rows is not None,
            BLOCK=_BLOCK,
        )
