"""Vocabulary readers: from tokenizer files and objects to the bytes of each token id.

Readers know nothing of grammars; those of objects use those of files. Each returns
`VocabularyData`.
"""

from __future__ import annotations

from maskwright.tokenizers.files import read_vocabulary
from maskwright.tokenizers.gguf import read_gguf
from maskwright.tokenizers.plain import from_tokens
from maskwright.tokenizers.vocabulary import VocabType, VocabularyData

__all__ = [
    "VocabType",
    "VocabularyData",
    "from_tokens",
    "read_gguf",
    "read_vocabulary",
]
