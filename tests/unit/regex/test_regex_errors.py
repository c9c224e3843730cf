"""Every error code of the regex front-end: what triggers it, where it points, what it says."""

from __future__ import annotations

import pytest
from regex_ir_matcher import IrMatcher

from maskwright import Grammar, GrammarCompiler, TokenizerInfo
from maskwright.errors import (
    GrammarError,
    GrammarSyntaxError,
    LimitExceededError,
    UnsatisfiableGrammarError,
    UnsupportedFeatureError,
)
from maskwright.frontends.regex import RegexLimits, lower
from maskwright.ir import Builder

SYNTAX = [
    ("*a", "", "nothing-to-repeat", 0, "nothing that * could repeat"),
    ("a**", "", "nothing-to-repeat", 2, "nothing that * could repeat"),
    ("a|{2}", "", "nothing-to-repeat", 2, "nothing that { could repeat"),
    ("^*", "", "nothing-to-repeat", 1, "nothing that * could repeat"),
    ("x(?<=a)?", "", "nothing-to-repeat", 7, "nothing that ? could repeat"),
    ("ab[cd", "", "unterminated-class", 2, "no closing ]"),
    ("a(b(c)", "", "unterminated-group", 1, "no closing )"),
    ("a(?#b", "", "unterminated-group", 1, "comment has no closing )"),
    ("a)b", "", "unmatched-paren", 1, "closes no group"),
    ("ab\\", "", "trailing-backslash", 2, "ends in a backslash"),
    ("a\\-", "u", "bad-escape", 1, "\\- is no escape"),
    ("\\u{zz}", "", "bad-escape", 0, "expected \\uHHHH"),
    ("\\1", "u", "bad-escape", 0, "groups that do not exist"),
    ("[z-a]", "", "reversed-range", 1, "z-a"),
    ("[\\d-z]", "u", "bad-range", 1, "end of a range"),
    ("a{2,1}", "", "reversed-quantifier", 1, "{2,1} has its bounds reversed"),
    ("x\\p{Nope}", "", "unknown-property", 1, "unknown Unicode property"),
    ("\\p{Script=Nope}", "", "unknown-property", 0, "unknown value 'Nope'"),
    ("\\p{Nope=L}", "", "unknown-property", 0, "General_Category"),
    ("\\pL", "", "bad-property", 0, "expected \\p{Name}"),
    ("\\u{110000}", "", "code-point-range", 0, "end at \\u{10FFFF}"),
    ("a\\uD800b", "", "lone-surrogate", 1, "half of a surrogate pair"),
    ("[\\uD800-\\uDBFF]", "", "lone-surrogate", 0, "half of a surrogate pair"),
    ("a\ud800", "", "lone-surrogate", 1, "half of a surrogate pair"),
    ("a{", "u", "unescaped-bracket", 1, "write \\{"),
    ("(?y)", "", "unsupported-inline-flag", 0, "no inline flag y"),
    ("(?*a)", "", "bad-group", 0, "expected (?:...)"),
    ("(?-:a)", "", "bad-group", 0, "expected (?:...)"),
    ("(?i)yes|no", "", "inline-flags", 0, "write (?i:...)"),
    ("a(?i)b", "", "inline-flags", 1, "write (?i:...)"),
    ("(?ii:a)", "", "bad-flag", 0, "stands twice"),
    ("a", "x", "bad-flag", 0, "use each of i, m, s, u"),
    ("a", "ii", "bad-flag", 0, "at most once"),
    ("(?<1>a)", "", "bad-group-name", 0, "'1' is no group name"),
    ("(?<n>a)(?<n>b)", "", "duplicate-name", 7, "name n is taken"),
    ("(?<n>a)(?:b|(?<n>b))", "", "duplicate-name", 12, "name n is taken"),
    ("(?<n>a)\\k<m>", "", "unknown-group", 7, "no group named 'm'"),
    ("(?<n>a)\\k", "", "bad-reference", 7, "expected \\k<name>"),
]
UNSUPPORTED = [
    ("(a*)\\1", "back reference", 4, "spell the repeated part out"),
    ("(?:(a)|b)\\1", "back reference", 9, "always takes part"),
    ("(a)?\\1", "back reference", 4, "always takes part"),
    ("\\1(a)", "back reference", 0, "before it"),
    ("(a\\1)", "back reference", 2, "before it"),
    ("a++", "possessive quantifier", 1, "use +"),
    ("a{2}+", "possessive quantifier", 1, "use {2}"),
    ("(?>a)", "atomic group", 0, "use (?:...)"),
    ("(?|a|b)", "branch reset group", 0, "use (?:...)"),
    ("(?(1)a|b)", "conditional group", 0, "as alternatives"),
    ("(?R)", "recursion", 0, "use a grammar"),
    ("(?1)", "recursion", 0, "use a grammar"),
    ("(?P>n)", "recursion", 0, "use a grammar"),
    ("(?&n)", "recursion", 0, "use a grammar"),
    ("(?x)a", "inline flag", 0, "no inline flag x"),
    ("a\\h", "letter escape", 1, "write [ \\t]"),
    ("[\\Qa]", "letter escape", 1, "quoted text"),
    ("[[:alpha:]]", "POSIX class", 1, "[:alpha:]"),
    ("(a(?=b))*", "lookahead", 2, "inside a repetition"),
    ("(?:a(?!bc))+", "negative lookahead", 4, "inside a repetition"),
    ("(?:(?<=ab)c)*", "lookbehind", 3, "inside a repetition"),
    ("(?:(?<!b)c)*", "negative lookbehind", 3, "inside a repetition"),
    ("(a\\b)*", "word boundary", 2, "inside a repetition"),
    ("a(?=.*b)c*(?<=d.*e)f", "lookbehind", 10, "over another assertion's text"),
]


