"""Why an instance may not go on as it does: for `maskwright check`.

Idea: the same schema is compiled with the option that could be the reason, and where the instance
gets further then, that was it. Otherwise, for a member, the object that stands at that place in
the schema is asked for ``additionalProperties``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from maskwright.errors import MaskwrightError
from maskwright.frontends.json_schema.faults import quoted_name
from maskwright.frontends.json_schema.json_text import parse_json
from maskwright.frontends.json_schema.locations import unescape
from maskwright.mismatch import find_mismatch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from maskwright.compiled_grammar import CompiledGrammar
    from maskwright.mismatch import Mismatch

    Compile = Callable[..., CompiledGrammar]

_SPACE: Final = " \t\n\r"
_LIFTED: Final = (
    ("any_whitespace", True, 'spacing is one space after "," and ":"; --any-whitespace lifts that'),
    ("number_spelling", "any", "numbers are not spelled so; --number-spelling any lifts that"),
)
"""Options that admit more spellings of the same value, and what is said if one of them does."""


class _Member(NamedTuple):
    """A member of an instance: its name, those before it in its object, and where the name ends."""

    name: str
    before: frozenset[str]
    end: int


def reason_of_refusal(
    schema: str, instance: str, found: Mismatch, compile_schema: Compile, options: Mapping[str, Any]
) -> str:
    """Say why an instance is refused; empty where nothing is known.

    Args:
        schema: The schema's JSON text.
        instance: The instance's text.
        found: Where it leaves the language of the schema, counted in that text.
        compile_schema: Compiles the schema with options.
        options: Those that it was compiled with.
    """

    def gets_to(offset: int, **changed: Any) -> bool:
        try:
            compiled = compile_schema(schema, **{**options, **changed})
        except MaskwrightError:  # another limit, perhaps
            return False
        return _gets_to(compiled, instance, offset)

    for option, value, reason in _LIFTED:
        if options[option] != value and gets_to(found.offset + 1, **{option: value}):
            return reason
    member = _member_at(instance, found.offset)
    if member is None:
        return ""
    name = quoted_name(member.name)
    if member.name in member.before:
        return f"the member {name} stands there twice"

    def is_passed(**changed: Any) -> bool:
        return gets_to(member.end, **changed)

    if not options.get("any_order", False) and is_passed(any_order=True):
        return (
            f'the member {name} is not the next one in the order that "properties" declares; '
            "--any-order lifts that"
        )
    if options.get("strict_mode", True) and is_passed(strict_mode=False):
        return (
            f'"properties" does not declare the member {name}, and strict mode admits no others; '
            'declare it, or admit others with "additionalProperties": true or --open'
        )
    place = _closed_at(parse_json(schema), found.pointer or "#")
    if place is None:
        return f"no member {name} is admitted there"
    return (
        f'"properties" does not declare the member {name}, and "additionalProperties" at {place} '
        "admits no others"
    )


def _gets_to(compiled: CompiledGrammar, instance: str, offset: int) -> bool:
    found = find_mismatch(compiled, instance.strip(_SPACE))
    indent = len(instance) - len(instance.lstrip(_SPACE))
    return found is None or found.offset + indent >= offset


def _member_at(text: str, offset: int) -> _Member | None:
    """The member whose name a place is in or before; None: the place is another one."""
    objects: list[set[str] | None] = []  # the names so far; None: an array
    waits_for_name = False
    at = 0
    while at < len(text):
        char = text[at]
        if char == '"':
            end = _end_of_string(text, at)
            if end is None:
                return None
            if waits_for_name and objects and objects[-1] is not None:
                name = json.loads(text[at:end], strict=False)
                if offset <= end:
                    return _Member(name, frozenset(objects[-1]), end)
                objects[-1].add(name)
            at = end
            waits_for_name = False
            continue
        if at >= offset and char not in _SPACE and (char != "," or waits_for_name):
            return None
        if char in "{[":
            objects.append(set() if char == "{" else None)
        elif char in "}]" and objects:
            objects.pop()
        waits_for_name = char in "{," or (char in _SPACE and waits_for_name)
        at += 1
    return None


def _end_of_string(text: str, at: int) -> int | None:
    try:
        _, end = json.JSONDecoder(strict=False).raw_decode(text, at)
    except ValueError:
        return None
    return end


def _closed_at(schema: Any, instance_pointer: str) -> str | None:
    """Where ``additionalProperties`` is false for an object, found by names and items alone."""
    place = "#"
    for part in instance_pointer.split("/")[1:]:
        members = schema.get("properties") if isinstance(schema, dict) else None
        name = unescape(part)
        if isinstance(members, dict) and name in members:
            schema, place = members[name], f"{place}/properties/{part}"
        elif part.isdecimal() and isinstance(schema, dict) and "items" in schema:
            schema, place = schema["items"], f"{place}/items"
        else:
            return None
    is_closed = isinstance(schema, dict) and schema.get("additionalProperties") is False
    return f"{place}/additionalProperties" if is_closed else None
