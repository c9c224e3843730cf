"""`format`: each one by texts of its own, and against independent judges where Python has them."""

from __future__ import annotations

import datetime as dt
import ipaddress
import json
from functools import cache
from random import Random

import pytest

from conformance.walks import Hints, Walk, WalkTokens, walk_vocabulary
from maskwright import Grammar, GrammarCompiler, GrammarMatcher
from maskwright.frontends.json_schema.formats import FORMATS
from maskwright.frontends.regex import lower, write_shared
from maskwright.ir import Builder

CASES = {
    "date": (
        ("2024-02-29", "2023-02-28", "2000-02-29", "0000-01-01", "9999-12-31"),
        ("2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01", "24-01-01", "2024-01-01\n", ""),
    ),
    "date-time": (
        ("2024-02-29T00:00:00Z", "2024-01-01t23:59:60z", "2024-01-01T12:00:00.123456789+05:45"),
        ("2024-02-30T00:00:00Z", "2024-01-01 00:00:00Z", "2024-01-01T00:00:00", "2024-01-01"),
    ),
    "time": (
        ("00:00:00Z", "23:59:59.9-23:59", "05:29:60.5+05:30", "15:59:60-08:00", "23:59:60-00:00"),
        ("24:00:00Z", "12:00:00", "12:00Z", "12:00:60Z", "15:59:60-09:00", "00:00:00.Z"),
    ),
    "duration": (
        ("P1Y2M3DT4H5M6S", "PT0S", "P3W", "P1M", "PT36H"),
        ("P", "PT", "P1Y3D", "P1W1D", "1D", "P1.5D", "PT1H2S"),
    ),
    "email": (
        ("a@b", "a.b+c@d-e.f", '"a b\\"@"@c.d', "x@[127.0.0.1]", "x@[IPv6:::1]"),
        ("a", "@b", "a@", ".a@b", "a..b@c", "a@b-", "a@b..c", "a b@c", "é@b", "x@[IPv6:1]"),
    ),
    "idn-email": (("ä.ö@ü.ß", "a@b", "😀@b"), ("@ä", "ä@", "ä..ö@b", "ä@-ö")),
    "hostname": (
        ("a", "A-1.b", "a--b", f"{'a' * 63}.b", ".".join(["a" * 61] * 4)),
        ("", "-a", "a-", "a..b", "a.", "a_b", "a" * 64, "xn--a", "b.XN--a", ".".join(["a"] * 128)),
    ),
    "idn-hostname": (
        ("a", "ä", "bücher。example", "日本", "a-ß", "привет.мир"),
        ("", "Ä", "-ä", "ä-", "a\u0308", "ä--b", "xn--a", "ä.xn--a", "א", "\u30fb"),
    ),
    "ipv4": (("0.0.0.0", "255.255.255.255"), ("256.0.0.0", "01.0.0.0", "1.2.3", "1.2.3.4.5")),
    "ipv6": (
        ("::", "1::", "::1", "1:2:3:4:5:6:7:8", "1::8", "::1.2.3.4", "1:2:3:4:5:6:1.2.3.4"),
        ("", ":", "1", ":::", "1::2::3", "1:2:3:4:5:6:7:8:9", "12345::", "::1.2.3.4:5", "fe80::%1"),
    ),
    "uri": (
        ("a:", "a:b", "http://a@b:1/c?d#e", "http://[::1]", "urn:x:y", "a://", "x:/a//b"),
        ("", "a", "/a", "a b:c", "a:%4", "a:\\", "http://[1]", "a:é", "a:#b#c", "http://a:b"),
    ),
    "uri-reference": (
        ("", "a", "//a", "?a", "#a", "./a:b", "a/b:c", "http://a"),
        (":a", "1:a", "a b", "%", "#a#b", "é", "a\\b"),
    ),
    "iri": (("http://ä/ö?\ue000#ü", "a:b"), ("ä", "a:\ue000", "a:\ufdd0", "a: ")),
    "iri-reference": (("ä", "", "#ü"), (":ä", "ä b", "#\ue000")),
    "uri-template": (
        ("", "a{b}", "{+a,b*}{?c:10}", "é{a.b}", "{%41}", "a'b"),
        ("{", "{}", "}", "{a,}", "{a:0}", "{a:12345}", "{a b}", "%", "a b", '"', "{a..b}"),
    ),
    "uuid": (
        ("2EB8AA08-aa98-11ea-b4aa-73b441d16380",),
        ("2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638g", ""),
    ),
    "json-pointer": (("", "/", "/a~0~1", "//", "/é\n"), ("a", "~", "/~", "/~2", "#/a")),
    "relative-json-pointer": (("0", "10#", "1/a"), ("", "01", "/a", "-1", "0#/a", "0~")),
    "regex": (
        ("", "a|b", "^[a-z]+\\d{2,}$", "((a)?b)*", "(?:[^a]|\\.)+?", "(?!a)\\b\\u00e9\\cA", "[]"),
        ("(", ")", "a**", "[", "]", "\\", "{", "a{2,1}", "[z-a]", "\\q", "(?<n>a", "^*", "\\8"),
    ),
}  # fmt: skip

#: States of the automaton over code points at most, so that masks stay cheap to find.
MOST_STATES = {"iri-reference": 1200, "uri-reference": 1200, "date-time": 800, "time": 800}


