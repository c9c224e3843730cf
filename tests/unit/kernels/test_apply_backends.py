"""Applying bitmasks with each backend that runs on this machine."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from maskwright import BitmaskError, apply_token_bitmask_inplace, kernels

torch = pytest.importorskip("torch", reason="torch is not installed")

GPU_CHECK = Path(__file__).resolve().parents[3] / "tools" / "gpu_check.py"
needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="triton is not installed"
)
ONES = torch.ones(2, 1, dtype=torch.int32)


def run_gpu_check(*arguments: str, **environment: str) -> str:
    result = subprocess.run(
        [sys.executable, "-W", "ignore", str(GPU_CHECK), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@needs_triton
def test_triton_interpreted_and_native_operations():
    """The checks that a GPU gets, with Triton's interpreter on the CPU."""
    output = run_gpu_check(
        "--device", "cpu", "--backends", "triton,torch_native,cpu", TRITON_INTERPRET="1"
    )
    assert "all results are right" in output
    assert "triton: 219 cases" in output


@needs_triton
@pytest.mark.filterwarnings("ignore")  # Triton's own, about defaults that do not matter here
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize(
    ("target", "assembly"), [(("cuda", 90, 32), "ptx"), (("hip", "gfx942", 64), "amdgcn")]
)
def test_triton_compiles_for_devices_that_are_not_there(
    monkeypatch, tmp_path, target, assembly, dtype
):
    triton = pytest.importorskip("triton")
    compiler = pytest.importorskip("triton.backends.compiler")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    kernel = importlib.import_module("maskwright.kernels.triton_apply")._apply_kernel
    source = triton.compiler.ASTSource(
        fn=kernel,
        signature={
            "logits": f"*{dtype}",
            "bitmask": "*i32",
            "rows": "*i64",
            "vocab_size": "i32",
            "size": "i32",
            "logits_stride": "i32",
            "bitmask_stride": "i32",
            "HAS_ROWS": "constexpr",
            "BLOCK": "constexpr",
        },
        constexprs={"HAS_ROWS": True, "BLOCK": 4096},
    )
    compiled = triton.compile(source, target=compiler.GPUTarget(*target))
    assert "global" in compiled.asm[assembly]


@needs_triton
def test_the_gpu_check_says_why_it_does_nothing():
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    assert run_gpu_check() == "skipped: torch finds no CUDA or ROCm device\n"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_compiled():
    allowed = torch.tensor([[1, -1], [2, 0]], dtype=torch.int32)
    for dtype in (torch.float32, torch.bfloat16):
        logits = torch.zeros(2, 40, dtype=dtype)
        apply_token_bitmask_inplace(logits, allowed, vocab_size=34, backend="torch_compile")
        expected = torch.full((2, 40), -torch.inf, dtype=dtype)
        expected[0, 0] = expected[0, 32] = expected[0, 33] = expected[1, 1] = 0
        assert torch.equal(logits, expected)


@pytest.mark.parametrize("elements", [1, 7, 1 << 25])
def test_rows_are_masked_some_at_a_time(monkeypatch, elements):
    torch_apply = pytest.importorskip("maskwright.kernels.torch_apply")
    monkeypatch.setattr(torch_apply, "_MAX_ELEMENTS", elements)
    bitmask = torch.tensor([[1], [2], [4], [3], [5]], dtype=torch.int32)
    for indices in (None, [4, 0, 2]):
        logits, expected = torch.zeros(5, 3), torch.zeros(5, 3)
        apply_token_bitmask_inplace(logits, bitmask, indices=indices, backend="torch_native")
        apply_token_bitmask_inplace(expected, bitmask, indices=indices, backend="cpu")
        assert torch.equal(logits, expected)


def test_one_row_without_a_batch():
    logits = torch.zeros(3)
    apply_token_bitmask_inplace(
        logits, torch.tensor([6], dtype=torch.int32), backend="torch_native"
    )
    assert logits.tolist() == [-np.inf, 0, 0]


