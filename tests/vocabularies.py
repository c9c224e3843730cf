"""Small vocabularies for tests, by name, and the plain data form of a vocabulary.

Each names the ids of its special and stop tokens and is padded, as real ones are. Every byte that a
token uses is also a token of its own, so that "can be spelled" has one meaning.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property


@dataclass(frozen=True)
class TestVocabulary:
    """Tokens by id; ids from ``len(tokens)`` to ``vocab_size`` are padding."""

    __test__ = False  # not a test class

    name: str
    tokens: tuple[bytes, ...]
    vocab_size: int
    special_ids: tuple[int, ...]
    stop_ids: tuple[int, ...]

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """The first id of each text, special tokens left out."""
        found: dict[bytes, int] = {}
        for i, text in enumerate(self.tokens):
            if text and i not in self.special_ids:
                found.setdefault(text, i)
        return found

    def describe(self, token: int) -> str:
        """A token for a message."""
        text = self.tokens[token] if token < len(self.tokens) else b""
        kind = " (stop)" if token in self.stop_ids else ""
        kind = kind or (" (special)" if token in self.special_ids else "")
        return f"{token} {text!r}{kind}"


SPECIAL = b"<|special|>"
STOP = b"<|stop|>"
SECOND_STOP = b"<|end|>"


def make_vocabulary(name: str, texts: Iterable[bytes], *, n_padding: int = 3) -> TestVocabulary:
    """A vocabulary of some texts, with special and stop tokens in odd places and padding."""
    tokens = [STOP, *texts, SPECIAL, b"", SECOND_STOP]
    special = [0, len(tokens) - 3, len(tokens) - 2, len(tokens) - 1]
    return TestVocabulary(
        name,
        tuple(tokens),
        len(tokens) + n_padding,
        tuple(special),
        (0, len(tokens) - 1),
    )


def _json_texts() -> list[bytes]:
    words = (
        '{" ": ", "} "] }] ]} ]]]]} }}}} [[ {} [] "" "," "}, [{" ":" ": ": null true false ,\n '
        '10 00 1.0 -0 .0 0. 1e e+ e2 .00 -1 12345 \\" \\\\ \\u \\u00 \\u0061 0061 \\ud83d \\ude00 '
        "\\ud83d\\ude00 ab abc foo bar name type kind id a\" b\" aa é日 日本 😀 😀😀 fals rue"
    ).split(" ")
    spaced = [b"  ", b"    ", b" " * 16, b"\n  ", b", ", b": ", b" \n", b" {", b" a", b'", "', b'": "']
    bytes_used = [bytes([b]) for b in (9, 10, 13, *range(0x20, 0x7F), *range(0x80, 0xF5))]
    duplicates = [b"a", b'"', b"1"]
    texts = [w.encode() for w in words] + spaced + bytes_used + duplicates + [b"x" * 128]
    return texts


@cache
def vocabulary(name: str) -> TestVocabulary:
    """A vocabulary by name: ``bytes``, ``json``, ``ascii``, ``ab`` or ``words``."""
    if name == "bytes":
        return make_vocabulary(name, [bytes([b]) for b in range(256)])
    if name == "json":
        return make_vocabulary(name, _json_texts())
    if name == "ascii":
        return make_vocabulary(name, [bytes([b]) for b in (9, 10, 13, *range(0x20, 0x7F))])
    if name == "ab":
        return make_vocabulary(name, [b"a", b"b", b"aa", b"ab", b"ba", b"abb", b"bbb", b"a"])
    if name == "words":
        letters = [bytes([b]) for b in b"abcdefghijklmnopqrstuvwxyz <>/=.,;()+-*0123456789\n"]
        return make_vocabulary(
            name, [*letters, b"in", b"ing", b"if", b"the", b"n ", b"</", b"/>", b"<<", b"=>", b"--"]
        )
    raise ValueError(f"no vocabulary {name!r}")


def listed_vocabulary(texts: Iterable[str]) -> TestVocabulary:
    """The vocabulary of a corpus case that lists its tokens."""
    return make_vocabulary("listed", [t.encode() for t in texts])
