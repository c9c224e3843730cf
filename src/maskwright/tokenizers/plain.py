"""A vocabulary from a plain list of tokens.

What it does: turns `list[bytes]` or `list[str]`, as other libraries hold them, into vocabulary
data.
Idea: a list carries no flags, so nothing is special or a stop token but what the caller says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from maskwright.tokenizers.decoding import decode_token
from maskwright.tokenizers.vocabulary import (
    FoundVocabulary,
    VocabType,
    VocabularyData,
    check_ids,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from maskwright.tokenizers.encoding import Encode


def from_tokens(
    tokens: Sequence[bytes] | Sequence[str] | Sequence[bytes | str],
    vocab_type: VocabType = VocabType.RAW,
    *,
    vocab_size: int | None = None,
    stop_token_ids: Iterable[int] = (),
    special_token_ids: Iterable[int] = (),
    add_prefix_space: bool = False,
    encode: Encode | None = None,
) -> VocabularyData:
    r"""Read a vocabulary from a list of tokens.

    Args:
        tokens: One token per id, spelled as `vocab_type` says.
        vocab_type: How the tokens are spelled.
        vocab_size: Size of a row of logits if it differs from ``len(tokens)``.
        stop_token_ids: Ids that end a generation.
        special_token_ids: Ids that are no text.
        add_prefix_space: Whether the tokenizer puts a space before the text it encodes.
        encode: The real tokenizer.

    Returns:
        The vocabulary.

    Raises:
        TokenizerError: A token is not valid text, or a size or an id is out of range.
        TypeError: A token is neither bytes nor str, or the list is a single string.

    Example:
        >>> from_tokens(["a", "\u2581b"], VocabType.BYTE_FALLBACK).tokens
        [b'a', b' b']
    """
    if isinstance(tokens, bytes | str):
        raise TypeError("encoded_vocab is one string; expected a list with one token per id")
    decoded: list[bytes] = []
    for token_id, token in enumerate(tokens):
        if not isinstance(token, bytes | str):
            raise TypeError(
                f"token {token_id} is a {type(token).__name__}; expected bytes or str for each id"
            )
        decoded.append(decode_token(token, vocab_type))
    special = set(special_token_ids)
    found = FoundVocabulary(
        decoded,
        vocab_type,
        "the token list",
        special,
        add_prefix_space=add_prefix_space,
        encode=encode,
    )
    data = found.build(vocab_size=vocab_size, stop_token_ids=stop_token_ids)
    check_ids("special token id", special, data.vocab_size, data.source)
    return data
