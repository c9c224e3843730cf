"""A request on its way through the engine, and checks of its prompt."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from operator import index
from typing import TYPE_CHECKING

from maskwright.chat.completion import Delta, Ending
from maskwright.chat.errors import ModelError, shown
from maskwright.chat.usage import Meter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from maskwright.chat.choice import Choice
    from maskwright.chat.logit_processing import LogitProcessing
    from maskwright.chat.request import ChatRequest
    from maskwright.chat.set_up import SetUp
    from maskwright.matcher import GrammarMatcher

Event = Delta | Ending | BaseException
"""What a request says: what its choices write, then its ending or what has ended it."""


@dataclass(eq=False)
class Job:
    """A request with all that belongs to it while it runs; for the scheduler's thread.

    Others may ask for its ``set_up`` to be cancelled; the roster decides when it ``is_over``.

    Attributes:
        request: What is asked.
        processing: For each choice what is done to its logits.
        keeps_raw: Whether that may change logits.
        sink: Called with each event; an error in it ends the request.
        deadline: When its time is over, on the clock of the meter.
        meter: Counts and times.
        prompt_ids: The tokens of the prompt, once it was admitted.
        limit: The most tokens of a choice.
        sequences: The sequences of the choices; the first one is for the prompt.
        evaluated: How much of the prompt the model has seen.
        first_row: The logits behind the prompt.
        set_up: What makes the matchers, until it is done.
        matchers: For each choice its matcher, none for free text; None: not there yet.
        choices: The choices, once they have begun.
        is_over: Whether nobody waits for it any more.
        sink_failed: Whether the sink has raised: nobody hears of it any more.
    """

    request: ChatRequest
    processing: Sequence[LogitProcessing]
    keeps_raw: bool
    sink: Callable[[Event], object]
    deadline: float = math.inf
    meter: Meter = field(default_factory=Meter)
    prompt_ids: list[int] = field(default_factory=list)
    limit: int = 0
    sequences: list[int] = field(default_factory=list)
    evaluated: int = 0
    first_row: NDArray[np.float32] | None = None
    set_up: SetUp | None = None
    matchers: list[GrammarMatcher] | None = None
    choices: list[Choice] = field(default_factory=list)
    is_over: bool = False
    sink_failed: bool = False

    def emit(self, event: Event) -> None:
        """Tell an event to whoever waits; if that fails, nobody does."""
        try:
            self.sink(event)
        except BaseException:  # noqa: BLE001  a closed event loop, for example
            self.sink_failed = True

    @property
    def ending(self) -> Ending:
        """What it ends with now."""
        if not self.matchers:
            return Ending(self.meter.usage(has_grammar=False))
        certificate = self.matchers[0].compiled_grammar.certificate
        at_limit = tuple(choice.index for choice in self.choices if choice.is_at_limit)
        return Ending(self.meter.usage(has_grammar=True), certificate, at_limit)

    @property
    def error(self) -> BaseException | None:
        """What has ended one of its choices."""
        return next((c.error for c in self.choices if c.error is not None), None)


def check_length(text: str, longest_token: int, context_size: int) -> None:
    """Refuse a prompt that no tokens within the context can spell, before it is tokenized.

    Raises:
        ModelError: It is so long.
    """
    if len(text) > longest_token * context_size:
        raise ModelError(
            f"the prompt has {len(text)} characters, more than {context_size} tokens, the context "
            "of the model, can spell; shorten it or load the model with a larger context",
            code="prompt-too-long",
        )


def prompt_tokens(token_ids: Iterable[int], vocab_size: int) -> list[int]:
    """Return the tokens of a prompt as a list of int.

    Raises:
        ModelError: They are none of the vocabulary.
    """
    try:
        tokens = [index(token_id) for token_id in token_ids]
    except TypeError as error:
        raise ModelError(
            f"the model made {shown(token_ids)} of the prompt; expected a list of token ids",
            code="model-prompt",
        ) from error
    if tokens and not 0 <= min(tokens) <= max(tokens) < vocab_size:
        raise ModelError(
            f"the tokens of the prompt are from {min(tokens)} to {max(tokens)}; expected ids from "
            f"0 to {vocab_size - 1}",
            code="model-prompt",
        )
    return tokens


def token_limit(context_size: int, prompt_tokens: int, max_tokens: int | None) -> int:
    """Return how many tokens can be generated: `max_tokens`, or what the context has place for.

    Raises:
        ModelError: The prompt is empty or leaves no place in the context.
    """
    if not prompt_tokens:
        raise ModelError("the prompt has no tokens; expected some text", code="prompt-empty")
    # The last token is not evaluated, so it needs no place in the context.
    room = context_size - prompt_tokens + 1
    if room < 1:
        raise ModelError(
            f"the prompt has {prompt_tokens} tokens and the context of the model has place for "
            f"{context_size}; shorten the prompt or load the model with a larger context",
            code="prompt-too-long",
        )
    return room if max_tokens is None else min(max_tokens, room)
