"""Masks that most schemas need, computed once for a vocabulary.

Idea: much of what a new grammar walks are places that hardly any schema lacks, and that hold
nothing of its own: inside a text, a number or a keyword, what may follow them in an array or an
object, before a value. Samples of such schemas are followed along texts when the first compiler of
a vocabulary is made; the masks on the way lie below those that the compilers' grammars share
(``generations``). Which masks these are depends on the vocabulary alone, and on nothing that was
compiled.
Cost: 0.05 to 0.06 s and up to 1.7 MB, which count as the vocabulary's, for 128,000 to 262,000
tokens; the samples, once for a process, 0.15 s. Nothing for a vocabulary without JSON's marks.
"""

from __future__ import annotations

import json
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import MaskwrightError
from .grammar import Grammar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .tokenizer_info import TokenizerInfo

__all__ = ["common_masks", "compute"]

_LIMIT_BYTES = 16 << 20
_MEMBERS = ("aa", "bb", "cc")
_IN_EACH = b'{"ab:,}'
"""Bytes that each text of each sample has: two members at least."""

# A schema, and values that lead through it.
_Kind = tuple[dict[str, Any], tuple[Any, ...]]

_STRING: _Kind = ({"type": "string"}, ("ab\n",))
_NUMBERS: tuple[_Kind, ...] = (
    ({"type": "integer"}, (-120, 1200, 0)),
    ({"type": "number"}, (-10.25e-7, -1.25, 0.5, 1200)),
    ({"type": ["integer", "null"]}, (12, None)),
    ({"type": ["number", "null"]}, (0.5, None)),
    ({"type": "integer", "minimum": 0}, (1200, 0)),
    ({"type": "integer", "minimum": 1}, (1200,)),
    ({"type": "number", "minimum": 0}, (1.5e7, 0)),
)
_SCALARS: tuple[_Kind, ...] = (
    _STRING,
    *_NUMBERS,
    ({"type": "boolean"}, (True, False)),
    ({"type": "null"}, (None,)),
    ({"type": ["string", "null"]}, ("a", None)),
    ({"type": "string", "minLength": 1}, ("ab",)),
    ({"type": "string", "format": "date-time"}, ("2020-12-31T23:59:59.123Z",)),
    ({"type": "string", "format": "date"}, ("2020-12-31",)),
    ({"type": "string", "format": "uri"}, ("https://a.org/b?c#d",)),
    ({"type": "string", "format": "email"}, ("a.b@c.org",)),
    ({"enum": ["ab", "cd"]}, ("ab",)),
)
_OBJECTS: tuple[_Kind, ...] = tuple(
    (
        {
            "type": "object",
            "properties": {"aa": {}},
            "required": required,
            "additionalProperties": is_open,
        },
        ({"aa": 1},),
    )
    for required in ([], ["aa"])
    for is_open in (True, False)
)


def _kinds() -> Iterator[_Kind]:
    """Yield what a member can be."""
    yield from _SCALARS
    yield from _OBJECTS
    for schema, values in (*_SCALARS[:3], *_OBJECTS):
        yield {"type": "array", "items": schema}, ([], [values[0], values[0]])
    yield {"type": "array"}, ([], [1, "a", [], {}])
    yield {"type": "object"}, ({}, {"a": 1, "b": "c"})
    yield {}, (1, "a", [{}, []], {"a": None})


def _samples() -> Iterator[tuple[Grammar, Any]]:
    """Yield objects with members of each kind: others must follow one, may, or can't."""
    for kind, values in _kinds():
        for is_open in (True, False):
            grammar = _grammar(kind, is_open=is_open)
            for value in values:
                yield grammar, dict.fromkeys(_MEMBERS, value)
    for kind, values in (_STRING, *_NUMBERS):  # as chat engines have JSON
        grammar = _grammar(kind, is_open=False, any_whitespace=False, number_spelling="decimal")
        for value in values:
            yield grammar, dict.fromkeys(_MEMBERS, value)


def _grammar(kind: dict[str, Any], *, is_open: bool, **options: Any) -> Grammar:
    schema = {
        "type": "object",
        "properties": dict.fromkeys(_MEMBERS, kind),
        "required": _MEMBERS[:2],
        "additionalProperties": is_open,
    }
    return Grammar.from_json_schema(schema, any_order=True, strict_mode=False, **options)


@cache
def _grammars() -> tuple[tuple[bytes, tuple[bytes, ...]], ...]:
    """Return the samples as IR and texts."""
    texts: dict[bytes, list[bytes]] = {}
    for grammar, value in _samples():
        texts.setdefault(grammar.ir, []).append(json.dumps(value).encode())
    return tuple((ir, tuple(found)) for ir, found in texts.items())


def common_masks(tokenizer_info: TokenizerInfo) -> _core.SharedMasks:
    """Return the masks of a vocabulary, computed when they are first asked for.

    Threads that ask at the same time may all compute them; all keep those of one.
    """
    masks = tokenizer_info._common_masks  # noqa: SLF001  of this package
    if masks is None:
        data = tokenizer_info._data  # noqa: SLF001  likewise
        masks = compute(tokenizer_info._core, data.vocab_size, data.tokens)  # noqa: SLF001  likewise
        masks = tokenizer_info._keep_common_masks(masks)  # noqa: SLF001  likewise
    return masks


def compute(
    vocabulary: _core.Vocabulary, vocab_size: int, tokens: Sequence[bytes]
) -> _core.SharedMasks:
    """Return the masks along the samples, whatever was computed before.

    There are none where the vocabulary lacks bytes of JSON texts: each would take a search.

    Args:
        vocabulary: The vocabulary.
        vocab_size: How many ids it has.
        tokens: The bytes of its tokens; of special ones anything.
    """
    masks = _core.SharedMasks(vocabulary, _LIMIT_BYTES)
    if all(any(byte in token for token in tokens) for byte in _IN_EACH):
        _compute(masks, vocabulary, vocab_size)
    masks.freeze()
    return masks


def _compute(masks: _core.SharedMasks, vocabulary: _core.Vocabulary, vocab_size: int) -> None:
    words = (vocab_size + 31) // 32
    row = memoryview(bytearray(4 * words)).cast("i", (1, words))  # numpy takes long to load
    for ir, texts in _grammars():
        with suppress(MaskwrightError):  # the vocabulary can't spell it
            compiled = _core.compile(ir, vocabulary, shared_masks=masks)
            if compiled.may_need_search:
                return
            matcher = _core.Matcher(compiled, terminate_without_stop_token=True)
            for text in texts:
                _follow(matcher, text, row)
                matcher.reset()
        if masks.counters()["entries"] == 0:  # it can hardly spell any other
            return


def _follow(matcher: _core.Matcher, text: bytes, row: memoryview) -> None:
    """Compute the masks along a text, up to where the vocabulary can't spell it."""
    for position in range(len(text) + 1):
        if matcher.is_terminated():
            return
        matcher.fill_bitmask(row)
        if not matcher.accept_bytes(text[position : position + 1]):
            return
