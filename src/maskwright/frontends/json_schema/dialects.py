"""The drafts of JSON Schema: which keywords each one has and what they mean there.

Idea: a dialect is a table from keyword to handler, made once at import. A keyword that is not in
the table is an annotation or unknown to that draft: it has no effect and the certificate lists it.
Without `$schema` the dialect is draft 2020-12 plus the older spellings that do not contradict it.
Source: the meta-schemas and specification texts of drafts 4, 6, 7, 2019-09 and 2020-12.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ..._native import KeywordTable
from ...errors import UnsupportedFeatureError
from . import applicators, arrays, conditions, numbers, objects, scalars
from . import unsupported as no
from .formats.keyword import format_

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .convert import Converter

__all__ = ["DEFAULT", "STANDARD", "Dialect", "Handler", "dialect_named", "is_standard"]

Handler = Callable[["Converter", str, Any], None]


@dataclass(frozen=True)
class Dialect:
    """One draft.

    Attributes:
        name: Its short name, such as ``"draft7"``.
        handlers: What converts each keyword that has an effect.
        id_keyword: `$id`, or `id` in draft 4.
        ref_alone: The siblings of a `$ref` have no effect (draft 7 and older).
        items_array: `items` may be an array of schemas, with `additionalItems` for the rest.
        exclusive: Whether `exclusiveMinimum` and `exclusiveMaximum` are numbers, Booleans, or both.
        assert_format: Its meta-schema asks for `format` to constrain, whatever the option says.
    """

    name: str
    handlers: Mapping[str, Handler]
    id_keyword: str = "$id"
    ref_alone: bool = False
    items_array: bool = True
    exclusive: Literal["number", "boolean", "both"] = "number"
    assert_format: bool = False

    @cached_property
    def table(self) -> KeywordTable:
        """The handlers, as the walk looks them up."""
        plain = _PLAIN if self.exclusive == "both" else {**_PLAIN, _schema: "skip"}
        return self._table_of(self.handlers, plain)

    @property
    def nullable_handlers(self) -> Mapping[str, Handler]:
        """The handlers where `nullable` has an effect, on `type`."""
        return {**self.handlers, "nullable": scalars.nullable}

    @cached_property
    def nullable_table(self) -> KeywordTable:
        """Those, as the walk looks them up."""
        plain = {handler: form for handler, form in _PLAIN.items() if form != "type"}
        return self._table_of(self.nullable_handlers, plain)

    def _table_of(
        self, handlers: Mapping[str, Handler], plain: Mapping[Handler, str]
    ) -> KeywordTable:
        by_name = dict(sorted(handlers.items()))
        return KeywordTable(by_name, dict(plain), _DECLARING, self.id_keyword, self.ref_alone)


def _structural(_conv: Converter, _key: str, _value: Any) -> None:
    """A keyword that names or holds things; it has no effect where it stands."""


def _schema(conv: Converter, key: str, _value: Any) -> None:
    """`$schema`: has chosen the dialect already, or names a meta-schema that nobody knows here."""
    if conv.resource.dialect.exclusive == "both":
        conv.ignore(key)


# Handlers whose keywords the walk converts itself where the value has the plain form: the names of
# the forms. What a form does is what the handler does with such values.
_PLAIN: dict[Handler, str] = {
    _structural: "skip",
    applicators.all_of: "all_of",
    applicators.any_of: "any_of",
    applicators.definitions: "definitions",
    applicators.one_of: "one_of",
    applicators.ref: "ref",
    arrays.item_count: "item_count",
    arrays.items: "items",
    objects.member_count: "member_count",
    objects.properties: "properties",
    objects.required: "required",
    scalars.const: "const",
    scalars.enum: "enum",
    scalars.string_length: "string_length",
    scalars.type_: "type",
}

# Handlers whose keywords may name members of the instance at hand: which of them stands first in a
# schema says which members come first.
_DECLARING: frozenset[Handler] = frozenset(
    {
        applicators.all_of,
        applicators.any_of,
        applicators.dynamic_ref,
        applicators.one_of,
        applicators.recursive_ref,
        applicators.ref,
        conditions.condition,
        conditions.dependencies,
        conditions.dependent_schemas,
        objects.properties,
    }
)

_DRAFT_4: dict[str, Handler] = {
    "$ref": applicators.ref,
    "$schema": _schema,
    "additionalItems": arrays.additional_items,
    "additionalProperties": objects.properties,
    "allOf": applicators.all_of,
    "anyOf": applicators.any_of,
    "definitions": applicators.definitions,
    "dependencies": conditions.dependencies,
    "enum": scalars.enum,
    "exclusiveMaximum": numbers.bounds,
    "exclusiveMinimum": numbers.bounds,
    "format": format_,
    "id": _structural,
    "items": arrays.items,
    "maxItems": arrays.item_count,
    "maxLength": scalars.string_length,
    "maxProperties": objects.member_count,
    "maximum": numbers.bounds,
    "minItems": arrays.item_count,
    "minLength": scalars.string_length,
    "minProperties": objects.member_count,
    "minimum": numbers.bounds,
    "multipleOf": numbers.multiple_of,
    "not": applicators.negation,
    "oneOf": applicators.one_of,
    "pattern": scalars.pattern,
    "patternProperties": objects.properties,
    "properties": objects.properties,
    "required": objects.required,
    "type": scalars.type_,
    "uniqueItems": arrays.unique_items,
}
_DRAFT_6: dict[str, Handler] = {
    **{key: handler for key, handler in _DRAFT_4.items() if key != "id"},
    "$id": _structural,
    "const": scalars.const,
    "contains": arrays.contains,
    "propertyNames": objects.property_names,
}
_DRAFT_7: dict[str, Handler] = {
    **_DRAFT_6,
    "else": conditions.branch,
    "if": conditions.condition,
    "then": conditions.branch,
}
_DRAFT_2019_09: dict[str, Handler] = {
    **{key: handler for key, handler in _DRAFT_7.items() if key != "dependencies"},
    "$anchor": _structural,
    "$defs": applicators.definitions,
    "$recursiveAnchor": _structural,
    "$recursiveRef": applicators.recursive_ref,
    "$vocabulary": _structural,
    "dependentRequired": conditions.dependent_required,
    "dependentSchemas": conditions.dependent_schemas,
    "maxContains": arrays.contains_count,
    "minContains": arrays.contains_count,
    "unevaluatedItems": arrays.unevaluated,
    "unevaluatedProperties": objects.unevaluated,
}
_REMOVED_2020_12 = {"$recursiveAnchor", "$recursiveRef", "additionalItems"}
_DRAFT_2020_12: dict[str, Handler] = {
    **{key: handler for key, handler in _DRAFT_2019_09.items() if key not in _REMOVED_2020_12},
    "$dynamicAnchor": _structural,
    "$dynamicRef": applicators.dynamic_ref,
    "prefixItems": arrays.prefix_items,
}
_EVERY: dict[str, Handler] = {
    **{key: handler for key, handler in _DRAFT_7.items() if key != "id"},
    **_DRAFT_2019_09,
    **_DRAFT_2020_12,
    "disallow": no.keyword,
    "divisibleBy": no.keyword,
    "extends": no.keyword,
}

DEFAULT = Dialect("default", _EVERY, exclusive="both")
"""Used without `$schema`, and under one that is not JSON Schema's own, which is then listed."""

