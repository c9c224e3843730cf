"""The parts of the reference on their own: UTF-8 ranges and regular terms."""

from __future__ import annotations

import random
import re

import pytest

from grammar_specs import all_words
from reference import intervals, utf8
from reference import regular as r

SIGMA = ((97, 98),)


def test_byte_sequences_hold_exactly_the_encodings():
    rng = random.Random(1)
    for _ in range(40):
        ends = sorted(rng.randrange(rng.choice([0x900, 0x11000, 0x110000])) for _ in range(4))
        wanted = intervals.normalise([(ends[0], ends[1]), (ends[2], ends[3])])
        sequences = utf8.byte_sequences(wanted)
        size = 0
        for sequence in sequences:
            n = 1
            for lo, hi in sequence:
                n *= hi - lo + 1
            size += n
        scalars = intervals.intersect(wanted, intervals.SCALARS)
        assert size == sum(hi - lo + 1 for lo, hi in scalars)
        for point in [rng.randrange(0xD800) for _ in range(100)] + ends:
            if 0xD800 <= point <= 0xDFFF:
                continue
            encoded = chr(point).encode()
            inside = any(
                len(s) == len(encoded)
                and all(lo <= b <= hi for b, (lo, hi) in zip(encoded, s, strict=True))
                for s in sequences
            )
            assert inside == intervals.contains(wanted, point)


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        (b"\xc3", ((0xC0, 0xFF),)),
        (b"\xe0", ((0x800, 0xFFF),)),
        (b"\xed", ((0xD000, 0xD7FF),)),
        (b"\xf0\x9f\x98", ((0x1F600, 0x1F63F),)),
        (b"\xf4", ((0x100000, 0x10FFFF),)),
        (b"\xc0", ()),
        (b"\xf5", ()),
    ],
)
def test_expected_after(prefix, expected):
    assert utf8.expected_after(prefix) == expected


def _random_term(rng: random.Random, depth: int) -> tuple[r.Term, str]:
    """A term and the same expression for ``re``."""
    kind = rng.randrange(6) if depth else rng.randrange(2)
    if kind == 0:
        letter = rng.choice("ab")
        return r.word(map(ord, letter)), letter
    if kind == 1:
        return r.char_class(SIGMA), "[ab]"
    left, left_text = _random_term(rng, depth - 1)
    if kind == 2:
        low, high = rng.choice([(0, None), (1, 2), (2, 3), (0, 1)])
        return r.repeat(left, low, high), f"(?:{left_text}){{{low},{'' if high is None else high}}}"
    right, right_text = _random_term(rng, depth - 1)
    if kind == 3:
        return r.alt([left, right]), f"(?:{left_text}|{right_text})"
    return r.cat(left, right), left_text + right_text


def test_derivatives_agree_with_re():
    rng = random.Random(2)
    words = [w.decode() for w in all_words("ab", 6)]
    for _ in range(150):
        term, text = _random_term(rng, 3)
        other, other_text = _random_term(rng, 2)
        first, second = re.compile(text), re.compile(other_text)
        neither = r.both([r.negate(term), r.negate(other)])
        both = r.both([term, other])
        for word in words:
            in_first, in_second = bool(first.fullmatch(word)), bool(second.fullmatch(word))
            symbols = list(map(ord, word))
            assert r.matches(term, symbols) == in_first, (text, word)
            assert r.matches(both, symbols) == (in_first and in_second), (text, other_text, word)
            assert r.matches(neither, symbols) == (not in_first and not in_second)
            if in_first and in_second:
                assert not r.is_empty(both, SIGMA)
        assert r.is_empty(r.both([term, r.negate(term)]), SIGMA)


def test_emptiness_knows_the_alphabet():
    term = r.cat(r.word(b"a"), r.word(b"c"))
    assert r.is_empty(term, SIGMA)
    assert not r.is_empty(term, ((97, 99),))
    assert not r.is_empty(r.both([term, r.negate(r.word(b"b"))]), ((97, 99),))
