"""xgrammar: all masks at compile time ("eager"), or at first use (`dynamic`)."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import json
from typing import TYPE_CHECKING, Any

from benchmarks.data import JSON_SCHEMA, REGEX
from benchmarks.engines.base import Session
from benchmarks.tokens import token_ids

if TYPE_CHECKING:
    from pathlib import Path


class XGrammar:
    """One vocabulary, and a compiler per source or one for all."""

    def __init__(
        self,
        path: Path,
        vocab_size: int,
        stop_token_id: int,
        *,
        shared: bool,
        dynamic: bool = False,
    ) -> None:
        self._lib = importlib.import_module("xgrammar")
        self.version = importlib.metadata.version("xgrammar")
        self._dynamic = dynamic
        model = json.loads(path.read_text(encoding="utf-8"))
        vocab = [""] * vocab_size
        for token, token_id in token_ids(model).items():
            vocab[token_id] = token
        kind = self._lib.VocabType.BYTE_LEVEL
        if "<0x0A>" in vocab:
            kind = self._lib.VocabType.BYTE_FALLBACK
        self._info = self._lib.TokenizerInfo(
            vocab, kind, vocab_size=vocab_size, stop_token_ids=[stop_token_id]
        )
        self._shared = self._new_compiler() if shared else None
        self._bitmask = self._lib.allocate_token_bitmask(1, vocab_size)
        self.row = self._bitmask.numpy()

    def _new_compiler(self) -> Any:
        return self._lib.GrammarCompiler(
            self._info, max_threads=1, enable_dynamic_compilation=self._dynamic
        )

    def forget(self) -> None:
        """Do nothing: what is read is not known to be kept outside of a compiler."""

    def open(self, source: str, kind: str = JSON_SCHEMA) -> Session:
        compiler = self._shared or self._new_compiler()
        if kind == JSON_SCHEMA:
            compiled = compiler.compile_json_schema(source, strict_mode=False)
        elif kind == REGEX:
            compiled = compiler.compile_regex(source)
        else:
            compiled = compiler.compile_grammar(source)
        matcher = self._lib.GrammarMatcher(compiled)
        fill = functools.partial(matcher.fill_next_token_bitmask, self._bitmask)
        return Session(fill, matcher.accept_token, matcher.reset)
