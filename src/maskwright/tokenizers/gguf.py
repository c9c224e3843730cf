"""Reader for the vocabulary inside a GGUF model file.

What it does: reads tokens, their types, the end ids and the chat template from the metadata.
Idea: ``tokenizer.ggml.model`` names the spelling (``gpt2``: byte-level, ``llama``: SentencePiece),
the token types say which tokens are text.
Source: the GGUF specification of the ggml project (section on the tokenizer keys).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from maskwright.errors import TokenizerError
from maskwright.tokenizers.decoding import (
    SPACE_MARK,
    byte_fallback_bytes,
    byte_level_bytes,
    literal_bytes,
)
from maskwright.tokenizers.gguf_file import Value, read_metadata
from maskwright.tokenizers.stop_tokens import choose_stop_tokens, conventional_stop_tokens
from maskwright.tokenizers.vocabulary import (
    BYTE_FALLBACK,
    BYTE_LEVEL,
    VocabularyData,
    build_vocabulary,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike

_TOKENS: Final = "tokenizer.ggml.tokens"
_TYPES: Final = "tokenizer.ggml.token_type"
_EOS_LIST: Final = "tokenizer.ggml.eos_token_ids"
_END_KEYS: Final = ("eos", "eot", "eom")

_NORMAL: Final = 1
_UNKNOWN: Final = 2
_CONTROL: Final = 3
_USER_DEFINED: Final = 4
_UNUSED: Final = 5
_BYTE: Final = 6

_KINDS: Final = {"gpt2": BYTE_LEVEL, "llama": BYTE_FALLBACK}


def read_gguf(
    path: str | PathLike[str],
    *,
    vocab_size: int | None = None,
    stop_token_ids: Iterable[int] | None = None,
) -> VocabularyData:
    """Read the vocabulary of a GGUF model file; its tensors are not touched.

    Control, unknown and unused tokens contribute nothing to the text; user-defined tokens are
    ordinary text.

    Args:
        path: The file.
        vocab_size: Size of a row of the model's logits when it differs from the number of tokens.
        stop_token_ids: Ids that end a generation, instead of the ones found.

    Returns:
        The vocabulary.

    Raises:
        TokenizerError: The file cannot be read, is damaged, or its vocabulary is of an unsupported
            kind (the message names the kind).
    """
    path = Path(path)
    metadata = read_metadata(path, (_TOKENS, _TYPES, _EOS_LIST))
    vocab_type = _vocab_type(metadata, path)
    tokens = _tokens(metadata, path)
    types = _types(metadata, len(tokens), path)
    end_ids = _end_ids(metadata)
    names = _special_names(tokens, types, end_ids)
    evidence = conventional_stop_tokens(names) | end_ids
    size = len(tokens) if vocab_size is None else vocab_size
    template = metadata.get("tokenizer.chat_template")
    return build_vocabulary(
        [
            _decode(token, token_type, vocab_type)
            for token, token_type in zip(tokens, types, strict=True)
        ],
        vocab_size=vocab_size,
        stop_token_ids=choose_stop_tokens(stop_token_ids, evidence, size),
        vocab_type=vocab_type,
        add_prefix_space=bool(
            metadata.get("tokenizer.ggml.add_space_prefix", vocab_type == BYTE_FALLBACK)
        ),
        source=path.name,
        special_token_names=names,
        chat_template=template if isinstance(template, str) else None,
        bos_token_id=_id_at(metadata, "bos"),
    )


def _malformed(path: Path, what: str) -> NoReturn:
    raise TokenizerError(
        f"{path} has no usable vocabulary: {what}; get the file again or convert the model anew",
        code="tokenizer-malformed",
    )


def _vocab_type(metadata: Mapping[str, Value], path: Path) -> int:
    kind = metadata.get("tokenizer.ggml.model")
    if kind is None:
        _malformed(path, "the key 'tokenizer.ggml.model' is missing")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise TokenizerError(
            f"{path} has a vocabulary of kind {kind!r}, which is not supported; expected 'gpt2' "
            "(byte-level) or 'llama' (SentencePiece)",
            code="tokenizer-unsupported-kind",
        )
    return _KINDS[kind]


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
        return [_NORMAL] * count
    if not isinstance(types, list) or len(types) != count:
        _malformed(path, f"the key {_TYPES!r} must have one entry for each of the {count} tokens")
    checked = []
    for token_id, token_type in enumerate(types):
        if not isinstance(token_type, int):
            _malformed(path, f"the type of token {token_id} is {token_type!r}, not an integer")
        checked.append(token_type)
    return checked


def _id_at(metadata: Mapping[str, Value], name: str) -> int | None:
    value = metadata.get(f"tokenizer.ggml.{name}_token_id")
    return value if isinstance(value, int) else None


def _end_ids(metadata: Mapping[str, Value]) -> set[int]:
    """The ids that the metadata itself names as ends."""
    listed = metadata.get(_EOS_LIST)
    found = [_id_at(metadata, name) for name in _END_KEYS]
    if isinstance(listed, list):
        found.extend(value for value in listed if isinstance(value, int))
    return {token_id for token_id in found if token_id is not None}


def _special_names(
    tokens: list[str | bytes], types: list[int], end_ids: set[int]
) -> dict[str, int]:
    """Spelling to id of the special tokens.

    Some converters flag end tokens as text: those that the metadata names, and user-defined ones
    that are ends by convention, are special all the same.
    """
    special: dict[str, int] = {}
    user_defined: dict[str, int] = {}
    for token_id, (token, token_type) in enumerate(zip(tokens, types, strict=True)):
        if not isinstance(token, str):
            continue
        if token_type in (_CONTROL, _UNKNOWN) or token_id in end_ids:
            special.setdefault(token, token_id)
        elif token_type == _USER_DEFINED:
            user_defined.setdefault(token, token_id)
    ends = conventional_stop_tokens(user_defined)
    special.update((name, i) for name, i in user_defined.items() if i in ends)
    return special


def _decode(token: str | bytes, token_type: int, vocab_type: int) -> bytes:
    if token_type in (_UNUSED, _CONTROL, _UNKNOWN):
        return b""
    if isinstance(token, bytes):
        return token
    if token_type == _USER_DEFINED:
        return literal_bytes(token)
    if vocab_type == BYTE_LEVEL:
        return byte_level_bytes(token)
    if token_type == _BYTE:
        return byte_fallback_bytes(token)
    return literal_bytes(token.replace(SPACE_MARK, " "))
