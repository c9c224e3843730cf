"""Torch tensors: which lie on a device, and which cannot be written in place there.

Torch is never imported here: a program that has a tensor has loaded it.
"""

from __future__ import annotations

import sys
from typing import Any

from ..errors import BitmaskError

__all__ = ["check_tensor", "describe_tensor", "is_device_tensor", "is_tensor", "tensor_facts"]


def is_tensor(array: Any) -> bool:
    """Return whether it is a torch tensor."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def is_device_tensor(array: Any) -> bool:
    """Return whether it is a torch tensor that is not on the CPU."""
    return is_tensor(array) and not array.is_cpu


def tensor_facts(tensor: Any) -> tuple[str, tuple[int, ...], tuple[int, ...], str]:
    """Return dtype, shape, strides in elements and device of a strided tensor."""
    dtype = str(tensor.dtype).rpartition(".")[2]
    return dtype, tuple(tensor.shape), tuple(tensor.stride()), str(tensor.device)


def describe_tensor(tensor: Any) -> str:
    """Return what a tensor is, for messages."""
    if str(tensor.layout) != "torch.strided" or tensor.is_nested:
        return f"a {tensor.dtype} tensor of layout {tensor.layout}, on {tensor.device}"
    dtype, shape, strides, device = tensor_facts(tensor)
    article = "an" if dtype.startswith("i") else "a"
    return f"{article} {dtype} array of shape {shape}, strides {strides}, on {device}"


def check_tensor(what: str, array: Any) -> None:
    """Check that an array is a torch tensor whose memory can be used in place.

    Args:
        what: Names the argument in messages.
        array: Anything.

    Raises:
        BitmaskError: It is none (``bitmask-not-an-array``): no tensor, not strided, without memory,
            with negated or conjugated values in memory, or with a gradient to be computed.
    """
    if not is_tensor(array):
        kind = f"{type(array).__module__}.{type(array).__qualname__}".removeprefix("builtins.")
        raise _refusal(f"{what} is a {kind}; expected a torch tensor")
    if array.is_nested or str(array.layout) != "torch.strided":
        raise _refusal(f"{what} is {describe_tensor(array)}; expected a strided tensor")
    try:
        has_memory = array.data_ptr() != 0 or array.numel() == 0
    except RuntimeError:  # it stands for others: fake, or seen by a transform of functions
        has_memory = False
    if not has_memory:
        raise _refusal(f"{what} is {describe_tensor(array)}; expected a tensor with memory")
    if array.requires_grad:
        raise _refusal(
            f"{what} is {describe_tensor(array)}, and requires grad: pass what .detach() returns"
        )
    if array.is_neg() or array.is_conj():
        raise _refusal(
            f"{what} is {describe_tensor(array)}, and its memory holds other values than it shows: "
            "pass what .resolve_neg() or .resolve_conj() returns"
        )


def _refusal(message: str) -> BitmaskError:
    return BitmaskError(message, code="bitmask-not-an-array")
