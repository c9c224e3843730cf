"""llguidance with its default slices; masks through the pointer call, its cheapest.

It has no compiler object: what grammars share hangs on the tokenizer, so that a shared compiler and
a new one are the same here.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.data import JSON_SCHEMA
from benchmarks.engines.base import RefusedError, Session

if TYPE_CHECKING:
    from pathlib import Path


class LLGuidance:
    """One tokenizer, a matcher per source."""

    def __init__(self, path: Path, vocab_size: int, stop_token_id: int, *, shared: bool) -> None:
        del shared
        self._lib = importlib.import_module("llguidance")
        self.version = importlib.metadata.version("llguidance")
        self._tokenizer = self._lib.LLTokenizer(
            str(path), n_vocab=vocab_size, eos_token=stop_token_id
        )
        self.row = np.zeros((1, (vocab_size + 31) // 32), dtype=np.int32)

    def forget(self) -> None:
        """Do nothing: what is read is not known to be kept outside of a compiler."""

    def open(self, source: str, kind: str = JSON_SCHEMA) -> Session:
        library = self._lib.LLMatcher
        read = library.grammar_from_json_schema
        if kind != JSON_SCHEMA:
            read = library.grammar_from_regex
        matcher = library(self._tokenizer, read(source), log_level=0)
        if matcher.is_error():
            raise RefusedError(matcher.get_error())
        session = self._session(matcher)

        def reset() -> None:
            # An error is for good: only a new matcher helps, and it starts without any cache.
            if matcher.is_error() or not matcher.reset():
                fresh = self.open(source, kind)
                session.fill, session.accept = fresh.fill, fresh.accept
                session.reset, session.problem = fresh.reset, fresh.problem

        session.reset = reset
        return session

    def _session(self, matcher: Any) -> Session:
        pointer, size = self.row.ctypes.data, self.row.nbytes
        fill = functools.partial(matcher.unsafe_compute_mask_ptr, pointer, size)
        return Session(fill, matcher.consume_token, matcher.reset, matcher.get_error)
