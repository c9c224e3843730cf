"""Where a prefix of JSON text ends: its JSON pointer, and whether that is inside a string.

Cost: linear in the text.
"""

from __future__ import annotations

import json

__all__ = ["ends_in_string", "pointer_of"]


def ends_in_string(text: str) -> bool:
    """Return whether a prefix of JSON text ends inside a string."""
    at = 0
    while (at := text.find('"', at)) >= 0:
        end = _string_end(text, at)
        if end is None:
            return True
        at = end
    return False


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
