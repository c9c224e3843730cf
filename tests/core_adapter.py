"""The one place where tests of this folder touch the core: names, arrays and defaults.

Everything here is a thin wrapper, so a change of names in the core is one edit here. A core that
can't be imported is an error and no reason to skip: without it nothing would be tested.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from vocabularies import TestVocabulary

CORE: Any = importlib.import_module("maskwright._core")

_CACHE: dict[TestVocabulary, Any] = {}


def core_vocabulary(vocabulary: TestVocabulary) -> Any:
    """The core's form of a vocabulary (kept; its trie takes time)."""
    if vocabulary not in _CACHE:
        _CACHE[vocabulary] = CORE.Vocabulary(
            list(vocabulary.tokens),
            vocab_size=vocabulary.vocab_size,
            special_token_ids=list(vocabulary.special_ids),
            stop_token_ids=list(vocabulary.stop_ids),
        )
    return _CACHE[vocabulary]


@dataclass
class CoreMatcher:
    """A matcher of the core, with masks as arrays of bool."""

    raw: Any
    vocabulary: TestVocabulary

    @classmethod
    def compile(cls, ir: bytes, vocabulary: TestVocabulary) -> CoreMatcher:
        """Compiles IR and starts a matcher."""
        compiled = CORE.compile(ir, core_vocabulary(vocabulary))
        return cls(CORE.Matcher(compiled), vocabulary)

    @classmethod
    def of_compiled(cls, compiled: Any, vocabulary: TestVocabulary) -> CoreMatcher:
        """Starts a matcher of a compiled grammar (its caches may be warm)."""
        return cls(CORE.Matcher(compiled), vocabulary)

    def words(self) -> np.ndarray[Any, np.dtype[np.int32]]:
        """The bitmask of the next token as written by the core, over garbage, in a 2-D array."""
        n_words = -(-self.vocabulary.vocab_size // 32)
        rows = np.full((3, n_words), -1431655766, dtype=np.int32)
        before = rows.copy()
        self.raw.fill_bitmask(rows, 1)
        if not (np.array_equal(rows[0], before[0]) and np.array_equal(rows[2], before[2])):
            raise AssertionError("filling a row of the bitmask changed another row")
        return rows[1]

    def words_of_id(self) -> np.ndarray[Any, np.dtype[np.int32]] | None:
        """The mask in the grammar's table under this step's id; None if it has no id."""
        mask_id = self.raw.mask_id()
        if mask_id == -1:
            return None
        table = self.raw.mask_table
        rows = np.empty((1, table.shape[1]), dtype=np.int32)
        table.get_masks([mask_id], rows)
        return rows[0]

    def mask(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """One bool per bit of the row, padding bits of the last word included."""
        return np.unpackbits(self.words().view(np.uint8), bitorder="little").astype(bool)

    def allowed_tokens(self) -> set[int]:
        """The tokens whose bit is set."""
        return {int(t) for t in np.flatnonzero(self.mask())}

    def accept_token(self, token: int) -> bool:
        """Reads a token."""
        return bool(self.raw.accept_token(token))

    def accept_bytes(self, text: bytes) -> bool:
        """Reads bytes as one step."""
        return bool(self.raw.accept_bytes(text))

    def rollback(self, n_steps: int) -> None:
        """Undoes steps."""
        self.raw.rollback(n_steps)

    def reset(self) -> None:
        """Undoes everything."""
        self.raw.reset()

    def fork(self) -> CoreMatcher:
        """A matcher in the same state."""
        return CoreMatcher(self.raw.fork(), self.vocabulary)

    def is_completed(self) -> bool:
        """Whether the text is complete."""
        return bool(self.raw.is_completed())

    def is_terminated(self) -> bool:
        """Whether a stop token has been read."""
        return bool(self.raw.is_terminated())


def compile_core(ir: bytes, vocabulary: TestVocabulary, **shortcuts: Any) -> Any:
    """A compiled grammar of the core, with or without its shortcuts to masks."""
    return CORE.compile(ir, core_vocabulary(vocabulary), **shortcuts)


def stored_and_loaded(
    compiled: Any, ir: bytes, vocabulary: TestVocabulary, masks: bool = False
) -> Any:
    """What is loaded from the stored form of a compiled grammar of the core."""
    fingerprint = bytes(32)
    nothing: tuple[Any, ...] = ()
    stored = CORE.store(
        compiled,
        ir=ir,
        fingerprint=fingerprint,
        exact=True,
        narrowed=nothing,
        loosened=nothing,
        ignored=nothing,
        include_masks=masks,
    )
    core = core_vocabulary(vocabulary)
    return CORE.load(stored, core, fingerprint=fingerprint, trust_masks=masks)[0]
