"""Vocabulary readers: from tokenizer files to the bytes of each token id.

Readers know nothing of grammars, and nothing of each other; each returns `VocabularyData`.
"""

from __future__ import annotations

from maskwright.tokenizers.decoding import decode_token
from maskwright.tokenizers.files import read_vocabulary
from maskwright.tokenizers.gguf import read_gguf
from maskwright.tokenizers.plain import from_tokens
from maskwright.tokenizers.tokenizer_json import read_tokenizer_json
from maskwright.tokenizers.vocabulary import (
    BYTE_FALLBACK,
    BYTE_LEVEL,
    RAW,
    VocabularyData,
)

__all__ = [
    "BYTE_FALLBACK",
    "BYTE_LEVEL",
    "RAW",
    "VocabularyData",
    "decode_token",
    "from_tokens",
    "read_gguf",
    "read_tokenizer_json",
    "read_vocabulary",
]
