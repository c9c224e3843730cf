"""The plain data that every vocabulary reader returns.

What it does: holds, for each token id, exactly the bytes that the id contributes to the generated
text, plus the few facts about a vocabulary that mask computation and generation need.
Idea: readers differ (Hugging Face JSON, GGUF, plain lists), their result does not; everything
behind this module sees bytes and ids only.
Cost: one `bytes` object per id, about 6 MB for a vocabulary of 128,000 ids.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from maskwright.errors import TokenizerError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

RAW: Final = 0
"""Tokens are the bytes themselves."""
BYTE_FALLBACK: Final = 1
"""SentencePiece-like: U+2581 stands for a space, ``<0xHH>`` for one byte."""
BYTE_LEVEL: Final = 2
"""GPT-2-like: each character of a token stands for one byte."""

MAX_VOCAB_SIZE: Final = 1 << 22
"""Largest accepted vocabulary; a damaged file must not cause a huge allocation."""


@dataclass(frozen=True)
class VocabularyData:
    """A vocabulary as bytes per token id.

    Attributes:
        token_bytes: For each id below ``vocab_size`` what it contributes to the text. Empty for
            special tokens, stop tokens, padding ids and id gaps: text never produces them.
        vocab_size: Number of ids, padding included; the length of a row of logits.
        special_token_ids: All ids with empty bytes, ascending (stop tokens included).
        stop_token_ids: Ids that end a generation, ascending.
        vocab_type: How the tokens were spelled in the source: `RAW`, `BYTE_FALLBACK` or
            `BYTE_LEVEL`.
        add_prefix_space: Whether the tokenizer puts a space before the text it encodes.
        source: Where the data came from, for messages.
        special_token_names: Spelling to id of the special tokens that have one.
        chat_template: The chat template (Jinja text) that came with the vocabulary, if any.
        bos_token_id: The id that starts a sequence, if the source names one.
    """

    token_bytes: list[bytes]
    vocab_size: int
    special_token_ids: tuple[int, ...]
    stop_token_ids: tuple[int, ...]
    vocab_type: int
    add_prefix_space: bool
    source: str
    special_token_names: Mapping[str, int] = field(default_factory=dict)
    chat_template: str | None = None
    bos_token_id: int | None = None


def build_vocabulary(
    tokens: Sequence[bytes],
    *,
    vocab_size: int | None,
    stop_token_ids: Iterable[int],
    vocab_type: int,
    add_prefix_space: bool,
    source: str,
    special_token_names: Mapping[str, int] | None = None,
    chat_template: str | None = None,
    bos_token_id: int | None = None,
) -> VocabularyData:
    """Pad, blank the stop tokens, and freeze what a reader has found.

    Args:
        tokens: Bytes per id; empty for special ids.
        vocab_size: Size of a row of logits, or None for ``len(tokens)``. A model may have more
            ids than its tokenizer (padding), or fewer when the surplus tokens are special.
        stop_token_ids: Ids that end a generation.
        vocab_type: `RAW`, `BYTE_FALLBACK` or `BYTE_LEVEL`.
        add_prefix_space: Whether the tokenizer puts a space before the text it encodes.
        source: Where the data came from.
        special_token_names: Spelling to id of special tokens.
        chat_template: Chat template text, if known.
        bos_token_id: Id that starts a sequence, if known.

    Returns:
        The vocabulary.

    Raises:
        TokenizerError: The size is out of range, or smaller than an id that has text, or a stop
            token is not an id of the vocabulary.
    """
    size = check_vocab_size(len(tokens) if vocab_size is None else vocab_size, source)
    token_bytes = list(tokens[:size])
    token_bytes.extend([b""] * (size - len(token_bytes)))
    for token_id in range(size, len(tokens)):
        if tokens[token_id]:
            raise TokenizerError(
                f"vocab_size {size} cuts off token id {token_id} of {source}, which has text; "
                f"expected at least {token_id + 1}: pass the number of logits of the model",
                code="tokenizer-vocab-size",
            )
    stops = tuple(sorted(set(stop_token_ids)))
    for token_id in stops:
        if not 0 <= token_id < size:
            raise TokenizerError(
                f"stop token id {token_id} is outside the vocabulary of {source}; expected "
                f"0 to {size - 1}: pass ids of this vocabulary in stop_token_ids",
                code="tokenizer-stop-token",
            )
        token_bytes[token_id] = b""
    return VocabularyData(
        token_bytes=token_bytes,
        vocab_size=size,
        special_token_ids=tuple(i for i, token in enumerate(token_bytes) if not token),
        stop_token_ids=stops,
        vocab_type=vocab_type,
        add_prefix_space=add_prefix_space,
        source=source,
        special_token_names=dict(special_token_names or {}),
        chat_template=chat_template,
        bos_token_id=bos_token_id,
    )


def check_vocab_size(size: int, source: str) -> int:
    """Return `size` if it is a size that a vocabulary may have.

    Raises:
        TokenizerError: It is below 1 or above `MAX_VOCAB_SIZE`.
    """
    if not 1 <= size <= MAX_VOCAB_SIZE:
        raise TokenizerError(
            f"{source} has a vocabulary of {size} ids; expected 1 to {MAX_VOCAB_SIZE}: "
            "check that the file belongs to a language model and is not damaged",
            code="tokenizer-vocab-size",
        )
    return size
