"""Documents that references may lead to: the caller's, and the meta-schemas. Never the network.

Idea: a document is read when something refers to it, so a large registry costs a dict look-up. The
meta-schemas of all supported drafts, with their vocabularies, are one data file that the first
reference to any of them loads (``tools/make_metaschemas.py`` makes it).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from ...errors import GrammarError, GrammarSyntaxError
from .faults import describe, not_a_schema
from .json_text import parse_json

__all__ = ["NO_DOCUMENTS", "Registry", "metaschemas"]

_FILE = "metaschemas.json"
_METASCHEMA_HOST = "json-schema.org/"


class Registry:
    """Schema documents by URI.

    Args:
        documents: Schemas (dict, bool or JSON text) by the absolute URI that references use for
            them; an empty fragment at the end does not count. None: no documents.

    Raises:
        GrammarError: A URI has a fragment, or is none.
        InvalidSchemaError: A document is neither an object, a Boolean nor text.
        TypeError: ``documents`` is no mapping, or a key is no str.
    """

    def __init__(self, documents: Mapping[str, Any] | None = None) -> None:
        self._documents: dict[str, Any] = {}
        if documents is None:
            return
        if not isinstance(documents, Mapping):
            raise TypeError(
                f"registry is a {type(documents).__name__}; expected a mapping from URI to schema"
            )
        for name, schema in documents.items():
            if not isinstance(name, str):
                raise TypeError(f"a key of registry is {describe(name)}; expected a URI as a str")
            uri, _, fragment = name.partition("#")
            if not uri or fragment:
                raise GrammarError(
                    f'the key "{name}" of registry names a part of a document: expected the URI of '
                    "a whole document, without a fragment",
                    code="schema-invalid-option",
                )
            if not isinstance(schema, (dict, bool, str)):
                raise not_a_schema(schema, uri)
            self._documents[uri] = schema

    def uris(self) -> list[str]:
        """Return the URIs of the caller's documents."""
        return list(self._documents)

    def find(self, uri: str) -> Any:
        """Return the document with a URI, an object or a Boolean; None when there is none.

        Raises:
            GrammarSyntaxError: Its text is no JSON; the message says which document.
            InvalidSchemaError: It is no schema.
        """
        if uri in self._documents:
            return self._read(uri)
        if _METASCHEMA_HOST in uri:
            # "http" and "https" name the same documents in schemas as people write them.
            rest = uri.partition("://")[2]
            return metaschemas().get(rest)
        return None

    def _read(self, uri: str) -> Any:
        schema = self._documents[uri]
        if isinstance(schema, str):
            try:
                schema = parse_json(schema)
            except GrammarSyntaxError as error:
                raise GrammarSyntaxError(
                    f'the registry\'s document "{uri}": {error.message}',
                    code=error.code,
                    source=error.source,
                    offset=error.offset,
                ) from None
            self._documents[uri] = schema
        if not isinstance(schema, (dict, bool)):
            raise not_a_schema(schema, uri)
        return schema


NO_DOCUMENTS = Registry()
"""The meta-schemas only."""


@cache
def metaschemas() -> dict[str, dict[str, Any]]:
    """Return the meta-schemas and vocabularies by their URI without scheme."""
    text = (resources.files(__package__) / _FILE).read_text(encoding="utf-8")
    documents: dict[str, dict[str, Any]] = json.loads(text)["documents"]
    return documents
