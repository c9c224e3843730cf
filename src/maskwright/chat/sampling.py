"""Chooses a token from a row of logits.

What it does: temperature, then top-k, top-p and min-p on what is left, then one draw.
Idea: masked logits are minus infinity, and most of the others are hopeless: tokens that are more
than 50 temperatures below the best have a joint probability under 2e-17 for any vocabulary in use,
less than a double can resolve beside 1. They are dropped first, and the rest is a short list.
Cost: greedy is one pass (15 us for 49,152 logits), sampling a few (0.4 ms), less under a mask.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_NEGLIGIBLE: Final = 50.0


@dataclass(frozen=True)
class SamplingParameters:
    """How tokens are chosen.

    Attributes:
        temperature: 0 takes the most likely token; 1 samples as the model says.
        top_p: Keep the most likely tokens that together reach this probability; 1 keeps all.
        top_k: Keep this many of the most likely tokens; 0 keeps all.
        min_p: Keep tokens with at least this share of the best token's probability.
        seed: Makes sampling repeatable; None draws a fresh seed.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int | None = None

    def __post_init__(self) -> None:
        _check(0 <= self.temperature < math.inf, "temperature", self.temperature, "at least 0")
        _check(0 < self.top_p <= 1, "top_p", self.top_p, "above 0 and at most 1")
        _check(self.top_k >= 0, "top_k", self.top_k, "at least 0 (0 keeps all)")
        _check(0 <= self.min_p <= 1, "min_p", self.min_p, "from 0 to 1")
        _check(self.seed is None or self.seed >= 0, "seed", self.seed, "at least 0")


def _check(holds: bool, name: str, value: object, expected: str) -> None:
    if not holds:
        raise ValueError(f"{name} is {value!r}; expected a number {expected}")


class Sampler:
    """Draws tokens with its own stream of random numbers. Not for use by several threads."""

    def __init__(self, parameters: SamplingParameters) -> None:
        self._parameters = parameters
        self._random = np.random.default_rng(parameters.seed)

    def sample(self, logits: NDArray[np.float32]) -> int | None:
        """Choose a token.

        Args:
            logits: float32, shape (vocab_size,); minus infinity where a token is not allowed. Not
                written.

        Returns:
            The token id, or None if no logit is a number above minus infinity.
        """
        best = int(logits.argmax())
        if not logits[best] > -math.inf:  # all minus infinity, or a NaN came first
            cleaned = np.where(np.isnan(logits), np.float32(-math.inf), logits)
            best = int(cleaned.argmax())
            if cleaned[best] == -math.inf:
                return None
            logits = cleaned
        if self._parameters.temperature == 0 or logits[best] == math.inf:
            return best
        return self._draw(logits, float(logits[best]))

    def _draw(self, logits: NDArray[np.float32], best: float) -> int:
        parameters = self._parameters
        ids = np.flatnonzero(logits >= best - _NEGLIGIBLE * parameters.temperature)
        scaled = (logits[ids].astype(np.float64) - best) / parameters.temperature
        weights = np.exp(scaled.astype(np.float32)).astype(np.float64)  # the best token has 1
        if 0 < parameters.top_k < len(ids):
            order = _head(weights, lambda head: len(head) >= parameters.top_k)
            order = order[: parameters.top_k]
            ids, weights = ids[order], weights[order]
        if parameters.top_p < 1:
            mass = parameters.top_p * weights.sum()
            order = _head(weights, lambda head: bool(weights[head].sum() >= mass))
            reached = np.cumsum(weights[order]) >= mass
            order = order[: int(reached.argmax()) + 1] if reached.any() else order
            ids, weights = ids[order], weights[order]
        if parameters.min_p > 0:
            keep = weights >= parameters.min_p
            ids, weights = ids[keep], weights[keep]
        cumulative = np.cumsum(weights)
        drawn = self._random.random() * cumulative[-1]
        place = int(np.searchsorted(cumulative, drawn, side="right"))
        return int(ids[min(place, len(ids) - 1)])


def _head(
    weights: NDArray[np.float64], enough: Callable[[NDArray[np.intp]], bool]
) -> NDArray[np.intp]:
    """Places of the largest weights in descending order, as many as it takes to have enough.

    Sorting a whole vocabulary takes 5 ms; the head of a distribution is a handful.
    """
    for floor in (1e-2, 1e-4, 1e-6):
        head = np.flatnonzero(weights >= floor)
        if enough(head):
            break
    else:
        head = np.arange(len(weights))
    return head[np.argsort(-weights[head], kind="stable")]
