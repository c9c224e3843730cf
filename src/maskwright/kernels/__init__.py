"""Applying bitmasks to torch tensors, on any of torch's devices.

One module per way, each imported when it is first used: `triton_apply`, `torch_apply`. They get a
`Request`, in which everything was checked: by the same code and with the same messages as on the
CPU. Torch and Triton stay optional.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from .. import _core
from ..errors import BitmaskError
from .request import Request
from .tensors import check_tensor, describe_tensor, tensor_facts

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Request", "apply"]


def apply(
    logits: Any, bitmask: Any, vocab_size: int | None, rows: list[int] | None, backend: str
) -> None:
    """Apply a bitmask to torch tensors, in place.

    Args:
        logits: As for `apply_token_bitmask_inplace`.
        bitmask: As there.
        vocab_size: As there.
        rows: Numbers of the rows; None: all.
        backend: As there, but for ``"cpu"``.

    Raises:
        BitmaskError: As there; nothing has changed.
    """
    check_tensor("logits", logits)
    check_tensor("bitmask", bitmask)
    kernel = _kernel(backend, logits)
    size, chosen = _core.check_apply(
        tensor_facts(logits), tensor_facts(bitmask), vocab_size=vocab_size, indices=rows
    )
    kernel(Request(_as_rows(logits), _as_rows(bitmask), size, chosen))


def _as_rows(tensor: Any) -> Any:
    return tensor if tensor.dim() == 2 else tensor.unsqueeze(0)


def _kernel(backend: str, logits: Any) -> Callable[[Request], None]:
    """Return the function of a backend, if it runs where the logits are."""
    on_cuda = logits.is_cuda
    if backend == "cuda" and not on_cuda:
        raise _not_there(backend, logits)
    if backend in {"auto", "cuda"}:
        backend = "triton" if on_cuda and _triton() is not None else "torch_native"
    if backend == "triton":
        module = _triton()
        if module is None:
            raise _not_installed(backend)
        if not on_cuda and not module.IS_INTERPRETED:
            raise _not_there(backend, logits)
        kernel: Callable[[Request], None] = module.apply
        return kernel
    try:
        from . import torch_apply
    except ImportError as error:
        raise _not_installed(backend) from error
    return torch_apply.apply_compiled if backend == "torch_compile" else torch_apply.apply


@functools.cache
def _triton() -> Any:
    try:
        from . import triton_apply
    except ImportError:
        return None
    return triton_apply


def _not_installed(backend: str) -> BitmaskError:
    needed = "the packages torch and triton" if backend == "triton" else "the package torch"
    return BitmaskError(
        f'the backend "{backend}" needs {needed}, which cannot be imported; install them, or use '
        '"auto"',
        code="bitmask-backend",
    )


def _not_there(backend: str, logits: Any) -> BitmaskError:
    return BitmaskError(
        f'the backend "{backend}" needs tensors on a CUDA or ROCm device; logits is '
        f'{describe_tensor(logits)}; use "auto"',
        code="bitmask-device",
    )
