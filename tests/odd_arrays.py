"""Arrays that an engine may hand over, and what is to become of them.

`ARRAYS` makes an array of a dtype and shape in many ways; each either shares memory with a plain
numpy array, through which a test sees what was read and written, or is to be refused.
"""

from __future__ import annotations

import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest


@dataclass(frozen=True)
class OddArray:
    """One way to make an array.

    `make` takes a dtype's name and a shape, and returns the array and the numpy array that it
    shares memory with; None instead of that: it is refused, with `code` and `text` in the message.
    """

    name: str
    make: Callable[[str, tuple[int, ...]], tuple[Any, np.ndarray | None]]
    code: str = ""
    text: str = ""
    # It may be read, so a function that only reads uses it.
    is_readable: bool = False
    dtypes: tuple[str, ...] = ("int32", "float32", "bool")


def torch_module():
    return pytest.importorskip("torch", reason="torch is not installed")


class DLPackOnly:
    """An object that has DLPack and nothing else."""

    def __init__(self, base):
        self._base = base

    def __dlpack__(self, **options):
        return self._base.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._base.__dlpack_device__()


class Subclass(np.ndarray):
    """A subclass of numpy's array."""


def plain(dtype, shape):
    base = np.zeros(shape, dtype)
    return base, base


def viewed(view: Callable[[np.ndarray], Any]):
    """Make a view of a plain array."""

    def make(dtype, shape):
        base = np.zeros(shape, dtype)
        return view(base), base

    return make


def wider(dtype, shape):
    base = np.zeros((*shape[:-1], shape[-1] + 5), dtype)[..., 2:-3]
    return base, base


def reversed_rows(dtype, shape):
    base = np.zeros(shape, dtype)[::-1]
    return base, base


def unaligned(dtype, shape):
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    base = np.frombuffer(bytearray(size + 1), np.uint8)[1:].view(dtype).reshape(shape)
    return base, None


def read_only(dtype, shape):
    base = np.zeros(shape, dtype)
    base.flags.writeable = False
    return base, base


def swapped(dtype, shape):
    return np.zeros(shape, np.dtype(dtype).newbyteorder()), None


def of_dtype(other: str):
    return lambda _, shape: (np.zeros(shape, other), None)


def buffer(dtype, shape):
    base = np.zeros(shape, dtype)
    return memoryview(base), base


def array_module(dtype, shape):
    made = array.array({"int32": "i", "float32": "f"}[dtype], [0] * shape[-1])
    return made, np.asarray(made).reshape(shape)


def tensor(view: Callable[[Any], Any] = lambda tensor: tensor):
    """Make a tensor that shares memory with a numpy array, or a view of one."""

    def make(dtype, shape):
        base = np.zeros(shape, dtype)
        return view(torch_module().from_numpy(base)), base

    return make


def tensor_from(make: Callable[[Any, Any, tuple[int, ...]], Any]):
    """Make a tensor to be refused from the module, a dtype and a shape."""

    def make_tensor(dtype, shape):
        torch = torch_module()
        return make(torch, getattr(torch, dtype), shape), None

    return make_tensor


def offset_tensor(dtype, shape):
    torch = torch_module()
    base = np.zeros((shape[0] + 2, shape[1] + 7), dtype)
    part = (slice(1, -1), slice(4, -3))
    return torch.from_numpy(base)[part], base[part]


def fake(torch, dtype, shape):
    mode = pytest.importorskip("torch._subclasses.fake_tensor").FakeTensorMode()
    with mode:
        return torch.zeros(shape, dtype=dtype)


def negated(torch, dtype, shape):
    whole = torch.zeros((*shape, 1), dtype=torch.complex64).conj()
    return whole.imag[..., 0] if dtype is torch.float32 else torch._neg_view(whole.real)


def unaligned_tensor(torch, dtype, shape):
    size = int(np.prod(shape))
    raw = bytearray(size * dtype.itemsize + 1)
    return torch.frombuffer(raw, dtype=dtype, count=size, offset=1).reshape(shape)


NOT_AN_ARRAY = "bitmask-not-an-array"
WIDE = ("int32", "float32")
ARRAYS = [
    OddArray("numpy", plain),
    OddArray("part of wider rows", wider),
    OddArray("rows in reverse order", reversed_rows),
    OddArray("subclass", viewed(lambda base: base.view(Subclass))),
    OddArray("matrix", viewed(lambda base: base.view(np.matrix))),
    OddArray("memoryview", buffer),
    OddArray("array of the standard library", array_module, dtypes=WIDE),
    OddArray("DLPack alone", viewed(DLPackOnly)),
    OddArray("tensor", tensor()),
    OddArray("tensor with a storage offset", offset_tensor),
    OddArray("tensor of a subclass", tensor(lambda t: t.as_subclass(_tensor_subclass()))),
    OddArray("tensor made in inference mode", tensor(lambda t: t)),
    OddArray("detached tensor", tensor(lambda t: t.detach())),
    OddArray("unaligned", unaligned, NOT_AN_ARRAY, "an aligned array", dtypes=WIDE),
    OddArray("read-only", read_only, NOT_AN_ARRAY, "it is read-only", is_readable=True),
    OddArray("other byte order", swapped, NOT_AN_ARRAY, "strides (", dtypes=WIDE),
    OddArray("int64", of_dtype("int64"), "dtype", "an int64 array of shape (1, 40), strides"),
    OddArray("structured", of_dtype("i4,i4"), NOT_AN_ARRAY, "shape (1, 40)"),
    OddArray("object", of_dtype("object"), NOT_AN_ARRAY, "dtype object"),
    OddArray("list", lambda _, shape: ([0] * shape[-1], None), NOT_AN_ARRAY, "is a list"),
    OddArray("None", lambda *_: (None, None), NOT_AN_ARRAY, "is a NoneType"),
    OddArray(
        "0-D", lambda dtype, _: (np.zeros((), dtype), None), "shape", "1-D or 2-D", is_readable=True
    ),
    OddArray(
        "meta tensor",
        tensor_from(lambda torch, dtype, shape: torch.zeros(shape, dtype=dtype, device="meta")),
        "bitmask-device|bitmask-not-an-array",
        "meta",
    ),
    OddArray("fake tensor", tensor_from(fake), NOT_AN_ARRAY, "with memory"),
    OddArray(
        "sparse tensor",
        tensor_from(lambda torch, dtype, shape: torch.zeros(shape, dtype=dtype).to_sparse()),
        NOT_AN_ARRAY,
        "torch.sparse",
    ),
    OddArray("negated tensor", tensor_from(negated), NOT_AN_ARRAY, "resolve", dtypes=("float32",)),
    OddArray(
        "unaligned tensor", tensor_from(unaligned_tensor), NOT_AN_ARRAY, "aligned", dtypes=WIDE
    ),
    OddArray(
        "tensor that requires grad",
        tensor_from(lambda torch, dtype, shape: torch.zeros(shape, dtype=dtype).requires_grad_()),
        NOT_AN_ARRAY,
        "requires grad",
        dtypes=("float32",),
    ),
]


def _tensor_subclass():
    torch = torch_module()

    class Subtensor(torch.Tensor):
        """A subclass of torch's tensor."""

    return Subtensor


def arrays_of(dtype: str) -> list[Any]:
    """The arrays for a dtype, as parameters of a test."""
    return [pytest.param(odd, id=odd.name) for odd in ARRAYS if dtype in odd.dtypes]
