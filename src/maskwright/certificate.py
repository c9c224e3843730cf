"""The certificate of a grammar: as data, how its language relates to what the source says."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Certificate", "Loosened"]

_ANNOTATIONS = frozenset(
    [
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$comment",
        "$schema",
        "$id",
        "id",
    ]
)
"""Keywords that nobody expects to restrict a value."""


@dataclass(frozen=True)
class Loosened:
    """One keyword that is enforced less strictly than the schema says (lenient mode only).

    Attributes:
        pointer: JSON pointer of the keyword's schema, such as ``"#/properties/a"``.
        keyword: The keyword.
        reason: Why it is not enforced in full.
    """

    pointer: str
    keyword: str
    reason: str


@dataclass(frozen=True)
class Certificate:
    """What a compiled language leaves out or lets in, compared with its source.

    Attributes:
        exact: No text outside the source's meaning is in the language, and every instance that the
            chosen options allow has a text in it.
        narrowed: What the options leave out, in words: key order, closed objects, whitespace
            beyond a bound, number spellings.
        loosened: Keywords that are enforced less strictly than the source says.
        ignored: JSON pointers of annotations and unknown keywords, which have no effect.
    """

    exact: bool = True
    narrowed: tuple[str, ...] = ()
    loosened: tuple[Loosened, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def unknown(self) -> tuple[str, ...]:
        """What is ignored and no usual annotation: perhaps a misspelled keyword.

        Example:
            >>> Certificate(ignored=("#/title", "#/maxlength")).unknown
            ('#/maxlength',)
        """
        return tuple(
            pointer for pointer in self.ignored if pointer.rpartition("/")[2] not in _ANNOTATIONS
        )
