"""Entry point of the JSON Schema front-end: a schema and options to IR and a certificate.

Idea: the front-end translates keywords to schema nodes and evaluates nothing; the core judges
instances by the nodes while they are written. So the language of a location is the conjunction of
one node per keyword family, and what options leave out is said in the certificate.
Cost: one pass over the part of the schema that the root reaches.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ...certificate import Certificate
from ...ir import Builder
from .constants import MAX_CONSTANT_VALUES
from .convert import Converter, Places
from .counts import MAX_COUNT
from .formats import FORMATS
from .inputs import schema_of
from .locations import MAX_IGNORED_BYTES
from .numbers import MAX_NUMBER_DIGITS
from .options import (
    check_flags,
    checked_count,
    checked_dialect,
    checked_separators,
    checked_spelling,
    checked_whitespace,
)
from .references import MAX_DYNAMIC_SCOPES, Document, ScopesNeededError
from .registry import NO_DOCUMENTS, Registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...ir.format import NumberSpelling
    from .coverage import Recorder
    from .dialects import Dialect

__all__ = ["DEFAULT_MAX_WHITESPACE", "compile_json_schema"]

DEFAULT_MAX_WHITESPACE = 256
"""Bytes of whitespace between two tokens when ``max_whitespace_cnt`` is None."""


def compile_json_schema(
    schema: Any,
    *,
    any_whitespace: bool = True,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    strict_mode: bool = True,
    max_whitespace_cnt: int | None = None,
    any_order: bool = False,
    number_spelling: NumberSpelling = "any",
    assert_format: bool = True,
    dialect: str | None = None,
    registry: Mapping[str, Any] | None = None,
    nullable: bool = False,
    max_number_digits: int = MAX_NUMBER_DIGITS,
    max_constant_values: int = MAX_CONSTANT_VALUES,
    max_ignored_bytes: int = MAX_IGNORED_BYTES,
    max_dynamic_scopes: int = MAX_DYNAMIC_SCOPES,
    recorder: Recorder | None = None,
    places: Places | None = None,
) -> tuple[bytes, Certificate]:
    """Return the IR of the JSON texts that are valid under a schema, and its certificate.

    The module `dialects` lists the keywords of each draft; docs/keywords.md says what became of
    each in the official suite. What a keyword means follows the draft that `$schema` names; under
    `not` and `if` nothing names members or items that strict mode would count. Annotations and
    unknown keywords are listed in the certificate; every other keyword that constrains values is
    refused, where the root reaches it.

    Args:
        schema: A dict or a Boolean, JSON text, or a type that pydantic can read; see
            ``inputs.schema_of``. A float in a dict stands for the decimal that its ``repr`` shows.
            The schema is not changed.
        any_whitespace: JSON whitespace is free between two tokens, and separators are bare; else
            there is no whitespace but that of ``separators``.
        indent: Only None without ``any_whitespace``; without effect with it.
        separators: Between items, and between key and value; ``(", ", ": ")`` by default. Without
            effect with ``any_whitespace``.
        strict_mode: Objects that name members, and arrays that name items, are closed where the
            schema says nothing about the others.
        max_whitespace_cnt: Bytes of free whitespace at one place at most; None: 256.
        any_order: Members may come in any order; else declared ones come first, in that order.
        number_spelling: ``"any"``: as JSON has it. ``"decimal"``: without exponent, and without a
            fraction and without `-0` where all numbers of a branch are integers by `type`,
            `multipleOf`, `const` or `enum`.
            ``"plain"``: each number in one way: without exponent, without the zeros that a fraction
            may end with, without a fraction if it is an integer, and 0 without sign.
        assert_format: `format` constrains, with the formats that some draft defines; else it is an
            annotation.
        dialect: The draft of a schema without `$schema`: ``"draft4"``, ``"draft6"``, ``"draft7"``,
            ``"draft2019-09"``, ``"draft2020-12"`` or a meta-schema's URI. None: 2020-12 plus the
            older spellings that do not contradict it.
        registry: Other documents that references may lead to: schemas (dict, bool or JSON text) by
            URI. The meta-schemas of the supported drafts are always there. Nothing is ever fetched.
        nullable: ``nullable: true`` beside `type` admits null, as in OpenAPI 3.0; else it is an
            annotation.
        max_number_digits: Limit on the digits of a number once its exponent is written out.
        max_constant_values: Limit on the values in one `enum` or `const`.
        max_ignored_bytes: Limit on the length of all pointers that the certificate lists.
        max_dynamic_scopes: Limit on the scopes in which schemas with dynamic references are read.
        recorder: Notes what becomes of each keyword, and lets the conversion go on without those
            that are refused: the IR is of no use then.
        places: Receives, for each schema node of the IR, where the first schema with it stands.

    Raises:
        InvalidSchemaError: The schema is malformed, or a reference leads nowhere; with ``pointer``.
        UnsupportedFeatureError: A keyword, a format, a dialect or an option is not supported; with
            ``feature`` and ``pointer``.
        GrammarSyntaxError: The text of the schema is no JSON; with line and column.
        GrammarError: An option has no meaning; whether or not the schema comes to need it.
        TypeError: An option is of a wrong type.
        LimitExceededError: One of the limits is exceeded; with ``limit`` and ``value``.

    Example:
        >>> ir, certificate = compile_json_schema({"type": "string", "title": "Name"})
        >>> certificate.ignored
        ('#/title',)
    """
    check_flags(
        any_whitespace=any_whitespace,
        strict_mode=strict_mode,
        any_order=any_order,
        assert_format=assert_format,
        nullable=nullable,
    )
    default_dialect = checked_dialect(dialect)
    item_separator, key_separator = checked_separators(
        separators, indent, any_whitespace=any_whitespace
    )
    max_whitespace = checked_whitespace(
        max_whitespace_cnt, DEFAULT_MAX_WHITESPACE, any_whitespace=any_whitespace
    )
    number_spelling = checked_spelling(number_spelling)
    max_number_digits = checked_count("max_number_digits", max_number_digits)
    max_constant_values = checked_count("max_constant_values", max_constant_values)
    max_ignored_bytes = checked_count("max_ignored_bytes", max_ignored_bytes)
    max_dynamic_scopes = checked_count("max_dynamic_scopes", max_dynamic_scopes)
    source = schema_of(schema)
    documents = NO_DOCUMENTS if registry is None else Registry(registry)
    facts: set[str] = set()
    ignored: tuple[str, ...] = ()
    if isinstance(source, bool):
        builder = Builder()
        node = builder.any() if source else builder.never()
        if places is not None:
            places[node] = (None, {})
    else:
        converter = _converted(
            source,
            default_dialect,
            documents,
            max_dynamic_scopes,
            strict=strict_mode,
            any_order=any_order,
            assert_format=assert_format,
            nullable=nullable,
            recorder=recorder,
            max_number_digits=max_number_digits,
            max_constant_values=max_constant_values,
            places=places,
        )
        builder = converter.builder
        node = converter.root_node
        facts = converter.facts
        ignored = converter.ignored_pointers(max_ignored_bytes)
        if recorder is not None:
            recorder.finish(
                converter, ignored, any_order=any_order, number_spelling=number_spelling
            )
    root = builder.rule("root")
    expression = builder.json(
        node,
        any_order=any_order,
        any_whitespace=any_whitespace,
        strict=strict_mode,
        number_spelling=number_spelling,
        max_whitespace=max_whitespace,
        item_separator=item_separator,
        key_separator=key_separator,
    )
    builder.define(root, expression)
    if any_whitespace:
        facts.add("whitespace")
    facts.add(f"{number_spelling} numbers")
    narrowed = _narrowed(frozenset(facts), max_whitespace, strict=strict_mode, any_order=any_order)
    return builder.finish(root), Certificate(exact=True, narrowed=narrowed, ignored=ignored)


def _converted(
    source: dict[str, Any], dialect: Dialect, documents: Registry, max_scopes: int, **options: Any
) -> Converter:
    """Return the conversion of a document; dynamic scopes are kept apart only if they matter."""
    try:
        converter = Converter(Builder(), Document(source, dialect, documents), **options)
        converter.convert()
    except ScopesNeededError:
        document = Document(source, dialect, documents, scoped=True, max_dynamic_scopes=max_scopes)
        converter = Converter(Builder(), document, **options)
        converter.convert()
    return converter


@lru_cache(maxsize=256)
def _narrowed(
    facts: frozenset[str], max_whitespace: int, *, strict: bool, any_order: bool
) -> tuple[str, ...]:
    """Say in words what the options leave out, given what was met in the schema."""
    entries: list[str] = []
    if "named members" in facts and not any_order:
        entries.append("key-order: declared members first, in declared order")
    if strict and "open members" in facts:
        entries.append("closed-objects")
    if strict and "open prefix" in facts:
        entries.append("closed-arrays")
    if "whitespace" in facts:
        entries.append(f"whitespace: at most {max_whitespace} bytes between two tokens")
    else:
        entries.append("whitespace: the given separators only")
    if "plain numbers" in facts:
        entries.append(
            "number-spelling: plain only, without exponent, zeros at the end of a fraction, or -0"
        )
    elif "decimal numbers" in facts:
        entries.append(
            "number-spelling: decimals only, without exponent, and integers without fraction or "
            "-0 where nothing else may come"
        )
    elif "exact numbers" in facts:
        entries.append(
            "number-spelling: exponents from -400 to 400 only, under integer, bounds, multipleOf, "
            "const or enum"
        )
    formats = {fact.removeprefix("format ") for fact in facts if fact.startswith("format ")}
    if formats:
        named = ((name, found) for name, found in FORMATS.items() if name in formats)
        entries += [f"format {name}: {found.narrowed}" for name, found in named]
    if "clipped count" in facts:
        entries.append(f"counts: at most {MAX_COUNT}")
    return tuple(entries)
