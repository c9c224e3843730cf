"""The vocabulary of a language model, as the bytes of each token.

Idea: a reader of `maskwright.tokenizers` has decoded the tokens once; here they become the trie of
the core, and everything after this sees token ids and bytes only.
Cost: one pass over the tokens and one sort: about 0.2 s for 128,000 tokens.
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING

from . import _core
from .errors import TokenizerError
from .tokenizers.files import read_vocabulary
from .tokenizers.plain import from_tokens
from .tokenizers.vocabulary import VocabType, VocabularyData, check_vocab_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

__all__ = ["TokenizerInfo", "VocabType"]


class TokenizerInfo:
    r"""A vocabulary: what each token id adds to the text, and which ids end it.

    Immutable, and safe to share between threads. Two of them are equal if they have equal sizes,
    special tokens, stop tokens and bytes of every token: the same masks follow from them.

    Special tokens are never allowed by text: those named in ``special_token_ids``, tokens that
    decode to nothing, and padding ids. The same holds for stop tokens, which are allowed where the
    text may end.

    Args:
        encoded_vocab: One token per id, spelled as ``vocab_type`` says. Several ids may have the
            same token. Bytes in an encoded vocabulary are UTF-8.
        vocab_type: How the tokens are spelled; a `VocabType` or its value.
        vocab_size: Length of a row of the model's logits, where it differs from the number of
            tokens: ids beyond the tokens are padding, and fewer ids may cut off special tokens.
        stop_token_ids: Ids that end the text; an int or several. None: there is none, since a
            list of tokens doesn't say what ends a text (`from_file` finds them).
        add_prefix_space: Whether the tokenizer puts a space before the text it encodes. Kept for
            the caller; masks don't depend on it.
        special_token_ids: Ids of more special tokens, such as ``<s>``.
        encoder: What `encode` does: the model's own tokenizer, from text to ids, without special
            tokens added.

    Raises:
        TokenizerError: A token is no text (``tokenizer-bad-token``), an id is outside the
            vocabulary (``tokenizer-id-out-of-range``), ``vocab_size`` cuts off a token that has
            text, is zero or beyond any real one (``tokenizer-vocab-size``), or there is no such
            ``vocab_type`` (``tokenizer-vocab-type``).
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

    __slots__ = ("_core", "_data", "_fingerprint", "_special_token_ids")

    _core: _core.Vocabulary
    _data: VocabularyData
    _fingerprint: str | None
    _special_token_ids: tuple[int, ...]

    def __init__(
        self,
        encoded_vocab: Sequence[bytes] | Sequence[str],
        vocab_type: VocabType | int = VocabType.RAW,
        *,
        vocab_size: int | None = None,
        stop_token_ids: int | Iterable[int] | None = None,
        add_prefix_space: bool = False,
        special_token_ids: Iterable[int] | None = None,
        encoder: Callable[[str], list[int]] | None = None,
    ) -> None:
        self._adopt(
            from_tokens(
                encoded_vocab,
                check_vocab_type(vocab_type),
                vocab_size=None if vocab_size is None else operator.index(vocab_size),
                stop_token_ids=id_list(() if stop_token_ids is None else stop_token_ids),
                special_token_ids=id_list(() if special_token_ids is None else special_token_ids),
                add_prefix_space=bool(add_prefix_space),
                encode=encoder,
            )
        )

    def _adopt(self, data: VocabularyData) -> None:
        self._data = data
        empty = (i for i, token in enumerate(data.tokens) if not token)
        padding = range(len(data.tokens), data.vocab_size)
        never_text = {*data.special_token_ids, *empty, *padding}
        self._special_token_ids = tuple(sorted(never_text.difference(data.stop_token_ids)))
        self._fingerprint = None
        self._core = _core.Vocabulary(
            data.tokens,
            vocab_size=data.vocab_size,
            special_token_ids=list(data.special_token_ids),
            stop_token_ids=list(data.stop_token_ids),
        )

    @classmethod
    def _from_data(cls, data: VocabularyData) -> TokenizerInfo:
        """The one way from what a reader returns to an object of this class."""
        info = cls.__new__(cls)
        info._adopt(data)  # noqa: SLF001  its own
        return info

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
            The vocabulary.

        Raises:
            TokenizerError: The file cannot be read, is damaged, or is of a kind whose tokens have
                no fixed bytes; the message says which.
        """
        stops = None if stop_token_ids is None else id_list(stop_token_ids)
        return cls._from_data(read_vocabulary(path, vocab_size=vocab_size, stop_token_ids=stops))

    @property
    def vocab_type(self) -> VocabType:
        """How the tokens were spelled."""
        return self._data.vocab_type

    @property
    def vocab_size(self) -> int:
        """Number of ids, padding included: the length of a row of logits."""
        return self._data.vocab_size

    @property
    def add_prefix_space(self) -> bool:
        """Whether the tokenizer puts a space before the text it encodes."""
        return self._data.add_prefix_space

    @property
    def decoded_vocab(self) -> list[bytes]:
        """The bytes of each token, special ones spelled, without padding; a new list each time."""
        return list(self._data.tokens)

    @property
    def stop_token_ids(self) -> list[int]:
        """The ids that end the text, ascending."""
        return list(self._data.stop_token_ids)

    @property
    def special_token_ids(self) -> list[int]:
        """The ids that nothing allows: special, empty and padding; ascending, no stop tokens."""
        return list(self._special_token_ids)

    @property
    def has_encoder(self) -> bool:
        """Whether `encode` has a tokenizer to ask."""
        return self._data.encode is not None

    def encode(self, text: str) -> list[int]:
        """Encode a text with the model's own tokenizer.

        No special tokens are added. Where the library can be told so, a special token's spelling
        in the text is encoded as ordinary text. The first call may import the library and load
        its file.

        Args:
            text: The text.

        Returns:
            The ids of its tokens.

        Raises:
            TokenizerError: There is no tokenizer (``tokenizer-no-encoder``), its package is not
                installed (``tokenizer-missing-package``) or cannot load the file
                (``tokenizer-encoder-failed``), or the text holds a lone surrogate
                (``tokenizer-bad-text``).

        Example:
            >>> info = TokenizerInfo(["a", "b"], encoder=lambda text: ["ab".index(c) for c in text])
            >>> info.encode("abba")
            [0, 1, 1, 0]
        """
        if not isinstance(text, str):
            raise TypeError(f"text is a {type(text).__name__}; expected str")
        if self._data.encode is None:
            raise TokenizerError(
                f"the vocabulary of {self._data.source} has no tokenizer to encode text with; "
                "expected one: pass encoder=... to TokenizerInfo, or make it from the tokenizer "
                "object or file of the model",
                code="tokenizer-no-encoder",
            )
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise TokenizerError(
                f"the text to encode has a lone surrogate at index {error.start}; expected valid "
                "Unicode text: replace it",
                code="tokenizer-bad-text",
            ) from error
        return [int(token_id) for token_id in self._data.encode(text)]

    @property
    def fingerprint(self) -> str:
        """A hash, in hex, of all that equality compares: equal iff the objects are equal.

        Computed at the first use, in time linear in the vocabulary.
        """
        if self._fingerprint is None:
            digest = hashlib.sha256(b"maskwright-vocabulary-2")
            tokens = list(self._data.tokens)
            while tokens and not tokens[-1]:
                tokens.pop()  # an empty token at the end and padding are the same
            sizes = map(len, tokens)
            stops, special = self._data.stop_token_ids, self._special_token_ids
            for numbers in ((self.vocab_size,), stops, special, sizes):
                digest.update((",".join(map(str, numbers)) + ";").encode())
            digest.update(b"".join(tokens))
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
            f"TokenizerInfo(vocab_type={self.vocab_type.name}, vocab_size={self.vocab_size}, "
            f"stop_token_ids={self.stop_token_ids})"
        )


def id_list(ids: int | Iterable[int]) -> list[int]:
    """Return one id, or several, as a sorted list without duplicates.

    Raises:
        TypeError: An id is no integer.
    """
    if isinstance(ids, Iterable):
        return sorted({operator.index(token_id) for token_id in ids})
    return [operator.index(ids)]
