"""Checks the ways to apply a bitmask on a GPU against a plain reference, and times them.

    python tools/gpu_check.py                    # a CUDA or ROCm device; without one it says so
    TRITON_INTERPRET=1 python tools/gpu_check.py --device cpu    # the same checks on the CPU

Needs torch, Triton and numpy. The package itself need not be built: where it can be imported, whole
calls of ``apply_token_bitmask_inplace`` are checked, else the modules of ``maskwright.kernels`` on
their own. Takes about a minute. Exits non-zero if a result is wrong.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KERNELS = Path(__file__).resolve().parent.parent / "src" / "maskwright" / "kernels"
DTYPES = ("float32", "float16", "bfloat16")
SIZES = (1, 31, 32, 33, 4095, 4096, 4097, 12_345)
TIMED_SHAPE = (256, 128_256)
# Spare elements on both sides of each row: nothing may write there.
MARGIN = 3


@dataclass(frozen=True)
class Case:
    """One call: shapes, and what is asked for."""

    dtype: str
    rows: int
    size: int
    vocab_size: int | None
    indices: list[int] | None
    allowed: float

    def tokens(self) -> int:
        """Return how many tokens the mask speaks of."""
        return self.size if self.vocab_size is None else self.vocab_size


def cases() -> Iterator[Case]:
    """List the calls to check."""
    for dtype in DTYPES:
        for k, size in enumerate(SIZES):
            for vocab_size in (None, 0, max(0, size - 5)):
                for indices in (None, [2, 0], []):
                    allowed = (0.5, 0.001, 0.999, 1.0, 0.0)[k % 5]
                    yield Case(dtype, 3, size, vocab_size, indices, allowed)
        yield Case(dtype, 1, 128_256, 128_000, None, 0.5)


def pack(allowed: Any) -> Any:
    """Return the int32 words of a Boolean array of numpy, with a word to spare in each row."""
    import numpy as np

    rows, size = allowed.shape
    padded = np.zeros((rows, (size + 31) // 32 * 32 + 32), dtype=bool)
    padded[:, :size] = allowed
    return np.packbits(padded, axis=1, bitorder="little").view("<i4").astype(np.int32)


def check(case: Case, device: str, apply: Callable[..., None]) -> bool:
    """Apply a random mask; return whether exactly the refused logits changed."""
    import numpy as np

    torch = load_torch()

    random = np.random.default_rng(case.size)
    allowed = random.random((case.rows, case.size)) < case.allowed
    width = case.size + 2 * MARGIN
    base = torch.from_numpy(random.normal(size=(case.rows, width)).astype(np.float32))
    base = base.to(getattr(torch, case.dtype))
    kept = np.ones((case.rows, width), dtype=bool)
    for row in range(case.rows) if case.indices is None else case.indices:
        visible = allowed[row] & (np.arange(case.size) < case.tokens())
        kept[row, MARGIN : MARGIN + case.size] = visible
    expected = base.masked_fill(torch.from_numpy(~kept), float("-inf"))
    logits = base.to(device, copy=True)
    bitmask = torch.from_numpy(pack(allowed)).to(device)
    apply(logits[:, MARGIN : MARGIN + case.size], bitmask, case.vocab_size, case.indices)
    return bool(torch.equal(logits.cpu(), expected))


def load_torch() -> Any:
    """Return torch; untyped, so that types can be checked without it."""
    return importlib.import_module("torch")


def load_kernel(name: str) -> Any:
    """Return a module of ``maskwright.kernels``, loaded from its file alone."""
    spec = importlib.util.spec_from_file_location(f"kernels_{name}", KERNELS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def is_built() -> bool:
    """Return whether the package, with its compiled module, can be imported."""
    try:
        importlib.import_module("maskwright.bitmask")
    except ImportError:
        return False
    return True


def public_call(backend: str) -> Callable[..., None]:
    """Return the package's own function with a backend."""
    from maskwright import apply_token_bitmask_inplace

    def apply(logits: Any, bitmask: Any, vocab_size: int | None, indices: list[int] | None) -> None:
        apply_token_bitmask_inplace(
            logits, bitmask, vocab_size=vocab_size, indices=indices, backend=backend
        )

    return apply


