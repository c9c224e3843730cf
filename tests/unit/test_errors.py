"""The error tree: classes, positions, carets, pickling."""

from __future__ import annotations

import copy
import pickle

import pytest

from maskwright import errors as e

SAMPLES = [
    e.MissingDependencyError("m", code="missing-dependency"),
    e.MaskwrightError("m", code="c"),
    e.GrammarError("m", code="c"),
    e.GrammarSyntaxError("m", code="c", source="ab\ncd", offset=4),
    e.UnsupportedFeatureError("m", code="c", feature="not", pointer="#/a"),
    e.InvalidSchemaError("m", code="c", pointer="#/a"),
    e.UnsatisfiableGrammarError("m", code="c", pointer="#"),
    e.MalformedIRError("m", offset=8),
    e.LimitExceededError("m", code="c", limit="max_x", value=3),
    e.TokenizerError("m", code="c"),
    e.InvalidJSONError("m", code="c"),
    e.DeserializeFormatError("m", code="c"),
    e.DeserializeVersionError("m", code="c"),
    e.BitmaskError("m", code="c"),
    e.MatcherError("m", code="c"),
    e.BatchError("m", code="c"),
    e.DiskCacheError("m", code="c"),
    e.DraftTreeError("m", code="c"),
    e.CompileTimeoutError("regex", 0.5),
]


def test_every_class_has_a_sample() -> None:
    assert {type(error).__name__ for error in SAMPLES} == set(e.__all__)


@pytest.mark.parametrize("error", SAMPLES, ids=lambda error: type(error).__name__)
def test_pickle_and_copy_keep_everything(error: e.MaskwrightError) -> None:
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(other) is type(error)
        assert str(other) == str(error)
        assert vars(other) == vars(error)


def test_bases() -> None:
    for error in SAMPLES:
        assert isinstance(error, e.MaskwrightError)
        no_runtime_error = type(error) in (
            e.MaskwrightError,
            e.MissingDependencyError,
            e.CompileTimeoutError,
        )
        is_plain = no_runtime_error or type(error) in (e.MatcherError, e.DiskCacheError)
        assert isinstance(error, ValueError) is not is_plain
        assert isinstance(error, TimeoutError) is (type(error) is e.CompileTimeoutError)
        assert isinstance(error, RuntimeError) is not no_runtime_error
    grammar = (error for error in SAMPLES if isinstance(error, e.GrammarError))
    grammar_errors = {type(error).__name__ for error in grammar}
    assert grammar_errors == {
        "GrammarError",
        "GrammarSyntaxError",
        "InvalidSchemaError",
        "MalformedIRError",
        "UnsatisfiableGrammarError",
        "UnsupportedFeatureError",
    }


def test_attributes() -> None:
    by_name = {type(error).__name__: vars(error) for error in SAMPLES}
    assert by_name["MalformedIRError"]["code"] == "ir-malformed"
    assert by_name["MalformedIRError"]["offset"] == 8
    assert (by_name["LimitExceededError"]["limit"], by_name["LimitExceededError"]["value"]) == (
        "max_x",
        3,
    )
    assert by_name["UnsupportedFeatureError"]["pointer"] == "#/a"
    assert by_name["InvalidSchemaError"]["pointer"] == "#/a"


@pytest.mark.parametrize(
    ("source", "offset", "position"),
    [
        ("abc", 0, (1, 1)),
        ("abc", 3, (1, 4)),
        ("abc", 99, (1, 4)),
        ("", 0, (1, 1)),
        ("a\nb", 1, (1, 2)),
        ("a\nb", 2, (2, 1)),
        ("a\r\nb", 1, (1, 2)),
        ("a\r\nb", 2, (1, 3)),
        ("a\r\nb", 3, (2, 1)),
        ("a\rb\r\rc", 5, (4, 1)),
        ("\U0001f600x", 1, (1, 2)),
        ("\n\n", 2, (3, 1)),
    ],
)
def test_locate(source: str, offset: int, position: tuple[int, int]) -> None:
    assert e.locate(source, offset) == position
    error = e.GrammarSyntaxError("m", code="c", source=source, offset=offset)
    assert (error.line, error.column) == position


def test_rendering() -> None:
    error = e.GrammarSyntaxError("bad thing", code="c", source="x\r\n\tab\0c\r\ny", offset=6)
    assert str(error) == "bad thing at line 2, column 4\n  \tab\ufffdc\n  \t  ^"
    assert error.message == "bad thing"


def test_rendering_without_source() -> None:
    error = e.GrammarSyntaxError("bad", code="c", line=3, column=7)
    assert str(error) == "bad at line 3, column 7"
    assert str(e.GrammarSyntaxError("bad", code="c")) == "bad"


@pytest.mark.parametrize("offset", [0, 30, 499, 970, 999, 1000])
def test_long_lines_are_clipped_around_the_caret(offset: int) -> None:
    source = "".join(chr(33 + i % 90) for i in range(1000))
    _, line, caret = str(e.GrammarSyntaxError("m", code="c", source=source, offset=offset)).split(
        "\n"
    )
    assert len(line) <= 110
    shown = line[caret.index("^")] if caret.index("^") < len(line) else ""
    assert shown == source[offset : offset + 1]
    assert line.startswith("  ...") == (offset > 50)


def test_unsupported_feature_in_a_text_points_at_it() -> None:
    error = e.UnsupportedFeatureError("m", code="c", feature="f", source="a\nbc", offset=3)
    assert error.pointer == "2:2"
    assert str(error) == "m at line 2, column 2\n  bc\n   ^"


def test_limit_in_a_text_points_at_it() -> None:
    error = e.LimitExceededError("m", code="c", limit="l", value=1, source="ab", offset=1)
    assert str(error) == "m at line 1, column 2\n  ab\n   ^"
