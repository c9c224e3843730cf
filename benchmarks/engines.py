"""One adapter per engine: schema text in, a session with mask, accept and reset out.

An adapter imports its library when it is made, which happens only in that engine's own subprocess
(worker.py). The callables of a session are the cheapest public ones the library has, bound once:
what is timed is the library's own call and nothing of ours.

Each engine runs with the options nearest to the same task: a JSON text with free whitespace,
objects open unless the schema closes them, one thread, and a new compiler for each schema.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from benchmarks.tokens import token_ids

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class RefusedError(Exception):
    """The engine said that it does not support the schema."""


@dataclass
class Session:
    """A matcher at the start of a text.

    Attributes:
        fill: Computes the mask into the worker's row; False: every token is allowed.
        accept: Takes a token id; False: refused.
        reset: Goes back to the start, keeping what was computed; may replace `fill` and `accept`.
        problem: Returns a message if the engine has given up on this text, else "".
    """

    fill: Callable[[], Any]
    accept: Callable[[int], bool]
    reset: Callable[[], Any]
    problem: Callable[[], str] = str


class Engine(Protocol):
    """A library with a vocabulary loaded."""

    version: str
    row: Any  # numpy int32 view of the row that sessions fill

    def open(self, schema: str) -> Session:
        """Compile a schema with a new compiler and make a matcher; raise if it is refused."""


class Maskwright:
    """Maskwright through its public API, keys in any order, objects as the specification says."""

    def __init__(self, path: Path, vocab_size: int, stop_token_id: int) -> None:
        self._lib = importlib.import_module("maskwright")
        self.version = importlib.metadata.version("maskwright")
        self._info = self._lib.TokenizerInfo.from_file(
            path, vocab_size=vocab_size, stop_token_ids=[stop_token_id]
        )
        self.row = np.zeros((1, (vocab_size + 31) // 32), dtype=np.int32)

    def open(self, schema: str) -> Session:
        compiler = self._lib.GrammarCompiler(self._info, max_threads=1)
        compiled = compiler.compile_json_schema(schema, any_order=True, strict_mode=False)
        matcher = self._lib.GrammarMatcher(compiled)
        fill = functools.partial(matcher.fill_next_token_bitmask, self.row)
        return Session(fill, matcher.accept_token, matcher.reset)


class LLGuidance:
    """llguidance with its default slices; masks through the pointer call, its cheapest."""

    def __init__(self, path: Path, vocab_size: int, stop_token_id: int) -> None:
        self._lib = importlib.import_module("llguidance")
        self.version = importlib.metadata.version("llguidance")
        self._tokenizer = self._lib.LLTokenizer(
            str(path), n_vocab=vocab_size, eos_token=stop_token_id
        )
        self.row = np.zeros((1, (vocab_size + 31) // 32), dtype=np.int32)

    def open(self, schema: str) -> Session:
        grammar = self._lib.LLMatcher.grammar_from_json_schema(schema)
        matcher = self._lib.LLMatcher(self._tokenizer, grammar, log_level=0)
        if matcher.is_error():
            raise RefusedError(matcher.get_error())
        session = self._session(matcher)

        def reset() -> None:
            # An error is for good: only a new matcher helps, and it starts without any cache.
            if matcher.is_error() or not matcher.reset():
                fresh = self.open(schema)
                session.fill, session.accept = fresh.fill, fresh.accept
                session.reset, session.problem = fresh.reset, fresh.problem

        session.reset = reset
        return session

    def _session(self, matcher: Any) -> Session:
        pointer, size = self.row.ctypes.data, self.row.nbytes
        fill = functools.partial(matcher.unsafe_compute_mask_ptr, pointer, size)
        return Session(fill, matcher.consume_token, matcher.reset, matcher.get_error)


class XGrammar:
    """xgrammar: all masks at compile time ("eager"), or at first use (`dynamic`)."""

    def __init__(
        self, path: Path, vocab_size: int, stop_token_id: int, *, dynamic: bool = False
    ) -> None:
        self._lib = importlib.import_module("xgrammar")
        self.version = importlib.metadata.version("xgrammar")
        self._dynamic = dynamic
        model = json.loads(path.read_text(encoding="utf-8"))
        vocab = [""] * vocab_size
        for token, token_id in token_ids(model).items():
            vocab[token_id] = token
        kind = self._lib.VocabType.BYTE_LEVEL
        if any(token == "<0x0A>" for token in vocab):
            kind = self._lib.VocabType.BYTE_FALLBACK
        self._info = self._lib.TokenizerInfo(
            vocab, kind, vocab_size=vocab_size, stop_token_ids=[stop_token_id]
        )
        self._bitmask = self._lib.allocate_token_bitmask(1, vocab_size)
        self.row = self._bitmask.numpy()

    def open(self, schema: str) -> Session:
        compiler = self._lib.GrammarCompiler(
            self._info, max_threads=1, enable_dynamic_compilation=self._dynamic
        )
        compiled = compiler.compile_json_schema(schema, strict_mode=False)
        matcher = self._lib.GrammarMatcher(compiled)
        fill = functools.partial(matcher.fill_next_token_bitmask, self._bitmask)
        return Session(fill, matcher.accept_token, matcher.reset)


ENGINES: dict[str, Callable[[Path, int, int], Engine]] = {
    "maskwright": Maskwright,
    "llguidance": LLGuidance,
    "xgrammar": XGrammar,
    "xgrammar-dynamic": functools.partial(XGrammar, dynamic=True),
}
DEFAULT_ENGINES = ("maskwright", "llguidance", "xgrammar")
