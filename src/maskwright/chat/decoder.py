"""One decode step of many choices: logits in, a token for each of them out.

What it does: processes the logits, applies the masks, samples, and has each choice accept its
token; then fills the masks of the next step. Where a mask allows one token only, that is accepted
at once: whatever the model thinks, it would have been chosen.
Idea: masks are filled for all choices in one call, right after their tokens were accepted, into
rows that belong to the model's sequences. An error ends the choice that it is of, and no other.
Cost: some Python for each choice, beside what masks and passes over the logits take.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np

from maskwright.batch import BatchGrammarMatcher
from maskwright.bitmask import apply_token_bitmask_inplace
from maskwright.chat.completion import TokenEntry
from maskwright.chat.sampling import top_logprobs
from maskwright.errors import MatcherError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from maskwright.chat.choice import Choice
    from maskwright.matcher import GrammarMatcher

_MOST_FORCED: Final = 64
"""Forced tokens that are looked for in one step, so that long ones do not keep others waiting."""


class Decoder:
    """Chooses tokens. For one thread.

    Args:
        vocab_size: Length of a row of logits.
        max_sequences: How many choices there can be at a time.
        jump_forward: Also append the tokens that `GrammarMatcher.find_jump_forward_tokens` gives.
    """

    def __init__(self, vocab_size: int, max_sequences: int, *, jump_forward: bool = False) -> None:
        self._masks = np.full((max_sequences, (vocab_size + 31) // 32), -1, dtype=np.int32)
        self._batch = BatchGrammarMatcher()
        self._jump_forward = jump_forward

    def prepare(self, choices: Sequence[Choice]) -> None:
        """Fill the masks of the next step, and accept the tokens that are forced.

        Args:
            choices: Choices whose last token was accepted just now, or that begin.
        """
        waiting = [c for c in choices if c.matcher is not None and c.is_running]
        for _ in range(_MOST_FORCED):
            self._fill(waiting)
            waiting = [c for c in waiting if c.is_running and self._accept_forced(c)]
            if not waiting:
                return
        self._fill(waiting)

    def step(
        self, choices: Sequence[Choice], rows: Sequence[int], logits: NDArray[np.float32]
    ) -> None:
        """Choose and accept a token for each choice, and prepare the next step.

        Args:
            choices: Choices that go on, prepared.
            rows: The row of each.
            logits: float32, shape (rows, vocab_size), contiguous. Written.
        """
        start = perf_counter()
        raw = {row: self._process(c, logits[row]) for c, row in zip(choices, rows, strict=True)}
        spent = perf_counter() - start
        self._apply_masks(choices, rows, logits)
        start = perf_counter()
        for choice, row in zip(choices, rows, strict=True):
            if choice.is_running:
                with _ends(choice):
                    entry = self._choose(choice, logits[row], raw[row])
                    choice.meter.sample_seconds += spent / len(choices) + perf_counter() - start
                    choice.accept(entry)
            start = perf_counter()
        self.prepare(choices)

    def _process(self, choice: Choice, row: NDArray[np.float32]) -> NDArray[np.float32]:
        """Process logits; returns what they were before."""
        if not choice.keeps_raw:
            return row
        raw: NDArray[np.float32] = row.copy()
        with _ends(choice):
            own = row.copy()  # what a processor does to the array concerns no other choice
            choice.processing.apply(own, choice.token_ids, choice.prompt_ids)
            row[:] = own
        return raw

    def _apply_masks(
        self, choices: Sequence[Choice], rows: Sequence[int], logits: NDArray[np.float32]
    ) -> None:
        held = [
            (choice, row)
            for choice, row in zip(choices, rows, strict=True)
            if choice.matcher is not None and choice.is_running
        ]
        if not held:
            return
        with _grammar_time([choice for choice, _ in held]):
            masks = np.empty((len(logits), self._masks.shape[1]), dtype=np.int32)
            for choice, row in held:
                masks[row] = self._masks[choice.sequence]
            apply_token_bitmask_inplace(logits, masks, indices=[row for _, row in held])

    def _choose(
        self, choice: Choice, row: NDArray[np.float32], raw: NDArray[np.float32]
    ) -> TokenEntry:
        """Choose an allowed token, and one that is better left out only if there is no other."""
        declined: dict[int, np.float32] = {}
        while True:
            token_id = choice.sampler.sample(row)
            if token_id is None and declined:
                token_id = next(iter(declined))
                for other, logit in declined.items():
                    row[other] = logit
            elif token_id is None:
                token_id = self._best_allowed(choice, raw)
            elif choice.speller is not None and choice.speller.declines(token_id):
                declined[token_id] = row[token_id]
                row[token_id] = -math.inf
                continue
            return self._entry(choice, row, token_id)

    def _best_allowed(self, choice: Choice, raw: NDArray[np.float32]) -> int:
        """The allowed token with the highest logit that the model gave, NaN being the lowest.

        Raises:
            MatcherError: No token is allowed at all (``matcher-empty-mask``).
        """
        if choice.matcher is None:
            ids = np.arange(len(raw))
        else:
            bits = np.unpackbits(self._masks[choice.sequence].view(np.uint8), bitorder="little")
            ids = np.flatnonzero(bits[: len(raw)])
        if not len(ids):
            raise MatcherError(
                "the mask of the next token allows no token; this is a fault of Maskwright: please "
                "report it with the grammar and the text so far",
                code="matcher-empty-mask",
            )
        logits = np.where(np.isnan(raw[ids]), np.float32(-math.inf), raw[ids])
        return int(ids[logits.argmax()])

    def _entry(self, choice: Choice, row: NDArray[np.float32], token_id: int) -> TokenEntry:
        texts = choice.tokens.texts
        if choice.top_logprobs is None:
            return TokenEntry(token_id, texts[token_id])
        found = top_logprobs(row, token_id, choice.top_logprobs)
        top = tuple((other, texts[other], logprob) for other, logprob in found.top)
        return TokenEntry(token_id, texts[token_id], found.logprob, top)

    def _fill(self, choices: list[Choice]) -> None:
        """Fill the mask of each choice; where the call for all fails, one by one."""
        matchers = [c.matcher for c in choices if c.matcher is not None]
        if not matchers:
            return
        with _grammar_time(choices):
            try:
                self._batch.batch_fill_next_token_bitmask(
                    matchers, self._masks, indices=[c.sequence for c in choices]
                )
            except Exception:  # noqa: BLE001  which of them it was shows when each is asked alone
                self._fill_each(choices, matchers)
            for choice in choices:
                if choice.speller is not None and choice.is_running:
                    choice.speller.narrow(self._masks[choice.sequence])

    def _fill_each(self, choices: list[Choice], matchers: list[GrammarMatcher]) -> None:
        for choice, matcher in zip(choices, matchers, strict=True):
            with _ends(choice):
                self._masks[choice.sequence] = -1
                matcher.fill_next_token_bitmask(self._masks, choice.sequence)

    def _accept_forced(self, choice: Choice) -> bool:
        """Accept what can only come next; whether there was something, and the choice goes on."""
        forced: list[int] = []
        with _ends(choice):
            with _grammar_time([choice]):
                forced = self._forced(choice)
            for token_id in forced:
                if choice.is_running:
                    choice.accept(_certain(choice, token_id))
        return bool(forced) and choice.is_running

    def _forced(self, choice: Choice) -> list[int]:
        only = _only_token(self._masks[choice.sequence])
        if only is not None:
            return [only]
        if not self._jump_forward or choice.matcher is None:
            return []
        if not choice.matcher.compiled_grammar.tokenizer_info.has_encoder:
            return []  # the tokens would be a guess
        return choice.matcher.find_jump_forward_tokens()


def _only_token(mask: NDArray[np.int32]) -> int | None:
    """The token of a mask that allows one only."""
    words = mask.nonzero()[0]
    if len(words) != 1:
        return None
    bits = int(mask[words[0]]) & 0xFFFFFFFF
    return int(words[0]) * 32 + bits.bit_length() - 1 if bits & (bits - 1) == 0 else None


def _certain(choice: Choice, token_id: int) -> TokenEntry:
    """The entry of a token that nothing else could have stood for."""
    data = choice.tokens.texts[token_id]
    if choice.top_logprobs is None:
        return TokenEntry(token_id, data)
    top = ((token_id, data, 0.0),) if choice.top_logprobs else ()
    return TokenEntry(token_id, data, 0.0, top)


@contextmanager
def _ends(choice: Choice) -> Iterator[None]:
    """An error within the block ends the choice."""
    try:
        yield
    except BaseException as error:  # noqa: BLE001  it reaches whoever waits for the choice
        choice.error = error


@contextmanager
def _grammar_time(choices: Sequence[Choice]) -> Iterator[None]:
    """The time of the block is charged to choices, in equal parts."""
    start = perf_counter()
    try:
        yield
    finally:
        share = (perf_counter() - start) / len(choices)
        for choice in choices:
            choice.meter.grammar_seconds += share
