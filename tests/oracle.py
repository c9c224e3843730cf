"""The oracle: for every step and every token, mask == accept on a fork == reference.

``Oracle`` walks the core and the reference side by side and raises ``DisagreementError`` with a
minimal reproduction (grammar, vocabulary, tokens read so far, the token). It also checks what needs
no reference: a row is never all zero before termination, bits at and above the vocabulary size are
0, rollback restores the exact row, a fork leaves its origin alone, walks can always be completed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core_adapter import CoreMatcher
from reference import ReferenceMatcher
from vocabularies import TestVocabulary


class DisagreementError(AssertionError):
    """Core and reference differ, or the core contradicts itself."""


@dataclass
class Oracle:
    """Core and reference in the same state.

    Args:
        ir: the grammar.
        vocabulary: the vocabulary.
        source: the grammar as a person would write it, for messages.
        with_reference: False compares the core only with itself.
        compiled: a compiled grammar of the core to start from, instead of a fresh one.
    """

    ir: bytes
    vocabulary: TestVocabulary
    source: str
    with_reference: bool = True
    compiled: Any = None
    core: CoreMatcher = field(init=False)
    reference: ReferenceMatcher | None = field(init=False, default=None)
    history: list[int | bytes] = field(init=False, default_factory=list)
    rows: list[Any] = field(init=False, default_factory=list)  # mask before each step, or None

    def __post_init__(self) -> None:
        self.core = (
            CoreMatcher.compile(self.ir, self.vocabulary)
            if self.compiled is None
            else CoreMatcher.of_compiled(self.compiled, self.vocabulary)
        )
        if self.with_reference:
            self.reference = reference_matcher(self.ir, self.vocabulary)

    def fail(self, what: str) -> None:
        """Raises with everything that is needed to see it again."""
        text = b"".join(
            step if isinstance(step, bytes) else self.vocabulary.tokens[step]
            for step in self.history
        )
        raise DisagreementError(
            f"{what}\n  grammar: {self.source}\n  vocabulary: {self.vocabulary.name}"
            f" ({self.vocabulary.vocab_size} ids)\n  text so far: {text!r}"
            f"\n  steps: {self.history!r}"
        )

    def check_step(self, tokens: Iterable[int] | None = None) -> set[int]:
        """Checks this step for all tokens (or some) and returns the allowed ones."""
        mask = self.core.mask()
        size = self.vocabulary.vocab_size
        if mask[size:].any():
            self.fail("bits at or above the vocabulary size are set")
        of_id = self.core.words_of_id()
        if of_id is not None and not np.array_equal(of_id, self.core.words()):
            self.fail("the id of the mask is that of another one")
        allowed = {int(t) for t in np.flatnonzero(mask)}
        if not allowed:
            self.fail("the mask is all zero before termination")
        for token in range(size) if tokens is None else tokens:
            if self.core.fork().accept_token(token) != (token in allowed):
                self.fail(
                    f"mask says {token in allowed}, accept_token says otherwise, for token "
                    f"{self.vocabulary.describe(token)}"
                )
        for token in (-1, size, 2**31 - 1):
            if self.core.fork().accept_token(token):
                self.fail(f"token id {token} is out of range and accepted")
        if self.reference is not None:
            self._check_reference(allowed)
        if not np.array_equal(self.core.mask(), mask):
            self.fail("a fork that went on changed the mask of its origin")
        return allowed

    def _check_reference(self, allowed: set[int]) -> None:
        assert self.reference is not None
        wanted = self.reference.allowed_tokens()
        if wanted != allowed:
            too_many = [self.vocabulary.describe(t) for t in sorted(allowed - wanted)[:12]]
            too_few = [self.vocabulary.describe(t) for t in sorted(wanted - allowed)[:12]]
            self.fail(
                f"the masks differ; only the core allows {too_many}, "
                f"only the reference allows {too_few}"
            )
        if self.core.is_completed() != self.reference.is_completed():
            self.fail(
                f"is_completed: core {self.core.is_completed()}, "
                f"reference {self.reference.is_completed()}"
            )

    def accept(self, token: int) -> None:
        """Reads a token that the mask allows."""
        row = self.core.words().copy()
        if not self.core.accept_token(token):
            self.fail(f"allowed token {self.vocabulary.describe(token)} is refused")
        if self.reference is not None and not self.reference.accept_token(token):
            self.fail(f"the reference refuses token {self.vocabulary.describe(token)}")
        self.history.append(token)
        self.rows.append(row)

    def accept_bytes(self, text: bytes) -> bool:
        """Reads bytes in both; they must agree on whether that is possible."""
        row = self.core.words().copy()
        got = self.core.accept_bytes(text)
        if self.reference is not None and self.reference.accept_bytes(text) != got:
            self.fail(f"accept_bytes({text!r}): core {got}, reference {not got}")
        if got:
            self.history.append(text)
            self.rows.append(row)
        elif not np.array_equal(self.core.words(), row):
            self.fail(f"refused bytes {text!r} changed the state")
        return got

    def rollback(self, n_steps: int) -> None:
        """Undoes steps and checks that the mask is the one from then."""
        if n_steps == 0:
            return
        undone = self.history[-n_steps:]
        row = self.rows[-n_steps]
        del self.history[-n_steps:], self.rows[-n_steps:]
        self.core.rollback(n_steps)
        if self.reference is not None:
            self.reference.rollback(n_steps)
        if not np.array_equal(self.core.words(), row):
            self.fail(f"rollback of {undone!r} does not restore the mask")

    def walk(
        self,
        rng: random.Random,
        n_steps: int,
        *,
        every: int = 1,
        rollback_rate: float = 0.1,
        finish_within: int = 200,
    ) -> bytes | None:
        """Walks at random, checking every few steps, and then to the end.

        Returns:
            The complete text, or None if none was found within the bound.
        """
        for n in range(n_steps):
            allowed = self.check_step() if n % every == 0 else self.core.allowed_tokens()
            token = self._pick(rng, allowed)
            self.accept(token)
            if self.core.is_terminated():
                self._check_terminated()
                return self.text()
            if self.history and rng.random() < rollback_rate:
                self.rollback(rng.randint(1, len(self.history)))
        return self.finish(rng, finish_within)

    def finish(self, rng: random.Random, within: int) -> bytes | None:
        """Walks on with tokens that tend to end things; None if the end is not found."""
        for _ in range(within):
            allowed = self.core.allowed_tokens()
            if not allowed:
                self.fail("the mask is all zero before termination")
            order = closing_order(rng, self.vocabulary, self.source)
            self.accept(next(t for t in order if t in allowed))
            if self.core.is_terminated():
                self._check_terminated()
                return self.text()
        return None

    def text(self) -> bytes:
        """The text read so far; stop tokens have none."""
        texts = (
            step if isinstance(step, bytes) else self._token_text(step) for step in self.history
        )
        return b"".join(texts)

    def _token_text(self, token: int) -> bytes:
        return b"" if token in self.vocabulary.special_ids else self.vocabulary.tokens[token]

    def _check_terminated(self) -> None:
        if not self.core.is_completed():
            self.fail("terminated, but not completed")
        for token in range(self.vocabulary.vocab_size):
            if self.core.accept_token(token):
                self.fail(f"a terminated matcher accepts {self.vocabulary.describe(token)}")
        if self.reference is not None and not self.reference.is_terminated():
            self.fail("the reference is not terminated")

    def _pick(self, rng: random.Random, allowed: set[int]) -> int:
        """A token; stop tokens and characters of free text less often than their number says."""
        tokens = sorted(allowed)
        structural = [t for t in tokens if self._token_text(t)[:1] in _STRUCTURAL]
        if structural and rng.random() < 0.5:
            return rng.choice(structural)
        text_tokens = [t for t in tokens if t not in self.vocabulary.stop_ids]
        if text_tokens and rng.random() < 0.8:
            return rng.choice(text_tokens)
        return rng.choice(tokens)


_STRUCTURAL = tuple(bytes([b]) for b in b'{}[]",:0123456789-tfn')


def closing_order(rng: random.Random, vocabulary: TestVocabulary, source: str) -> list[int]:
    """All tokens, first those that tend to end things: stops, brackets, letters of the source."""
    first = [b"}", b"]"] + ([b'"'] if rng.random() < 0.5 else [])
    likely = [bytes([b]) for b in {*source.encode(), *b'01",:'}]
    rng.shuffle(likely)
    rest = list(range(vocabulary.vocab_size))
    rng.shuffle(rest)
    chosen = [vocabulary.ids[t] for t in [*first, *likely] if t in vocabulary.ids]
    return list(dict.fromkeys([*vocabulary.stop_ids, *chosen, *rest]))


def finish_reference(
    matcher: ReferenceMatcher,
    rng: random.Random,
    vocabulary: TestVocabulary,
    source: str,
    within: int = 200,
) -> list[int]:
    """Walks the reference on with tokens that tend to end things, at most so many."""
    tokens: list[int] = []
    while len(tokens) < within and not matcher.is_terminated():
        order = closing_order(rng, vocabulary, source)
        token = next((t for t in order if matcher.accept_token(t)), None)
        if token is None:
            raise AssertionError(f"the reference has a dead end: {source}, {tokens}")
        tokens.append(token)
    return tokens


def reference_matcher(ir: bytes, vocabulary: TestVocabulary) -> ReferenceMatcher:
    """The reference on a vocabulary."""
    return ReferenceMatcher(
        ir,
        list(vocabulary.tokens),
        vocabulary.special_ids,
        vocabulary.stop_ids,
        vocab_size=vocabulary.vocab_size,
    )


def reference_walk(
    matcher: ReferenceMatcher,
    rng: random.Random,
    n_steps: int,
    pick: Callable[[random.Random, set[int]], int] | None = None,
) -> list[int]:
    """A random walk of the reference alone; ends early at a stop token."""
    tokens = []
    for _ in range(n_steps):
        allowed = matcher.allowed_tokens()
        if not allowed:
            raise AssertionError("the reference has a dead end")
        token = pick(rng, allowed) if pick else rng.choice(sorted(allowed))
        matcher.accept_token(token)
        tokens.append(token)
        if matcher.is_terminated():
            break
    return tokens
