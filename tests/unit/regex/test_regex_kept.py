"""Patterns that are kept mean what they meant when they were read."""

from __future__ import annotations

import pytest

from maskwright.errors import GrammarSyntaxError
from maskwright.frontends.regex import kept, lower, search
from maskwright.ir import Builder
from maskwright.ir.printer import to_ebnf

PATTERNS = [
    "", "a", "^a$", r"^\d{3}-[a-f]+$", "(?:one|two|three)x*", r"^(?!no)\w+$", r"\p{Lu}", "[]",
    "^é{2,}", r"^(?=.*\d)[a-z\d]{8,}$",
]  # fmt: skip


def printed(write):
    builder = Builder()
    builder.literal(b"something before")
    root = builder.rule("root")
    builder.define(root, write(builder))
    return to_ebnf(builder.finish(root))


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(kept, "_kept", {})


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_kept_pattern_is_what_was_read(pattern):
    expected = printed(lambda builder: lower(builder, pattern, search=True))
    for _ in range(3):
        assert printed(lambda builder: search(builder, pattern)) == expected
    assert pattern in kept._kept


def test_what_was_not_used_for_longest_goes_first(monkeypatch):
    monkeypatch.setattr(kept, "_MAX_KEPT", 3)
    for pattern in ("a", "b", "c", "a", "d"):
        search(Builder(), pattern)
    assert list(kept._kept) == ["c", "a", "d"]


def test_large_patterns_are_not_kept(monkeypatch):
    monkeypatch.setattr(kept, "_MAX_BYTES", 100)
    search(Builder(), "a" * 200)
    assert not kept._kept


def test_a_faulty_pattern_is_faulty_each_time():
    for _ in range(2):
        with pytest.raises(GrammarSyntaxError):
            search(Builder(), "(")
    assert not kept._kept
