"""Reader for the vocabulary inside a GGUF model file.

What it does: reads tokens, their types, the end ids and the chat template from the metadata, and
decodes them as llama.cpp does.
Idea: ``tokenizer.ggml.model`` names the spelling, the token types say which tokens are text. The
same facts can be asked of a loaded model (see `llama_cpp`), so reading and decoding are apart.
Kinds: ``gpt2`` is byte-level; ``llama``, ``t5`` and ``gemma4`` write U+2581 for a space and have
byte tokens; ``plamo2`` has byte tokens only; ``rwkv`` escapes bytes. ``bert`` is refused: its text
is put together by rules over neighbouring tokens, not from bytes per token.
Source: the GGUF specification of the ggml project (section on the tokenizer keys).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from maskwright.errors import TokenizerError
from maskwright.tokenizers.decoding import (
    SPACE_MARK,
    byte_level_bytes,
    byte_token,
    literal_bytes,
)
from maskwright.tokenizers.encoding import FileEncoder, load_gguf
from maskwright.tokenizers.gguf_file import Value, read_metadata
from maskwright.tokenizers.piece_types import BYTE, NORMAL, SPECIAL, USER_DEFINED
from maskwright.tokenizers.stop_tokens import conventional_stop_tokens
from maskwright.tokenizers.vocabulary import FoundVocabulary, VocabType, VocabularyData

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from os import PathLike

_PREFIX: Final = "tokenizer.ggml."
_TOKENS: Final = _PREFIX + "tokens"
_TYPES: Final = _PREFIX + "token_type"
_EOS_LIST: Final = _PREFIX + "eos_token_ids"
END_KEYS: Final = ("eos", "eot", "eom")
"""What ``tokenizer.ggml.<key>_token_id`` may name as an end."""


def _marked_bytes(token: str) -> bytes:
    return literal_bytes(token.replace(SPACE_MARK, " "))


_ESCAPE: Final = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_ESCAPED: Final = {"t": b"\t", "n": b"\n", "r": b"\r"}


def _escaped_bytes(token: str) -> bytes:
    r"""Decode a token of printable characters and ``\n``, ``\\``, ``\xHH`` and the like."""
    found, end = [], 0
    for match in _ESCAPE.finditer(token):
        found.append(literal_bytes(token[end : match.start()]))
        end = match.end()
        if match[1]:
            found.append(bytes((int(match[1], 16),)))
        else:
            found.append(_ESCAPED.get(match[2]) or literal_bytes(match[2]))
    return b"".join(found) + literal_bytes(token[end:])


_KINDS: Final[Mapping[str, tuple[VocabType, Callable[[str], bytes]]]] = {
    "gpt2": (VocabType.BYTE_LEVEL, byte_level_bytes),
    "llama": (VocabType.BYTE_FALLBACK, _marked_bytes),
    "t5": (VocabType.BYTE_FALLBACK, _marked_bytes),
    "gemma4": (VocabType.BYTE_FALLBACK, _marked_bytes),
    "plamo2": (VocabType.RAW, literal_bytes),
    "rwkv": (VocabType.RAW, _escaped_bytes),
}
"""How a kind spells the tokens of type `NORMAL`."""


@dataclass(frozen=True)
class GgufVocabulary:
    """The vocabulary as GGUF has it.

    Attributes:
        kind: The value of ``tokenizer.ggml.model``.
        tokens: The spelling per id; bytes where that is no text.
        types: The type per id.
        end_ids: Ids that the model itself names as ends.
        add_space_prefix: Whether a space is put before the text; None takes the kind's default.
        chat_template: The chat template, if there is one.
    """

    kind: str
    tokens: list[str | bytes]
    types: list[int]
    end_ids: set[int]
    add_space_prefix: bool | None
    chat_template: object

    def decode(self, source: str) -> FoundVocabulary:
        """Decode the tokens and find out which are special.

        Raises:
            TokenizerError: The kind is not supported.
        """
        if self.kind not in _KINDS:
            raise TokenizerError(
                f"{source} has a vocabulary of kind {self.kind!r}, whose tokens have no bytes that "
                f"are known; expected one of {', '.join(_KINDS)}: pass the bytes of each token "
                "yourself",
                code="tokenizer-unsupported-kind",
            )
        vocab_type, decode = _KINDS[self.kind]
        tokens = [
            _decode(token, token_type, decode)
            for token, token_type in zip(self.tokens, self.types, strict=True)
        ]
        # Some converters flag end tokens as text.
        marks = (i for i, kind in enumerate(self.types) if kind in (*SPECIAL, USER_DEFINED))
        ends = conventional_stop_tokens(tokens, marks) | self.end_ids
        flagged = {i for i, token_type in enumerate(self.types) if token_type in SPECIAL}
        prefix = self.add_space_prefix
        return FoundVocabulary(
            tokens,
            vocab_type,
            source,
            special_token_ids=flagged | ends,
            end_ids=ends,
            add_prefix_space=self.kind == "llama" if prefix is None else prefix,
            chat_template=self.chat_template if isinstance(self.chat_template, str) else None,
        )


def read_gguf(
    path: str | PathLike[str],
    *,
    vocab_size: int | None = None,
    stop_token_ids: Iterable[int] | None = None,
) -> VocabularyData:
    """Read the vocabulary of a GGUF model file; its tensors are not touched.

    Control, unknown and unused tokens are special; user-defined tokens are ordinary text, unless
    they are end marks.

    Args:
        path: The file.
        vocab_size: Size of a row of the model's logits when it differs from the number of tokens.
        stop_token_ids: Ids that end a generation, instead of the ones found.

    Returns:
        The vocabulary. It encodes with llama.cpp.

    Raises:
        TokenizerError: The file cannot be read, is damaged, or its vocabulary is of an unsupported
            kind (the message names the kind).
    """
    path = Path(path)
    found = read_gguf_vocabulary(path).decode(path.name)
    found.encode = FileEncoder(load_gguf, path)
    return found.build(vocab_size=vocab_size, stop_token_ids=stop_token_ids)


def read_gguf_vocabulary(path: Path) -> GgufVocabulary:
    """Read what a GGUF file says of its vocabulary.

    Raises:
        TokenizerError: The file cannot be read or is damaged.
    """
    metadata = read_metadata(path, (_TOKENS, _TYPES, _EOS_LIST))
    kind = metadata.get(_PREFIX + "model")
    if not isinstance(kind, str):
        _malformed(path, f"the key '{_PREFIX}model' is missing or no text")
    prefix = metadata.get(_PREFIX + "add_space_prefix")
    tokens = _tokens(metadata, path) if kind in _KINDS else []
    return GgufVocabulary(
        kind=kind,
        tokens=tokens,
        types=_types(metadata, len(tokens), path) if tokens else [],
        end_ids=_end_ids(metadata),
        add_space_prefix=None if prefix is None else bool(prefix),
        chat_template=metadata.get("tokenizer.chat_template"),
    )


def _malformed(path: Path, what: str) -> NoReturn:
    raise TokenizerError(
        f"{path} has no usable vocabulary: {what}; get the file again or convert the model anew",
        code="tokenizer-malformed",
    )


def _tokens(metadata: Mapping[str, Value], path: Path) -> list[str | bytes]:
    tokens = metadata.get(_TOKENS)
    if not isinstance(tokens, list) or not tokens:
        _malformed(path, f"the key {_TOKENS!r} must be a list of tokens")
    checked: list[str | bytes] = []
    for token_id, token in enumerate(tokens):
        if not isinstance(token, str | bytes):
            _malformed(path, f"token {token_id} is a {type(token).__name__}, not a string")
        checked.append(token)
    return checked


def _types(metadata: Mapping[str, Value], count: int, path: Path) -> list[int]:
    types = metadata.get(_TYPES)
    if types is None:
        return [NORMAL] * count
    if not isinstance(types, list) or len(types) != count:
        _malformed(path, f"the key {_TYPES!r} must have one entry for each of the {count} tokens")
    checked = []
    for token_id, token_type in enumerate(types):
        if not isinstance(token_type, int):
            _malformed(path, f"the type of token {token_id} is {token_type!r}, not an integer")
        checked.append(token_type)
    return checked


def _end_ids(metadata: Mapping[str, Value]) -> set[int]:
    """The ids that the metadata itself names as ends."""
    listed = metadata.get(_EOS_LIST)
    found = [metadata.get(f"{_PREFIX}{name}_token_id") for name in END_KEYS]
    if isinstance(listed, list):
        found.extend(listed)
    return {value for value in found if isinstance(value, int)}


def _decode(token: str | bytes, token_type: int, decode: Callable[[str], bytes]) -> bytes:
    if isinstance(token, bytes):
        return token
    if token_type == USER_DEFINED or token_type in SPECIAL:
        return literal_bytes(token)
    byte = byte_token(token) if token_type == BYTE else None
    return decode(token) if byte is None else byte
