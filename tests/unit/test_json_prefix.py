"""Where a prefix of JSON text ends, and what is none."""

from __future__ import annotations

import json

import pytest

from maskwright.json_prefix import ends_in_string, pointer_of

VALUE = {
    "a": [1.5e-7, -0, 10, True, False, None, [], {}],
    "~/": {"": {'q"\\': "é\n\u2028"}},
    "b": [[0]],
}


@pytest.mark.parametrize("options", [{}, {"indent": 1}, {"ensure_ascii": False}])
def test_every_prefix_of_a_text_is_one(options):
    text = json.dumps(VALUE, **options)
    for end in range(len(text) + 1):
        assert pointer_of(text[:end]) is not None, text[:end]


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ("", "#"),
        (" 1", "#"),
        ('{"a', "#"),
        ('{"a"', "#"),
        ('{"a":', "#/a"),
        ('{"a":1', "#/a"),
        ('{"a":1,', "#"),
        ('{"a":1}', "#"),
        ('{"a":[1, ', "#/a/1"),
        ('{"a":[1, {"\\u0062":["}', "#/a/1/b/0"),
        ('{"~/":{"":"', "#/~0~1/"),
        ('[[],{},"]",', "#/3"),
    ],
)
def test_the_place(text, pointer):
    assert pointer_of(text) == pointer


@pytest.mark.parametrize(
    "text",
    [
        *("x", "tx", "truely", "nul,", "01", "1.,", "1.e", "--", "1e+,", "+1", ".5", "-a"),
        *("}", "[}", "{]", "[,", "[1,]", "{,", '{"a",', '{"a":}', '{"a":1,}', '{"a":1 "b"', "{1"),
        *("1 2", '"a" "b"', "[1]]", "1,", "1:", '{"a"::', '{"a":1:', "{:"),
        *('"\n', '"\x00"', '{"\\x":', '"\\u12g', '"\\u123"', '{"\n":', 'x"y":{"a":', "'a'"),
    ],
)
def test_no_json_text_begins_so(text):
    assert pointer_of(text) is None


def test_whether_the_end_is_in_a_string():
    for text, inside in (('"', True), ('"a\\"', True), ('"a\\\\"', False), ('{"a":"', True)):
        assert ends_in_string(text) == inside, text
