"""JSON pointers of schema locations, made only when someone reads them.

Idea: a location is a link ``(parent, keyword, token)`` to its parent, so that going down one level
costs one tuple, and a schema nested 100,000 deep costs no quadratic memory. The text of a pointer
(RFC 6901, in its fragment form ``#/a/b``) is rendered for errors and for the certificate.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from ...errors import LimitExceededError

__all__ = ["MAX_IGNORED_BYTES", "Location", "escape", "render", "render_all"]

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


def render_all(
    entries: list[tuple[Location, str]], *, max_bytes: int = MAX_IGNORED_BYTES
) -> tuple[str, ...]:
    """Return the pointers of ``(location, keyword)`` pairs; each location is rendered once.

    Raises:
        LimitExceededError: The pointers are longer than ``max_bytes`` together (a deeply nested
            schema with an annotation at each level).
    """
    pointers: list[str] = []
    total = 0
    last: Location = None
    prefix = "#/"
    # Of the parents of locations, since many have the same one; no longer than what is listed.
    parents: dict[int, str] = {}
    for location, keyword in entries:
        if location is not last:
            last = location
            if isinstance(location, tuple):
                parent = location[0]
                above = parents.get(id(parent))
                if above is None:
                    above = parents[id(parent)] = render(parent)
                prefix = f"{above}{_suffix(location)}/"
            else:
                prefix = render(location) + "/"
        total += len(prefix) + len(keyword)
        if total > max_bytes:
            raise LimitExceededError(
                "the JSON pointers of ignored keywords are longer than "
                f"max_ignored_bytes = {max_bytes} together; "
                "remove annotations from the deeply nested part of the schema",
                code="schema-ignored-bytes",
                limit="max_ignored_bytes",
                value=max_bytes,
            )
        pointers.append(prefix + escape(keyword))
    return tuple(pointers)
