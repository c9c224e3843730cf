"""Anchors and lookarounds by accepted and refused texts, without an oracle installed."""

from __future__ import annotations

import itertools
import re

import pytest
from regex_ir_matcher import IrMatcher

TEXTS = ["".join(t) for n in range(6) for t in itertools.product("abc", repeat=n)]
SAME_IN_PYTHON = [
    *(
        "a(?=b)",
        "a(?=b).",
        "(?=b).",
        "c(?!ab)",
        "^(?!ab).*c$",
        "(?<=ab)c",
        "(?<!ab)c",
        "[ab]+(?<!ab)",
    ),
    *(
        "^(?=.*a)(?=.*b)[abc]{2,4}$",
        "(?=.*a).*(?<!c)$",
        "^(?:(?!ab)a|b)c",
        "a(?:b(?=c)|c)?",
        "\\ba",
    ),
    *(
        "a(?=b(?!c))",
        "(?<=(?<!a)b)c",
        "(?!^a)[ab]",
        "(?<!^)b",
        "(?=b$|c)",
        "^(?!(?:ab|ba)$)",
        "b\\B",
    ),
    *(
        "(?<=a)(?=b)",
        "(?<=a)b(?=c)",
        "a(?<=a)(?<!b)",
        "(^a|b)+c",
        "(a|b$)+",
        "^a|b$|c^",
        "(?!a)(?!b)",
    ),
    *("(?:(?=a)|b)c?", "(?:^|a)(?:b|$)", "((?:^a)|(?:b|$))+", "(?<=aa)b(?=ca)"),
]


@pytest.mark.parametrize("pattern", SAME_IN_PYTHON)
def test_as_python_re(pattern):
    search, whole = IrMatcher(pattern, search=True), IrMatcher(pattern, search=False)
    compiled = re.compile(pattern.replace("$", "\\Z"))
    for text in TEXTS:
        assert search.accepts(text) == bool(compiled.search(text)), (pattern, text)
        assert whole.accepts(text) == bool(compiled.fullmatch(text)), (pattern, text)


@pytest.mark.parametrize(
    ("pattern", "accept", "reject"),
    [
        ("(?!-0?$)-?\\d+", ["5", "-3", "-05"], ["-0", "-", "x"]),
        ("[a-z]+(?<!ing)", ["play", "i"], ["playing", "ing"]),
        ("(?=.*\\d)[a-z\\d]{3,5}", ["ab1", "12345"], ["abc", "1", "abcdef", "AB1"]),
        (
            "(?=.{1,5}$)((a{1,2}\\.){1,9}(?![0-9]*$)[a0]+\\.?)",
            ["a.a", "a.a0.", "aa.a"],
            ["a.0", "a"],
        ),
    ],
)
def test_whole_match(pattern, accept, reject):
    matcher = IrMatcher(pattern, search=False)
    assert [text for text in accept if not matcher.accepts(text)] == []
    assert [text for text in reject if matcher.accepts(text)] == []


def test_multiline_anchors():
    matcher = IrMatcher("^a$", search=True, flags="m")
    assert matcher.accepts("b\na\nb")
    assert matcher.accepts("a")
    assert matcher.accepts("b\u2028a")
    assert not matcher.accepts("ba\nab")


def test_whole_match_sees_nothing_outside():
    assert IrMatcher("\\ba\\b", search=False).accepts("a")
    assert not IrMatcher("a(?=b)", search=False).accepts("a")
    assert IrMatcher("a(?!b)", search=False).accepts("a")
