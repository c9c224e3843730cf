r"""The stored form of a vocabulary, as JSON text, and of its metadata alone.

Idea: a token is a string with one character per byte (U+0000 to U+00FF), so bytes that are no UTF-8
are kept exactly and the file can still be read by a person. A version number in a fixed field says
which fields there are; every field is checked, since the text may come from anywhere. The encoder
is not stored: it is an object of another library.
Cost: about 0.1 s for 128,000 tokens each way.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from maskwright.stored_text import StoredText
from maskwright.tokenizers.vocabulary import MAX_VOCAB_SIZE, VocabType, VocabularyData

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT: Final = "maskwright-tokenizer-info"
VERSION: Final = 1

_TEXT: Final = StoredText("vocabulary", "TokenizerInfo")
_METADATA_FIELDS: Final = ("vocab_type", "vocab_size", "add_prefix_space", "stop_token_ids")
_STORED_FIELDS: Final = (*_METADATA_FIELDS, "special_token_ids", "tokens")


def dump_metadata(data: VocabularyData) -> str:
    """All but the tokens, as compact JSON; special ids only if a list of tokens doesn't tell."""
    metadata = _metadata(data)
    if any(i < len(data.tokens) and data.tokens[i] for i in data.special_token_ids):
        metadata["special_token_ids"] = list(data.special_token_ids)
    return json.dumps(metadata, separators=(",", ":"))


def parse_metadata(text: str) -> dict[str, Any]:
    """Read what `dump_metadata` has written, as arguments of `TokenizerInfo`.

    Raises:
        InvalidJSONError: The text is no JSON.
        DeserializeFormatError: A field is missing, unknown or of the wrong type.
    """
    root = _TEXT.read_root(text)
    _TEXT.check_fields(root, {*_METADATA_FIELDS}, {*_METADATA_FIELDS, "special_token_ids"})
    fields = _checked_metadata(root)
    return {**fields, "special_token_ids": _ids(root, "special_token_ids", fields["vocab_size"])}


def dump_vocabulary(data: VocabularyData) -> str:
    """The whole vocabulary as JSON."""
    stored = {
        "format": FORMAT,
        "version": VERSION,
        **_metadata(data),
        "special_token_ids": list(data.special_token_ids),
        "tokens": [token.decode("latin-1") for token in data.tokens],
    }
    return json.dumps(stored, separators=(",", ":"))


def parse_vocabulary(text: str) -> VocabularyData:
    """Read what `dump_vocabulary` has written.

    Raises:
        InvalidJSONError: The text is no JSON.
        DeserializeVersionError: It was written by a version with another format.
        DeserializeFormatError: It is not the stored form of a vocabulary.
    """
    root = _TEXT.read(text, FORMAT, VERSION, _STORED_FIELDS)
    fields = _checked_metadata(root)
    size: int = fields["vocab_size"]
    tokens = _tokens(root["tokens"], size)
    stops = fields["stop_token_ids"]
    special = _ids(root, "special_token_ids", size)
    if not set(special).isdisjoint(stops):
        _TEXT.refuse("an id is both a special and a stop token")
    return VocabularyData(
        tokens=tokens,
        vocab_type=fields["vocab_type"],
        vocab_size=size,
        special_token_ids=special,
        stop_token_ids=stops,
        add_prefix_space=fields["add_prefix_space"],
        source="the stored vocabulary",
    )


def _metadata(data: VocabularyData) -> dict[str, object]:
    return {
        "vocab_type": data.vocab_type.value,
        "vocab_size": data.vocab_size,
        "add_prefix_space": data.add_prefix_space,
        "stop_token_ids": list(data.stop_token_ids),
    }


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _checked_metadata(root: Mapping[str, Any]) -> dict[str, Any]:
    kind, size, prefix = root["vocab_type"], root["vocab_size"], root["add_prefix_space"]
    if not _is_integer(kind) or kind not in {member.value for member in VocabType}:
        _TEXT.refuse(f"the field 'vocab_type' is {kind!r}, expected 0, 1 or 2")
    if not _is_integer(size) or not 1 <= size <= MAX_VOCAB_SIZE:
        _TEXT.refuse(f"the field 'vocab_size' is {size!r}, expected 1 to {MAX_VOCAB_SIZE}")
    if not isinstance(prefix, bool):
        _TEXT.refuse(f"the field 'add_prefix_space' is {prefix!r}, expected true or false")
    return {
        "vocab_type": VocabType(kind),
        "vocab_size": size,
        "add_prefix_space": prefix,
        "stop_token_ids": _ids(root, "stop_token_ids", size),
    }


def _ids(root: Mapping[str, Any], name: str, vocab_size: int) -> tuple[int, ...]:
    ids = root.get(name, [])
    if not isinstance(ids, list):
        _TEXT.refuse(f"the field {name!r} is no list")
    for token_id in ids:
        if not _is_integer(token_id) or not 0 <= token_id < vocab_size:
            _TEXT.refuse(f"the field {name!r} has {token_id!r}, expected 0 to {vocab_size - 1}")
    return tuple(sorted(set(ids)))


def _tokens(values: object, vocab_size: int) -> list[bytes]:
    if not isinstance(values, list) or len(values) > vocab_size:
        _TEXT.refuse(f"the field 'tokens' is no list of at most {vocab_size} tokens")
    tokens = []
    for token_id, value in enumerate(values):
        if not isinstance(value, str):
            _TEXT.refuse(f"token {token_id} is no string")
        tokens.append(_token_bytes(value, token_id))
    return tokens


def _token_bytes(value: str, token_id: int) -> bytes:
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        _TEXT.refuse(f"token {token_id} has a character beyond U+00FF, and each is to be one byte")
