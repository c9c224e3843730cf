"""Objects that say they are arrays and raise, or hold what no memory can: all are to be refused."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

BEYOND_MEMORY = 2**62


class _Tensor(ctypes.Structure):
    """DLTensor and the two fields of a DLManagedTensor that follow it."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_kept: list[Any] = []  # capsules have no owner here


class Capsule:
    """A DLPack object of the CPU with a shape, strides and lanes that it makes up."""

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...], lanes: int = 1) -> None:
        self._fields = (shape, strides, lanes)

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_: Any):
        shape, strides, lanes = self._fields
        memory = np.zeros(4096, np.int32)
        extents = (ctypes.c_int64 * len(shape))(*shape)
        steps = (ctypes.c_int64 * len(strides))(*strides)
        device = (ctypes.c_int32 * 2)(1, 0)
        tensor = _Tensor(
            memory.ctypes.data, device, len(shape), 0, 32, lanes, extents, steps, 0, None, None
        )
        _kept.append((tensor, memory, extents, steps))
        return _new_capsule(ctypes.addressof(tensor), b"dltensor", None)


class Raises:
    """DLPack that raises."""

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_: Any):
        message = "no memory today"
        raise RuntimeError(message)


class NoCapsule(Raises):
    """DLPack that returns something else."""

    def __dlpack__(self, **_: Any):
        return 3


class _Unprintable:
    def __str__(self) -> str:
        message = "no words"
        raise RuntimeError(message)


class OddAttributes:
    """Attributes that can't be shown."""

    dtype = device = layout = _Unprintable()
    shape = 5

    def is_neg(self) -> bool:
        message = "who knows"
        raise RuntimeError(message)


BROKEN: dict[str, Callable[[], Any]] = {
    "DLPack that raises": Raises,
    "DLPack without a capsule": NoCapsule,
    "attributes that can't be shown": OddAttributes,
    "fewer than no rows": lambda: Capsule((-1, 40), (40, 1)),
    "fewer than no words": lambda: Capsule((1, -40), (40, 1)),
    "fewer than no elements": lambda: Capsule((-1,), (1,)),
    "rows beyond memory": lambda: Capsule((BEYOND_MEMORY, 40), (40, 1)),
    "words beyond memory": lambda: Capsule((1, BEYOND_MEMORY), (40, 1)),
    "elements beyond memory": lambda: Capsule((2**63 - 1,), (1,)),
    "strides beyond memory": lambda: Capsule((2, 40), (BEYOND_MEMORY, 1)),
    "strides far before memory": lambda: Capsule((2, 40), (-(2**63), 1)),
    "more than one number in each element": lambda: Capsule((1, 40), (40, 1), lanes=4),
    "no number in any element": lambda: Capsule((1, 40), (40, 1), lanes=0),
}
