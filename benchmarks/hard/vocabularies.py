"""Odd vocabularies: each a few hundred tokens, every one of them tried at every step.

The oracle is `accept_token` on a fork: for each token of each step the mask must say the same, and
a stop token must be allowed exactly at the end.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.engines.maskwright import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

BYTES = [bytes([byte]) for byte in range(256)]
STOP = b"</s>"
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"text": {"type": "string", "maxLength": 300}, "n": {"type": "integer"}},
        "required": ["text"],
        "additionalProperties": False,
    }
)


def check(library: Any, info: Any, text: bytes, compile_with: Callable[[Any], Any]) -> int:
    """Follow a text byte by byte, comparing mask and accept of all tokens; return the comparisons.

    Raises:
        AssertionError: They differ, or the text is refused.
    """
    matcher = library.GrammarMatcher(compile_with(library.GrammarCompiler(info)))
    row = np.zeros((1, (info.vocab_size + 31) // 32), dtype=np.int32)
    single = {token: i for i, token in reversed(list(enumerate(info.decoded_vocab)))}
    for byte in (*(bytes([b]) for b in text), None):
        row[:] = -1
        matcher.fill_next_token_bitmask(row)
        bits = np.unpackbits(row.view(np.uint8), bitorder="little")
        assert not bits[info.vocab_size :].any(), "a bit beyond the vocabulary is set"
        for token in range(info.vocab_size):
            taken = matcher.fork().accept_token(token)
            assert taken == bool(bits[token]), f"mask and accept differ on token {token}"
        if byte is not None:
            assert matcher.accept_token(single[byte]), f"byte {byte!r} refused"
    assert matcher.is_completed(), "the text is not complete"
    return (len(text) + 1) * int(info.vocab_size)


def run(
    library: Any, extra: list[bytes], text: str, grammar: str = SCHEMA, **options: Any
) -> dict[str, float]:
    """Check a vocabulary of all bytes, `extra` tokens and a stop token."""
    tokens = [*BYTES, *extra, STOP]
    options.setdefault("stop_token_ids", [len(tokens) - 1])
    info = library.TokenizerInfo(tokens, **options)

    def compile_with(compiler: Any) -> Any:
        if grammar.startswith("root"):
            return compiler.compile_grammar(grammar)
        return compiler.compile_json_schema(grammar, **OPTIONS)

    return {"tokens compared": float(check(library, info, text.encode(), compile_with))}


def long_tokens(library: Any) -> dict[str, float]:
    """Tokens of up to 128 bytes, within strings, across their ends, and in the way of a bound."""
    extra = [b"x" * n for n in (64, 100, 128)] + ['é"}'.encode(), b"y" * 120 + b'", "n": 1']
    return run(library, extra, '{"text": "' + "x" * 260 + '", "n": 1}')


def spaces(library: Any) -> dict[str, float]:
    """Tokens of many spaces and line breaks, also around punctuation."""
    extra = [b" " * n for n in (2, 16, 64, 128, 256)] + [b"\n" + b" " * n for n in (2, 40)]
    return run(library, [*extra, b'  "', b"  :  ", b" }"], '{    "text" :\n "a b" , "n": 2 }')


def duplicates(library: Any) -> dict[str, float]:
    """Several ids with the same bytes: all of them are allowed, or none."""
    return run(library, [b"text", b"text", b'"', b'"', b"{"], '{"text": "text"}')


def split_characters(library: Any) -> dict[str, float]:
    """Tokens that begin or end inside a character, as byte fallback has them."""
    extra = ["é".encode()[:1], "😀".encode()[:2], "😀".encode()[2:], "a😀".encode()[:4]]
    return run(library, extra, '{"text": "é😀"}')


def gaps(library: Any) -> dict[str, float]:
    """Ids without a token, and a vocabulary smaller than the row of logits."""
    return run(library, [b"", b"text", b"", b""], '{"text": ""}', vocab_size=500)


def special_text(library: Any) -> dict[str, float]:
    """The spelling of a stop token as text: bytes that are as good as any others."""
    return run(library, [b"</", b"s>"], '{"text": "</s>"}')


def stop_in_grammar(library: Any) -> dict[str, float]:
    """A grammar that spells the stop token: only its bytes match, the token ends the text."""
    return run(library, [b"</"], "a</s>", 'root ::= "a" "</s>"?')


VOCABULARIES: dict[str, Callable[[Any], dict[str, float]]] = {
    "tokens of 128 bytes": long_tokens,
    "tokens of many spaces": spaces,
    "duplicate tokens": duplicates,
    "tokens inside characters": split_characters,
    "gaps, and fewer tokens than logits": gaps,
    "text of the stop token in content": special_text,
    "stop token spelled by a grammar": stop_in_grammar,
}
