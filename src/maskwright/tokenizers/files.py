"""Chooses the reader for a tokenizer file by what the file is.

Idea: each format shows itself in its first bytes. File names are not evidence: the same name stands
for different formats (``tokenizer.model``), and any name for the same one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from maskwright.errors import TokenizerError
from maskwright.tokenizers.encoding import FileEncoder, load_tokenizer_json
from maskwright.tokenizers.gguf import read_gguf
from maskwright.tokenizers.gguf_file import MAGIC
from maskwright.tokenizers.model_folder import ModelFolder
from maskwright.tokenizers.tokenizer_json import parse_json, read_tokenizer_json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from maskwright.tokenizers.vocabulary import VocabularyData

_MAX_BYTES: Final = 512 << 20
"""The largest file that is read as a whole; the largest tokenizers have 40 MB."""


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
            if file.read(len(MAGIC)) == MAGIC:
                return read_gguf(path, vocab_size=vocab_size, stop_token_ids=stop_token_ids)
        data = path.read_bytes()
    except OSError as error:
        _unreadable(path, error)
    folder = ModelFolder(path.parent)
    return read_tokenizer_json(
        parse_json(data, path.name),
        path.name,
        find_stops=folder.stop_evidence,
        vocab_size=vocab_size,
        stop_token_ids=stop_token_ids,
        chat_template=folder.chat_template(),
        encode=FileEncoder(load_tokenizer_json, path),
    )


def _unreadable(path: Path, error: OSError) -> NoReturn:
    raise TokenizerError(
        f"cannot read {path}: {error.strerror or error}; expected a file that can be read: check "
        "the path",
        code="tokenizer-unreadable",
    ) from error