@pytest.mark.parametrize(
    ("logits", "bitmask", "options", "code"),
    [
        (torch.zeros(2, 3, dtype=torch.float64), ONES, {}, "logits-dtype"),
        (torch.zeros(2, 2, 3), ONES, {}, "logits-shape"),
        (torch.zeros(2, 6)[:, ::2], ONES, {}, "logits-strides"),
        (torch.zeros(1, 3).expand(2, 3), ONES, {}, "logits-strides"),
        (torch.zeros(2, 3), ONES.long(), {}, "bitmask-dtype"),
        (torch.zeros(3, 3), ONES, {}, "bitmask-shape"),
        (torch.zeros(2, 33), ONES, {}, "bitmask-shape"),
        (torch.zeros(2, 3), ONES, {"vocab_size": 4}, "bitmask-vocab-size"),
        (torch.zeros(2, 3), ONES, {"indices": [2]}, "bitmask-index"),
        (torch.zeros(2, 3), ONES, {"indices": [0, 0]}, "bitmask-index"),
        (torch.zeros(2, 3), ONES.to("meta"), {}, "bitmask-not-an-array"),
        (torch.zeros(2, 3), ONES.numpy(), {}, "bitmask-not-an-array"),
        (torch.zeros(2, 3).to_sparse(), ONES, {}, "bitmask-not-an-array"),
        (torch.zeros(2, 3, requires_grad=True), ONES, {}, "bitmask-not-an-array"),
        (torch.zeros(2, 3, dtype=torch.complex64).conj(), ONES, {}, "bitmask-not-an-array"),
        ([[0.0]], ONES, {}, "bitmask-not-an-array"),
        (torch.zeros(2, 3), ONES, {"backend": "cuda"}, "bitmask-device"),
        (torch.zeros(2, 3), ONES, {"backend": "opencl"}, "bitmask-backend"),
    ],
)
def test_refusals_change_nothing(logits, bitmask, options, code):
    options = {"backend": "torch_native", **options}
    with pytest.raises(BitmaskError) as caught:
        apply_token_bitmask_inplace(logits, bitmask, **options)
    assert caught.value.code == code
    if isinstance(logits, torch.Tensor):
        assert not logits.detach().to_dense().any()


def test_messages_are_those_of_the_cpu():
    logits = torch.zeros(2, 320)
    bitmask = torch.zeros(2, 9, dtype=torch.int32)
    for backend in ("cpu", "torch_native"):
        with pytest.raises(BitmaskError) as caught:
            apply_token_bitmask_inplace(logits, bitmask, backend=backend)
        assert str(caught.value) == (
            "bitmask is an int32 array of shape (2, 9), strides (9, 1), on cpu; expected 10 words "
            "in each row, for 320 tokens; if the model has fewer tokens than the logits have "
            "columns, say so with vocab_size"
        )


def test_devices_that_differ():
    """What a call with logits on a GPU and a bitmask on the CPU says."""
    with pytest.raises(BitmaskError) as caught:
        kernels._core.check_apply(
            ("float32", (2, 3), (3, 1), "cuda:0"), ("int32", (2, 1), (1, 1), "cpu")
        )
    assert caught.value.code == "bitmask-device"
    assert str(caught.value) == (
        "bitmask is an int32 array of shape (2, 1), strides (1, 1), on cpu; expected the device of "
        "the logits, cuda:0; copy the bitmask there"
    )


@pytest.mark.parametrize(
    ("on_cuda", "has_triton", "backend", "expected"),
    [
        (True, True, "auto", "triton"),
        (True, False, "auto", "torch_native"),
        (False, True, "auto", "torch_native"),
        (True, True, "cuda", "triton"),
        (True, False, "cuda", "torch_native"),
        (True, True, "triton", "triton"),
        (True, True, "torch_native", "torch_native"),
        (True, True, "torch_compile", "torch_compile"),
        (True, False, "triton", "bitmask-backend"),
        (False, True, "triton", "bitmask-device"),
        (False, True, "cuda", "bitmask-device"),
    ],
)
def test_the_choice_of_a_kernel(monkeypatch, on_cuda, has_triton, backend, expected):
    class Triton:
        IS_INTERPRETED = False
        apply = "triton"

    class Logits:
        is_cuda, dtype, shape, device = on_cuda, "torch.float32", (1,), "cuda"
        layout, is_nested = "torch.strided", False

        @staticmethod
        def stride():
            return (1,)

    torch_apply = pytest.importorskip("maskwright.kernels.torch_apply")
    monkeypatch.setattr(kernels, "_triton", lambda: Triton if has_triton else None)
    names = {torch_apply.apply: "torch_native", torch_apply.apply_compiled: "torch_compile"}
    if expected.startswith("bitmask"):
        with pytest.raises(BitmaskError) as caught:
            kernels._kernel(backend, Logits)
        assert caught.value.code == expected
    else:
        kernel = kernels._kernel(backend, Logits)
        assert names.get(kernel, kernel) == expected


def test_nothing_is_imported_ahead():
    code = "import sys, maskwright.bitmask; print('torch' in sys.modules, 'triton' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == ["False", "False"]
