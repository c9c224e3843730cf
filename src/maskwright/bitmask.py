"""Token bitmasks: allocating them, and applying them to logits.

A bitmask is an int32 array of shape (rows, ceil(vocab_size / 32)): bit ``t % 32`` of word
``t // 32`` says whether token ``t`` may come next. Arrays are numpy's, or torch's in a program that
has torch loaded; neither is imported before it is needed. Everything is done in place. What is on
the CPU is the engine's work, what is on a device that of ``kernels``.
"""

from __future__ import annotations

import operator
import sys
from typing import TYPE_CHECKING, Any

from . import _core, kernels
from .errors import BitmaskError
from .kernels.tensors import check_tensor, describe_tensor, is_device_tensor

if TYPE_CHECKING:
    from collections.abc import Iterable

    bitmask_dtype: Any

__all__ = [
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_dtype",
    "get_bitmask_shape",
    "reset_token_bitmask",
]

_BACKENDS = ("auto", "cpu", "cuda", "triton", "torch_compile", "torch_native")


def __getattr__(name: str) -> Any:
    # bitmask_dtype: the dtype that `allocate_token_bitmask` would use now.
    if name != "bitmask_dtype":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    torch = sys.modules.get("torch")
    if torch is not None:
        return torch.int32
    import numpy as np

    return np.dtype(np.int32)


def get_bitmask_shape(batch_size: int, vocab_size: int) -> tuple[int, int]:
    """Return the shape of a bitmask.

    Args:
        batch_size: Number of rows.
        vocab_size: Number of token ids.

    Raises:
        BitmaskError: A size is negative (``bitmask-size``).

    Example:
        >>> get_bitmask_shape(2, 128_256)
        (2, 4008)
    """
    rows, size = operator.index(batch_size), operator.index(vocab_size)
    if rows < 0 or size < 0:
        raise BitmaskError(
            f"batch_size is {rows} and vocab_size is {size}; expected 0 or more for both",
            code="bitmask-size",
        )
    return rows, (size + 31) // 32


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> Any:
    """Return a new bitmask on the CPU that allows every token.

    Args:
        batch_size: Number of rows.
        vocab_size: Number of token ids: the length of a row of logits.

    Returns:
        int32 array of shape ``get_bitmask_shape(batch_size, vocab_size)``, all -1: a torch tensor
        if torch is loaded, else a numpy array.

    Raises:
        BitmaskError: A size is negative (``bitmask-size``).

    Example:
        >>> allocate_token_bitmask(1, 64).tolist()
        [[-1, -1]]
    """
    shape = get_bitmask_shape(batch_size, vocab_size)
    torch = sys.modules.get("torch")
    if torch is not None:
        return torch.full(shape, -1, dtype=torch.int32)
    import numpy as np

    return np.full(shape, -1, dtype=np.int32)


def reset_token_bitmask(bitmask: Any) -> None:
    """Allow every token, in place.

    Args:
        bitmask: int32 array of any shape and strides: a torch tensor on any device, or on the CPU
            anything with DLPack or a buffer.

    Raises:
        BitmaskError: It has another dtype (``bitmask-dtype``), is not writable memory of the CPU or
            of a torch device (``bitmask-not-an-array``), or is on a device and not torch's
            (``bitmask-device``).
    """
    if is_device_tensor(bitmask):
        check_tensor("bitmask", bitmask)
        if bitmask.dtype is not sys.modules["torch"].int32:
            raise BitmaskError(
                f"bitmask is {describe_tensor(bitmask)}; expected int32", code="bitmask-dtype"
            )
        bitmask.fill_(-1)
    else:
        _core.allow_all(bitmask)


def apply_token_bitmask_inplace(
    logits: Any,
    bitmask: Any,
    *,
    vocab_size: int | None = None,
    indices: Iterable[int] | None = None,
    backend: str = "auto",
) -> None:
    """Set the logits of tokens that may not come next to minus infinity, in place.

    Everything is checked before anything is written. Cost on the CPU: where few tokens are allowed,
    writing the rows; where nearly all are, reading the bitmask. Python's global lock is released.

    Args:
        logits: float32, float16 or bfloat16 array of shape (rows, size) or (size,), contiguous
            within a row; on the CPU numpy, torch, or any object with DLPack or a buffer; on other
            devices torch.
        bitmask: int32 array on the same device, of shape (rows, words) or (words,), contiguous
            within a row.
        vocab_size: Number of tokens that the bitmask speaks of; logits beyond are set to minus
            infinity. None: as many as a row of logits has, and the bitmask must cover them all.
        indices: Rows, of the logits and of the bitmask alike, that are touched, each once; None:
            all, and both must have the same number. A list or an array; one on a device is copied
            to the CPU, which waits for the device.
        backend: ``"auto"``: the engine's own loop on the CPU; on CUDA and ROCm ``"triton"`` if that
            is installed, else, and on other devices, ``"torch_native"``. ``"cpu"``; ``"cuda"``:
            what ``"auto"`` does there, and only there; ``"triton"``: a kernel for CUDA and ROCm;
            ``"torch_native"``: operations of torch, for any of its devices, the CPU included;
            ``"torch_compile"``: these as compiled by torch, which takes seconds once.

    Raises:
        BitmaskError: An array has the wrong dtype, shape, strides or device, a row does not exist
            or is named twice, the bitmask has fewer bits than there are tokens, ``vocab_size`` is
            more than the logits have, or the backend is not available; the code says which
            (``logits-dtype``, ``bitmask-shape``, ``bitmask-index``, ``bitmask-vocab-size``,
            ``bitmask-device``, ``bitmask-backend``, ...).
        TypeError: An index or ``vocab_size`` is no integer.

    Example:
        >>> import numpy as np
        >>> logits = np.zeros((1, 3), dtype=np.float32)
        >>> apply_token_bitmask_inplace(logits, np.array([[0b101]], dtype=np.int32))
        >>> logits.tolist()
        [[0.0, -inf, 0.0]]
    """
    if backend not in _BACKENDS:
        names = ", ".join(f'"{name}"' for name in _BACKENDS)
        raise BitmaskError(
            f"the backend {backend!r} is not known; use one of {names}", code="bitmask-backend"
        )
    rows = None if indices is None else _row_list(indices)
    if backend == "cpu" or (backend == "auto" and not is_device_tensor(logits)):
        _core.apply_bitmask(logits, bitmask, vocab_size=vocab_size, indices=rows)
    else:
        kernels.apply(logits, bitmask, vocab_size, rows, backend)


def _row_list(indices: Iterable[int]) -> list[int]:
    tolist = getattr(indices, "tolist", None)  # of a tensor: one call, not one per element
    rows = list(indices if tolist is None else tolist())
    if any(isinstance(row, bool) for row in rows):
        raise TypeError("indices holds bools; expected the numbers of the rows")
    return rows
