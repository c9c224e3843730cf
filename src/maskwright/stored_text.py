"""What stored forms that are JSON texts have in common: an object with known fields, checked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from .errors import DeserializeFormatError, DeserializeVersionError, InvalidJSONError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["StoredText"]


@dataclass(frozen=True)
class StoredText:
    """A kind of stored form, for reading it from a text that may come from anywhere.

    Attributes:
        thing: What is stored.
        writer: What wrote the text.
    """

    thing: str
    writer: str

    def read_root(self, text: str) -> dict[str, Any]:
        """Return the object that the text is.

        Raises:
            InvalidJSONError: The text is no JSON.
            DeserializeFormatError: It is no object.
        """
        if not isinstance(text, str):
            raise TypeError(f"the stored form is a {type(text).__name__}; expected str")
        try:
            root = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidJSONError(
                f"the stored form of a {self.thing} is not valid JSON ({error}); pass what "
                f"{self.writer} has written",
                code="invalid-json",
            ) from error
        if not isinstance(root, dict):
            self.refuse(f"it is a {type(root).__name__}, expected an object")
        return root

    def read(self, text: str, name: str, version: int, fields: Iterable[str]) -> dict[str, Any]:
        """Return an object whose field ``format`` is the name, of this version, with these fields.

        Raises:
            InvalidJSONError: The text is no JSON.
            DeserializeVersionError: It was written by a version with another format.
            DeserializeFormatError: It is no such object.
        """
        root = self.read_root(text)
        if root.get("format") != name:
            self.refuse(f"the field 'format' is {root.get('format')!r}, expected {name!r}")
        found = root.get("version")
        if found != version or isinstance(found, (bool, float)):
            raise DeserializeVersionError(
                f"the stored {self.thing} has version {found!r}, expected {version}: serialise it "
                "again with this version of Maskwright",
                code="deserialize-version",
            )
        names = {"format", "version", *fields}
        self.check_fields(root, names, names)
        return root

    def check_fields(
        self,
        found: Mapping[str, object],
        required: Iterable[str],
        known: Iterable[str],
        within: str = "",
    ) -> None:
        """Refuse an object, whose fields are called ``within`` and their name, with other ones."""
        for name in sorted(set(required) - found.keys()):
            self.refuse(f"the field {within + name!r} is missing")
        for name in sorted(found.keys() - set(known)):
            self.refuse(f"the field {within + name!r} is unknown")

    def refuse(self, what: str) -> NoReturn:
        """Raise DeserializeFormatError (``deserialize-format``)."""
        raise DeserializeFormatError(
            f"the text is not the stored form of a {self.thing}: {what}; pass what {self.writer} "
            "has written",
            code="deserialize-format",
        )
