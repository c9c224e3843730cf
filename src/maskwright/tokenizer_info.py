"""The vocabulary of a language model, as the bytes of each token.

Idea: tokens are decoded once, here, and become the trie of the core; everything after this sees
token ids and bytes only.
Cost: one pass over the tokens and one sort: about 0.2 s for 128,000 tokens.
"""

from __future__ import annotations

import enum
import hashlib
import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING

from . import _core
from .errors import TokenizerError
from .tokenizers.decoding import decode_token
from .tokenizers.files import read_vocabulary
from .tokenizers.vocabulary import MAX_VOCAB_SIZE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

__all__ = ["TokenizerInfo", "VocabType"]


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


class TokenizerInfo:
    r"""A vocabulary: what each token id adds to the text, and which ids end it.

    Immutable, and safe to share between threads. Two of them are equal if the same masks follow
    from them: equal sizes, stop tokens and text of every ordinary token.

    Special tokens are never allowed by text: those named in ``special_token_ids``, tokens that
    decode to nothing, and padding ids. The same holds for stop tokens, which are allowed where the
    text may end.

    Args:
        encoded_vocab: One token per id, spelled as ``vocab_type`` says. Several ids may have the
            same token. Bytes in an encoded vocabulary are UTF-8.
        vocab_type: How the tokens are spelled.
        vocab_size: Length of a row of the model's logits, where that is more than the number of
            tokens; the ids between are padding.
        stop_token_ids: Ids that end the text; an int or several. None: there is none, since a
            list of tokens doesn't say what ends a text (`from_file` finds them).
        add_prefix_space: Whether the tokenizer puts a space before the text it encodes. Kept for
            the caller; masks don't depend on it.
        special_token_ids: Ids of more special tokens, such as ``<s>``.

    Raises:
        TokenizerError: A token is no text (``tokenizer-bad-token``), an id is outside the
            vocabulary (``tokenizer-id-out-of-range``), or ``vocab_size`` is smaller than the number
            of tokens, zero or beyond any real one (``tokenizer-vocab-size``).
        TypeError: A token is neither bytes nor str.

    Example:
        >>> tokens = ["<s>", "</s>", "\u2581hi", "<0x0A>"]
        >>> info = TokenizerInfo(
        ...     tokens, VocabType.BYTE_FALLBACK, stop_token_ids=1, special_token_ids=[0]
        ... )
        >>> info.decoded_vocab
        [b'<s>', b'</s>', b' hi', b'\n']
        >>> info.vocab_size, info.stop_token_ids, info.special_token_ids
        (4, [1], [0])
    """

    __slots__ = (
        "_add_prefix_space",
        "_core",
        "_fingerprint",
        "_special_token_ids",
        "_stop_token_ids",
        "_tokens",
        "_vocab_size",
        "_vocab_type",
    )

    def __init__(
        self,
        encoded_vocab: Sequence[bytes] | Sequence[str],
        vocab_type: VocabType = VocabType.RAW,
        *,
        vocab_size: int | None = None,
        stop_token_ids: int | Iterable[int] | None = None,
        add_prefix_space: bool = False,
        special_token_ids: Iterable[int] | None = None,
    ) -> None:
        self._vocab_type = VocabType(vocab_type)
        self._tokens = _decode(encoded_vocab, self._vocab_type)
        self._vocab_size = _check_size(vocab_size, len(self._tokens))
        stops = id_list(() if stop_token_ids is None else stop_token_ids)
        special = id_list(() if special_token_ids is None else special_token_ids)
        _check_ids("stop token id", stops, self._vocab_size)
        _check_ids("special token id", special, self._vocab_size)
        self._stop_token_ids = tuple(stops)
        empty = (i for i, token in enumerate(self._tokens) if not token)
        never_text = {*special, *empty, *range(len(self._tokens), self._vocab_size)}
        self._special_token_ids = tuple(sorted(never_text.difference(stops)))
        self._add_prefix_space = bool(add_prefix_space)
        self._fingerprint: str | None = None
        self._core = _core.Vocabulary(
            self._tokens,
            vocab_size=self._vocab_size,
            special_token_ids=special,
            stop_token_ids=stops,
        )

    @classmethod
    def from_file(
        cls,
        path: str | PathLike[str],
        *,
        vocab_size: int | None = None,
        stop_token_ids: int | Iterable[int] | None = None,
    ) -> TokenizerInfo:
        """Read the vocabulary of a model from its files.

        Args:
            path: A ``tokenizer.json``, a folder that has one, or a GGUF model. What the file is is
                read off its contents.
            vocab_size: Length of a row of the model's logits, where it differs from the file's.
            stop_token_ids: Ids that end the text, instead of those that the files give evidence of
                (configured end tokens, and special tokens that are end marks by convention).

        Returns:
            The vocabulary. ``decoded_vocab`` holds ``b""`` for special and stop tokens.

        Raises:
            TokenizerError: The file cannot be read, is damaged, or is of a kind whose tokens have
                no fixed bytes; the message says which.
        """
        stops = None if stop_token_ids is None else id_list(stop_token_ids)
        data = read_vocabulary(path, vocab_size=vocab_size, stop_token_ids=stops)
        info = cls(
            data.token_bytes,
            vocab_size=data.vocab_size,
            stop_token_ids=data.stop_token_ids,
            add_prefix_space=data.add_prefix_space,
        )
        info._vocab_type = VocabType(data.vocab_type)
        return info

    @property
    def vocab_type(self) -> VocabType:
        """How the tokens were spelled."""
        return self._vocab_type

    @property
    def vocab_size(self) -> int:
        """Number of ids, padding included: the length of a row of logits."""
        return self._vocab_size

    @property
    def add_prefix_space(self) -> bool:
        """Whether the tokenizer puts a space before the text it encodes."""
        return self._add_prefix_space

    @property
    def decoded_vocab(self) -> list[bytes]:
        """The bytes of each token, without padding; a new list at each call."""
        return list(self._tokens)

    @property
    def stop_token_ids(self) -> list[int]:
        """The ids that end the text, ascending."""
        return list(self._stop_token_ids)

    @property
    def special_token_ids(self) -> list[int]:
        """The ids that nothing allows: special, empty and padding; ascending, no stop tokens."""
        return list(self._special_token_ids)

    @property
    def fingerprint(self) -> str:
        """A hash, in hex, of all that masks depend on: equal iff the objects are equal.

        Computed at the first use, in time linear in the vocabulary.
        """
        if self._fingerprint is None:
            digest = hashlib.sha256(b"maskwright-vocabulary-1")
            silent = {*self._stop_token_ids, *self._special_token_ids}
            texts = [b"" if i in silent else token for i, token in enumerate(self._tokens)]
            while texts and not texts[-1]:
                texts.pop()  # an empty token at the end and padding are the same
            for numbers in ((self._vocab_size,), self._stop_token_ids, map(len, texts)):
                digest.update((",".join(map(str, numbers)) + ";").encode())
            digest.update(b"".join(texts))
            self._fingerprint = digest.hexdigest()
        return self._fingerprint

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TokenizerInfo):
            return NotImplemented
        return self is other or self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return (
            f"TokenizerInfo(vocab_type={self._vocab_type.name}, vocab_size={self._vocab_size}, "
            f"stop_token_ids={list(self._stop_token_ids)})"
        )


