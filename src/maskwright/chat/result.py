"""What a generation gives back."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from maskwright.chat.usage import ChatUsage

FinishReason = Literal["stop", "length"]
"""Why a generation ended: the text is complete, or the token limit cut it off."""


@dataclass(frozen=True)
class Usage:
    """Counts and times of one generation.

    Attributes:
        prompt_tokens: Tokens of the rendered prompt.
        completion_tokens: Tokens generated, a stop token included.
        compile_seconds: Turning the format into a compiled grammar (next to nothing when cached).
        prompt_seconds: Evaluating the prompt, beside which the format is compiled.
        model_seconds: Evaluating generated tokens.
        mask_seconds: Masks and matching: fill, apply and accept.
        sample_seconds: Choosing tokens.
        total_seconds: From the call to the last token.
    """

    prompt_tokens: int
    completion_tokens: int
    compile_seconds: float
    prompt_seconds: float
    model_seconds: float
    mask_seconds: float
    sample_seconds: float
    total_seconds: float

    @property
    def tokens_per_second(self) -> float:
        """Generated tokens per second, the prompt's evaluation left out."""
        seconds = self.total_seconds - self.prompt_seconds
        return self.completion_tokens / seconds if seconds > 0 else 0.0

    @property
    def mask_share(self) -> float:
        """The part of the total time that masks and matching took, 0 to 1."""
        return self.mask_seconds / self.total_seconds if self.total_seconds > 0 else 0.0

    def as_dict(self) -> dict[str, float]:
        """All counts, times and rates by name, ready for JSON."""
        return {
            **asdict(self),
            "tokens_per_second": self.tokens_per_second,
            "mask_share": self.mask_share,
        }


@dataclass(frozen=True)
class Result:
    """A finished generation.

    Attributes:
        text: The generated text.
        parsed: The value of the text under a schema (an instance, if the schema is a pydantic
            model); None for other formats, and when the text was cut off.
        usage: Counts and times.
        finish_reason: ``"stop"`` for a complete text, ``"length"`` for one that was cut off.
        token_ids: The generated tokens, a stop token included.
    """

    text: str
    parsed: Any
    usage: Usage
    finish_reason: FinishReason
    token_ids: tuple[int, ...]


def usage_of(usage: ChatUsage | None) -> Usage:
    """The figures of a request with one choice, as a generation reports them."""
    assert usage is not None, "the request has not ended"
    return Usage(
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        compile_seconds=usage.grammar_init_s or 0.0,
        prompt_seconds=usage.prompt_seconds,
        model_seconds=usage.model_seconds,
        mask_seconds=(usage.grammar_per_token_s or 0.0) * usage.completion_tokens,
        sample_seconds=usage.sample_seconds,
        total_seconds=usage.e2e_latency_s,
    )
