"""Reader for the Tekken tokenizers of Mistral: ``tekken.json``, and the objects of mistral-common.

Idea: a Tekken vocabulary is a list of ranked byte strings behind a block of special tokens: rank r
is id r + the size of the block. The list may be longer than the model's vocabulary; the ranks
beyond are no tokens.
Source: the ``tekken.json`` files that come with mistral-common.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final, NoReturn

from maskwright.errors import TokenizerError
from maskwright.tokenizers.decoding import literal_bytes
from maskwright.tokenizers.vocabulary import MAX_VOCAB_SIZE, FoundVocabulary, VocabType

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_SPECIAL_TOKENS: Final = 1 << 16

_EARLY_SPECIAL_TOKENS: Final = (
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
)
"""The special tokens, by id, of files from before they were listed in the file."""


def is_tekken(root: Mapping[str, object]) -> bool:
    """Whether a JSON object is the contents of a ``tekken.json``."""
    return isinstance(root.get("vocab"), list) and isinstance(root.get("config"), dict)


def read_tekken(root: Mapping[str, Any], source: str) -> FoundVocabulary:
    """Read a vocabulary from the contents of a ``tekken.json``.

    Args:
        root: The contents, of which `is_tekken` holds.
        source: Where they came from.

    Returns:
        The vocabulary.

    Raises:
        TokenizerError: The contents are damaged.
    """
    config = root["config"]
    count = _number(config.get("default_num_special_tokens"), _MAX_SPECIAL_TOKENS, source)
    size = _number(config.get("default_vocab_size"), MAX_VOCAB_SIZE, source)
    if size <= count:
        _malformed(source, f"its {size} tokens are not more than its {count} special tokens")
    names = _special_tokens(root.get("special_tokens"), count, source)
    tokens = [*(literal_bytes(names[i]) for i in range(count)), *([b""] * (size - count))]
    for entry in root["vocab"]:
        if not isinstance(entry, dict):
            _malformed(source, "each entry of vocab must be an object")
        rank = _number(entry.get("rank"), MAX_VOCAB_SIZE, source)
        if rank < size - count:
            tokens[count + rank] = _bytes(entry.get("token_bytes"), rank, source)
    return FoundVocabulary(tokens, VocabType.RAW, source, set(range(count)))


def read_tekkenizer(tokenizer: Any) -> FoundVocabulary:
    """Read the vocabulary of a `Tekkenizer` of mistral-common."""
    count = tokenizer.num_special_tokens
    tokens = [
        *(literal_bytes(tokenizer.id_to_piece(i)) for i in range(count)),
        *(tokenizer.id_to_byte_piece(i) for i in range(count, tokenizer.n_words)),
    ]
    special = set(range(count))
    return FoundVocabulary(tokens, VocabType.RAW, "the Tekken tokenizer", special)


def _malformed(source: str, what: str) -> NoReturn:
    raise TokenizerError(
        f"{source} is not a usable tekken.json: {what}; get the file again",
        code="tokenizer-malformed",
    )


def _number(value: object, limit: int, source: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= limit:
        _malformed(source, f"a size or rank is {value!r}, not an integer from 0 to {limit}")
    return value


def _special_tokens(entries: object, count: int, source: str) -> dict[int, str]:
    """The spelling of each id below `count`; those that are not named have numbered spellings."""
    if entries is None:
        entries = [
            {"rank": rank, "token_str": name} for rank, name in enumerate(_EARLY_SPECIAL_TOKENS)
        ]
    if not isinstance(entries, list):
        _malformed(source, "special_tokens must be an array")
    found: dict[int, str] = {}
    for entry in entries:
        name = entry.get("token_str") if isinstance(entry, dict) else None
        if not isinstance(name, str):
            _malformed(source, "each special token must have a token_str")
        rank = _number(entry.get("rank"), _MAX_SPECIAL_TOKENS, source)
        if rank >= count or rank in found:
            _malformed(source, f"special token {name!r} has the id {rank} of no or another token")
        found[rank] = name
    for rank in range(count):
        found.setdefault(rank, f"<SPECIAL_{rank}>")
    return found


def _bytes(value: object, rank: int, source: str) -> bytes:
    if not isinstance(value, str):
        _malformed(source, f"the token of rank {rank} is not base64 but {value!r}")
    try:
        return base64.b64decode(value, validate=True)
    except ValueError as error:
        _malformed(source, f"the token of rank {rank} is not base64 ({error})")
