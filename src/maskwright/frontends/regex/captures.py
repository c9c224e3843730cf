"""Open groups of a parse, and what is known of their captures.

Idea: captures do not matter for a language except to back references. A reference can be replaced
by a text when its group surely took part before it and can match that text only, so a frame keeps,
for the alternative being read, the groups that surely took part with a fixed text.
Cost: constant per group, plus the groups handed on to the enclosing frame.
Source: ECMA-262, "BackreferenceMatcher" and "Static Semantics: Early Errors" for duplicate names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import ast

if TYPE_CHECKING:
    from .ast import Node
    from .scanner import Scanner

_GROUPS = re.compile(r"\\.|\[(?:[^\]\\]|\\.)*\]|\((?:(?!\?)|\?P?<(?![=!])([^>]*)>)", re.DOTALL)


class Frame:
    """One open group, or the whole pattern.

    Attributes:
        kind: "pattern", "group" or a lookaround's name.
        start: Offset of the opening parenthesis.
        flags: Flags to restore when it closes.
        items: The sequence being read.
        capture: Number of the capturing group, or 0.
        names: Group names in the alternative being read, with their offsets.
        fixed: Groups that surely took part in this alternative, with the text they matched.
    """

    __slots__ = (
        "all_names",
        "capture",
        "common",
        "fixed",
        "flags",
        "items",
        "kind",
        "names",
        "options",
        "start",
    )

    def __init__(self, kind: str, start: int, flags: frozenset[str]) -> None:
        self.kind = kind
        self.start = start
        self.flags = flags
        self.items: list[Node] = []
        self.options: list[Node] = []
        self.capture = 0
        self.names: dict[str, int] = {}
        self.all_names: dict[str, int] = {}
        self.fixed: dict[int, str] = {}
        self.common: dict[int, str] | None = None

    def next_option(self) -> None:
        """End the alternative being read."""
        self.options.append(ast.concat(self.items))
        self.items = []
        self.all_names.update(self.names)
        self.names = {}
        if self.common is None:
            self.common = self.fixed
        else:
            here = self.fixed
            self.common = {g: text for g, text in self.common.items() if here.get(g) == text}
        self.fixed = {}

    def finish(self) -> Node:
        """End the group and return what it matches."""
        self.next_option()
        return ast.alternation(self.options)

    def merge_names(self, inner: Frame) -> tuple[str, int] | None:
        """Take over the names of a closed inner group; returns a clash and its offset."""
        names = inner.all_names
        if len(names) > len(self.names):
            names, self.names = self.names, names
        for name, offset in names.items():
            if name in self.names:
                return name, max(offset, self.names[name])
            self.names[name] = offset
        return None

    def settled(self, body: Node) -> dict[int, str]:
        """Return the groups that surely took part when this closed group did."""
        fixed = self.common or {}
        if self.capture and isinstance(body, ast.Text):
            fixed[self.capture] = body.value
        return fixed


class GroupNames:
    """Numbers and names of the capturing groups."""

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner
        self._named: dict[str, list[int]] = {}
        self._count = 0
        self._totals: tuple[int, frozenset[str]] | None = None

    def _scan(self) -> tuple[int, frozenset[str]]:
        if self._totals is None:
            count, names = 0, set()
            for match in _GROUPS.finditer(self._scanner.pattern):
                if match[0][0] == "(":
                    count += 1
                    if match[1] is not None:
                        names.add(match[1])
            self._totals = count, frozenset(names)
        return self._totals

    def group_count(self) -> int:
        """Return how many capturing groups the whole pattern has."""
        return self._scan()[0]

    def any_named(self) -> bool:
        """Tell whether any group of the whole pattern has a name."""
        return bool(self._scan()[1])

    def next_capture(self, name: str | None, offset: int) -> int:
        """Return the number of a group that opens here."""
        self._count += 1
        if name is not None:
            if not name.replace("$", "_").isidentifier():
                self._scanner.fail(
                    "bad-group-name",
                    f"{name!r} is no group name; use letters, digits and _, not a digit first",
                    offset,
                )
            self._named.setdefault(name, []).append(self._count)
        return self._count

    def lookup(self, name: str, offset: int) -> list[int]:
        """Return the numbers of the groups of this name that have opened so far."""
        if name not in self._named and name not in self._scan()[1]:
            self._scanner.fail("unknown-group", f"there is no group named {name!r}", offset)
        return self._named.get(name, [])
