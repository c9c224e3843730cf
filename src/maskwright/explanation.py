"""Where a text leaves the language of a grammar, and what could have stood there instead.

Idea: a matcher over single bytes reads the text until it refuses one. From there the allowed bytes
are followed as long as they are few, which spells out keys, constants and punctuation; where many
are allowed, the place is described. For a text of JSON the place is told as a JSON pointer too; in
another text only what is the one way on is followed, since there a loop is as good as a key.
Cost: linear in the text; at most `_MAX_STEPS` places for the alternatives.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .errors import locate
from .matcher import GrammarMatcher
from .tokenizer_info import TokenizerInfo

if TYPE_CHECKING:
    from . import _core
    from .compiled_grammar import CompiledGrammar

__all__ = [
    "Mismatch",
    "alternatives",
    "byte_tokenizer_info",
    "ends_in_string",
    "find_mismatch",
    "pointer_of",
]

_BYTES = 256
_MAX_ALTERNATIVES = 8
_MAX_LENGTH = 40
_MAX_FOUND = 20
_MAX_STEPS = 400
_FEW = 12
_ESCAPE = 0x5C
_WHITESPACE = frozenset(b" \t\n\r")


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
        else _next_texts(matcher._core),  # noqa: SLF001  of this package
    )


def _allowed(core: _core.Matcher) -> list[int]:
    """Return the bytes that may come next, and `_BYTES` where the text may end."""
    following = [b for b in core.next_bytes() if core.fork().accept_bytes(bytes((b,)))]
    return following + [_BYTES] * core.is_completed()


def alternatives(core: _core.Matcher, *, inside: bool) -> tuple[str, ...]:
    """Return some texts that may come next, each to the end of the string or of the token."""
    waiting: list[tuple[_core.Matcher, bytes]] = [(core, b"")]
    found: list[str] = []
    for _ in range(_MAX_STEPS):
        if not waiting or len(found) >= _MAX_ALTERNATIVES:
            break
        here, text = waiting.pop(0)
        allowed = _allowed(here)
        allowed = [byte for byte in allowed if byte not in _WHITESPACE] or allowed
        if len(allowed) > 1 and _ESCAPE in allowed:
            allowed.remove(_ESCAPE)  # another way to write the same
        if text and (_is_whole(text, inside=inside) or len(text) >= _MAX_LENGTH):
            found.append(_shown(text))
            continue
        if len(allowed) > _FEW:
            found.append(_shown(text) + _described(allowed))
            continue
        for byte in allowed:
            if byte == _BYTES:
                found.append(_shown(text) or "the end of the text")
                continue
            fork = here.fork()
            fork.accept_bytes(bytes((byte,)))
            waiting.append((fork, text + bytes((byte,))))
    if waiting and found and len(found) < _MAX_ALTERNATIVES:
        found.append("...")
    return tuple(dict.fromkeys(found))


def _next_texts(core: _core.Matcher) -> tuple[str, ...]:
    """Return what may come next: each byte, with what must follow it."""
    first = _allowed(core)
    if len(first) > _FEW:
        return (_described(first),)
    found = []
    for byte in first:
        here, text = core.fork(), b""
        allowed = [byte]
        while len(allowed) == 1 and allowed != [_BYTES] and len(text) < _MAX_LENGTH:
            here.accept_bytes(bytes(allowed))
            text += bytes(allowed)
            allowed = _allowed(here)
        found.append(_shown(text) or "the end of the text")
    return tuple(found)


def _is_whole(text: bytes, *, inside: bool) -> bool:
    """Whether what follows a text that starts (inside a string) at a refusal is another matter."""
    if text[-1:] == b'"':
        return inside or len(text) > 1
    return text[-1:] in (b"}", b"]", b"[", b"{", b",", b":")


def ends_in_string(text: str) -> bool:
    """Return whether a prefix of JSON text ends inside a string."""
    at = 0
    while (at := text.find('"', at)) >= 0:
        end = _string_end(text, at)
        if end is None:
            return True
        at = end
    return False


def _shown(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _described(allowed: list[int]) -> str:
    """Say what a large set of bytes is."""
    if set(range(0x61, 0x7B)) <= set(allowed):
        return "... (any of many characters)"
    letters = "".join(chr(byte) for byte in allowed if 0x20 < byte < 0x7F)
    return f"... (one of {letters})" if letters else "..."


def pointer_of(text: str) -> str:
    """Return the JSON pointer of the value that a prefix of JSON text ends in."""
    path: list[str | int | None] = []  # None: before or within a key
    key: str | None = None
    at = 0
    while at < len(text):
        char = text[at]
        if char == '"':
            end = _string_end(text, at)
            if end is None:
                break
            key = text[at:end]
            at = end
            continue
        if char == "{":
            path.append(None)
        elif char == "[":
            path.append(0)
        elif char in "}]" and path:
            path.pop()
        elif char == ":" and path and key is not None:
            path[-1] = json.loads(key)
        elif char == "," and path:
            last = path[-1]
            path[-1] = last + 1 if isinstance(last, int) else None
        at += 1
    if path and path[-1] is None:
        path.pop()  # the place is the object
    tokens = [str(part).replace("~", "~0").replace("/", "~1") for part in path]
    return "#" + "".join(f"/{token}" for token in tokens)


def _string_end(text: str, at: int) -> int | None:
    """Return where the string that starts at a quote ends; None: beyond the text."""
    at += 1
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == '"':
            return at + 1
        at += 1
    return None
