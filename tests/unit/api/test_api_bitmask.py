"""Bitmask helpers: shapes, allocation, resetting, applying to logits."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import maskwright
from maskwright import (
    BitmaskError,
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    get_bitmask_shape,
    reset_token_bitmask,
)


@pytest.fixture
def without_torch(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed")


@pytest.mark.parametrize(
    ("size", "words"), [(0, 0), (1, 1), (32, 1), (33, 2), (128_256, 4008), (151_936, 4748)]
)
def test_shape(size, words):
    assert get_bitmask_shape(3, size) == (3, words)


@pytest.mark.parametrize("sizes", [(-1, 5), (1, -5)])
def test_negative_sizes(sizes):
    for function in (get_bitmask_shape, allocate_token_bitmask):
        with pytest.raises(BitmaskError, match="0 or more") as caught:
            function(*sizes)
        assert caught.value.code == "bitmask-size"


@pytest.mark.parametrize("sizes", [(1.5, 3), (1, 3.0), ("1", 3), (None, 3)])
def test_sizes_that_are_no_integers(sizes):
    for function in (get_bitmask_shape, allocate_token_bitmask):
        with pytest.raises(TypeError):
            function(*sizes)


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33])
@pytest.mark.parametrize("rows", [0, 1, 3])
def test_integers_of_numpy_and_edge_sizes(rows, size):
    shape = get_bitmask_shape(np.int64(rows), np.uint32(size))
    assert shape == (rows, (size + 31) // 32)
    assert all(type(n) is int for n in shape)
    bitmask = allocate_token_bitmask(np.int32(rows), np.int64(size))
    assert tuple(bitmask.shape) == shape
    logits = np.zeros((rows, size), dtype=np.float32)
    apply_token_bitmask_inplace(logits, bitmask, vocab_size=np.int64(size))
    assert not logits.any()


@pytest.mark.usefixtures("without_torch")
def test_numpy_allocation():
    bitmask = allocate_token_bitmask(2, 33)
    assert isinstance(bitmask, np.ndarray)
    assert bitmask.dtype == np.int32 == maskwright.bitmask_dtype
    assert bitmask.tolist() == [[-1, -1], [-1, -1]]


def test_torch_allocation(torch):
    bitmask = allocate_token_bitmask(2, 33)
    assert isinstance(bitmask, torch.Tensor)
    assert bitmask.dtype is torch.int32 is maskwright.bitmask_dtype
    assert bitmask.tolist() == [[-1, -1], [-1, -1]]


def test_allocation_does_not_load_torch():
    code = (
        "import sys, maskwright; b = maskwright.allocate_token_bitmask(1, 1); "
        "print(type(b).__module__, 'torch' in sys.modules, maskwright.bitmask_dtype)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == ["numpy", "False", "int32"]


def test_reset():
    base = np.zeros((2, 4), dtype=np.int32)
    reset_token_bitmask(base[:, 1:3])
    assert base.tolist() == [[0, -1, -1, 0]] * 2


def test_reset_torch(torch):
    bitmask = torch.zeros(2, 2, dtype=torch.int32)
    reset_token_bitmask(bitmask)
    assert bitmask.tolist() == [[-1, -1]] * 2
    with pytest.raises(BitmaskError, match="an int64 array") as caught:
        reset_token_bitmask(bitmask.long())
    assert caught.value.code == "bitmask-dtype"


def _read_only(array):
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("bitmask", "code"),
    [
        (np.zeros(2, dtype=np.int64), "bitmask-dtype"),
        (np.zeros(2, dtype=np.uint32), "bitmask-dtype"),
        ([0, 0], "bitmask-not-an-array"),
        (_read_only(np.zeros(2, dtype=np.int32)), "bitmask-not-an-array"),
    ],
)
def test_reset_refuses(bitmask, code):
    with pytest.raises(BitmaskError) as caught:
        reset_token_bitmask(bitmask)
    assert caught.value.code == code
    assert list(bitmask) == [0, 0]


# Applying -----------------------------------------------------------------------------------------


def packed(allowed: np.ndarray) -> np.ndarray:
    words = (allowed.shape[1] + 31) // 32
    padded = np.zeros((allowed.shape[0], words * 32), dtype=bool)
    padded[:, : allowed.shape[1]] = allowed
    return np.packbits(padded, axis=1, bitorder="little").view(np.int32)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("share", [0, 0.02, 0.5, 0.98, 1])
@pytest.mark.parametrize("size", [1, 31, 32, 33, 95, 640])
def test_apply_numpy(dtype, size, share):
    """Words of a mask that allow none, some and all tokens."""
    random = np.random.default_rng(size)
    logits = random.normal(size=(3, size)).astype(dtype)
    allowed = random.random((3, size)) < share
    expected = np.where(allowed, logits, np.array(-np.inf, dtype))
    assert apply_token_bitmask_inplace(logits, packed(allowed)) is None
    assert np.array_equal(logits, expected)


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16"])
def test_apply_torch(torch, name):
    allowed = np.random.default_rng(3).random((2, 50)) < 0.5
    logits = torch.randn(2, 50, generator=torch.Generator().manual_seed(1))
    logits = logits.to(getattr(torch, name))
    minus_infinity = torch.tensor(float("-inf"), dtype=logits.dtype)
    expected = torch.where(torch.from_numpy(allowed), logits, minus_infinity)
    apply_token_bitmask_inplace(logits, torch.from_numpy(packed(allowed)))
    assert torch.equal(logits, expected)


def test_apply_mixes_libraries(torch):
    logits = torch.zeros(1, 3)
    apply_token_bitmask_inplace(logits, np.array([[2]], dtype=np.int32))
    assert logits.tolist() == [[-np.inf, 0, -np.inf]]


def test_one_row_without_a_batch():
    logits = np.zeros(3, dtype=np.float32)
    apply_token_bitmask_inplace(logits, np.array([6], dtype=np.int32))
    assert logits.tolist() == [-np.inf, 0, 0]


def test_logits_beyond_the_vocabulary_are_masked():
    logits = np.zeros((1, 40), dtype=np.float32)
    apply_token_bitmask_inplace(logits, np.array([[-1]], dtype=np.int32), vocab_size=32)
    assert logits[0].tolist() == [0] * 32 + [-np.inf] * 8
    logits[:] = 0
    apply_token_bitmask_inplace(logits, np.full((1, 2), -1, dtype=np.int32), vocab_size=30)
    assert logits[0].tolist() == [0] * 30 + [-np.inf] * 10


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        np.array,
        iter,
        lambda rows: np.array(rows, np.int32),
        lambda r: map(np.int64, r),
    ],
)
def test_indices(make):
    logits = np.zeros((4, 2), dtype=np.float32)
    bitmask = np.array([[1], [1], [2], [2]], dtype=np.int32)
    apply_token_bitmask_inplace(logits, bitmask, indices=make([2, 0]))
    off = -np.inf
    assert logits.tolist() == [[0, off], [0, 0], [off, 0], [0, 0]]


def test_indices_as_a_tensor(torch):
    logits = np.zeros((2, 2), dtype=np.float32)
    bitmask = np.ones((2, 1), dtype=np.int32)
    apply_token_bitmask_inplace(logits, bitmask, indices=torch.tensor([1]))
    assert logits.tolist() == [[0, 0], [0, -np.inf]]


def test_rows_apart_in_memory():
    base = np.zeros((4, 6), dtype=np.float32)
    bits = np.full((4, 3), 1, dtype=np.int32)
    apply_token_bitmask_inplace(base[::2, 2:5], bits[1::2, 1:2])
    off = -np.inf
    assert base[0].tolist() == base[2].tolist() == [0, 0, 0, off, off, 0]
    assert not base[1::2].any()


ONES = np.ones((2, 1), dtype=np.int32)
BASE = np.zeros((4, 6), dtype=np.float32)


@pytest.mark.parametrize(
    ("logits", "bitmask", "options", "code"),
    [
        (np.zeros((2, 3)), ONES, {}, "logits-dtype"),
        (np.zeros((2, 3), dtype=np.int32), ONES, {}, "logits-dtype"),
        (np.zeros((1, 2, 3), dtype=np.float32), ONES, {}, "logits-shape"),
        (BASE[:2, ::2], ONES, {}, "logits-strides"),
        (BASE[:2], ONES.astype(np.int64), {}, "bitmask-dtype"),
        (BASE[:2], ONES[None], {}, "bitmask-shape"),
        (BASE[:2], np.ones((2, 4), dtype=np.int32)[:, ::2], {}, "bitmask-strides"),
        (BASE[:3], ONES, {}, "bitmask-shape"),
        (BASE[:2], ONES, {"vocab_size": 7}, "bitmask-vocab-size"),
        (BASE[:2], ONES, {"vocab_size": 2**70}, "bitmask-vocab-size"),
        (np.zeros((2, 33), dtype=np.float32), ONES, {}, "bitmask-shape"),
        (np.zeros((), dtype=np.float32), ONES, {}, "logits-shape"),
        (BASE[:2], np.array(1, dtype=np.int32), {}, "bitmask-shape"),
        (BASE[:2, ::-1], ONES, {}, "logits-strides"),
        (BASE[:2], np.ones((2, 2), dtype=np.int32)[:, ::-1], {}, "bitmask-strides"),
        (np.zeros((2, 50), dtype=np.float32), ONES, {"vocab_size": 33}, "bitmask-shape"),
        (BASE[:2], ONES, {"vocab_size": -1}, "bitmask-vocab-size"),
        (BASE[:2], ONES, {"indices": [0, 2]}, "bitmask-index"),
        (BASE[:2], ONES, {"indices": [0, -1]}, "bitmask-index"),
        (BASE[:4], ONES, {"indices": [0, 3]}, "bitmask-index"),
        (BASE[:2], ONES, {"indices": [2**70]}, "bitmask-index"),
        (BASE[:2], ONES.astype(np.uint32), {}, "bitmask-dtype"),
        (BASE[:2], ONES.astype(bool), {}, "bitmask-dtype"),
        ([[0.0]], ONES, {}, "bitmask-not-an-array"),
        (_read_only(np.zeros((2, 3), dtype=np.float32)), ONES, {}, "bitmask-not-an-array"),
        (BASE[:2], None, {}, "bitmask-not-an-array"),
        (BASE[:2], ONES, {"backend": "cuda"}, "bitmask-not-an-array"),
        (BASE[:2], ONES, {"backend": "triton"}, "bitmask-not-an-array"),
        (BASE[:2], ONES, {"backend": "torch_compile"}, "bitmask-not-an-array"),
        (BASE[:2], ONES, {"backend": "torch_native"}, "bitmask-not-an-array"),
        (BASE[:2], ONES, {"backend": "gpu"}, "bitmask-backend"),
    ],
)
def test_refusals_change_nothing(logits, bitmask, options, code):
    with pytest.raises(BitmaskError) as caught:
        apply_token_bitmask_inplace(logits, bitmask, **options)
    assert caught.value.code == code
    assert not np.any(logits)


def test_a_read_only_bitmask_is_fine():
    logits = np.zeros((1, 2), dtype=np.float32)
    apply_token_bitmask_inplace(logits, _read_only(np.array([[1]], dtype=np.int32)), backend="cpu")
    assert logits.tolist() == [[0, -np.inf]]


def test_other_devices_are_named(torch):
    logits = torch.zeros(1, 3, device="meta")
    with pytest.raises(BitmaskError, match=r"logits .* on meta; expected a tensor with memory"):
        apply_token_bitmask_inplace(logits, ONES)
    bitmask = torch.zeros(1, 1, dtype=torch.int32, device="meta")
    with pytest.raises(BitmaskError, match=r"bitmask .* device meta; expected an array") as caught:
        apply_token_bitmask_inplace(torch.zeros(1, 3), bitmask)
    assert caught.value.code == "bitmask-device"


def test_rows_without_an_element_cost_nothing_however_many_they_are():
    logits = np.zeros((2**45, 0), dtype=np.float32)
    bitmask = np.zeros((2**45, 0), dtype=np.int32)
    apply_token_bitmask_inplace(logits, bitmask)
    apply_token_bitmask_inplace(logits, bitmask, vocab_size=0, indices=[2**44, 3])
    with pytest.raises(BitmaskError, match="row 3 is named twice"):
        apply_token_bitmask_inplace(logits, bitmask, indices=[3, 2**44, 3])
    with pytest.raises(BitmaskError, match="one row for each of the 35184372088832 rows of logits"):
        apply_token_bitmask_inplace(logits, bitmask[:5])


@pytest.mark.parametrize("indices", [[0.5], [None], ["0"], [[0]], [True], np.array([True]), 0])
def test_indices_that_are_no_integers(indices):
    logits = np.zeros((1, 2), dtype=np.float32)
    with pytest.raises(TypeError):
        apply_token_bitmask_inplace(logits, ONES[:1], indices=indices)
    assert not logits.any()


@pytest.mark.parametrize("size", [1.0, "1", [1]])
def test_a_vocab_size_that_is_no_integer(size):
    with pytest.raises(TypeError):
        apply_token_bitmask_inplace(np.zeros((1, 2), np.float32), ONES[:1], vocab_size=size)


@pytest.mark.parametrize(
    ("logits", "bitmask", "options", "message"),
    [
        (
            np.zeros((2, 320), dtype=np.float32),
            np.zeros((2, 9), dtype=np.int32),
            {},
            (
                "bitmask is an int32 array of shape (2, 9), strides (9, 1), on cpu; expected 10 "
                "words in each row, for 320 tokens; if the model has fewer tokens than the logits "
                "have columns, say so with vocab_size"
            ),
        ),
        (
            np.zeros((1, 3)),
            ONES[:1],
            {},
            (
                "logits is a float64 array of shape (1, 3), strides (3, 1), on cpu; expected "
                "float32, float16 or bfloat16"
            ),
        ),
        (
            np.zeros((1, 3), dtype=np.float32),
            ONES[:1].astype(np.uint32),
            {},
            "bitmask is a uint32 array of shape (1, 1), strides (1, 1), on cpu; expected int32",
        ),
        (
            np.zeros((1, 3), dtype=np.float32),
            np.zeros(3, dtype=bool),
            {},
            "bitmask is a bool array of shape (3,), strides (1,), on cpu; expected int32",
        ),
        (
            np.zeros((2, 3), dtype=np.float32),
            ONES,
            {"vocab_size": 4},
            "vocab_size is 4, and a row of the logits has 3 elements; pass a number from 0 to that",
        ),
        (
            np.zeros((2, 3), dtype=np.float32),
            ONES,
            {"indices": [5]},
            (
                "row 5 does not exist: the logits have 2 rows and the bitmask has 2; pass indices "
                "below both"
            ),
        ),
    ],
)
def test_messages(logits, bitmask, options, message):
    with pytest.raises(BitmaskError) as caught:
        apply_token_bitmask_inplace(logits, bitmask, **options)
    assert str(caught.value) == message


def test_logits_wider_than_the_mask_need_a_vocab_size():
    """257 tokens, of which the mask has 9 words, and 320 logits."""
    logits = np.zeros((1, 320), dtype=np.float32)
    bitmask = allocate_token_bitmask(1, 257)
    with pytest.raises(BitmaskError):
        apply_token_bitmask_inplace(logits, bitmask)
    assert not logits.any()
    apply_token_bitmask_inplace(logits, bitmask, vocab_size=257)
    assert logits[0].tolist() == [0] * 257 + [-np.inf] * 63


def test_a_mask_wider_than_the_logits():
    logits = np.zeros((1, 3), dtype=np.float32)
    apply_token_bitmask_inplace(logits, np.array([[5, -1, 0]], dtype=np.int32))
    assert logits.tolist() == [[0, -np.inf, 0]]


def test_rows_in_reverse_order():
    logits = np.zeros((3, 2), dtype=np.float32)
    bitmask = np.array([[1], [2], [3]], dtype=np.int32)
    apply_token_bitmask_inplace(logits[::-1], bitmask)
    off = -np.inf
    assert logits.tolist() == [[0, 0], [off, 0], [0, off]]
    logits[:] = 0
    apply_token_bitmask_inplace(logits, bitmask[::-1], indices=[0, 2])
    assert logits.tolist() == [[0, 0], [0, 0], [0, off]]


def test_a_row_that_is_named_twice():
    logits = np.zeros((2, 2), dtype=np.float32)
    with pytest.raises(BitmaskError) as caught:
        apply_token_bitmask_inplace(logits, ONES, indices=[1, 0, 1])
    assert caught.value.code == "bitmask-index"
    assert str(caught.value) == "row 1 is named twice; name each row once in indices"
    assert not logits.any()


def test_rows_that_overlap():
    row = np.zeros(4, dtype=np.float32)
    rows = np.lib.stride_tricks.as_strided(row, (2, 3), (4, 4))
    with pytest.raises(BitmaskError, match="rows that do not overlap") as caught:
        apply_token_bitmask_inplace(rows, ONES)
    assert caught.value.code == "logits-strides"
    shared = np.broadcast_to(np.array([1], dtype=np.int32), (2, 1))
    logits = np.zeros((2, 2), dtype=np.float32)
    apply_token_bitmask_inplace(logits, shared)  # one mask for all rows
    assert logits.tolist() == [[0, -np.inf]] * 2


@pytest.mark.parametrize(
    ("logits", "bitmask"), [((0, 5), (0, 1)), ((2, 0), (2, 0)), ((0, 0), (0, 4)), ((0,), (0,))]
)
def test_empty_arrays(logits, bitmask):
    apply_token_bitmask_inplace(np.zeros(logits, np.float32), np.zeros(bitmask, np.int32))
    logits = np.zeros((2, 3), dtype=np.float32)
    apply_token_bitmask_inplace(logits, ONES, indices=[])
    apply_token_bitmask_inplace(logits, ONES, indices=np.array([], dtype=np.int64))
    assert not logits.any()
    apply_token_bitmask_inplace(logits, ONES, vocab_size=0)
    assert np.isinf(logits).all()