# What ECMA-262 (Annex B) reads in silence, and other dialects otherwise; and a text of its reading.
AMBIGUOUS = [
    ("a{,3}", "open quantifier", 1, "write {0,3} for the count, \\{,3} for the text", "a{,3}"),
    ("a{,}b", "open quantifier", 1, "write {0,} for the count, \\{,} for the text", "a{,}b"),
    ("(?:a|{,3})", "open quantifier", 5, "{0,3}", "{,3}"),
    ("b[]a]", "empty class", 1, "[] matches nothing; in Python and PCRE the ] is a", None),
    ("b[^]a]", "empty class", 1, "[^] is any character, write [\\s\\S]; in Python", "bxa]"),
    ("[a-z&&[^b]]", "class intersection", 4, "write one & for the character", "a]"),
    ("a\\x{3}", "letter escape", 1, "two digits, or \\u{H...}", "axxx"),
    ("\\x4", "letter escape", 0, "two digits, or \\u{H...}", "x4"),
    ("\\u12", "letter escape", 0, "four digits, or \\u{H...}", "u12"),
    ("\\c1", "letter escape", 0, "\\cA to \\cZ", "\\c1"),
    ("\\g1", "letter escape", 0, "\\1 or \\k<name>", "g1"),
    ("\\k<n>", "letter escape", 0, "there is none: (?<name>...)", "k<n>"),
    ("[\\d-a]", "class range", 1, "escape the hyphen, \\-", "-"),
    ("[a-\\d]", "class range", 1, "escape the hyphen, \\-", "-"),
    ("[\\w-\\d]", "class range", 1, "escape the hyphen, \\-", "-"),
    ("[\\c1]", "letter escape", 1, "write \\x11 for it", "\x11"),
    ("[\\c_]", "letter escape", 1, "write \\x1F for it", "\x1f"),
    ("[b\\y]", "letter escape", 2, "write y for the letter", "y"),
    ("(a)\\2", "octal escape", 3, "there is no group 2", "a\x02"),
    ("[\\1]", "octal escape", 1, "there is no group 1", "\x01"),
    ("\\12", "octal escape", 0, "write \\xHH for a character", "\n"),
    ("\\8", "octal escape", 0, "there is no group 8", "8"),
]


@pytest.mark.parametrize(("pattern", "feature", "offset", "text", "sample"), AMBIGUOUS)
def test_what_dialects_read_in_different_ways(pattern, feature, offset, text, sample):
    with pytest.raises(UnsupportedFeatureError) as caught:
        Grammar.from_regex(pattern)
    error = caught.value
    assert (error.feature, error.offset) == (feature, offset)
    assert error.code == f"regex-unsupported-{feature.replace(' ', '-')}"
    assert text in error.message
    as_pattern = IrMatcher(pattern, search=False)  # in a schema it is that of ECMA-262
    assert sample is None or as_pattern.accepts(sample)
    assert Grammar.from_json_schema({"pattern": pattern})


@pytest.mark.parametrize(
    ("pattern", "accepted", "refused"),
    [
        ("(?i:a)\\Z", "A", "B"),
        ("(?si:a.)", "A\n", "b\n"),
        ("\\A(?P<n>a)(?P=n)\\z", "aa", "a"),
        ("(?#x)a{0,3}", "aaa", "a{,3}"),
        ("\\{,3}", "{,3}", ""),
        ("[{,3}]", ",", ""),
        ("[&]&&", "&&&", "&&"),
        ("[\\d-]", "-", "a"),
        ("[\\cA]", "\x01", "c"),
        ("[\\]a]", "]", "[]"),
        ("\\012\\101\\0", "\nA\0", ""),
        ("(a)\\1\\x41\\u0042\\cJ", "aaAB\n", ""),
        ('\\-\\ \\"\\_\\\u00e9', '- "_\u00e9', ""),
    ],
)
def test_what_dialects_read_alike(pattern, accepted, refused):
    matcher = IrMatcher(pattern, search=False, any_dialect=True)
    assert Grammar.from_regex(pattern)
    assert matcher.accepts(accepted)
    assert not matcher.accepts(refused)


