"""How messages show what they are about: short, and always text that can be written as UTF-8."""

from __future__ import annotations

from typing import Final

__all__ = ["cut", "printable", "shown"]

_MOST_SHOWN: Final = 100


def shown(value: object) -> str:
    """A value as messages show it: cut, if it is long."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001  nested too deeply, or an int too long to be written
        return f"of type {type(value).__name__}"
    return printable(cut(text))


def cut(text: str, most: int = _MOST_SHOWN) -> str:
    """The beginning of a text, with dots if there is more."""
    return text if len(text) <= most else text[:most] + "..."


def printable(text: str) -> str:
    r"""A text with its lone surrogates, which no UTF-8 text can have, as escapes.

    Example:
        >>> print(printable("a\ud800"))
        a\ud800
    """
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()
