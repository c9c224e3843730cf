"""The tokenizer of a run: its file, its stop token, and texts as token ids.

Texts are encoded by the `tokenizers` package. Without it, by greedy longest match over the bytes of
a byte-level vocabulary: other ids than the model's own, but a text is a text, and the engines see
the same ids.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Names of end-of-turn tokens, where no configuration names one.
STOP_NAMES = ("<|eot_id|>", "<|im_end|>", "<|return|>", "<end_of_turn>", "<|endoftext|>", "</s>")


@dataclass(frozen=True)
class TokenizerFile:
    """What every engine is given about the vocabulary."""

    path: Path
    vocab_size: int
    stop_token_id: int
    description: str


def read_tokenizer(path: Path, description: str) -> TokenizerFile:
    """Read a `tokenizer.json`, and the configuration beside it for the stop token."""
    model = json.loads(path.read_text(encoding="utf-8"))
    ids = token_ids(model)
    config_path = path.parent / "tokenizer_config.json"
    names: list[Any] = []
    if config_path.exists():
        names.append(json.loads(config_path.read_text(encoding="utf-8")).get("eos_token"))
    names = [name["content"] if isinstance(name, dict) else name for name in names]
    stop = next((ids[name] for name in (*names, *STOP_NAMES) if name in ids), None)
    if stop is None:
        raise SystemExit(f"{path}: no stop token found: expected one of {', '.join(STOP_NAMES)}")
    return TokenizerFile(path, max(ids.values()) + 1, stop, description)


def find_tokenizer(name: str) -> TokenizerFile:
    """Return the test data's tokenizer of that name; without the data, the made-up one."""
    if folder := os.environ.get("MASKWRIGHT_TEST_DATA"):
        path = Path(folder) / "tokenizers" / name / "tokenizer.json"
        if not path.exists():
            raise SystemExit(f"MASKWRIGHT_TEST_DATA={folder}: no {path}")
        return read_tokenizer(path, name)
    from benchmarks import synthetic_tokenizer

    path = synthetic_tokenizer.DEFAULT_PATH
    synthetic_tokenizer.write(path)
    return read_tokenizer(path, "synthetic")


def token_ids(model: dict[str, Any]) -> dict[str, int]:
    """Return all tokens of a `tokenizer.json` with their ids, as they are spelled there."""
    vocab = model["model"]["vocab"]
    ids: dict[str, int] = dict(vocab) if isinstance(vocab, dict) else {}
    if not isinstance(vocab, dict):  # unigram: a list of (token, score)
        ids = {token: index for index, (token, _) in enumerate(vocab)}
    ids.update((added["content"], added["id"]) for added in model.get("added_tokens", ()))
    return ids


def decode_vocab(path: Path) -> dict[int, bytes]:
    """Return the bytes of all tokens that are text, by id.

    Knows the two spellings of `tokenizer.json` files: bytes as characters, and characters with
    `▁` for a space and `<0x0A>` for single bytes.
    """
    model = json.loads(path.read_text(encoding="utf-8"))
    special = {added["content"] for added in model.get("added_tokens", ()) if added["special"]}
    ids = {token: i for token, i in token_ids(model).items() if token not in special}
    if "<0x0A>" in ids:
        fallback = {f"<0x{byte:02X}>": bytes([byte]) for byte in range(256)}
        return {i: fallback.get(t, t.replace("▁", " ").encode()) for t, i in ids.items()}
    spelled = set(model["model"]["vocab"])
    alphabet = {char: byte for byte, char in byte_alphabet().items()}
    return {
        i: bytes(alphabet[char] for char in t) if t in spelled else t.encode()
        for t, i in ids.items()
    }


def make_encoder(tokenizer: TokenizerFile) -> tuple[Callable[[str], list[int]], str]:
    """Return a function from text to token ids, and a name of the method for the report."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        model = json.loads(tokenizer.path.read_text(encoding="utf-8"))
        special = {added["content"] for added in model.get("added_tokens", ())}
        vocab = [(spelling, i) for spelling, i in token_ids(model).items()]
        return greedy_encoder((t, i) for t, i in vocab if t not in special), "greedy longest match"

    bpe = Tokenizer.from_file(str(tokenizer.path))

    def encode(text: str) -> list[int]:
        ids: list[int] = bpe.encode(text, add_special_tokens=False).ids
        return ids

    return encode, "tokenizers"


def greedy_encoder(vocab: Iterable[tuple[str, int]]) -> Callable[[str], list[int]]:
    """Build a longest-match encoder from the spellings of a byte-level vocabulary."""
    alphabet = {char: byte for byte, char in byte_alphabet().items()}
    ids: dict[bytes, int] = {}
    for spelling, token_id in vocab:
        if all(char in alphabet for char in spelling):
            ids.setdefault(bytes(alphabet[char] for char in spelling), token_id)
    if any(bytes([byte]) not in ids for byte in range(256)):
        raise SystemExit("not a byte-level vocabulary: install the package `tokenizers` to use it")
    longest = max(map(len, ids))

    def encode(text: str) -> list[int]:
        data = text.encode()
        out: list[int] = []
        at = 0
        while at < len(data):
            size = min(longest, len(data) - at)
            while data[at : at + size] not in ids:
                size -= 1
            out.append(ids[data[at : at + size]])
            at += size
        return out

    return encode


@cache
def byte_alphabet() -> dict[int, str]:
    """Map each byte to the character that spells it in byte-level vocabularies.

    Printable bytes of Latin-1 spell themselves, the others the characters from U+0100 on.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    alphabet = {byte: chr(byte) for byte in printable}
    others = [byte for byte in range(256) if byte not in alphabet]
    alphabet.update((byte, chr(0x100 + k)) for k, byte in enumerate(others))
    return alphabet
