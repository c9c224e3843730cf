"""What may come next behind a text, read on byte by byte, for people.

Idea: from a matcher's place the allowed bytes are followed as long as they are few, which spells
out keys, constants and punctuation; where many are allowed, the place is described. In a text that
is not JSON only what is the one way on is followed, since there a loop is as good as a key.
Cost: at most `_MAX_STEPS` places, and each byte that is allowed there is tried on a fork.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import _core

__all__ = ["alternatives", "next_texts"]

_BYTES = 256
_MAX_ALTERNATIVES = 8
_MAX_LENGTH = 40
_MAX_STEPS = 400
_FEW = 12
_ESCAPE = 0x5C
_WHITESPACE = frozenset(b" \t\n\r")


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


def next_texts(core: _core.Matcher) -> tuple[str, ...]:
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


def _allowed(core: _core.Matcher) -> list[int]:
    """Return the bytes that may come next, and `_BYTES` where the text may end."""
    following = [b for b in core.next_bytes() if core.fork().accept_bytes(bytes((b,)))]
    return following + [_BYTES] * core.is_completed()


def _is_whole(text: bytes, *, inside: bool) -> bool:
    """Whether what follows a text that starts (inside a string) at a refusal is another matter."""
    if text[-1:] == b'"':
        return inside or len(text) > 1
    return text[-1:] in (b"}", b"]", b"[", b"{", b",", b":")


def _shown(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _described(allowed: list[int]) -> str:
    """Say what a large set of bytes is."""
    if set(range(0x61, 0x7B)) <= set(allowed):
        return "... (any of many characters)"
    letters = "".join(chr(byte) for byte in allowed if 0x20 < byte < 0x7F)
    return f"... (one of {letters})" if letters else "..."
