"""Chooses a token from a row of logits, and says how likely it was.

What it does: temperature, then top-k, top-p and min-p on what is left, then one draw.
Idea: masked logits are minus infinity, and most of the others are hopeless: tokens that are more
than 50 temperatures below the best have a joint probability under 2e-17 for any vocabulary in use,
less than a double can resolve beside 1. They are dropped first, and the rest is a short list.
Cost: greedy is one pass over the logits, sampling a few; less under a mask.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from maskwright.chat.errors import SamplingError, shown
from maskwright.chat.fields import plain_integer, plain_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NEGLIGIBLE: Final = 50.0
_LOWEST: Final = float(np.finfo(np.float32).min)
_MOST_TOKEN_ID: Final = 2**31 - 1
"""No vocabulary is so large."""


@dataclass(frozen=True)
class SamplingParameters:
    """How tokens are chosen. Ranges are those of OpenAI's API, where it has the parameter.

    Numbers may be of any type that is registered as one (`numbers.Real`, `numbers.Integral`:
    Python's, numpy's, fractions) or decimals; they are kept as float and int.

    Attributes:
        temperature: 0 takes the most likely token; 1 samples as the model says.
        top_p: Keep the most likely tokens that together reach this probability; 1 keeps all.
        top_k: Keep this many of the most likely tokens; 0 keeps all.
        min_p: Keep tokens with at least this share of the best token's probability.
        seed: Makes sampling repeatable; None draws a fresh seed.
        presence_penalty: Taken off the logit of each token generated before, -2 to 2.
        frequency_penalty: Taken off it as many times as it was generated, -2 to 2.
        repetition_penalty: What positive logits of tokens in the prompt or the generated text are
            divided by, and negative ones multiplied by, 0.01 to 100; 1 changes nothing.
        logit_bias: Added to the logits of the tokens of these ids, -100 to 100 each.

    Raises:
        SamplingError: A value is no number, not finite or out of its range; the message says which
            (``sampling-parameter``).

    Example:
        >>> SamplingParameters(temperature=0.7, logit_bias={5: -100}).logit_bias
        {5: -100.0}
    """

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int | None = None
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0
    logit_bias: Mapping[int, float] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        """Check all numbers, and make them plain ones."""
        for name, (expected, holds) in _RANGES.items():
            _set(self, name, _checked(getattr(self, name), name, expected, holds))
        _set(self, "top_k", _whole(self.top_k, "top_k", "a whole number at least 0 (0 keeps all)"))
        if self.seed is not None:
            _set(self, "seed", _whole(self.seed, "seed", "a whole number at least 0, or None"))
        if self.logit_bias is not None:
            _set(self, "logit_bias", _checked_bias(self.logit_bias))


_set = object.__setattr__
_RANGES: Final[dict[str, tuple[str, Callable[[float], bool]]]] = {
    "temperature": ("a number at least 0", lambda x: x >= 0),
    "top_p": ("a number above 0 and at most 1", lambda x: 0 < x <= 1),
    "min_p": ("a number from 0 to 1", lambda x: 0 <= x <= 1),
    "presence_penalty": ("a number from -2 to 2", lambda x: -2 <= x <= 2),
    "frequency_penalty": ("a number from -2 to 2", lambda x: -2 <= x <= 2),
    "repetition_penalty": ("a number from 0.01 to 100", lambda x: 0.01 <= x <= 100),
}


def _checked(value: object, name: str, expected: str, holds: Callable[[float], bool]) -> float:
    number = plain_number(value)
    if number is None or not holds(number):
        raise _refusal(value, name, expected)
    return number


def _whole(value: object, name: str, expected: str, most: int | None = None) -> int:
    number = plain_integer(value)
    if number is None or number < 0 or (most is not None and number > most):
        raise _refusal(value, name, expected)
    return number


def _refusal(value: object, name: str, expected: str) -> SamplingError:
    return SamplingError(
        f"{name} is {shown(value)}; expected {expected}", code="sampling-parameter"
    )


def _checked_bias(bias: object) -> dict[int, float]:
    """A copy, which the caller cannot change any more."""
    if not isinstance(bias, Mapping):
        raise SamplingError(
            f"logit_bias is a {type(bias).__name__}; expected a mapping from token ids to numbers",
            code="sampling-parameter",
        )
    expected = f"a token id, a whole number from 0 to {_MOST_TOKEN_ID}"
    ids = [_whole(key, "a key of logit_bias", expected, _MOST_TOKEN_ID) for key in bias]
    return {
        token_id: _checked(
            value, f"logit_bias[{token_id}]", "a number from -100 to 100", lambda x: abs(x) <= 100
        )
        for token_id, value in zip(ids, bias.values(), strict=True)
    }


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
        # Whatever the temperature, minus infinity stays out.
        floor = max(best - _NEGLIGIBLE * parameters.temperature, _LOWEST)
        ids = np.flatnonzero(logits >= floor)
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

    Sorting a whole vocabulary would take longest of all; the head of a distribution is a handful.
    """
    for floor in (1e-2, 1e-4, 1e-6):
        head = np.flatnonzero(weights >= floor)
        if enough(head):
            break
    else:
        head = np.arange(len(weights))
    return head[np.argsort(-weights[head], kind="stable")]


@dataclass(frozen=True)
class TokenLogprobs:
    """How likely a token was, and what else was.

    Attributes:
        token_id: The chosen token.
        logprob: The natural logarithm of its probability; minus infinity where it had none.
        top: The most likely tokens and their logarithms, best first, equal ones by id. Tokens that
            were not allowed, or have no probability, are not among them.
    """

    token_id: int
    logprob: float
    top: tuple[tuple[int, float], ...]


def top_logprobs(row: NDArray[np.float32], chosen: int, count: int) -> TokenLogprobs:
    """Log-probabilities over the tokens that a mask has left, at temperature 1.

    Args:
        row: float32, shape (vocab_size,); minus infinity where a token is not allowed. NaN counts
            as minus infinity; where a logit is infinite, those that are share the probability. Not
            written.
        chosen: The chosen token.
        count: How many of the most likely tokens to give; fewer, if fewer are allowed.

    Returns:
        The logarithms, computed in double precision.

    Cost: a few passes over what is allowed.
    """
    ids = np.flatnonzero(row > -math.inf)
    if not len(ids):
        return TokenLogprobs(chosen, -math.inf, ())
    logits = row[ids].astype(np.float64)
    best = float(logits.max())
    if best == math.inf:
        ids = ids[logits == math.inf]
        logits, best = np.zeros(len(ids)), 0.0
    norm = best + math.log(np.exp(logits[logits >= best - _NEGLIGIBLE] - best).sum())
    place = int(np.searchsorted(ids, chosen))
    is_there = place < len(ids) and int(ids[place]) == chosen
    order = _best_places(logits, count)
    return TokenLogprobs(
        token_id=chosen,
        logprob=float(logits[place]) - norm if is_there else -math.inf,
        top=tuple((int(ids[i]), float(logits[i]) - norm) for i in order),
    )


def _best_places(values: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Places of the `count` largest values in descending order; of equal ones the first."""
    best = values.max()
    for distance in (2.0, 6.0, 18.0, math.inf):  # a few, not all of a vocabulary, are sorted
        places = np.flatnonzero(values >= best - distance)
        if len(places) >= count:
            break
    order = np.argsort(-values[places], kind="stable")[: max(count, 0)]
    return places[order]
