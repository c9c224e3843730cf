"""Which special tokens end a generation by convention.

Idea: a model may close a turn with a token that its configuration does not name (a chat model with
the base model's configuration). Only *special* tokens count by spelling, so ordinary text never
becomes a stop token. Callers can always override the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

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

_MESSAGE_END: Final = "<|end|>"
_GENERATION_END: Final = "<|return|>"


def conventional_stop_tokens(names: Mapping[str, int]) -> set[int]:
    """The ids whose spelling is an end mark by convention.

    ``<|end|>`` ends the generation in some vocabularies and only one of several messages in those
    that also have ``<|return|>``; it counts only without the latter.

    Args:
        names: Spelling to id of special tokens.
    """
    found = {token_id for name, token_id in names.items() if name in END_TOKEN_NAMES}
    if _MESSAGE_END in names and _GENERATION_END not in names:
        found.add(names[_MESSAGE_END])
    return found