def kernel_call(backend: str) -> Callable[..., None]:
    """Return a kernel as a function of the same arguments, which it does not check."""
    request = load_kernel("request").Request
    if backend == "triton":
        kernel = load_kernel("triton_apply").apply
    else:
        module = load_kernel("torch_apply")
        kernel = module.apply_compiled if backend == "torch_compile" else module.apply

    def apply(logits: Any, bitmask: Any, vocab_size: int | None, indices: list[int] | None) -> None:
        size = logits.shape[1] if vocab_size is None else vocab_size
        kernel(request(logits, bitmask, size, indices))

    return apply


def run_checks(device: str, backends: dict[str, Callable[..., None]]) -> list[str]:
    """Check every case with every backend; return a line for each wrong result."""
    wrong = []
    for name, apply in backends.items():
        start, checked = time.perf_counter(), 0
        # Each new combination of a dtype and a shape may be compiled: a few are enough.
        chosen = [c for c in cases() if name != "torch_compile" or c.size in {33, 4096}]
        for case in chosen:
            checked += 1
            if not check(case, device, apply):
                wrong.append(f"{name}: wrong result for {case}")
        print(f"{name}: {checked} cases, {time.perf_counter() - start:.1f} s")
    return wrong


def median_us(call: Callable[[], None], repeats: int = 30) -> float:
    """Return the median time of a call on the device, in microseconds."""
    torch = load_torch()

    times = []
    for k in range(repeats + 5):
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        if k >= 5:
            times.append(begin.elapsed_time(end) * 1000.0)
    return float(statistics.median(times))


def time_backends(device: str, backends: dict[str, Callable[..., None]]) -> None:
    """Print how long each backend takes, as a multiple of setting all logits to one value."""
    import numpy as np

    torch = load_torch()

    rows, size = TIMED_SHAPE
    print(
        f"\n{rows} rows of {size:,} logits, medians of 30 calls with the host's work, also as "
        "multiples of fill_()"
    )
    for dtype in DTYPES:
        torch.compiler.reset()  # what the checks compiled counts against a limit
        logits = torch.zeros(rows, size, dtype=getattr(torch, dtype), device=device)
        floor = median_us(lambda logits=logits: logits.fill_(0.0))  # type: ignore[misc]  # defaults bind the loop's values
        gigabytes = logits.numel() * logits.element_size() / 1e9
        print(f"{dtype}: fill_ {floor:.1f} us ({gigabytes / floor * 1e6:,.0f} GB/s)")
        for label, allowed in (("few allowed", 0.001), ("half", 0.5), ("most allowed", 0.999)):
            mask = np.random.default_rng(1).random((rows, size)) < allowed
            bitmask = torch.from_numpy(pack(mask)).to(device)
            for name, apply in backends.items():
                took = median_us(
                    lambda a=apply, x=logits, b=bitmask: a(x, b, None, None)  # type: ignore[misc]  # defaults bind the loop's values
                )
                print(f"  {label:13} {name:14} {took:9.1f} us {took / floor:6.2f} x")


def reason_to_skip(device: str) -> str | None:
    """Return why there is nothing to check here, or None."""
    for package in ("numpy", "torch", "triton"):
        if importlib.util.find_spec(package) is None:
            return f"{package} is not installed"
    torch = load_torch()

    if device == "cuda" and not torch.cuda.is_available():
        return "torch finds no CUDA or ROCm device"
    return None


def main() -> int:
    """Check, then time on a GPU."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--device", default="cuda", help='"cpu" with TRITON_INTERPRET=1')
    parser.add_argument("--backends", default="triton,torch_native,torch_compile")
    args = parser.parse_args()
    reason = reason_to_skip(args.device)
    if reason is not None:
        print(f"skipped: {reason}")
        return 0
    make = public_call if is_built() else kernel_call
    print("whole calls" if is_built() else "kernels alone: maskwright cannot be imported")
    backends = {name: make(name) for name in args.backends.split(",")}
    wrong = run_checks(args.device, backends)
    print("\n".join(wrong[:20]) or "all results are right")
    if args.device == "cuda":
        time_backends(args.device, backends)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
