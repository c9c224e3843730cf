"""Maskwright through its public API, keys in any order, objects as the specification says."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.data import EBNF, JSON_SCHEMA, REGEX
from benchmarks.engines.base import Session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OPTIONS: dict[str, Any] = {"any_order": True, "strict_mode": False}


class Maskwright:
    """One vocabulary, and a compiler per source or one for all."""

    def __init__(self, path: Path, vocab_size: int, stop_token_id: int, *, shared: bool) -> None:
        self._lib = importlib.import_module("maskwright")
        self.version = importlib.metadata.version("maskwright")
        self._info = self._lib.TokenizerInfo.from_file(
            path, vocab_size=vocab_size, stop_token_ids=[stop_token_id]
        )
        # The first compiler of a vocabulary computes what all of them have in common.
        compiler = self._new_compiler()
        self._shared = compiler if shared else None
        self.row = np.zeros((1, (vocab_size + 31) // 32), dtype=np.int32)

    def _new_compiler(self) -> Any:
        return self._lib.GrammarCompiler(self._info, max_threads=1)

    def forget(self) -> None:
        if self._shared is None:
            importlib.import_module("maskwright.frontends.regex.kept").forget()

    def open(self, source: str, kind: str = JSON_SCHEMA) -> Session:
        compiler = self._shared or self._new_compiler()
        if kind == JSON_SCHEMA:
            compiled = compiler.compile_json_schema(source, **OPTIONS)
        elif kind == REGEX:
            compiled = compiler.compile_regex(source)
        else:
            compiled = compiler.compile_grammar(source)
        matcher = self._lib.GrammarMatcher(compiled)
        fill = functools.partial(matcher.fill_next_token_bitmask, self.row)
        return Session(fill, matcher.accept_token, matcher.reset)

    def split_compile(self, source: str, kind: str, clock: Callable[[], int]) -> tuple[int, int]:
        """Compile once more; return nanoseconds in the front-end and in the core."""
        grammar = self._lib.Grammar
        front_ends: dict[str, Callable[[str], Any]] = {
            JSON_SCHEMA: functools.partial(grammar.from_json_schema, **OPTIONS),
            REGEX: grammar.from_regex,
            EBNF: grammar.from_ebnf,
        }
        compiler = self._new_compiler()
        start = clock()
        built = front_ends[kind](source)
        middle = clock()
        compiler.compile_grammar(built)
        return middle - start, clock() - middle
