"""What becomes of every keyword of a schema, and what can make an output long without bound.

Idea: the schema is converted as always, with a `Recorder` that notes each location the root
reaches; a keyword that is refused is noted too, and the conversion goes on without it. So one run
tells all refusals, not the first. The warnings look at one location at a time: a bound that stands
elsewhere, under an ``allOf`` or behind a reference, is not seen.
Cost: that of a conversion; conversions without a recorder pay one test per location.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ...errors import UnsupportedFeatureError
from ...ir import format as f
from .counts import MAX_COUNT
from .formats import FORMATS
from .locations import Location, render

if TYPE_CHECKING:
    from .convert import Converter
    from .dialects import Handler

__all__ = ["Coverage", "KeywordReport", "LengthWarning", "Recorder"]

Status = Literal["enforced", "narrowed", "ignored", "refused"]


@dataclass(frozen=True)
class KeywordReport:
    """What becomes of one keyword.

    Attributes:
        pointer: Where it stands.
        status: What becomes of it.
        reason: Why it is not enforced in full; empty if it is.
    """

    pointer: str
    status: Status
    reason: str = ""


@dataclass(frozen=True)
class LengthWarning:
    """A place of the schema whose values have no bound, so that a model may never end one."""

    pointer: str
    reason: str


@dataclass(frozen=True)
class Coverage:
    """What `Recorder` found, keywords in the order in which they were met."""

    keywords: tuple[KeywordReport, ...]
    warnings: tuple[LengthWarning, ...]


class Recorder:
    """Notes what a conversion meets."""

    def __init__(self) -> None:
        self._locations: list[tuple[dict[str, Any], Location]] = []
        self._refused: dict[str, str] = {}
        self._number_spellings: set[str] = set()
        self._loops: list[Location] = []
        self._facts: set[str] = set()
        self.coverage = Coverage((), ())

    def recorded(self, handler: Handler) -> Handler:
        """Return a handler that notes a keyword if it is refused or narrows numbers."""

        def apply(conv: Converter, keyword: str, value: Any) -> None:
            # What schemas below add is not the keyword's.
            outside, conv.facts = conv.facts, set()
            try:
                handler(conv, keyword, value)
            except UnsupportedFeatureError as error:
                self._refused[render(conv.location, keyword)] = error.message
            if "exact numbers" in conv.facts:
                self._number_spellings.add(render(conv.location, keyword))
            self._facts |= conv.facts
            conv.facts = outside

        return apply

    def enter(self, schema: dict[str, Any], location: Location) -> None:
        """Note a location."""
        self._locations.append((schema, location))

    def loop(self, location: Location) -> None:
        """Note a location that holds itself."""
        self._loops.append(location)

    def finish(
        self,
        conv: Converter,
        ignored: tuple[str, ...],
        *,
        any_order: bool,
        number_spelling: str = "any",
    ) -> None:
        """Make the report on a conversion that has come to its end; `coverage` is there then."""
        conv.facts |= self._facts
        without_effect = frozenset(ignored)
        keywords: dict[str, KeywordReport] = {}
        warnings: list[LengthWarning] = []
        for schema, location in self._locations:
            for keyword in schema:
                pointer = render(location, keyword)
                status: Status = "enforced"
                reason = ""
                if pointer in self._refused:
                    status, reason = "refused", self._refused[pointer]
                elif pointer in without_effect:
                    status, reason = "ignored", _why_ignored(conv, keyword)
                else:
                    reasons = _narrowed(conv, schema, keyword, any_order=any_order)
                    if self._narrows_numbers(schema, location, keyword, number_spelling):
                        reasons.append(_SPELLINGS[number_spelling])
                    reason = "; ".join(reasons)
                    status = "narrowed" if reason else status
                keywords[pointer] = KeywordReport(pointer, status, reason)
            unbounded = _unbounded(conv, schema, number_spelling=number_spelling)
            warnings += [LengthWarning(render(location), reason) for reason in unbounded]
        for location in self._loops:
            warnings.append(LengthWarning(render(location), "values can be nested without bound"))
        self.coverage = Coverage(tuple(keywords.values()), tuple(dict.fromkeys(warnings)))

    def _narrows_numbers(
        self, schema: dict[str, Any], location: Location, keyword: str, number_spelling: str
    ) -> bool:
        """Return whether a keyword admits numbers of which not all spellings are."""
        if number_spelling != "any" and keyword == "type" and "number" in schema[keyword]:
            return True
        group = _BOUNDS & schema.keys() if keyword in _BOUNDS else {keyword}  # one converts all
        return any(render(location, name) in self._number_spellings for name in group)


def _why_ignored(conv: Converter, keyword: str) -> str:
    known = conv.resource.dialect.handlers
    close = [] if keyword in known else difflib.get_close_matches(keyword, known, 1, 0.8)
    hint = f'; is "{close[0]}" meant?' if close else ""
    return f"an annotation, or without effect here{hint}"


def _narrowed(
    conv: Converter, schema: dict[str, Any], keyword: str, *, any_order: bool
) -> list[str]:
    """Return why less is admitted than a keyword says; empty: nothing less."""
    value = schema[keyword]
    reasons: list[str] = []
    if keyword == "format":
        reasons.append(FORMATS[value].narrowed or "")
    elif keyword == "properties" and value:
        if not any_order:
            reasons.append("members in declared order (any_order lifts it)")
        if conv.strict and not schema.keys() & {"additionalProperties", "unevaluatedProperties"}:
            reasons.append("no other members (strict_mode=False lifts it)")
    elif conv.strict and (
        (keyword == "prefixItems" and "items" not in schema)
        or (keyword == "items" and isinstance(value, list) and "additionalItems" not in schema)
    ):
        reasons.append("no other items (strict_mode=False lifts it)")
    elif keyword in _GREATEST_COUNTS and isinstance(value, int) and value > MAX_COUNT:
        reasons.append(f"at most {MAX_COUNT}")
    return [reason for reason in reasons if reason]


_IN_PLACE = {"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "if", "not"}
_FIXED = {"enum", "const"}
_BELOW = {"minimum", "exclusiveMinimum"}
_ABOVE = {"maximum", "exclusiveMaximum"}
_BOUNDS = _BELOW | _ABOVE
_DIGITS = "numbers may have any number of digits, whatever their bounds"
_SPELLINGS = {
    "any": "numbers with exponents from -400 to 400 only",
    "decimal": 'numbers without exponents only (number_spelling="any" lifts it)',
    "plain": 'numbers in plain spelling only (number_spelling="any" lifts it)',
}
_GREATEST_COUNTS = {"maxLength", "maxItems", "maxContains", "maxProperties"}


def _unbounded(conv: Converter, schema: dict[str, Any], *, number_spelling: str) -> list[str]:
    """Return what has no bound among the values that a schema describes by itself."""
    if schema.keys() & _FIXED:
        return []
    given = schema.get("type")
    if given is None:
        if not conv.resource.dialect.handlers.keys() & schema.keys() - {"$schema", "$id", "id"}:
            return ["any value is admitted, of any length"]
        if schema.keys() & _IN_PLACE or "properties" not in schema:
            return []
        given = "object"
    names = [given] if isinstance(given, str) else list(given)
    names = [name for name in names if not _has_few_digits(schema, name, number_spelling)]
    checks = {
        "string": (_string, "strings have no maxLength"),
        "array": (_array, "arrays have no maxItems"),
        "object": (_object, "objects admit any number of other members"),
        "integer": (_always, _DIGITS),
        "number": (_always, _DIGITS),
    }
    found = [checks[name] for name in names if name in checks and name in f.TYPE_MASKS]
    return [reason for open_ended, reason in found if open_ended(conv, schema)]


def _string(_conv: Converter, schema: dict[str, Any]) -> bool:
    return not schema.keys() & {"maxLength", "format", "pattern"}


def _array(conv: Converter, schema: dict[str, Any]) -> bool:
    if "maxItems" in schema:
        return False
    rest = schema.get("additionalItems" if isinstance(schema.get("items"), list) else "items")
    positions = "prefixItems" in schema or isinstance(schema.get("items"), list)
    return not (rest is False or (rest is None and positions and conv.strict))


def _object(conv: Converter, schema: dict[str, Any]) -> bool:
    if "maxProperties" in schema:
        return False
    others = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
    closed = others is False or (others is None and "properties" in schema and conv.strict)
    return not closed or bool(schema.get("patternProperties"))


def _always(_conv: Converter, _schema: dict[str, Any]) -> bool:
    return True


def _has_few_digits(schema: dict[str, Any], name: str, number_spelling: str) -> bool:
    """Return whether the spellings of the numbers of a type have a bounded length."""
    if not all(schema.keys() & sides for sides in (_BELOW, _ABOVE)):
        return False
    if name == "integer":
        return number_spelling != "any"
    return name == "number" and number_spelling == "plain" and "multipleOf" in schema
