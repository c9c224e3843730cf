"""What the kernels are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

__all__ = ["Request"]


@dataclass(frozen=True)
class Request:
    """One call, checked.

    Attributes:
        logits: Strided, of shape (rows, size), unit stride within a row; float32, float16 or
            bfloat16. Written in place.
        bitmask: int32, of shape (rows, words), unit stride within a row, on the same device; at
            least ``vocab_size`` bits in a row.
        vocab_size: Logits at and beyond it are masked.
        rows: The rows to mask, each once; None: all, of which both have the same number.
    """

    logits: torch.Tensor
    bitmask: torch.Tensor
    vocab_size: int
    rows: list[int] | None

    @property
    def num_rows(self) -> int:
        """How many rows are masked."""
        return self.logits.shape[0] if self.rows is None else len(self.rows)

    def row_numbers(self) -> torch.Tensor | None:
        """Return the rows as an int64 tensor on the device of the logits; None if all."""
        if self.rows is None:
            return None
        import torch

        return torch.tensor(self.rows, dtype=torch.int64, device=self.logits.device)
