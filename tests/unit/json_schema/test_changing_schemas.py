"""Schemas that change while they are converted, or are made anew each time they are looked at.

What comes out is not said; the process lives, and what is refused is refused by an error of ours.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import pytest

from maskwright import Grammar
from maskwright.errors import MaskwrightError

if TYPE_CHECKING:
    from typing_extensions import Self


class Odd(dict[str, Any]):
    """Its items are said to be what no dict has."""

    def items(self) -> Any:
        self.clear()
        return [1, (), ("type",)]


class Unequal(str):
    """A key that can't be compared."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        raise ValueError("not to be compared")


class Meddler(str):
    """A pattern that empties a schema when somebody compares it."""

    __slots__ = ("victim",)

    def __new__(cls, text: str, victim: Any) -> Self:
        made = super().__new__(cls, text)
        made.victim = victim
        return made

    def __eq__(self, other: object) -> bool:
        self.victim.clear()
        gc.collect(0)
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        return str.__hash__(self)


def convert(schema: Any) -> None:
    with contextlib.suppress(MaskwrightError, TypeError, RuntimeError):  # it may be refused
        Grammar.from_json_schema(schema, strict_mode=False)


def test_subclasses_are_read_as_dicts() -> None:
    schema = Odd(type="object", properties=Odd(a=Odd(const=1)), required=["a"])
    plain = {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]}
    assert Grammar.from_json_schema(schema).ir == Grammar.from_json_schema(plain).ir
    ordered = OrderedDict(b=True, a=True)
    ordered.move_to_end("b")
    schema = Odd(type="object", properties=ordered)
    assert str(Grammar.from_json_schema(schema)).index("a") < str(
        Grammar.from_json_schema(schema)
    ).index("b")


@pytest.mark.parametrize("name", ["$id", "$ref", "properties"])
def test_keys_that_cannot_be_compared(name: str) -> None:
    key = Unequal(name)
    with pytest.raises((ValueError, MaskwrightError)):
        Grammar.from_json_schema({"properties": {"a": {key: 3, "type": "string"}}})
    with pytest.raises((ValueError, MaskwrightError)):
        Grammar.from_json_schema({key: 3, "type": "string"}, dialect="draft7")


def test_keys_of_a_kind_of_str() -> None:
    class Name(str):
        __slots__ = ()

    named = Grammar.from_json_schema({Name("type"): "string", Name("title"): "x"})
    assert named.ir == Grammar.from_json_schema({"type": "string", "title": "x"}).ir


@pytest.mark.parametrize("keyword", ["properties", "additionalProperties", "$ref", "minLength"])
def test_keys_that_empty_their_schema(keyword: str) -> None:
    for place in ("root", "members"):
        members: dict[str, Any] = {"a": {"type": "string"}, "b": {"enum": ["x", "y"]}}
        schema: dict[Any, Any] = {"type": "object", "properties": members, "maxLength": 3}
        victim: Any = schema if place == "root" else members
        schema[Meddler(keyword, victim)] = {"type": "array", "items": {"minItems": 2}}
        convert(schema)


def test_lists_that_shrink() -> None:
    schema: dict[str, Any] = {"anyOf": []}
    branches: list[Any] = schema["anyOf"]
    branches += [{"type": "object", "properties": {f"n{k}": {"pattern": "x"}}} for k in range(200)]
    stop = threading.Event()

    def meddle() -> None:
        while not stop.is_set():
            kept = branches[:]
            branches.clear()
            for branch in kept:
                branch["properties"] = dict(branch["properties"])
            branches.extend(kept)

    thread = threading.Thread(target=meddle)
    thread.start()
    try:
        for _ in range(30):
            convert(schema)
    finally:
        stop.set()
        thread.join()
