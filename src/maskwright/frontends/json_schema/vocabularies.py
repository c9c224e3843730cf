"""Which dialect a schema is written in: what its `$schema` names, custom meta-schemas included.

Idea: a meta-schema that the registry has says by `$vocabulary` which vocabularies its schemas use;
its dialect is the draft of the meta-schema without the keywords of the vocabularies it leaves out.
Which keyword belongs to which vocabulary is read from the drafts' own vocabulary documents.
Source: JSON Schema core 2019-09 and 2020-12, "Meta-Schemas and Vocabularies".
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from ...errors import InvalidSchemaError, UnsupportedFeatureError
from .dialects import DEFAULT, STANDARD, Dialect, dialect_named, is_standard
from .faults import describe, malformed
from .locations import Location, render
from .registry import metaschemas

if TYPE_CHECKING:
    from .registry import Registry

__all__ = ["dialect_of"]

_ASSERTION = "vocab/format-assertion"
_DRAFTS = ("json-schema.org/draft/2019-09/", "json-schema.org/draft/2020-12/")


def dialect_of(schema: dict[str, Any], location: Location, registry: Registry) -> Dialect:
    """Return the dialect that the `$schema` of a resource names.

    A URI that nobody knows gives the default dialect.

    Raises:
        InvalidSchemaError: `$schema` is no string, or meta-schemas name each other in a circle.
        UnsupportedFeatureError: The draft, or a vocabulary that must be understood, is not
            supported.
    """
    value = schema["$schema"]
    if not isinstance(value, str):
        raise malformed(value, "the URI of a meta-schema as a string", location, "$schema")
    known = STANDARD.get(value)
    if known is not None:
        return known
    chain: list[tuple[str, dict[str, Any]]] = []
    while not is_standard(value):
        uri = value.partition("#")[0]
        document = registry.find(uri)
        if not isinstance(document, dict) or not isinstance(document.get("$schema"), str):
            return _named(value, location)
        if any(uri == seen for seen, _ in chain):
            raise InvalidSchemaError(
                f"the meta-schemas of {render(location, '$schema')} name each other in a circle: "
                "expected one of the JSON Schema drafts at its end",
                code="schema-metaschema-loop",
                pointer=render(location, "$schema"),
            )
        chain.append((uri, document))
        value = document["$schema"]
    dialect = _named(value, location)
    # Only the nearest meta-schema speaks of the schema's vocabularies.
    if chain and isinstance(chain[0][1].get("$vocabulary"), dict):
        dialect = _restricted(dialect, *chain[0])
    return dialect


def _named(value: str, location: Location) -> Dialect:
    try:
        return dialect_named(value) or DEFAULT
    except UnsupportedFeatureError as error:
        pointer = render(location, "$schema")
        raise UnsupportedFeatureError(
            f"{describe(value)} at {pointer}: {error.message}",
            code=error.code,
            feature=error.feature,
            pointer=pointer,
        ) from None


def _restricted(dialect: Dialect, uri: str, metaschema: dict[str, Any]) -> Dialect:
    """Return a dialect with the keywords of a meta-schema's vocabularies only."""
    known = _keywords()
    used: set[str] = set()
    asserts = False
    for name, needed in metaschema["$vocabulary"].items():
        if name in known:
            used |= known[name]
            asserts = asserts or _ASSERTION in name
        elif needed:
            pointer = render(uri, "$vocabulary", name)
            raise UnsupportedFeatureError(
                f'the vocabulary "{name}" at {pointer} is not supported, and its meta-schema says '
                "that it must be understood: expected the vocabularies of JSON Schema only",
                code="schema-unsupported-vocabulary",
                feature="$vocabulary",
                pointer=pointer,
            )
    left_out = set().union(*known.values()) - used
    handlers = {
        key: handler
        for key, handler in dialect.handlers.items()
        if key.startswith("$") or key not in left_out
    }
    return replace(dialect, name=uri, handlers=handlers, assert_format=asserts)


@cache
def _keywords() -> dict[str, frozenset[str]]:
    """Return the keywords of each vocabulary, by its URI."""
    found: dict[str, frozenset[str]] = {}
    for uri, document in metaschemas().items():
        draft, separator, name = uri.partition("meta/")
        if separator and draft in _DRAFTS:
            found[f"https://{draft}vocab/{name}"] = frozenset(document["properties"])
    return found
