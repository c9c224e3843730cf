"""Settings of the process."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

import maskwright
from maskwright import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo, config


def test_the_depth_is_kept_and_put_back() -> None:
    assert config.get_max_recursion_depth() == 10_000
    with config.max_recursion_depth(7):
        assert maskwright.get_max_recursion_depth() == 7
        with suppress(KeyError), config.max_recursion_depth(1_000_000):
            assert config.get_max_recursion_depth() == 1_000_000
            raise KeyError
        assert config.get_max_recursion_depth() == 7
        config.set_max_recursion_depth(8)
        assert config.get_max_recursion_depth() == 8
    assert config.get_max_recursion_depth() == 10_000


@pytest.mark.parametrize(
    ("depth", "error", "message"),
    [
        (0, ValueError, "max_recursion_depth is 0; expected 1 to 1000000"),
        (1_000_001, ValueError, "max_recursion_depth is 1000001; expected 1 to 1000000"),
        (True, TypeError, "max_recursion_depth is a bool; expected an int"),
        ("5", TypeError, "max_recursion_depth is a str; expected an int"),
    ],
)
def test_bad_depths(depth: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message), config.max_recursion_depth(depth):
        pytest.fail("entered")
    assert config.get_max_recursion_depth() == 10_000


def test_nothing_recurses_as_deep_as_texts_are_nested() -> None:
    """So the depth has no effect, on grammars as on texts."""
    info = TokenizerInfo(["[", "]", ""], stop_token_ids=2)
    with config.max_recursion_depth(1):
        nested = "root ::= " + "(" * 4_000 + '"[" root? "]"' + ")" * 4_000
        pattern = "(?:" * 900 + "x|[[]" + ")" * 900
        for grammar in (Grammar.from_ebnf(nested), Grammar.from_regex(pattern)):
            compiled = GrammarCompiler(info).compile_grammar(grammar)
            assert GrammarMatcher(compiled).accept_string("[")
        matcher = GrammarMatcher(GrammarCompiler(info).compile_grammar(nested))
        assert matcher.accept_string("[" * 50_000 + "]" * 50_000)
        assert matcher.is_completed()
