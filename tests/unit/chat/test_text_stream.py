"""Text that is handed on as it comes, and stop strings in it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest

from maskwright.chat.text_stream import TextStream


def _stopped(text: str, stops: Sequence[str], may_end=lambda _text: True) -> tuple[str, bool]:
    """By definition: what comes before the stop string that ends first, and whether one has."""
    ends = sorted(
        (begin + len(stop), begin)
        for stop in stops
        for begin in range(len(text))
        if text.startswith(stop, begin) and may_end(text[:begin])
    )
    return (text[: ends[0][1]], True) if ends else (text, False)


def _pieces(text: str, cuts: int) -> list[str]:
    """The text cut where the bits of a number say."""
    places = [i for i in range(1, len(text)) if cuts >> i & 1]
    return [text[a:b] for a, b in itertools.pairwise([0, *places, len(text)])]


@pytest.mark.parametrize(
    "stops", [["ab"], ["a"], ["aab"], ["aba", "bb"], ["b", "ab"], ["abab", "ba"]]
)
def test_every_text_in_every_cut(stops: list[str]) -> None:
    for letters in itertools.product("ab", repeat=6):
        text = "".join(letters)
        expected = _stopped(text, stops)
        for cuts in range(0, 1 << len(text), 2):
            stream = TextStream(stops)
            given = ""
            for piece in _pieces(text, cuts):
                given += stream.feed(piece.encode())
                assert expected[0].startswith(given)  # nothing too early
            given += stream.finish()
            assert (given, stream.stopped) == expected
            assert stream.text == given


def test_nothing_is_held_longer_than_it_must_be() -> None:
    stream = TextStream(["END"])
    handed_on = [stream.feed(piece) for piece in (b"one", b" E", b"N", b"T", b"EN")]
    assert handed_on == ["one", " ", "", "ENT", ""]
    assert stream.finish() == "EN"


def test_a_stop_string_where_the_text_may_not_end_is_text() -> None:
    for letters in itertools.product("ab", repeat=6):
        text = "".join(letters)
        for cuts in (0, 0b10, 0b101010, 0b111110, 0b100):
            stream = TextStream(["ab", "b"], lambda before: len(before) >= 3)
            given = "".join(stream.feed(piece.encode()) for piece in _pieces(text, cuts))
            given += stream.finish()
            expected = _stopped(text, ["ab", "b"], lambda before: len(before) >= 3)
            assert (given, stream.stopped) == expected


def test_code_points_come_whole() -> None:
    stream = TextStream()
    assert [stream.feed(bytes([byte])) for byte in "\u20acx".encode()] == ["", "", "\u20ac", "x"]


def test_a_stop_string_across_code_points_and_tokens() -> None:
    stream = TextStream(["\u20ac\u20ac"])
    data = "a\u20ac\u20acb".encode()
    assert "".join(stream.feed(bytes([byte])) for byte in data) == "a"
    assert stream.stopped
    assert stream.finish() == ""


def test_broken_utf_8_becomes_the_replacement_character() -> None:
    stream = TextStream()
    assert stream.feed(b"\xffa\xe2") == "\ufffda"
    assert stream.finish() == "\ufffd"
