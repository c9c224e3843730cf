"""The plain data that every vocabulary reader returns.

What it does: holds, for each token id, the bytes of its spelling, and the few facts about a
vocabulary that masks, encoding and generation need.
Idea: readers differ (files of several formats, objects of other libraries, plain lists), their
result does not; everything behind this module sees bytes and ids only. Sizes and ids are checked
in one place, so a reader only says what it has found.
Cost: one `bytes` object per id, about 6 MB for a vocabulary of 128,000 ids.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from maskwright.errors import TokenizerError
from maskwright.tokenizers.encoding import Encode, FileEncoder
from maskwright.tokenizers.stop_tokens import conventional_stop_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_VOCAB_SIZE: Final = 1 << 22
"""Largest accepted vocabulary; a damaged file must not cause a huge allocation."""


class VocabType(enum.Enum):
    """How the tokens of a vocabulary are spelled.

    Attributes:
        RAW: As the bytes, or the text, that they stand for.
        BYTE_FALLBACK: As SentencePiece does: U+2581 is a space, ``<0x1B>`` is one byte.
        BYTE_LEVEL: As GPT-2 does: each character stands for one byte.
    """

    RAW = 0
    BYTE_FALLBACK = 1
    BYTE_LEVEL = 2


def check_vocab_type(value: object) -> VocabType:
    """Return a vocabulary type given as itself or by its value.

    Raises:
        TokenizerError: There is no such type.
    """
    try:
        return VocabType(value)
    except ValueError as error:
        raise TokenizerError(
            f"vocab_type is {value!r}; expected 0 (RAW), 1 (BYTE_FALLBACK) or 2 (BYTE_LEVEL): "
            "pass a VocabType",
            code="tokenizer-vocab-type",
        ) from error


@dataclass(frozen=True)
class VocabularyData:
    """A vocabulary as its source has it.

    Attributes:
        tokens: Per id the bytes of its spelling. Special tokens are spelled too
            (``b"<|im_end|>"``), though text never produces them; ``b""`` fills gaps between ids.
        vocab_type: How the tokens were spelled in the source.
        vocab_size: Number of ids, padding included: the length of a row of logits. Never less
            than ``len(tokens)``.
        special_token_ids: Ids that the source flags as special, control, unknown or unused,
            ascending, without stop tokens.
        stop_token_ids: Ids that end a generation, ascending.
        add_prefix_space: Whether the tokenizer puts a space before the text it encodes.
        source: Where the data came from, for messages.
        chat_template: The chat template (Jinja text) that came with the vocabulary, if any.
        encode: The real tokenizer: text to ids, no special tokens added. Not compared. Only one
            that is made from a file survives pickling.
    """

    tokens: list[bytes]
    vocab_type: VocabType
    vocab_size: int
    special_token_ids: tuple[int, ...]
    stop_token_ids: tuple[int, ...]
    add_prefix_space: bool
    source: str
    chat_template: str | None = None
    encode: Encode | None = field(default=None, compare=False, repr=False)

    def text_bytes(self) -> list[bytes]:
        """Per id below ``vocab_size`` what it adds to the text: nothing for special and stop ids.

        Example:
            >>> found = FoundVocabulary([b"a", b"<s>"], VocabType.RAW, "a list", {1})
            >>> found.build(vocab_size=3).text_bytes()
            [b'a', b'', b'']
        """
        texts = [*self.tokens, *([b""] * (self.vocab_size - len(self.tokens)))]
        for token_id in (*self.special_token_ids, *self.stop_token_ids):
            texts[token_id] = b""
        return texts

    def __getstate__(self) -> dict[str, object]:
        state = dict(self.__dict__)
        if not isinstance(self.encode, FileEncoder):
            state["encode"] = None
        return state


@dataclass
class FoundVocabulary:
    """What a reader has found in its source, before sizes and ids are checked.

    Attributes:
        tokens: Bytes per id, special tokens spelled; empty in gaps.
        vocab_type: How the tokens were spelled.
        source: Where they came from, for messages.
        special_token_ids: Ids that the source flags.
        end_ids: Ids that end a generation as far as the source, or what lies beside it, tells.
        add_prefix_space: Whether the tokenizer puts a space before the text it encodes.
        chat_template: The chat template, if there is one.
        encode: The real tokenizer, if there is one.
    """

    tokens: list[bytes]
    vocab_type: VocabType
    source: str
    special_token_ids: set[int] = field(default_factory=set)
    end_ids: set[int] = field(default_factory=set)
    add_prefix_space: bool = False
    chat_template: str | None = None
    encode: Encode | None = None

    def put(self, token_id: int, token: bytes, *, is_special: bool) -> None:
        """Set the token of an id, which may lie beyond the others."""
        self.tokens.extend([b""] * (token_id + 1 - len(self.tokens)))
        self.tokens[token_id] = token
        if is_special:
            self.special_token_ids.add(token_id)

    def id_of(self, spelling: str) -> int | None:
        """The id of a token by its spelling: a special one if there is one."""
        wanted = spelling.encode(errors="replace")
        for token_id in sorted(self.special_token_ids):
            if token_id < len(self.tokens) and self.tokens[token_id] == wanted:
                return token_id
        return self.tokens.index(wanted) if wanted in self.tokens else None

    def build(
        self, *, vocab_size: int | None = None, stop_token_ids: Iterable[int] | None = None
    ) -> VocabularyData:
        """Check and freeze.

        Args:
            vocab_size: Size of a row of logits, or None for ``len(tokens)``. A model may have more
                ids than its tokenizer (padding), or fewer when the surplus tokens are special.
            stop_token_ids: The caller's choice of stop tokens. None takes the ends found and the
                special tokens that are end marks by convention, as far as the vocabulary has them.

        Returns:
            The vocabulary.

        Raises:
            TokenizerError: The size is out of range or cuts off an id that has text
                (``tokenizer-vocab-size``), or a chosen stop token is no id of the vocabulary
                (``tokenizer-id-out-of-range``).
        """
        tokens, source = self.tokens, self.source
        size = _check_vocab_size(len(tokens) if vocab_size is None else vocab_size, source)
        flagged = self.special_token_ids
        ends = conventional_stop_tokens(tokens, flagged) | self.end_ids
        _check_cut(tokens, size, flagged | ends, source)
        if stop_token_ids is None:
            stops = {token_id for token_id in ends if 0 <= token_id < size}
        else:
            stops = set(stop_token_ids)
            check_ids("stop token id", stops, size, source)
        return VocabularyData(
            tokens=tokens[:size],
            vocab_type=self.vocab_type,
            vocab_size=size,
            special_token_ids=tuple(sorted(i for i in flagged - stops if 0 <= i < size)),
            stop_token_ids=tuple(sorted(stops)),
            add_prefix_space=self.add_prefix_space,
            source=source,
            chat_template=self.chat_template,
            encode=self.encode,
        )


def check_ids(what: str, ids: Iterable[int], vocab_size: int, source: str) -> None:
    """Check ids that the caller has chosen.

    Args:
        what: What the ids are, for the message.
        ids: The ids.
        vocab_size: Number of ids of the vocabulary.
        source: Where the vocabulary came from.

    Raises:
        TokenizerError: One is outside the vocabulary.
    """
    for token_id in sorted(ids):
        if not 0 <= token_id < vocab_size:
            raise TokenizerError(
                f"{what} {token_id} is outside the vocabulary of {vocab_size} ids of {source}; "
                f"expected 0 to {vocab_size - 1}: pass ids of this vocabulary, or the model's "
                "vocab_size",
                code="tokenizer-id-out-of-range",
            )


def _check_vocab_size(size: int, source: str) -> int:
    if not 1 <= size <= MAX_VOCAB_SIZE:
        raise TokenizerError(
            f"{source} has a vocabulary of {size} ids; expected 1 to {MAX_VOCAB_SIZE}: pass the "
            "length of a row of the model's logits, or check that the file is not damaged",
            code="tokenizer-vocab-size",
        )
    return size


def _check_cut(tokens: Sequence[bytes], size: int, no_text: set[int], source: str) -> None:
    """Refuse a size that cuts off an id with text."""
    for token_id in reversed(range(size, len(tokens))):
        if tokens[token_id] and token_id not in no_text:
            raise TokenizerError(
                f"vocab_size {size} is smaller than the {len(tokens)} tokens of {source}, of which "
                f"id {token_id} has text; expected at least {token_id + 1}: pass the length of a "
                "row of the model's logits",
                code="tokenizer-vocab-size",
            )
