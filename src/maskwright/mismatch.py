"""Where a text leaves the language of a grammar, and what could have stood there instead.

Idea: a matcher over single bytes reads the text until it refuses one; what may come there is read
ahead (``look_ahead``). For a text of JSON the place is told as a JSON pointer too.
Cost: linear in the text, and what reading ahead costs.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .errors import locate
from .json_prefix import ends_in_string, pointer_of
from .look_ahead import alternatives, next_texts
from .matcher import GrammarMatcher
from .tokenizer_info import TokenizerInfo

if TYPE_CHECKING:
    from .compiled_grammar import CompiledGrammar

__all__ = ["Mismatch", "byte_tokenizer_info", "find_mismatch"]

_BYTES = 256
_MAX_FOUND = 20


@dataclass(frozen=True)
class Mismatch:
    """The first place at which a text is not what a grammar asks for.

    Attributes:
        offset: Code points before it.
        line: Its line, from 1.
        column: Its column in code points, from 1.
        pointer: The JSON pointer of the value at that place; None: the text is no JSON.
        found: What stands there: some characters; empty where the text ends too early.
        expected: What could have stood there, as text; "..." stands for more that may follow.
    """

    offset: int
    line: int
    column: int
    pointer: str | None
    found: str
    expected: tuple[str, ...]


@functools.cache
def byte_tokenizer_info() -> TokenizerInfo:
    """Return the vocabulary of the 256 single bytes, whose id 256 is the stop token."""
    return TokenizerInfo([*(bytes((byte,)) for byte in range(_BYTES)), b""], stop_token_ids=_BYTES)


def find_mismatch(compiled: CompiledGrammar, text: str, *, is_json: bool = True) -> Mismatch | None:
    """Return where a text leaves the language of a grammar; None: it is in it.

    Args:
        compiled: A grammar compiled for `byte_tokenizer_info`.
        text: The text.
        is_json: Whether the grammar is one of JSON texts.

    Example:
        >>> from maskwright import GrammarCompiler
        >>> compiler = GrammarCompiler(byte_tokenizer_info())
        >>> compiled = compiler.compile_json_schema({"enum": ["red", "green"]})
        >>> found = find_mismatch(compiled, '"rad"')
        >>> found.offset, found.found, found.expected
        (2, 'ad"', ('ed"',))
    """
    data = text.encode("utf-8", "surrogatepass")
    matcher = GrammarMatcher(compiled)
    if matcher.accept_string(data):
        if matcher.is_completed():
            return None
        at = len(data)
    else:
        at = next(i for i, byte in enumerate(data) if not matcher.accept_token(byte))
    # The place of a character, should its second byte be the refused one.
    start = at
    while start < len(data) and data[start] & 0xC0 == 0x80:
        start -= 1
    if start != at:
        matcher.rollback(at - start)
    offset = len(data[:start].decode("utf-8", "surrogatepass"))
    line, column = locate(text, offset)
    return Mismatch(
        offset,
        line,
        column,
        pointer_of(text[:offset]) if is_json else None,
        text[offset : offset + _MAX_FOUND].partition("\n")[0],
        alternatives(matcher._core, inside=ends_in_string(text[:offset]))  # noqa: SLF001  of this package
        if is_json
        else next_texts(matcher._core),  # noqa: SLF001  of this package
    )
