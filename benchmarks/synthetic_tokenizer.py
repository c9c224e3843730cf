"""A byte-level vocabulary made from a seed, for machines without a model's tokenizer.

It has what makes masks expensive in real ones: all bytes, runs of spaces and line breaks, three-
digit numbers, JSON punctuation of several characters, words with and without a leading space, and
pieces of multi-byte characters. Words are made up of syllables. Every prefix of a token is a token,
so that each token is the merge of two others, which is what the file format of BPE asks for.
Timings on it do not carry over to a real vocabulary, ratios roughly do.

`python -m benchmarks.synthetic_tokenizer OUT/tokenizer.json` writes the file.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

from benchmarks.tokens import byte_alphabet

DEFAULT_PATH = Path(__file__).resolve().parent.parent / "build/bench/synthetic/tokenizer.json"
VOCAB_SIZE = 32_000
SEED = 17
SPECIAL_TOKENS = ("<|begin_of_text|>", "<|endoftext|>")

_ONSETS = ("b", "br", "c", "ch", "d", "f", "g", "h", "k", "l", "m", "n", "p", "pr", "r", "s", "st")
_VOWELS = ("a", "e", "i", "o", "u", "ea", "io", "ou")
_CODAS = ("", "", "n", "r", "s", "t", "l", "ng", "st", "x")
_PUNCTUATION = '{}[]":,'
_SCRIPTS = ((0xC0, 0x17F), (0x391, 0x3C9), (0x410, 0x44F), (0x4E00, 0x4FFF), (0x1F600, 0x1F64F))


def fixed_strings() -> list[bytes]:
    """Return the strings that do not depend on the seed, most useful first."""
    out = [b'"' + mark for mark in (b":", b": ", b",", b", ", b"}", b"]", b'":', b'","')]
    out += [b" " * n for n in (2, 4, 8, 16, 32, 64)]
    out += [b"\n" * n + b" " * m for n in (1, 2) for m in range(0, 17, 2)]
    out += [b"%d" % n for n in range(1000)] + [b"%02d" % n for n in range(10)]
    pairs = [a + b for a in _PUNCTUATION for b in _PUNCTUATION]
    out += [pair.encode() for pair in pairs] + [
        (pair + c).encode() for pair in pairs for c in "}],"
    ]
    out += [b"true", b"false", b"null", b" true", b" false", b" null", b"]" * 8, b"}" * 8]
    return out


def random_word(source: random.Random) -> bytes:
    """Return a made-up word as it stands in text: capital, leading space or quote, or none."""
    if source.random() < 0.1:
        low, high = source.choice(_SCRIPTS)
        return "".join(chr(source.randint(low, high)) for _ in range(2)).encode()
    syllables = source.randint(1, 4)
    word = "".join(
        source.choice(_ONSETS) + source.choice(_VOWELS) + source.choice(_CODAS)
        for _ in range(syllables)
    )
    if source.random() < 0.25:
        word = word.capitalize()
    return (source.choice(("", " ", " ", '"', "_")) + word).encode()


def build(vocab_size: int = VOCAB_SIZE, seed: int = SEED) -> dict[str, Any]:
    """Return the contents of a `tokenizer.json`; the same for the same arguments."""
    source = random.Random(seed)
    alphabet = byte_alphabet()
    tokens: dict[bytes, int] = {bytes([byte]): byte for byte in range(256)}
    merges: list[list[str]] = []

    def spell(token: bytes) -> str:
        return "".join(alphabet[byte] for byte in token)

    def add(text: bytes) -> None:
        for end in range(2, len(text) + 1):
            token = text[:end]
            if token not in tokens and len(tokens) < vocab_size - len(SPECIAL_TOKENS):
                tokens[token] = len(tokens)
                merges.append([spell(token[:-1]), spell(token[-1:])])

    for text in fixed_strings():
        add(text)
    while len(tokens) < vocab_size - len(SPECIAL_TOKENS):
        add(random_word(source))
    added = [
        {"id": len(tokens) + k, "content": name, "special": True, "normalized": False}
        | {"single_word": False, "lstrip": False, "rstrip": False}
        for k, name in enumerate(SPECIAL_TOKENS)
    ]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {**byte_level, "use_regex": True},
        "post_processor": None,
        "decoder": {**byte_level, "use_regex": True},
        "model": {
            "type": "BPE",
            "vocab": {spell(token): index for token, index in tokens.items()},
            "merges": merges,
        },
    }


def write(path: Path) -> None:
    """Write the vocabulary, unless the file is there already."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(build(), ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
