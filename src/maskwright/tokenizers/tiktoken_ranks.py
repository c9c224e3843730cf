"""Reader for tiktoken vocabularies: rank files (``*.tiktoken``), and encodings.

Idea: a rank file has one token per line, its bytes in base64 and its id. It names no special tokens
and not the pattern that splits text, so from a file alone there is nothing to encode with; the
special tokens come from the configuration beside it, if there is one.
Source: the files that tiktoken loads.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any, Final, NoReturn

from maskwright.errors import TokenizerError
from maskwright.tokenizers.vocabulary import MAX_VOCAB_SIZE, FoundVocabulary, VocabType

_LINE: Final = re.compile(rb"[ \t]*([A-Za-z0-9+/]*={0,2})[ \t]+([0-9]{1,8})[ \t]*")


def is_rank_file(head: bytes) -> bool:
    """Whether a file that begins so is a rank file.

    Args:
        head: Its first bytes, some hundred.
    """
    lines = head.splitlines()
    return bool(lines) and _LINE.fullmatch(lines[0]) is not None


def read_ranks(data: bytes, source: str) -> FoundVocabulary:
    """Read a vocabulary from a rank file.

    Args:
        data: The contents.
        source: Where they came from.

    Returns:
        The vocabulary, without special tokens.

    Raises:
        TokenizerError: The contents are damaged.
    """
    by_id: dict[int, bytes] = {}
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        token_id, token = _entry(line, number, source)
        if token_id in by_id:
            _malformed(source, f"line {number} has the id {token_id} of another line")
        by_id[token_id] = token
    tokens = [by_id.get(i, b"") for i in range(max(by_id, default=-1) + 1)]
    return FoundVocabulary(tokens, VocabType.RAW, source)


def _malformed(source: str, what: str) -> NoReturn:
    raise TokenizerError(
        f"{source} is not a usable file of tiktoken ranks: {what}; get the file again",
        code="tokenizer-malformed",
    )


def _entry(line: bytes, number: int, source: str) -> tuple[int, bytes]:
    match = _LINE.fullmatch(line)
    if match is None:
        _malformed(source, f"line {number} is not a token in base64 and its id")
    token_id = int(match[2])
    if token_id >= MAX_VOCAB_SIZE:
        _malformed(
            source, f"line {number} has the id {token_id}, expected one below {MAX_VOCAB_SIZE}"
        )
    try:
        return token_id, base64.b64decode(match[1], validate=True)
    except binascii.Error as error:
        _malformed(source, f"line {number} is not base64 ({error})")


def read_encoding(encoding: Any) -> FoundVocabulary:
    """Read the vocabulary of a `tiktoken.Encoding`."""
    tokens = [_token_of(encoding, token_id) for token_id in range(encoding.n_vocab)]
    special = {encoding.encode_single_token(name) for name in encoding.special_tokens_set}
    source = f"the tiktoken encoding {encoding.name!r}"
    return FoundVocabulary(tokens, VocabType.RAW, source, special)


def _token_of(encoding: Any, token_id: int) -> bytes:
    try:
        token: bytes = encoding.decode_single_token_bytes(token_id)
    except KeyError:  # a gap between ids
        return b""
    return token
