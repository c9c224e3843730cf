"""What a request has cost: tokens, and where its time went.

Idea: a `Meter` runs along with a request and is only added to; `ChatUsage` is made of it once, at
the end. A step that several choices share is charged to each of them in equal parts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import Any


@dataclass
class Meter:
    """Counts and seconds of a request that runs; moments are those of `time.perf_counter`."""

    submitted: float = field(default_factory=perf_counter)
    first_token: float | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_seconds: float = 0.0
    model_seconds: float = 0.0
    grammar_init_seconds: float = 0.0
    grammar_seconds: float = 0.0
    sample_seconds: float = 0.0

    def count_token(self) -> None:
        """Count a token of any choice."""
        if self.first_token is None:
            self.first_token = perf_counter()
        self.completion_tokens += 1

    def usage(self, *, has_grammar: bool) -> ChatUsage:
        """The figures up to now."""
        now = perf_counter()
        first = now if self.first_token is None else self.first_token
        tokens = self.completion_tokens
        return ChatUsage(
            prompt_tokens=self.prompt_tokens,
            completion_tokens=tokens,
            e2e_latency_s=now - self.submitted,
            time_to_first_token_s=first - self.submitted,
            prefill_tokens_per_s=_rate(self.prompt_tokens, self.prompt_seconds),
            decode_tokens_per_s=_rate(tokens - 1, now - first),
            grammar_init_s=self.grammar_init_seconds if has_grammar else None,
            grammar_per_token_s=self.grammar_seconds / max(tokens, 1) if has_grammar else None,
            prompt_seconds=self.prompt_seconds,
            model_seconds=self.model_seconds,
            sample_seconds=self.sample_seconds,
        )


def _rate(count: int, seconds: float) -> float:
    return count / seconds if count > 0 and seconds > 0 else 0.0


@dataclass(frozen=True)
class ChatUsage:
    """Counts and times of a finished request, of `ChatEngine` and of `Session.generate`.

    Attributes:
        prompt_tokens: Tokens of the rendered prompt; it is evaluated once, however many choices.
        completion_tokens: Tokens of all choices, stop tokens and forced ones included.
        e2e_latency_s: From the call to the last token.
        time_to_first_token_s: From the call to the first token of any choice, waiting included.
        prefill_tokens_per_s: Tokens of the prompt per second of the model's calls for it.
        decode_tokens_per_s: Tokens after the first one per second since then, all choices together.
        grammar_init_s: Compiling the format and making, or resetting, the matchers of all choices;
            None without a format.
        grammar_per_token_s: Masks and matching, on average for each token of all choices; None
            without a format.
        prompt_seconds: The model's calls for the prompt.
        model_seconds: The model's calls for generated tokens.
        sample_seconds: Processing logits and choosing tokens.
    """

    prompt_tokens: int
    completion_tokens: int
    e2e_latency_s: float
    time_to_first_token_s: float
    prefill_tokens_per_s: float
    decode_tokens_per_s: float
    grammar_init_s: float | None
    grammar_per_token_s: float | None
    prompt_seconds: float
    model_seconds: float
    sample_seconds: float

    @property
    def total_tokens(self) -> int:
        """Prompt and completion together."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def tokens_per_second(self) -> float:
        """Generated tokens per second, the prompt's evaluation left out."""
        return _rate(self.completion_tokens, self.e2e_latency_s - self.prompt_seconds)

    @property
    def mask_seconds(self) -> float:
        """Masks and matching: fill, apply and accept; 0 without a format."""
        return (self.grammar_per_token_s or 0.0) * self.completion_tokens

    @property
    def mask_share(self) -> float:
        """The part of the total time that masks and matching took, 0 to 1."""
        return self.mask_seconds / self.e2e_latency_s if self.e2e_latency_s > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """OpenAI's three counts, and the times under ``extra``."""
        extra = {
            "e2e_latency_s": self.e2e_latency_s,
            "time_to_first_token_s": self.time_to_first_token_s,
            "prefill_tokens_per_s": self.prefill_tokens_per_s,
            "decode_tokens_per_s": self.decode_tokens_per_s,
        }
        if self.grammar_init_s is not None:
            extra["grammar_init_s"] = self.grammar_init_s
        if self.grammar_per_token_s is not None:
            extra["grammar_per_token_s"] = self.grammar_per_token_s
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.total_tokens,
            "extra": extra,
        }
