"""Chooses the reader for a tokenizer file by what the file is.

Idea: a GGUF file says so in its first bytes; a folder holds a ``tokenizer.json``; anything else
must be JSON. File names are not evidence.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from maskwright.errors import TokenizerError
from maskwright.tokenizers.gguf import read_gguf
from maskwright.tokenizers.gguf_file import MAGIC
from maskwright.tokenizers.tokenizer_json import read_tokenizer_json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from maskwright.tokenizers.vocabulary import VocabularyData


def read_vocabulary(
    path: str | PathLike[str],
    *,
    vocab_size: int | None = None,
    stop_token_ids: Iterable[int] | None = None,
) -> VocabularyData:
    """Read a vocabulary from a GGUF model, a ``tokenizer.json``, or a folder that has one.

    Args:
        path: The file or folder.
        vocab_size: Size of a row of the model's logits when it differs from the file's vocabulary.
        stop_token_ids: Ids that end a generation, instead of the ones found.

    Returns:
        The vocabulary.

    Raises:
        TokenizerError: The file cannot be read, is damaged, or is of an unsupported kind.
    """
    path = Path(path)
    if path.is_dir():
        path = path / "tokenizer.json"
    try:
        with path.open("rb") as file:
            magic = file.read(len(MAGIC))
    except OSError as error:
        raise TokenizerError(
            f"cannot read {path}: {error.strerror or error}", code="tokenizer-unreadable"
        ) from error
    reader = read_gguf if magic == MAGIC else read_tokenizer_json
    return reader(path, vocab_size=vocab_size, stop_token_ids=stop_token_ids)
