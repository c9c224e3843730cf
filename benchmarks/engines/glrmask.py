"""glrmask in its documented ways to compute masks.

`static` builds an automaton of all masks at compile time, `trie` walks the vocabulary at each mask,
`merged` does so over tokens that the grammar does not tell apart; `merged-dfa` is `merged` with the
other parser backend. The stop token is a token set behind the grammar, as its documentation says.

It has no compiler object and no reset: a shared compiler and a new one are the same here, and each
text begins with a new state of the compiled constraint, which keeps what it has computed.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.data import JSON_SCHEMA
from benchmarks.engines.base import Session
from benchmarks.tokens import decode_vocab

if TYPE_CHECKING:
    from pathlib import Path


class GLRMask:
    """One vocabulary and one way to compute masks."""

    def __init__(
        self, path: Path, vocab_size: int, stop_token_id: int, *, shared: bool, masks: str
    ) -> None:
        del shared
        self._lib = importlib.import_module("glrmask")
        self.version = importlib.metadata.version("glrmask")
        self._vocab = self._lib.Vocab.from_id_to_bytes(decode_vocab(path))
        self._end = self._lib.TokenSet([stop_token_id])
        self._strategy = self._strategies()[masks]
        self.row = np.zeros((1, (vocab_size + 31) // 32), dtype=np.int32)

    def _strategies(self) -> dict[str, Any]:
        trie = self._lib.TokenTrie
        dfa = self._lib.ParserBackend.TEMPLATE_DFA
        return {
            "static": self._lib.MaskStrategy.PARSER_DWA,
            "trie": trie(),
            "merged": trie(merge_equivalent_tokens=True),
            "merged-dfa": trie(merge_equivalent_tokens=True, parser_backend=dfa),
        }

    def forget(self) -> None:
        """Do nothing: what is read is not known to be kept outside of a compiler."""

    def open(self, source: str, kind: str = JSON_SCHEMA) -> Session:
        assert kind == JSON_SCHEMA
        grammar = self._lib.Grammar.from_json_schema(source)
        ended = self._lib.Grammar.from_expr(self._lib.Expr.sequence(grammar, self._end))
        constraint = ended.compile(self._vocab, mask_strategy=self._strategy)
        row = self.row.reshape(-1)

        def start(session: Session) -> None:
            state = constraint.start()
            session.fill = functools.partial(state.fill_mask, row)
            session.accept = state.commit_token

        session = Session(bool, bool, bool)
        session.reset = functools.partial(start, session)
        session.reset()
        return session
