"""The shape of the lowered IR: what is joined, merged, kept as a counter or left out."""

from __future__ import annotations

import pytest
from regex_ir_matcher import IrMatcher

from maskwright.ir import nodes


def shape(pattern: str, *, search: bool = False, flags: str = ""):
    """Return the lowered expression as nested tuples."""
    matcher = IrMatcher(pattern, search=search, flags=flags)
    any_char = ((0, 0xD7FF), (0xE000, 0x10FFFF))

    def show(expr: int):
        node = matcher.program.exprs[expr]
        match node:
            case nodes.Empty():
                return ""
            case nodes.Literal():
                return node.data.decode()
            case nodes.CharClass():
                if node.ranges == any_char:
                    return "ANY"
                return [chr(lo) if lo == hi else f"{chr(lo)}-{chr(hi)}" for lo, hi in node.ranges]
            case nodes.Sequence():
                return ("seq", *map(show, node.items))
            case nodes.Choice():
                return ("or", *map(show, node.items))
            case nodes.Repeat():
                return ("rep", show(node.body), node.minimum, node.maximum)
            case nodes.LiteralSet():
                return {item.decode() for item in node.items}
            case nodes.Intersect():
                return ("and", *map(show, node.items))
            case nodes.Complement():
                return ("not", show(node.body))
        raise AssertionError(node)

    return show(matcher.root)


NO_WORD = ["\x00-/", ":-@", "[-^", "`", "{-\ud7ff", "\ue000-\U0010ffff"]
TEXT = ("rep", "ANY", 0, None)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("", ""),
        ("abc", "abc"),
        ("a(?:b)(c)d", "abcd"),
        ("a[b]\\u{63}", "abc"),
        ("[]", []),
        ("a[]b", []),
        ("a|b|[x-z]", ["a-b", "x-z"]),
        ("foo|bar|baz", {"foo", "bar", "baz"}),
        ("foo|a|bar|b", ("or", {"foo", "bar"}, ["a-b"])),
        ("foo|", ("rep", "foo", 0, 1)),
        ("(x{1,50}){1,50}", ("rep", ("rep", "x", 1, 50), 1, 50)),
        ("x{2147483646}", ("rep", "x", 2147483646, 2147483646)),
        ("x{0}", ""),
        ("ax{1}b", "axb"),
        ("(a*)*", ("rep", "a", 0, None)),
        ("(a?)+", ("rep", "a", 0, None)),
        ("(a+)?", ("rep", "a", 0, None)),
        ("abc+?", ("seq", "ab", ("rep", "c", 1, None))),
        ("a{,5}", "a{,5}"),
        ("a{", "a{"),
        ("x\\-]}", "x-]}"),
        ("(?P<n>a)(?P=n)(?#note)b", "aab"),
        ("\\Aab\\z", "ab"),
        ("\\Aab\\Z", "ab"),
        ("(?i:k)k", ("seq", ["K", "k", "\u212a"], "k")),
        ("(?<n>a)|(?<n>b)", ["a-b"]),
        ("a^b", []),
        ("(a)\\1", "aa"),
    ],
)
def test_whole_match(pattern, expected):
    assert shape(pattern) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("ab", ("seq", TEXT, "ab", TEXT)),
        ("^ab", ("seq", "ab", TEXT)),
        ("ab$", ("seq", TEXT, "ab")),
        ("^ab$", "ab"),
        ("^$", ""),
        ("", TEXT),
        ("a*", TEXT),
        ("^a*", TEXT),
        ("^|abc", TEXT),
        (".*ab.*", ("seq", TEXT, "ab", TEXT)),
        ("^(?:ab|cd)$", {"ab", "cd"}),
        ("^a|b$", ("or", ("seq", "a", TEXT), ("seq", TEXT, "b"))),
        ("(^|x)y", ("or", ("seq", TEXT, "xy", TEXT), ("seq", "y", TEXT))),
        (
            "^(?!x).$",
            ["\x00-\t", "\x0b-\x0c", "\x0e-w", "y-\u2027", "\u202a-\ud7ff", "\ue000-\U0010ffff"],
        ),
        ("^(?!foo)", ("not", ("seq", "foo", TEXT))),
        ("ab\\b", ("or", ("seq", TEXT, "ab", NO_WORD, TEXT), ("seq", TEXT, "ab"))),
    ],
)
def test_search(pattern, expected):
    assert shape(pattern, search=True) == expected


def test_flags():
    assert shape("a.", flags="s") == ("seq", "a", "ANY")
    assert shape("ab", flags="i") == ("seq", ["A", "a"], ["B", "b"])
    assert shape("(?i:ab)") == shape("ab", flags="i")
    assert shape("(?-i:a)b", flags="i") == ("seq", "a", ["B", "b"])
    assert shape("(?s:.)") == "ANY"


def test_surrogates_in_classes_are_dropped():
    assert shape("[a\\uD800-\\uDFFF]") == "a"
    assert shape("[^\\uD800-\\uDFFF]") == "ANY"
    assert shape("[\\uD83D\\uDE00-\\uD83D\\uDE02]") == ["😀-😂"]


def test_lookahead_shares_its_segments():
    lowered = IrMatcher("^(?=.*\\d)(?=.*[a-z])[a-z\\d]{3,5}$", search=True)
    assert len(lowered.program.exprs) < 25
