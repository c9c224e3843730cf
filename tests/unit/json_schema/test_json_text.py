"""Reading JSON text: the native reader and the scanner that explains agree, and read exactly."""

from __future__ import annotations

import json
import random
from decimal import Decimal

import pytest

from maskwright._native import read_json
from maskwright.errors import GrammarSyntaxError
from maskwright.frontends.json_schema.json_text import _Scanner, parse_json

VALUES = [
    ("null", None),
    (" [ true , false ] ", [True, False]),
    ("0", 0),
    ("-0", 0),
    ("-12", -12),
    ("999999999999999999", 999999999999999999),
    ("-9223372036854775809", -9223372036854775809),
    ("1.50", Decimal("1.50")),
    ("1e5", Decimal("1e5")),
    ("-0.0", Decimal("-0.0")),
    ("[]", []),
    ("{}", {}),
    ('""', ""),
    ('{"": {"a": [1, {"b": 2}]}, "a": 3}', {"": {"a": [1, {"b": 2}]}, "a": 3}),
    (r'"\u0041\"\\\/\b\f\n\r\t"', 'A"\\/\b\f\n\r\t'),
    (r'"\ud83d\ude00"', "\U0001f600"),
    (r'"\ud83d\u0041"', "\ud83dA"),
    (r'"\ud83d"', "\ud83d"),
    (r'"\udE00x"', "\ude00x"),
    ('"é€\U0001f600"', "é€\U0001f600"),
    (r'{"\u0061b": 1, "cd": 2, "\u0065f": 3, "ab\n": 4}', {"ab": 1, "cd": 2, "ef": 3, "ab\n": 4}),
    ("1" + "0" * 5000, Decimal(10**5000)),
]

FAULTY = [
    "", " ", "nul", "nulll", "tru", "01", "-", "1.", ".5", "1e", "1e+", "+1", "NaN", "-Infinity",
    "[", "[1", "[1,", "[1,]", "[1 2]", "{", '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}',
    "{1:2}", '{"a" 1}', '"', '"a', '"\\', '"\\x"', '"\\u12"', '"\\u12G4"', '"\n"', '"\x00"', "1 2",
    "[1]]", '{"a":1,"a":2}', '[{"b":{},"b":{}}]', "\x00", "1\x00", "\ufeff1",
    '{"a\\u0062":1,"ab":2}',
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), VALUES, ids=range(len(VALUES)))
def test_values(text, value):
    # By repr: 1 is no 1.0, and the order of members counts.
    assert repr(read_json(text)) == repr(_Scanner(text).value()) == repr(value)


def test_any_depth():
    value = read_json("[" * 100_000 + "]" * 100_000)
    depth = 1
    while value:
        (value,) = value
        depth += 1
    assert depth == 100_000


@pytest.mark.parametrize("text", FAULTY)
def test_faults_are_found_by_both(text):
    with pytest.raises(ValueError, match=r"^the text is no plain JSON$"):
        read_json(text)
    with pytest.raises(GrammarSyntaxError):
        parse_json(text)


def test_an_exponent_that_no_decimal_holds():
    with pytest.raises(GrammarSyntaxError, match="out of range"):
        parse_json("1e" + "9" * 30)


def test_a_text_with_a_lone_surrogate_is_read():
    assert parse_json('{"\ud800": "\udfff"}') == {"\ud800": "\udfff"}


def test_keys_that_were_met_before_are_shared():
    first, second = read_json('[{"type": 1}, {"type": 2}]')
    assert next(iter(first)) is next(iter(second))


def test_random_changes_of_a_text_are_judged_alike():
    rng = random.Random(11)
    sample = '{"a": [1, -2.5e3, "x\\u00e9\\n", true], "b": {"c": null, "type": "é"}, "": 0}'
    alphabet = '{}[]",:\\u0123456789.eE+- \ntruefalsn\x01aé'
    agreed = 0
    for _ in range(4000):
        characters = list(sample)
        for _ in range(rng.randrange(1, 3)):
            at = rng.randrange(len(characters))
            characters[at : at + rng.randrange(2)] = rng.choice(alphabet)
        text = "".join(characters)
        try:
            expected = repr(_Scanner(text).value())
        except GrammarSyntaxError:
            with pytest.raises((ValueError, ArithmeticError)):
                read_json(text)
        else:
            assert repr(read_json(text)) == expected, text
            agreed += 1
    assert agreed > 100


def test_written_values_come_back():
    rng = random.Random(5)

    def value(depth):
        kind = rng.randrange(7 if depth else 5)
        if kind == 5:
            return [value(depth - 1) for _ in range(rng.randrange(4))]
        if kind == 6:
            return {text(): value(depth - 1) for _ in range(rng.randrange(4))}
        return [None, True, rng.randrange(-(10**20), 10**20), text(), False][kind]

    def text():
        return "".join(chr(rng.choice((34, 92, 10, 65, 233, 8364, 0x1F600))) for _ in range(3))

    for _ in range(300):
        written = value(4)
        assert read_json(json.dumps(written)) == written
        assert read_json(json.dumps(written, ensure_ascii=False, indent=1)) == written
