"""The generate loop: prompt in, tokens out, each one held to a constraint.

What it does: evaluates the prompt, then repeats mask, sample, accept, evaluate, until the text is
complete or the token limit is reached. Text is handed on as soon as it is whole code points.
Idea: masks are applied in place to the model's own logits; nothing of the size of the vocabulary is
allocated or copied per step.
Cost: beside the model, the mask and the sampling, about 5 us per token.
"""

from __future__ import annotations

import codecs
import math
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

from maskwright.chat.errors import ModelError
from maskwright.chat.model import SequenceInput
from maskwright.chat.result import FinishReason, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from maskwright.chat.constraint import Constraint
    from maskwright.chat.model import LanguageModel
    from maskwright.chat.sampling import Sampler

OnText = Callable[[str], object]
"""Called with each new piece of text, never with a part of a code point."""
OnToken = Callable[[int, bytes], object]
"""Called with each new token and the bytes it contributes to the text."""

_SECONDS: Final = 1e-9


@dataclass
class _Clock:
    """Nanoseconds spent per activity."""

    prompt: int = 0
    model: int = 0
    mask: int = 0
    sample: int = 0


@dataclass(frozen=True)
class Generation:
    """What the loop has produced."""

    text: str
    token_ids: tuple[int, ...]
    finish_reason: FinishReason
    usage: Usage


def generate(
    model: LanguageModel,
    prompt_ids: Sequence[int],
    constraint: Constraint,
    sampler: Sampler,
    *,
    max_tokens: int,
    on_text: OnText | None = None,
    on_token: OnToken | None = None,
    compile_seconds: float = 0.0,
) -> Generation:
    """Generate from a tokenised prompt.

    Args:
        model: The model; its sequence is reset first.
        prompt_ids: The prompt.
        constraint: What the text must be; fresh, and used up by this call.
        sampler: Chooses tokens.
        max_tokens: The most tokens to generate. The model's context is a limit as well.
        on_text: Called with new text as it comes.
        on_token: Called with each new token.
        compile_seconds: Handed through to the usage.

    Returns:
        The text, its tokens, and why it ended.

    Raises:
        ModelError: The prompt is empty or leaves no room in the context.
        ValueError: `max_tokens` is below 1.
    """
    limit = token_limit(model, prompt_ids, max_tokens)
    clock = _Clock()
    tokens: list[int] = []
    writer = _TextWriter(on_text)
    token_bytes = model.vocabulary.text_bytes()
    finish_reason: FinishReason = "length"

    start = mark = perf_counter_ns()
    model.clear_sequence(0)
    (logits,) = model.evaluate([SequenceInput(0, prompt_ids)])
    now = perf_counter_ns()
    clock.prompt, mark = now - mark, now
    while True:
        constraint.mask(logits)
        now = perf_counter_ns()
        clock.mask, mark = clock.mask + now - mark, now
        token = _choose(logits, constraint, sampler)
        now = perf_counter_ns()
        clock.sample, mark = clock.sample + now - mark, now
        finished = constraint.accept(token)
        clock.mask += perf_counter_ns() - mark
        tokens.append(token)
        if on_token is not None:
            on_token(token, token_bytes[token])
        writer.write(token_bytes[token])
        if finished:
            finish_reason = "stop"
            break
        if len(tokens) >= limit:
            break
        mark = perf_counter_ns()
        (logits,) = model.evaluate([SequenceInput(0, (token,))])
        now = perf_counter_ns()
        clock.model, mark = clock.model + now - mark, now
    return Generation(
        text=writer.finish(),
        token_ids=tuple(tokens),
        finish_reason=finish_reason,
        usage=Usage(
            prompt_tokens=len(prompt_ids),
            completion_tokens=len(tokens),
            compile_seconds=compile_seconds,
            prompt_seconds=clock.prompt * _SECONDS,
            model_seconds=clock.model * _SECONDS,
            mask_seconds=clock.mask * _SECONDS,
            sample_seconds=clock.sample * _SECONDS,
            total_seconds=(perf_counter_ns() - start) * _SECONDS,
        ),
    )


def _choose(logits: NDArray[np.float32], constraint: Constraint, sampler: Sampler) -> int:
    """Choose an allowed token, and one that the constraint declines only if there is no other."""
    declined: int | None = None
    while True:
        token = sampler.sample(logits)
        if token is None:
            return constraint.any_allowed() if declined is None else declined
        if not constraint.declines(token):
            return token
        declined = token if declined is None else declined
        logits[token] = -math.inf


def token_limit(model: LanguageModel, prompt_ids: Sequence[int], max_tokens: int) -> int:
    """Return how many tokens can be generated: `max_tokens`, or what the context has room for.

    Raises:
        ModelError: The prompt is empty or leaves no room in the context.
        ValueError: `max_tokens` is below 1.
    """
    if max_tokens < 1:
        raise ValueError(f"max_tokens is {max_tokens}; expected at least 1")
    if not prompt_ids:
        raise ModelError("the prompt has no tokens; expected some text", code="prompt-empty")
    # The last token is not evaluated, so it needs no place in the context.
    room = model.context_size - len(prompt_ids) + 1
    if room < 1:
        raise ModelError(
            f"the prompt has {len(prompt_ids)} tokens and the context of the model has place for "
            f"{model.context_size}; shorten the prompt or load the model with a larger context",
            code="prompt-too-long",
        )
    return min(max_tokens, room)


class _TextWriter:
    """Collects bytes as text, and hands on what is whole."""

    def __init__(self, on_text: OnText | None) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pieces: list[str] = []
        self._on_text = on_text

    def write(self, data: bytes) -> None:
        self._emit(self._decoder.decode(data))

    def finish(self) -> str:
        """Close the text; an unfinished code point becomes U+FFFD."""
        self._emit(self._decoder.decode(b"", final=True))
        return "".join(self._pieces)

    def _emit(self, text: str) -> None:
        if text:
            self._pieces.append(text)
            if self._on_text is not None:
                self._on_text(text)