def id_list(ids: int | Iterable[int]) -> list[int]:
    """Return one id, or several, as a sorted list without duplicates.

    Raises:
        TypeError: An id is no integer.
    """
    if isinstance(ids, Iterable):
        return sorted({operator.index(token_id) for token_id in ids})
    return [operator.index(ids)]


def _decode(encoded_vocab: Iterable[bytes | str], vocab_type: VocabType) -> list[bytes]:
    if isinstance(encoded_vocab, bytes | str):
        raise TypeError("encoded_vocab is one string; expected a list with one token per id")
    tokens: list[bytes] = []
    for token_id, token in enumerate(encoded_vocab):
        if not isinstance(token, bytes | str):
            raise TypeError(
                f"token {token_id} is a {type(token).__name__}; expected bytes or str for each id"
            )
        tokens.append(decode_token(token, vocab_type.value))
    return tokens


def _check_size(vocab_size: int | None, num_tokens: int) -> int:
    size = num_tokens if vocab_size is None else operator.index(vocab_size)
    if size < num_tokens:
        raise TokenizerError(
            f"vocab_size {size} is smaller than the {num_tokens} tokens given; pass the length of "
            "a row of the model's logits, or fewer tokens",
            code="tokenizer-vocab-size",
        )
    if not 1 <= size <= MAX_VOCAB_SIZE:
        raise TokenizerError(
            f"the vocabulary has {size} ids; expected 1 to {MAX_VOCAB_SIZE}: pass one token per id",
            code="tokenizer-vocab-size",
        )
    return size


def _check_ids(what: str, ids: list[int], vocab_size: int) -> None:
    for token_id in ids:
        if not 0 <= token_id < vocab_size:
            raise TokenizerError(
                f"{what} {token_id} is outside the vocabulary of {vocab_size} ids; pass ids from 0 "
                f"to {vocab_size - 1}, or the model's vocab_size",
                code="tokenizer-id-out-of-range",
            )
