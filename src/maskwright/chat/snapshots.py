"""Copies of data that the caller may go on to change."""

from __future__ import annotations

from typing import Any


def snapshot(data: Any) -> Any:
    """Return a copy of plain data: of every dict and list in it, however deeply it is nested.

    Parts that occur several times do so in the copy. Other values are taken as they are.

    Example:
        >>> data = {"a": [1]}
        >>> copy = snapshot(data)
        >>> data["a"].append(2)
        >>> copy
        {'a': [1]}
    """
    copies: dict[int, Any] = {}
    waiting: list[tuple[Any, Any]] = []

    def copied(value: Any) -> Any:
        if not isinstance(value, dict | list):
            return value
        if id(value) not in copies:
            copies[id(value)] = {} if isinstance(value, dict) else []
            waiting.append((value, copies[id(value)]))
        return copies[id(value)]

    whole = copied(data)
    while waiting:
        source, target = waiting.pop()
        if isinstance(source, dict):
            target.update((key, copied(value)) for key, value in source.items())
        else:
            target.extend(map(copied, source))
    return whole
