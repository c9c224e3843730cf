"""Which special tokens end a generation by convention.

Idea: a model may close a turn with a token that its configuration does not name (a chat model with
the base model's configuration). Only *special* tokens count by spelling, so ordinary text never
becomes a stop token. Callers can always override the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

END_TOKEN_NAMES: Final = frozenset(
    {
        "</s>",
        "<eos>",
        "<end_of_turn>",
        "<end_of_utterance>",
        "<turn|>",
        "<|call|>",
        "<|END_OF_TURN_TOKEN|>",
        "<|end_of_text|>",
        "<|end_of_turn|>",
        "<|endofturn|>",
        "<|endoftext|>",
        "<|eom_id|>",
        "<|eom|>",
        "<|eos|>",
        "<|eot_id|>",
        "<|eot|>",
        "<|im_end|>",
        "<|return|>",
        "<\uff5cend\u2581of\u2581sentence\uff5c>",
    }
)
"""Spellings that end a generation in the vocabularies in common use."""

_END_TOKENS: Final = frozenset(name.encode() for name in END_TOKEN_NAMES)
_MESSAGE_END: Final = b"<|end|>"
_GENERATION_END: Final = b"<|return|>"


def conventional_stop_tokens(tokens: Sequence[bytes], candidates: Iterable[int]) -> set[int]:
    """The ids whose spelling is an end mark by convention.

    ``<|end|>`` ends the generation in some vocabularies and only one of several messages in those
    that also have ``<|return|>``; it counts only without the latter.

    Args:
        tokens: The spelling of each id.
        candidates: The ids that are special tokens.
    """
    spellings = {i: tokens[i] for i in candidates if i < len(tokens)}
    has_generation_end = _GENERATION_END in spellings.values()
    return {
        token_id
        for token_id, spelling in spellings.items()
        if spelling in _END_TOKENS or (spelling == _MESSAGE_END and not has_generation_end)
    }
