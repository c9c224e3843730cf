"""What a generation gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from maskwright.certificate import Certificate
    from maskwright.chat.usage import ChatUsage

FinishReason = Literal["stop", "length"]
"""Why a generation ended: the text is complete, or the token limit cut it off."""


@dataclass(frozen=True)
class Result:
    """A finished generation.

    Attributes:
        text: The generated text.
        parsed: The value of the text under a schema (an instance, if that is a pydantic model, a
            dataclass or another type); None for other formats, and when the text was cut off.
        usage: Counts and times.
        finish_reason: ``"stop"`` for a complete text, ``"length"`` for one that was cut off.
        token_ids: The generated tokens, a stop token included.
        certificate: How the format compares with what the schema or grammar says; None for free
            text. Its ``unknown`` has keywords without effect, such as misspelled ones.
        at_token_limit: Whether the text is complete under its format and took every token that it
            was allowed: without the limit it might have gone on.
    """

    text: str
    parsed: Any
    usage: ChatUsage
    finish_reason: FinishReason
    token_ids: tuple[int, ...]
    certificate: Certificate | None = None
    at_token_limit: bool = False