@pytest.mark.parametrize(
    ("pattern", "advice"),
    [
        ("a(?i)b", "write (?i:...) around the part it is for"),
        ("(?i)a|b", "write (?i:...) around the whole pattern"),
        ("(?-i)a", "write (?-i:...) around the whole pattern"),
        ("(?x)a", "no inline flag x; take comments and free spacing out of the pattern"),
        ("(?a)a", "no inline flag a; \\d, \\w and \\b are about ASCII already"),
        ("(?u)a", "no inline flag u; \\d and \\w are about ASCII: write \\p{Nd} and [\\p{L}"),
        ("(?L)a", "no inline flag L; use i, m, s"),
    ],
)
def test_inline_flags_that_are_refused(pattern, advice):
    with pytest.raises(GrammarError) as caught:
        Grammar.from_regex(pattern)
    assert advice in str(caught.value)


@pytest.mark.parametrize(("pattern", "flags", "code", "offset", "text"), SYNTAX)
def test_syntax_error(pattern, flags, code, offset, text):
    expected = UnsupportedFeatureError if code.startswith("unsupp") else GrammarSyntaxError
    with pytest.raises(expected) as caught:
        lower(Builder(), pattern, search=True, flags=flags)
    error = caught.value
    assert error.code == f"regex-{code}"
    assert error.offset == offset
    assert text in error.message
    assert f"column {offset + 1}" in str(error)
    assert str(error).endswith("^")


@pytest.mark.parametrize(("pattern", "feature", "offset", "text"), UNSUPPORTED)
def test_unsupported_feature(pattern, feature, offset, text):
    with pytest.raises(UnsupportedFeatureError) as caught:
        lower(Builder(), pattern, search=True)
    error = caught.value
    assert error.feature == feature
    assert error.code == f"regex-unsupported-{feature.replace(' ', '-')}"
    assert error.offset == offset
    assert error.pointer == f"1:{offset + 1}"
    assert text in error.message


def test_multiline_anchor_in_a_repetition_is_refused():
    with pytest.raises(UnsupportedFeatureError) as caught:
        lower(Builder(), "(^a\\n)*", search=True, flags="m")
    assert caught.value.code == "regex-unsupported-multiline-anchor"
    assert caught.value.offset == 1


@pytest.mark.parametrize("count", [2**31 - 1, 10**30])
def test_repeat_count_limit(count):
    lower(Builder(), f"a{{0,{2**31 - 2}}}", search=False)
    with pytest.raises(LimitExceededError) as caught:
        lower(Builder(), f"a{{{count}}}", search=False)
    assert (caught.value.code, caught.value.limit) == ("regex-repeat-count", "max_repeat")
    assert caught.value.value == 2**31 - 2
    assert caught.value.offset == 1


def test_nesting_limit():
    lower(Builder(), "(" * 1000 + "a" + ")" * 1000, search=True)
    with pytest.raises(LimitExceededError) as caught:
        lower(Builder(), "(" * 1001 + "a" + ")" * 1001, search=True)
    assert (caught.value.code, caught.value.limit) == ("regex-nesting", "max_nesting")
    assert caught.value.offset == 1000


def test_deep_nesting_needs_no_recursion():
    limits = RegexLimits(max_nesting=50_000)
    pattern = "(?:^a|b" * 50_000 + ")*" * 50_000
    lower(Builder(), pattern, search=True, limits=limits)


def test_pattern_length_limit():
    limits = RegexLimits(max_pattern_length=10)
    lower(Builder(), "a" * 10, search=True, limits=limits)
    with pytest.raises(LimitExceededError) as caught:
        lower(Builder(), "a" * 11, search=True, limits=limits)
    assert caught.value.code == "regex-pattern-too-long"
    assert "max_pattern_length = 10" in str(caught.value)


def test_lookaround_path_limit():
    with pytest.raises(LimitExceededError) as caught:
        lower(Builder(), "(a|\\bb|c\\b)" * 12, search=True)
    assert caught.value.code == "regex-lookaround-paths"
    assert caught.value.limit == "max_lookaround_paths"


@pytest.mark.parametrize(
    "pattern", ["(" * 5000, "[" * 5000, "a" * 20000 + "(", "(?:a" * 900, "\\" * 9999]
)
def test_hostile_texts_end_in_an_error(pattern):
    with pytest.raises((GrammarSyntaxError, LimitExceededError)):
        lower(Builder(), pattern, search=True)


def test_a_pattern_without_a_text_is_told_as_a_pattern():
    tokenizer = TokenizerInfo([b"a", b"b", b""], stop_token_ids=2)
    compiler = GrammarCompiler(tokenizer)
    for pattern in ("(?=a)b", "c"):
        with pytest.raises(UnsatisfiableGrammarError, match="matches the pattern; ") as caught:
            compiler.compile_regex(pattern)
        assert caught.value.code == "grammar-unsatisfiable"
        assert "rule" not in str(caught.value)
        with pytest.raises(UnsatisfiableGrammarError, match="matches the pattern"):
            compiler.submit("regex", pattern).result()
