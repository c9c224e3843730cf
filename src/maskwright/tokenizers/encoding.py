"""The real tokenizer behind a vocabulary: text to token ids, as the model's library does it.

What it does: wraps the library that a tokenizer file belongs to, so that it is imported and the
file loaded at the first use; reading a vocabulary needs none of these packages.
Idea: how text is split into tokens is the business of those libraries, and what they answer is what
the model was trained on, so nothing is re-implemented here. All encode alike: no special tokens are
added, and a special token's spelling in the text is text, which is what a mask takes it for.
Cost: the first call loads the library and the file, up to seconds for 33 MB.
"""

from __future__ import annotations

import importlib
import logging
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from maskwright.errors import MissingDependencyError, TokenizerError

if TYPE_CHECKING:
    from pathlib import Path

Encode = Callable[[str], list[int]]
"""Text to the ids of its tokens, without special tokens added."""

_SILENT: Final = 100
"""A log level above all."""


class LazyEncoder:
    """An encoder that is made at the first use. Safe to call from several threads.

    Args:
        make: Makes the encoder.
        source: What it encodes for, for messages.
    """

    def __init__(self, make: Callable[[], Encode], source: object) -> None:
        self._make = make
        self._source = source
        self._encode: Encode | None = None
        self._lock = threading.Lock()

    def __call__(self, text: str) -> list[int]:
        """Encode a text.

        Raises:
            MissingDependencyError: The library is not installed.
            TokenizerError: It cannot be used with this vocabulary (``tokenizer-encoder-failed``).
        """
        with self._lock:
            if self._encode is None:
                self._encode = self._made()
        return self._encode(text)

    def _made(self) -> Encode:
        try:
            return self._make()
        except (MissingDependencyError, TokenizerError):
            raise
        except Exception as error:  # each library has errors of its own
            raise TokenizerError(
                f"{self._source} was read as a vocabulary, but its library cannot encode with it: "
                f"{error}; expected one that the library loads: get the file again, or pass an "
                "encoder yourself",
                code="tokenizer-encoder-failed",
            ) from error


class FileEncoder(LazyEncoder):
    """An encoder that is made from a file at the first use.

    Pickles as the path, so the file must be there where it is used again.

    Args:
        load: Makes the encoder from the file; a function of a module, so that it pickles.
        path: The file.
    """

    def __init__(self, load: Callable[[Path], Encode], path: Path) -> None:
        super().__init__(lambda: load(path), path)
        self._arguments = (load, path)

    def __reduce__(self) -> tuple[type[FileEncoder], tuple[Callable[[Path], Encode], Path]]:
        return FileEncoder, self._arguments


_PACKAGES: Final = {
    "tokenizers": ("tokenizers", "huggingface"),
    "sentencepiece": ("sentencepiece", "sentencepiece"),
    "llama_cpp": ("llama-cpp-python", "demo"),
    "mistral_common.tokens.tokenizers.tekken": ("mistral-common", "mistral"),
}
"""Module to the package that has it, and the extra of Maskwright that has the package."""


def import_library(module: str) -> Any:
    """Import an optional library.

    Raises:
        MissingDependencyError: It is not installed; the message names the package and the extra.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package, extra = _PACKAGES[module]
        raise MissingDependencyError(
            f"encoding text for this vocabulary needs the package {package}, which cannot be "
            f"imported ({error}); expected it to be installed: run "
            f'pip install "maskwright[{extra}]", or pass an encoder yourself',
            code="missing-dependency",
        ) from error


def encode_with_tokenizers(tokenizer: Any) -> Encode:
    """Encode with a `tokenizers.Tokenizer`, which is changed by this and belongs to the encoder."""
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # their spelling in the text is text

    def encode(text: str) -> list[int]:
        ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    return encode


def load_tokenizer_json(path: Path) -> Encode:
    """The encoder of a ``tokenizer.json``."""
    return encode_with_tokenizers(import_library("tokenizers").Tokenizer.from_file(str(path)))


def encode_with_sentencepiece(processor: Any) -> Encode:
    """Encode with a `sentencepiece.SentencePieceProcessor`, whatever options it was made with."""

    def encode(text: str) -> list[int]:
        ids: list[int] = processor.encode(
            text, out_type=int, add_bos=False, add_eos=False, reverse=False, enable_sampling=False
        )
        return ids

    return encode


def load_sentencepiece(path: Path) -> Encode:
    """The encoder of a SentencePiece model file."""
    library = import_library("sentencepiece")
    return encode_with_sentencepiece(library.SentencePieceProcessor(model_file=str(path)))


def encode_with_tekken(tokenizer: Any) -> Encode:
    """Encode with a `Tekkenizer` of mistral-common."""

    def encode(text: str) -> list[int]:
        ids: list[int] = tokenizer.encode(text, bos=False, eos=False)
        return ids

    return encode


def load_tekken(path: Path) -> Encode:
    """The encoder of a ``tekken.json``."""
    library = import_library("mistral_common.tokens.tokenizers.tekken")
    return encode_with_tekken(library.Tekkenizer.from_file(path))


def encode_with_tiktoken(encoding: Any) -> Encode:
    """Encode with a `tiktoken.Encoding`."""

    def encode(text: str) -> list[int]:
        ids: list[int] = encoding.encode_ordinary(text)
        return ids

    return encode


class LlamaCppEncoder:
    """Encodes with the vocabulary of a model that llama.cpp has loaded.

    Args:
        model: A `Llama`, or the handle of a model that lives as long as this.
    """

    def __init__(self, model: Any) -> None:
        self._library = import_library("llama_cpp")
        self._model = model

    def __call__(self, text: str) -> list[int]:
        """Encode a text.

        Raises:
            TokenizerError: The model has been closed.
        """
        library, data = self._library, text.encode()
        handle = getattr(self._model, "model", self._model)
        if not handle:
            raise TokenizerError(
                "the llama.cpp model that encodes for this vocabulary is closed; expected an open "
                "one: keep it open, or read the vocabulary from its file",
                code="tokenizer-encoder-failed",
            )
        vocabulary = library.llama_model_get_vocab(handle)
        room = len(data) + 8  # there are rarely more tokens than bytes
        while True:
            ids = (library.llama_token * room)()
            count = library.llama_tokenize(vocabulary, data, len(data), ids, room, False, False)
            if count >= 0:
                return list(ids[:count])
            room = -count


def load_gguf(path: Path) -> Encode:
    """The encoder of a GGUF file; its tensors are not loaded."""
    library = import_library("llama_cpp")
    parameters = library.llama_model_default_params()
    parameters.vocab_only = True
    logger = logging.getLogger("llama-cpp-python")  # what llama.cpp's own messages go through
    level = logger.level
    logger.setLevel(_SILENT)
    try:
        model = library.llama_model_load_from_file(str(path).encode(), parameters)
    finally:
        logger.setLevel(level)
    if not model:
        raise RuntimeError("llama.cpp does not load the vocabulary")
    encoder = LlamaCppEncoder(model)
    weakref.finalize(encoder, library.llama_model_free, model)
    return encoder
