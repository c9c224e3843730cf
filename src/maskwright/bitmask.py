"""Token bitmasks: allocating them, and applying them to logits.

A bitmask is an int32 array of shape (rows, ceil(vocab_size / 32)): bit ``t % 32`` of word
``t // 32`` says whether token ``t`` may come next. Arrays are numpy's, or torch's in a program that
has torch loaded; neither is imported before it is needed. Everything is done in place.
"""

from __future__ import annotations

import operator
import sys
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import BitmaskError

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

_DEVICE_BACKENDS = ("cuda", "triton", "torch_compile", "torch_native")


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
        bitmask: int32 array of numpy or torch, of any shape, on any device.

    Raises:
        BitmaskError: It has another dtype (``bitmask-dtype``), or is no array of numpy or torch, or
            is read-only (``bitmask-not-an-array``).
    """
    fill = getattr(bitmask, "fill_", None) or getattr(bitmask, "fill", None)
    flags = getattr(bitmask, "flags", None)
    if fill is None or not hasattr(bitmask, "dtype") or not getattr(flags, "writeable", True):
        raise BitmaskError(
            f"bitmask is a {type(bitmask).__name__}; expected a writable int32 array of numpy or "
            "torch",
            code="bitmask-not-an-array",
        )
    if str(bitmask.dtype).rpartition(".")[2] != "int32":
        raise BitmaskError(
            f"bitmask has dtype {bitmask.dtype}; expected int32", code="bitmask-dtype"
        )
    fill(-1)


def apply_token_bitmask_inplace(
    logits: Any,
    bitmask: Any,
    *,
    vocab_size: int | None = None,
    indices: Iterable[int] | None = None,
    backend: str = "auto",
) -> None:
    """Set the logits of tokens that may not come next to minus infinity, in place.

    Only the CPU is supported so far. Everything is checked before anything is written. Cost: one
    pass over the logits of the rows.

    Args:
        logits: float32, float16 or bfloat16 array on the CPU, of shape (rows, size) or (size,),
            contiguous within a row; numpy, torch, or any object with DLPack or a buffer.
        bitmask: int32 array on the CPU of shape (rows, words) or (words,), contiguous within a row.
        vocab_size: Number of tokens that the bitmask speaks of; logits beyond are set to minus
            infinity. None: as many as a row of logits has, and the bitmask must cover them all.
        indices: Rows, of the logits and of the bitmask alike, that are touched; None: all, and
            both must have the same number. A row may be named twice.
        backend: ``"auto"`` or ``"cpu"``.

    Raises:
        BitmaskError: An array has the wrong dtype, shape, strides or device, a row does not exist,
            the bitmask has fewer bits than there are tokens, ``vocab_size`` is more than the
            logits have, or the backend is not available; the code says which (``logits-dtype``,
            ``bitmask-shape``, ``bitmask-index``, ``bitmask-vocab-size``, ``bitmask-device``,
            ``bitmask-backend``, ...).
        TypeError: An index or ``vocab_size`` is no integer.

    Example:
        >>> import numpy as np
        >>> logits = np.zeros((1, 3), dtype=np.float32)
        >>> apply_token_bitmask_inplace(logits, np.array([[0b101]], dtype=np.int32))
        >>> logits.tolist()
        [[0.0, -inf, 0.0]]
    """
    if backend not in ("auto", "cpu"):
        raise _no_backend(backend)
    _check_device("logits", logits)
    _check_device("bitmask", bitmask)
    rows = None
    if indices is not None:
        tolist = getattr(indices, "tolist", None)  # of a tensor: one call, not one per element
        rows = list(indices if tolist is None else tolist())
        if any(isinstance(row, bool) for row in rows):
            raise TypeError("indices holds bools; expected the numbers of the rows")
    _core.apply_bitmask(logits, bitmask, vocab_size=vocab_size, indices=rows)


def _no_backend(backend: str) -> BitmaskError:
    if backend in _DEVICE_BACKENDS:
        message = f'the backend "{backend}" is not available yet'
    else:
        message = f"the backend {backend!r} is not known"
    return BitmaskError(f'{message}; use "auto" or "cpu"', code="bitmask-backend")


def _check_device(what: str, array: Any) -> None:
    device = str(getattr(array, "device", "cpu"))
    if device.partition(":")[0] != "cpu":
        raise BitmaskError(
            f"{what} is on the device {device}; only arrays of the CPU are supported yet: copy it "
            "there, apply the bitmask, and copy it back",
            code="bitmask-device",
        )