@cache
def compiled(name):
    compiler = GrammarCompiler(walk_vocabulary(), cache_enabled=False)
    return compiler.compile_json_schema({"type": "string", "format": name})


def accepts(name, text):
    matcher = GrammarMatcher(compiled(name))
    return matcher.accept_string(json.dumps(text)) and matcher.is_completed()


def test_every_format_has_cases():
    assert set(CASES) == set(FORMATS)


@pytest.mark.parametrize("name", CASES)
def test_texts(name):
    valid, invalid = CASES[name]
    for text in valid:
        assert accepts(name, text), text
    for text in invalid:
        assert not accepts(name, text), text


@pytest.mark.parametrize("name", FORMATS)
def test_narrowing_is_certified(name):
    narrowed = compiled(name).certificate.narrowed
    entries = [entry for entry in narrowed if entry.startswith("format")]
    reason = FORMATS[name].narrowed
    assert entries == ([] if reason is None else [f"format {name}: {reason}"])


def _is_date(text):
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def test_every_day_of_the_calendar_around_leap_years():
    for year in (1896, 1900, 1999, 2000, 2023, 2024, 2100, 2400):
        for month in range(14):
            for day in (0, 1, 28, 29, 30, 31, 32):
                text = f"{year}-{month:02}-{day:02}"
                assert accepts("date", text) == _is_date(text), text


def test_leap_seconds_are_those_of_utc():
    for hour in range(24):
        for minute in (0, 29, 30, 58, 59):
            for offset in range(-1410, 1411, 30):
                sign = "-" if offset < 0 else "+"
                shown = f"{sign}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
                text = f"{hour:02}:{minute:02}:60{shown}"
                in_utc = (hour * 60 + minute - offset) % 1440
                assert accepts("time", text) == (in_utc == 1439), text


def _is_address(kind, text):
    try:
        kind(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    ("name", "kind", "alphabet"),
    [
        ("ipv4", ipaddress.IPv4Address, ("0", "1", "9", "25", "255", "256", ".", ".", ".")),
        ("ipv6", ipaddress.IPv6Address, ("1", "aF", "12345", ":", ":", "::", "1.2.3.4", "0")),
    ],
)
def test_addresses_against_the_standard_library(name, kind, alphabet):
    rng = Random(7)
    seen = set()
    for _ in range(4000):
        text = "".join(rng.choices(alphabet, k=rng.randrange(1, 18)))
        expected = _is_address(kind, text)
        seen.add(expected)
        assert accepts(name, text) == expected, text
    assert seen == {True, False}


def texts_of(name, count, *, ascii_only):
    schema = {"type": "string", "format": name}
    tokens = WalkTokens(compiled(name).tokenizer_info)
    for seed in range(count):
        walk = Walk(compiled(name), tokens, Random(seed), Hints(schema), ascii_only=ascii_only)
        walk.run()
        assert walk.problem is None
        if not walk.unfinished:
            yield json.loads(walk.text)


def test_walks_in_regex_are_patterns():
    found = list(texts_of("regex", 300, ascii_only=True))
    assert len(found) > 200
    for text in found:
        lower(Builder(), text, search=True, flags="u")


def test_labels_of_internationalised_hosts_fit_their_punycode_form():
    found = list(texts_of("idn-hostname", 200, ascii_only=False))
    assert any(not text.isascii() for text in found)
    worst = ["一龥" * 4 + "一", "龥" * 9, "a힣" * 4 + "b"]
    for text in [*found, *worst]:
        assert accepts("idn-hostname", text)
        dotted = text.translate(dict.fromkeys(map(ord, "。．｡"), "."))
        labels = [
            label if label.isascii() else f"xn--{label.encode('punycode').decode()}"
            for label in dotted.split(".")
        ]
        assert all(len(label) <= 63 for label in labels), text
        assert len(".".join(labels)) <= 253, text


@pytest.mark.parametrize("name", FORMATS)
def test_automata_are_small(name):
    found = FORMATS[name]
    builder = Builder()
    anything = builder.repeat(builder.char_class([(0, 0x10FFFF)]), 0, None)
    parts = [write_shared(builder, found.pattern), anything]
    if found.excluded is not None:
        parts.append(builder.complement(write_shared(builder, found.excluded)))
    root = builder.rule("root")
    # An intersection at the top is built in full, under the limit on its states.
    builder.define(root, builder.intersect(parts))
    limit = MOST_STATES.get(name, 600)
    compiler = GrammarCompiler(walk_vocabulary(), max_lang_states=limit)
    compiler.compile_grammar(Grammar(builder.finish(root)))


def test_a_format_is_written_once():
    one = Grammar.from_json_schema({"items": {"format": "uri"}}).ir
    schema = {"properties": {f"p{i}": {"format": "uri"} for i in range(50)}}
    many = Grammar.from_json_schema(schema).ir
    assert len(many) < len(one) + 50 * 60


def test_where_it_is_no_assertion():
    for schema, options in (
        ({"format": "date"}, {"assert_format": False}),
        ({"type": "integer", "format": "date"}, {}),
        ({"format": "int32"}, {}),
    ):
        certificate = Grammar.from_json_schema(schema, **options).certificate
        assert certificate.ignored == ("#/format",)


def test_a_format_says_nothing_about_other_types():
    matcher = GrammarMatcher(
        GrammarCompiler(walk_vocabulary()).compile_json_schema({"format": "date"})
    )
    assert matcher.accept_string("5")
    assert matcher.is_completed()