_DIALECTS = {
    "draft4": Dialect("draft4", _DRAFT_4, id_keyword="id", ref_alone=True, exclusive="boolean"),
    "draft6": Dialect("draft6", _DRAFT_6, ref_alone=True),
    "draft7": Dialect("draft7", _DRAFT_7, ref_alone=True),
    "draft2019-09": Dialect("draft2019-09", _DRAFT_2019_09),
    "draft2020-12": Dialect("draft2020-12", _DRAFT_2020_12, items_array=False),
}
_BY_URI = {
    "json-schema.org/draft-04/schema": "draft4",
    "json-schema.org/draft-06/schema": "draft6",
    "json-schema.org/draft-07/schema": "draft7",
    "json-schema.org/draft/2019-09/schema": "draft2019-09",
    "json-schema.org/draft/2020-12/schema": "draft2020-12",
}
_OLD = tuple(f"json-schema.org/draft-0{number}/" for number in (0, 1, 2, 3, 5))


STANDARD: dict[str, Dialect] = {
    f"{scheme}://{rest}{end}": _DIALECTS[name]
    for scheme in ("http", "https")
    for rest, name in _BY_URI.items()
    for end in ("", "#")
}
"""The drafts by the URIs of their meta-schemas, as schemas write them."""


def is_standard(uri: str) -> bool:
    """Return whether a URI names a meta-schema of a draft, supported or not."""
    rest = uri.partition("://")[2].rstrip("#")
    return rest in _BY_URI or rest.startswith(_OLD)


def dialect_named(name: str) -> Dialect | None:
    """Return the dialect with a short name or meta-schema URI; None when there is none.

    "default", and a URI of another meta-schema, give the default dialect.

    Raises:
        UnsupportedFeatureError: The URI is that of draft 3 or older, or 5.
    """
    found = _DIALECTS.get(name)
    if found is not None or name == "default":
        return found or DEFAULT
    scheme, separator, rest = name.partition("://")
    if not separator or scheme not in ("http", "https"):
        return DEFAULT if ":" in name or "/" in name else None
    rest = rest.rstrip("#")
    if rest in _BY_URI:
        return _DIALECTS[_BY_URI[rest]]
    if rest.startswith(_OLD):
        raise UnsupportedFeatureError(
            f'the dialect "{name}" is not supported: expected draft 4, 6, 7, 2019-09 or 2020-12; '
            "migrate the schema",
            code="schema-unsupported-dialect",
            feature="$schema",
            pointer="#/$schema",
        )
    return DEFAULT
