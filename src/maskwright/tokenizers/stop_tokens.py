"""Which ids end a generation, found from evidence.

What it does: collects stop tokens from what a model ships beside its vocabulary, and adds the
special tokens whose spelling is an end mark by convention.
Idea: a model may close a turn with a token that its configuration does not name (a chat model with
the base model's configuration). Only *special* tokens count by spelling, so ordinary text never
becomes a stop token. Callers can always override the result.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

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


def configured_stop_tokens(folder: Path, names: Mapping[str, int]) -> set[int]:
    """The ids that the configuration files in `folder` name as end of sequence.

    Reads ``eos_token`` of ``tokenizer_config.json`` and ``eos_token_id`` of
    ``generation_config.json``. A file that is missing or unreadable gives no evidence.

    Args:
        folder: Where the tokenizer file lies.
        names: Spelling to id of every token that may be named.
    """
    found: set[int] = set()
    eos_token = read_json_object(folder / "tokenizer_config.json").get("eos_token")
    name = token_name(eos_token)
    if name is not None and name in names:
        found.add(names[name])
    ids = read_json_object(folder / "generation_config.json").get("eos_token_id")
    for token_id in ids if isinstance(ids, list) else [ids]:
        if isinstance(token_id, int) and not isinstance(token_id, bool):
            found.add(token_id)
    return found


def token_name(entry: object) -> str | None:
    """The spelling in a configuration entry: a string, or an object with ``content``."""
    if isinstance(entry, dict):
        entry = entry.get("content")
    return entry if isinstance(entry, str) else None


def read_json_object(path: Path) -> dict[str, object]:
    """The object in a JSON file, or an empty one when there is none to read."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def choose_stop_tokens(
    override: Iterable[int] | None, evidence: Iterable[int], vocab_size: int
) -> list[int]:
    """The caller's choice if there is one, else the evidence that lies inside the vocabulary."""
    if override is not None:
        return list(override)
    return [token_id for token_id in evidence if 0 <= token_id < vocab_size]
