"""Chooses the reader for a tokenizer file by what the file is.

Idea: each format shows itself in its first bytes. File names are not evidence: the same name stands
for different formats (``tokenizer.model`` for two), and any name for the same one. Only in a folder
names say which file is looked at.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from maskwright.errors import TokenizerError
from maskwright.tokenizers.encoding import (
    FileEncoder,
    load_sentencepiece,
    load_tekken,
    load_tokenizer_json,
)
from maskwright.tokenizers.gguf import read_gguf
from maskwright.tokenizers.gguf_file import MAGIC
from maskwright.tokenizers.model_folder import ModelFolder
from maskwright.tokenizers.sentencepiece_model import read_sentencepiece
from maskwright.tokenizers.tekken import is_tekken, read_tekken
from maskwright.tokenizers.tiktoken_ranks import is_rank_file, read_ranks
from maskwright.tokenizers.tokenizer_json import parse_json, read_tokenizer_json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from maskwright.tokenizers.vocabulary import FoundVocabulary, VocabularyData

_MAX_BYTES: Final = 512 << 20
"""The largest file that is read as a whole; real ones have up to 40 MB."""

_HEAD_BYTES: Final = 4096

_NAMES: Final = ("tokenizer.json", "tekken.json", "tokenizer.model", "spiece.model")
_PATTERNS: Final = ("*.tiktoken", "*.model", "*.model.v*", "tekken*.json", "*.gguf")


def read_vocabulary(
    path: str | PathLike[str],
    *,
    vocab_size: int | None = None,
    stop_token_ids: Iterable[int] | None = None,
) -> VocabularyData:
    """Read a vocabulary from a tokenizer file, a GGUF model, or a folder that has one.

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
    try:
        if path.is_dir():
            path = _file_of(path)
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
        if head.startswith(MAGIC):
            return read_gguf(path, vocab_size=vocab_size, stop_token_ids=stop_token_ids)
        found = _read(path, head)
    except OSError as error:
        raise TokenizerError(
            f"cannot read {path}: {error.strerror or error}; expected a file that can be read: "
            "check the path",
            code="tokenizer-unreadable",
        ) from error
    ModelFolder(path.parent).add_evidence(found)
    return found.build(vocab_size=vocab_size, stop_token_ids=stop_token_ids)


def _file_of(folder: Path) -> Path:
    """The tokenizer file in a folder: one with a usual name, or the only one of its kind."""
    for name in _NAMES:
        if (folder / name).is_file():
            return folder / name
    for pattern in _PATTERNS:
        paths = sorted(folder.glob(pattern))
        if len(paths) > 1:
            raise TokenizerError(
                f"{folder} has {len(paths)} files {pattern}; expected one: name the file",
                code="tokenizer-ambiguous-folder",
            )
        if paths:
            return paths[0]
    raise TokenizerError(
        f"{folder} has no tokenizer file; expected {', '.join(_NAMES)} or one of "
        f"{', '.join(_PATTERNS)}: name the file, or another folder",
        code="tokenizer-unreadable",
    )


def _read(path: Path, head: bytes) -> FoundVocabulary:
    """Read a file that is none of GGUF."""
    size, source = path.stat().st_size, path.name
    if size > _MAX_BYTES:
        raise TokenizerError(
            f"{path} has {size} bytes and is no GGUF model; expected a tokenizer file of at most "
            f"{_MAX_BYTES}: name the tokenizer and not the model",
            code="tokenizer-unknown-format",
        )
    data = path.read_bytes()
    if head.lstrip()[:1] == b"{":
        root = parse_json(data, source)
        if is_tekken(root):
            found = read_tekken(root, source)
            found.encode = FileEncoder(load_tekken, path)
        else:
            found = read_tokenizer_json(root, source)
            found.encode = FileEncoder(load_tokenizer_json, path)
        return found
    if is_rank_file(head):
        found = read_ranks(data, source)
    elif head[:1] in (b"\n", b"\x12", b"\x1a"):  # the first fields of the protocol buffer
        found = read_sentencepiece(data, source)
        found.encode = FileEncoder(load_sentencepiece, path)
    else:
        raise TokenizerError(
            f"{path} is in no known format; expected tokenizer.json, tekken.json, a SentencePiece "
            "model, tiktoken ranks or GGUF: name the tokenizer file of the model",
            code="tokenizer-unknown-format",
        )
    ModelFolder(path.parent).add_tokens(found)
    return found
