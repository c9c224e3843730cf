"""Keywords that apply a schema under a condition: `if`, `dependentSchemas` and their relatives.

Idea: the core knows choices and negations, and decides which branches exclude each other. So
"if A then B else C" is "A and B, or not A and C", and a schema that depends on a member applies, or
the member is not there. The condition itself stands under a double negation: it judges, but names
no members that would close or open the object in strict mode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ir import format as f
from .convert import ABSENT
from .faults import malformed, non_string_key, surrogate
from .scalars import admits_type

if TYPE_CHECKING:
    from .convert import Converter

__all__ = ["branch", "condition", "dependencies", "dependent_required", "dependent_schemas"]


def condition(conv: Converter, key: str, value: Any) -> None:
    """`if`, with `then` and `else`; without both it says nothing."""
    schema = conv.schema
    branches = [schema.get(name, ABSENT) for name in ("then", "else")]
    if branches == [ABSENT, ABSENT]:
        conv.ignore(key)
        return
    conv.note_in_place([value, *(item for item in branches if item is not ABSENT)])
    builder = conv.builder
    fails = builder.negation(conv.node(value, key))
    holds = builder.negation(fails)
    if "then" in schema:
        holds = builder.all_of((holds, conv.node(schema["then"], "then")))
    if "else" in schema:
        fails = builder.all_of((fails, conv.node(schema["else"], "else")))
    conv.add(builder.any_of((holds, fails)))


def branch(conv: Converter, key: str, _value: Any) -> None:
    """`then` and `else`: belong to `if`, and have no effect without it."""
    if "if" not in conv.schema:
        conv.ignore(key)


def dependent_schemas(conv: Converter, key: str, value: Any) -> None:
    """`dependentSchemas`: schemas for the object, each if it has a certain member."""
    if _speaks_of_objects(conv, key, value):
        _apply(conv, key, value)


def dependent_required(conv: Converter, key: str, value: Any) -> None:
    """`dependentRequired`: members that must be there if a certain one is."""
    if _speaks_of_objects(conv, key, value):
        for name, needed in value.items():
            _require(conv, key, name, needed)


def dependencies(conv: Converter, key: str, value: Any) -> None:
    """`dependencies`: both of them, told apart by the value's form."""
    if not _speaks_of_objects(conv, key, value):
        return
    for name, needed in value.items():
        if isinstance(needed, (list, tuple)):
            _require(conv, key, name, needed)
    _apply(conv, key, {n: s for n, s in value.items() if not isinstance(s, (list, tuple))})


def _speaks_of_objects(conv: Converter, key: str, value: Any) -> bool:
    if not isinstance(value, dict):
        raise malformed(value, "an object with an entry per member", conv.location, key)
    if not admits_type(conv, "object"):
        conv.ignore(key)
        return False
    for name in value:
        if not isinstance(name, str):
            raise non_string_key(name, conv.location, key)
    return True


def _require(conv: Converter, key: str, name: str, needed: Any, *below: str) -> None:
    if not isinstance(needed, (list, tuple)):
        raise malformed(needed, "an array of member names", conv.location, key, name, *below)
    for index, other in enumerate(needed):
        if not isinstance(other, str):
            expected = "a member name as a string"
            raise malformed(other, expected, conv.location, key, name, *below, str(index))
    if not needed:
        return
    try:
        conv.add(conv.builder.dependent_required(name, needed))
    except UnicodeEncodeError as error:
        raise surrogate(error.object, conv.location, key) from None


def _apply(conv: Converter, key: str, schemas: dict[str, Any]) -> None:
    # Schemas that only require members are common, and the core knows them in closed form.
    plain = {n: s for n, s in schemas.items() if isinstance(s, dict) and [*s] == ["required"]}
    for name, schema in plain.items():
        _require(conv, key, name, schema["required"], "required")
    schemas = {n: s for n, s in schemas.items() if n not in plain}
    conv.note_in_place([*schemas.values()])
    builder = conv.builder
    no_object = builder.types(f.TYPE_ALL & ~f.TYPE_OBJECT)
    for name, schema in schemas.items():
        try:
            has = builder.all_of((builder.types(f.TYPE_OBJECT), builder.required((name,))))
        except UnicodeEncodeError as error:
            raise surrogate(error.object, conv.location, key) from None
        applies = conv.node(schema, key, name)
        if conv.strict:
            # What the schema names may be there only if the member is.
            applies = builder.all_of((has, applies))
        lacks = builder.negation(builder.required((name,)))
        conv.add(builder.any_of((no_object, lacks, applies)))
