"""Settings and versions of the package as a whole."""

from __future__ import annotations

__all__ = ["get_serialization_version"]


def get_serialization_version() -> str:
    """Return the format version of stored grammars and compiled grammars.

    What another version has written is refused with `DeserializeVersionError`.

    Example:
        >>> get_serialization_version()
        '1'
    """
    from .stored import VERSION

    return str(VERSION)
