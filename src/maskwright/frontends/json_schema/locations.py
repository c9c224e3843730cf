"""JSON pointers of schema locations, made only when someone reads them.

Idea: a location is a link ``(parent, keyword, token)`` to its parent, so that going down one level
costs one tuple, and a schema nested 100,000 deep costs no quadratic memory. The text of a pointer
(RFC 6901, in its fragment form ``#/a/b``) is rendered for errors and for the certificate.
"""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["MAX_IGNORED_BYTES", "Location", "escape", "render", "unescape"]

MAX_IGNORED_BYTES = 64 * 1024 * 1024
"""Default for the total size of the pointers that one certificate lists."""

# None is the root of the document, a URI that of another one. A location below a keyword that holds
# one schema has no token.
Location: TypeAlias = "tuple[Any, str, str | None] | str | None"


def escape(token: str) -> str:
    """Return one reference token as it stands in a JSON pointer."""
    if "~" in token or "/" in token:
        return token.replace("~", "~0").replace("/", "~1")
    return token


def unescape(token: str) -> str:
    """Return what a reference token of a JSON pointer stands for."""
    return token.replace("~1", "/").replace("~0", "~")


def _suffix(location: tuple[Any, str, str | None]) -> str:
    _, keyword, token = location
    if token is None:
        return f"/{escape(keyword)}"
    if "~" in token or "/" in token:
        token = escape(token)
    return f"/{escape(keyword)}/{token}"


def render(location: Location, *tokens: str) -> str:
    """Return the pointer of ``location``, followed by ``tokens``, such as ``"#/properties/a"``.

    In another document its URI stands in front.
    """
    parts = [f"/{escape(token)}" for token in reversed(tokens)]
    while isinstance(location, tuple):
        parts.append(_suffix(location))
        location = location[0]
    parts.append(f"{location or ''}#")
    parts.reverse()
    return "".join(parts)
