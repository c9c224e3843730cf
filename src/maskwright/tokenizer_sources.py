"""Where a vocabulary comes from: the files of a model, or the tokenizer of another library."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, TypedDict

from .token_ids import id_list
from .tokenizers.files import read_vocabulary
from .tokenizers.llama_cpp import read_llama_cpp
from .tokenizers.objects import ENCODING, PROCESSOR, TEKKEN, read_object

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from typing_extensions import Self

    from .tokenizers.vocabulary import VocabularyData

__all__ = ["TokenizerSources"]


class TokenizerSources:
    """The constructors of `TokenizerInfo` for what a vocabulary can be read from."""

    __slots__ = ()

    @classmethod
    def _from_data(cls, data: VocabularyData) -> Self:
        """The one way from what a reader returns to an object of this class."""
        raise NotImplementedError

    @classmethod
    def from_file(
        cls,
        path: str | PathLike[str],
        *,
        vocab_size: int | None = None,
        stop_token_ids: int | Iterable[int] | None = None,
    ) -> Self:
        """Read the vocabulary of a model from its files.

        Args:
            path: A ``tokenizer.json``, a ``tekken.json``, a SentencePiece model, a file of tiktoken
                ranks, a GGUF model, or a folder that has one of them. What a file is is read off
                its contents.
            vocab_size: Length of a row of the model's logits, where it differs from the file's:
                more ids are padding, fewer may cut off special tokens only.
            stop_token_ids: Ids that end the text, instead of those that the files give evidence of
                (configured end tokens, and special tokens that are end marks by convention).

        Returns:
            The vocabulary. It encodes with the library of the file, which is loaded when it is
            first asked; a file of tiktoken ranks doesn't say how to.

        Raises:
            TokenizerError: The file cannot be read (``tokenizer-unreadable``), is damaged
                (``tokenizer-malformed``), in no known format (``tokenizer-unknown-format``), or
                of a kind whose tokens have no fixed bytes (``tokenizer-unsupported-kind``); or a
                size or id is out of range, as for `TokenizerInfo`.
        """
        data = read_vocabulary(path, **_wishes(vocab_size, stop_token_ids))
        return cls._from_data(data)

    @classmethod
    def from_huggingface(
        cls,
        tokenizer: Any,
        *,
        vocab_size: int | None = None,
        stop_token_ids: int | Iterable[int] | None = None,
    ) -> Self:
        """Read the vocabulary of a tokenizer of transformers.

        Args:
            tokenizer: A fast tokenizer, a slow one around SentencePiece or tiktoken, one around
                mistral-common, a bare `tokenizers.Tokenizer`, or a wrapper around one of them.
            vocab_size: Length of a row of the model's logits (``model.config.vocab_size``), where
                it differs from the tokenizer's.
            stop_token_ids: Ids that end the text, instead of ``eos_token_id``, the ones of the
                model's generation configuration, and those that are end marks by convention.

        Returns:
            The vocabulary. It encodes with the tokenizer.

        Raises:
            TokenizerError: The tokenizer is of another kind (``tokenizer-unsupported-object``), or
                its tokens have no fixed bytes (``tokenizer-unsupported-kind``).
        """
        found = read_object(
            tokenizer,
            "a fast tokenizer of transformers, one around SentencePiece, tiktoken or "
            "mistral-common, or a tokenizers.Tokenizer",
        )
        return cls._from_data(found.build(**_wishes(vocab_size, stop_token_ids)))

    @classmethod
    def from_llama_cpp(
        cls,
        llama: Any,
        *,
        vocab_size: int | None = None,
        stop_token_ids: int | Iterable[int] | None = None,
    ) -> Self:
        """Read the vocabulary of a model that llama.cpp has loaded.

        Args:
            llama: A `llama_cpp.Llama`, or the handle of a model; a handle must live as long as the
                result encodes.
            vocab_size: Length of a row of the model's logits, where it differs from the number of
                tokens.
            stop_token_ids: Ids that end the text, instead of those that the model gives evidence
                of.

        Returns:
            The vocabulary. It encodes with the model.

        Raises:
            TokenizerError: It is neither (``tokenizer-unsupported-object``), or its tokens have no
                fixed bytes (``tokenizer-unsupported-kind``).
        """
        return cls._from_data(read_llama_cpp(llama).build(**_wishes(vocab_size, stop_token_ids)))

    @classmethod
    def from_mistral_common(
        cls,
        tokenizer: Any,
        *,
        vocab_size: int | None = None,
        stop_token_ids: int | Iterable[int] | None = None,
    ) -> Self:
        """Read the vocabulary of a tokenizer of mistral-common.

        Args:
            tokenizer: A `MistralTokenizer`, `Tekkenizer` or `SentencePieceTokenizer`.
            vocab_size: Length of a row of the model's logits, where it differs from the number of
                tokens.
            stop_token_ids: Ids that end the text, instead of ``</s>``.

        Returns:
            The vocabulary. It encodes with the tokenizer.

        Raises:
            TokenizerError: It is none of these (``tokenizer-unsupported-object``).
        """
        expected = "a MistralTokenizer, Tekkenizer or SentencePieceTokenizer of mistral-common"
        found = read_object(tokenizer, expected, (TEKKEN, PROCESSOR))
        return cls._from_data(found.build(**_wishes(vocab_size, stop_token_ids)))

    @classmethod
    def from_tiktoken(
        cls,
        encoding: Any,
        *,
        vocab_size: int | None = None,
        stop_token_ids: int | Iterable[int] | None = None,
    ) -> Self:
        """Read the vocabulary of a `tiktoken.Encoding`.

        Args:
            encoding: The encoding.
            vocab_size: Length of a row of the model's logits, where it differs from the encoding's.
            stop_token_ids: Ids that end the text, instead of the special tokens that are end marks
                by convention.

        Returns:
            The vocabulary. It encodes with the encoding.

        Raises:
            TokenizerError: It is no encoding (``tokenizer-unsupported-object``).
        """
        found = read_object(encoding, "a tiktoken.Encoding", (ENCODING,))
        return cls._from_data(found.build(**_wishes(vocab_size, stop_token_ids)))

    @classmethod
    def from_sentencepiece(
        cls,
        processor: Any,
        *,
        vocab_size: int | None = None,
        stop_token_ids: int | Iterable[int] | None = None,
    ) -> Self:
        """Read the vocabulary of a `sentencepiece.SentencePieceProcessor`.

        Args:
            processor: The processor, with its model loaded.
            vocab_size: Length of a row of the model's logits, where it differs from the number of
                pieces.
            stop_token_ids: Ids that end the text, instead of the model's end of sequence.

        Returns:
            The vocabulary. It encodes with the processor.

        Raises:
            TokenizerError: It is no processor (``tokenizer-unsupported-object``), or its model
                rewrites decoded text (``tokenizer-unsupported-kind``).
        """
        expected = "a sentencepiece.SentencePieceProcessor"
        found = read_object(processor, expected, (PROCESSOR,))
        return cls._from_data(found.build(**_wishes(vocab_size, stop_token_ids)))


class _Wishes(TypedDict):
    """What the caller of a reader may choose."""

    vocab_size: int | None
    stop_token_ids: list[int] | None


def _wishes(vocab_size: int | None, stop_token_ids: int | Iterable[int] | None) -> _Wishes:
    return {
        "vocab_size": None if vocab_size is None else operator.index(vocab_size),
        "stop_token_ids": None if stop_token_ids is None else id_list(stop_token_ids),
    }
