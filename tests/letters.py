"""Matchers over five tokens, and arrays for them, for the tests of batches and draft trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo

TOKENS = ["a", "b", "ab", "c", "</s>"]
STOP = 4
COMPILER = GrammarCompiler(TokenizerInfo(TOKENS, stop_token_ids=STOP))
WIDE = GrammarCompiler(
    TokenizerInfo([*TOKENS[:4], *map(str, range(60)), "</s>"], stop_token_ids=64)
)
A, B, AB, C = (1 << k for k in range(4))
END = 1 << STOP
FREE = A | B | AB | C
UNTOUCHED = 0x5A5A5A5A
#: Links of a tree of three nodes without branches.
CHAIN = [1, 2, -1], [-1, -1, -1]
REGEXES = ("a[ab]*", "(ab)+", "[bc]{1,3}", "a?")
Arrays = dict[str, Any]


def matcher(regex: str = "a[ab]*c", **options: Any) -> GrammarMatcher:
    return GrammarMatcher(COMPILER.compile_regex(regex), **options)


def some_matchers() -> list[GrammarMatcher]:
    return [matcher(regex) for regex in REGEXES]


def mask(one: GrammarMatcher) -> int:
    row = np.zeros((1, 1), dtype=np.int32)
    one.fill_next_token_bitmask(row)
    return int(row[0, 0])


def array(values: Any, dtype: Any = np.int64) -> Any:
    return np.array(values, dtype=dtype)


def new_bitmask(rows: int = 6, words: int = 1) -> Any:
    return np.full((rows, words), UNTOUCHED, dtype=np.int32)


def changed(**changes: Any) -> Callable[[Arrays], None]:
    """A change to the arguments of a call."""
    return lambda arrays: arrays.update(changes)
