"""Schemas that change while they are converted, or are made anew each time they are looked at.

What comes out is not said; the process lives, and what is refused is refused by an error of ours.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import ItemsView
from typing import TYPE_CHECKING, Any

import pytest

from maskwright import Grammar
from maskwright.errors import MaskwrightError

if TYPE_CHECKING:
    from typing_extensions import Self

DEPTH = 60  # more than is converted in one recursion


class Fresh(dict[str, Any]):
    """Its items are new objects each time, and nobody else holds them."""

    def items(self) -> ItemsView[str, Any]:
        depth = self["depth"]
        names = [f"member{k}-{depth}" for k in range(3)]
        inner: Any = Fresh(depth=depth - 1) if depth else {"type": "integer"}
        made = {
            "type": "object",
            "properties": {name: {"enum": [f"{name}x"]} for name in names},
            "allOf": [{"required": [names[0]]}, {"additionalProperties": inner}],
        }
        gc.collect(0)
        return made.items()


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


def test_objects_that_nobody_else_holds() -> None:
    for _ in range(5):
        convert(Fresh(depth=DEPTH))


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
