"""The vocabulary of a language model, as the bytes of each token.

Idea: a reader of `maskwright.tokenizers` has decoded the tokens once; here they become the trie of
the core, and everything after this sees token ids and bytes only.
Cost: one pass over the tokens and one sort: about 0.2 s for 128,000 tokens.
"""

from __future__ import annotations

import codecs
import hashlib
import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import TokenizerError
from .shown import shown
from .token_ids import checked_id, id_list
from .tokenizer_sources import TokenizerSources
from .tokenizers.plain import from_tokens
from .tokenizers.stored import dump_metadata, dump_vocabulary, parse_metadata, parse_vocabulary
from .tokenizers.vocabulary import VocabType, VocabularyData, check_vocab_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Self

    from ._core import SharedMasks

__all__ = ["TokenizerInfo", "VocabType"]

_ENCODING_HANDLERS = ("namereplace", "xmlcharrefreplace")
"""Standard error handlers that only work on text."""


class TokenizerInfo(TokenizerSources):
    r"""A vocabulary: what each token id adds to the text, and which ids end it.

    Immutable, and safe to share between threads. Two of them are equal if they have equal sizes,
    special tokens, stop tokens and bytes of every token: the same masks follow from them. Pickles;
    the encoder comes along only if it is that of a file, which must be there again.

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
        TypeError: A token is neither bytes nor str, an id is no int, or the encoder can't be
            called.

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
        "_common_masks",
        "_core",
        "_data",
        "_fingerprint",
        "_special_token_ids",
        "_texts",
    )

    _common_masks: SharedMasks | None  # see common_masks.py
    _core: _core.Vocabulary
    _data: VocabularyData
    _fingerprint: str | None
    _special_token_ids: tuple[int, ...]
    _texts: list[bytes] | None

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
        if encoder is not None and not callable(encoder):
            raise TypeError(
                f"encoder is a {type(encoder).__name__}; expected a function from a text to the "
                "ids of its tokens, or None"
            )
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
        self._common_masks = None
        self._texts = None
        self._core = _core.Vocabulary(
            data.tokens,
            vocab_size=data.vocab_size,
            special_token_ids=list(data.special_token_ids),
            stop_token_ids=list(data.stop_token_ids),
        )

    def _keep_common_masks(self, masks: SharedMasks) -> SharedMasks:
        """Keep them, unless another thread was faster; return those that are kept."""
        if self._common_masks is None:
            self._common_masks = masks
        return self._common_masks

    @property
    def _memory_bytes(self) -> int:
        """Memory of all that depends on the vocabulary alone."""
        masks = self._common_masks
        return self._core.memory_bytes + (0 if masks is None else masks.bytes)

    @classmethod
    def _from_data(cls, data: VocabularyData) -> Self:
        info = cls.__new__(cls)
        info._adopt(data)  # noqa: SLF001  its own
        return info

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
    def prepend_space_in_tokenization(self) -> bool:
        """Another name of `add_prefix_space`."""
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
            MissingDependencyError: The tokenizer's package is not installed.
            TokenizerError: There is no tokenizer (``tokenizer-no-encoder``), its package cannot
                load the file (``tokenizer-encoder-failed``), or the text holds a lone surrogate
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

    def decode(self, token_ids: int | Iterable[int], *, skip_special_tokens: bool = True) -> bytes:
        r"""Return the bytes that tokens add to the text, as masks and matchers count them.

        Nothing is cleaned up: a space that the tokenizer puts before a text stays. The bytes are
        UTF-8 where the model has written whole characters; a character may be spread over several
        tokens, so text that comes token by token is best decoded with
        ``codecs.getincrementaldecoder("utf-8")``.

        Args:
            token_ids: One id, or several: a list or another iterable of ints, or a one-dimensional
                array or tensor of any integer dtype on any device.
            skip_special_tokens: Special tokens and stop tokens add nothing; else their spelling, as
                in `decoded_vocab`. Padding adds nothing in any case.

        Raises:
            TokenizerError: An id is outside the vocabulary (``tokenizer-id-out-of-range``).
            TypeError: An id is no int.

        Example:
            >>> info = TokenizerInfo(["caf", "\u00e9", "</s>"], stop_token_ids=2)
            >>> info.decode([0, 1, 2])
            b'caf\xc3\xa9'
            >>> info.decode(2, skip_special_tokens=False)
            b'</s>'
        """
        if self._texts is None:
            self._texts = self._data.text_bytes()
        tokens = self._texts if skip_special_tokens else self._data.tokens
        ids = _ids_in_order(token_ids)
        if ids and not 0 <= min(ids) <= max(ids) < self.vocab_size:
            wrong = next(i for i in ids if not 0 <= i < self.vocab_size)
            raise TokenizerError(
                f"token id {wrong} is outside the vocabulary of {self.vocab_size} ids; expected 0 "
                f"to {self.vocab_size - 1}",
                code="tokenizer-id-out-of-range",
            )
        count = len(tokens)
        return b"".join(tokens[i] for i in ids if i < count)

    def decode_text(
        self,
        token_ids: int | Iterable[int],
        *,
        skip_special_tokens: bool = True,
        errors: str = "replace",
    ) -> str:
        r"""Return the text of tokens: `decode`, read as UTF-8.

        Args:
            token_ids: As for `decode`.
            skip_special_tokens: As for `decode`.
            errors: What to do with bytes that are no UTF-8, such as a character that the last token
                has begun: as for `bytes.decode`. By default each becomes U+FFFD.

        Raises:
            UnicodeDecodeError: There are such bytes, and ``errors`` is ``"strict"``.
            TokenizerError: As for `decode`.
            TypeError: As for `decode`, or ``errors`` is no str.
            ValueError: ``errors`` names no handler of decoding errors.

        Example:
            >>> info = TokenizerInfo([b"caf", b"\xc3", b"\xa9"])
            >>> info.decode_text([0, 1, 2]), info.decode_text([0, 1], errors="ignore")
            ('café', 'caf')
        """
        _check_error_handler(errors)
        data = self.decode(token_ids, skip_special_tokens=skip_special_tokens)
        return data.decode("utf-8", errors)

    def dump_metadata(self) -> str:
        """All but the tokens, as JSON.

        Returns:
            An object with ``vocab_type``, ``vocab_size``, ``add_prefix_space`` and
            ``stop_token_ids``, and with ``special_token_ids`` if more are special than empty tokens
            and padding.

        Example:
            >>> TokenizerInfo(["a", "</s>"], stop_token_ids=1).dump_metadata()
            '{"vocab_type":0,"vocab_size":2,"add_prefix_space":false,"stop_token_ids":[1]}'
        """
        return dump_metadata(self._data)

    @classmethod
    def from_vocab_and_metadata(
        cls, encoded_vocab: Sequence[bytes] | Sequence[str], metadata: str
    ) -> TokenizerInfo:
        """Make the object whose `dump_metadata` is given, from its tokens.

        Args:
            encoded_vocab: The tokens, spelled as the type in the metadata says.
            metadata: What `dump_metadata` has returned.

        Raises:
            InvalidJSONError: The metadata are no JSON (``invalid-json``).
            DeserializeFormatError: A field is missing, unknown or wrong (``deserialize-format``).
            TokenizerError: They don't fit to the tokens, as in the constructor.
        """
        return cls(encoded_vocab, **parse_metadata(metadata))

    def serialize_json(self) -> str:
        """The whole vocabulary as JSON text, without the encoder.

        The field ``version`` says which fields there are; bytes are kept exactly.
        """
        return dump_vocabulary(self._data)

    @classmethod
    def deserialize_json(cls, json_string: str) -> TokenizerInfo:
        """Make the object that `serialize_json` has stored, without an encoder.

        Args:
            json_string: The text. It may come from anywhere: every field is checked.

        Raises:
            InvalidJSONError: It is no JSON (``invalid-json``).
            DeserializeVersionError: It is of another version (``deserialize-version``).
            DeserializeFormatError: It breaks the format (``deserialize-format``).
        """
        return cls._from_data(parse_vocabulary(json_string))

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

    def __reduce__(self) -> tuple[Callable[[VocabularyData], TokenizerInfo], tuple[VocabularyData]]:
        return TokenizerInfo._from_data, (self._data,)

    def __copy__(self) -> TokenizerInfo:
        return self  # immutable

    def __deepcopy__(self, memo: dict[int, Any]) -> TokenizerInfo:
        return self

    def __repr__(self) -> str:
        return (
            f"TokenizerInfo(vocab_type={self.vocab_type.name}, vocab_size={self.vocab_size}, "
            f"stop_token_ids={self.stop_token_ids})"
        )


def _ids_in_order(ids: int | Iterable[int]) -> list[int]:
    """One id, or several, as a list of int; arrays and tensors become lists in one call."""
    if isinstance(ids, str | bytes | bytearray | memoryview):
        raise TypeError(f"token_ids is a {type(ids).__name__}; expected ints")
    to_list = getattr(ids, "tolist", None)
    listed = to_list() if callable(to_list) else ids
    return [checked_id(i) for i in (listed if isinstance(listed, Iterable) else [listed])]


def _check_error_handler(errors: str) -> None:
    """Check how to treat bytes that are no UTF-8, which `bytes.decode` does once there are any."""
    if not isinstance(errors, str):
        raise TypeError(f"errors is {shown(errors)}; expected a str")
    try:
        codecs.lookup_error(errors)
        is_known = errors not in _ENCODING_HANDLERS
    except (LookupError, ValueError):  # the latter: a null or a lone surrogate
        is_known = False
    if not is_known:
        raise ValueError(
            f'errors is {shown(errors)}; expected a handler of decoding errors, such as "strict", '
            '"ignore" or "replace"'
        )
