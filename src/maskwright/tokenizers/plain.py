"""A vocabulary from a plain list of tokens.

What it does: turns `list[bytes]` or `list[str]`, as other libraries hold them, into vocabulary
data.
Idea: a list carries no flags, so only what is empty, padding or a stop token is special.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from maskwright.errors import TokenizerError
from maskwright.tokenizers.decoding import decode_token
from maskwright.tokenizers.stop_tokens import choose_stop_tokens, conventional_stop_tokens
from maskwright.tokenizers.vocabulary import (
    BYTE_FALLBACK,
    BYTE_LEVEL,
    RAW,
    VocabularyData,
    build_vocabulary,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def from_tokens(
    tokens: Sequence[bytes | str],
    vocab_type: int = RAW,
    *,
    vocab_size: int | None = None,
    stop_token_ids: Iterable[int] | None = None,
    add_prefix_space: bool = False,
) -> VocabularyData:
    """Read a vocabulary from a list of tokens.

    Args:
        tokens: One token per id, spelled as `vocab_type` says.
        vocab_type: `RAW`, `BYTE_FALLBACK` or `BYTE_LEVEL`.
        vocab_size: Size of a row of logits if it differs from ``len(tokens)``.
        stop_token_ids: Ids that end a generation. None finds the tokens whose spelling is an end
            mark by convention.
        add_prefix_space: Whether the tokenizer puts a space before the text it encodes.

    Returns:
        The vocabulary. Its stop tokens contribute nothing to the text.

    Raises:
        TokenizerError: The type is unknown, the list is empty, a token is neither bytes nor valid
            text, or an id is out of range.

    Example:
        >>> from_tokens(["a", "b", "</s>"]).stop_token_ids
        (2,)
    """
    if vocab_type not in (RAW, BYTE_FALLBACK, BYTE_LEVEL):
        raise TokenizerError(
            f"unknown vocabulary type {vocab_type!r}; expected 0 (raw), 1 (byte fallback) or "
            "2 (byte level)",
            code="tokenizer-vocab-type",
        )
    decoded = []
    names: dict[str, int] = {}
    for token_id, token in enumerate(tokens):
        if not isinstance(token, bytes | str):
            raise TokenizerError(
                f"token {token_id} is a {type(token).__name__}; expected bytes or str",
                code="tokenizer-bad-token",
            )
        decoded.append(decode_token(token, vocab_type))
        names.setdefault(_name(token), token_id)
    found = conventional_stop_tokens(names)
    stops = choose_stop_tokens(stop_token_ids, found, vocab_size or len(decoded))
    ends = set(stops)
    return build_vocabulary(
        decoded,
        vocab_size=vocab_size,
        stop_token_ids=stops,
        vocab_type=vocab_type,
        add_prefix_space=add_prefix_space,
        source="the token list",
        special_token_names={name: i for name, i in names.items() if i in ends},
    )


def _name(token: bytes | str) -> str:
    return token.decode("utf-8", "replace") if isinstance(token, bytes) else token
