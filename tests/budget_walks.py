"""Walks under a token budget: choosers that try to run out of it; the shortest way by brute force.

A walk checks the contract at each step: mask and `accept_token` agree about every token, some token
is allowed, a token is allowed only if what it leaves is enough, and what is left is never too
little. It ends when the text is complete, which must be before the budget is.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from functools import cache

import numpy as np

from maskwright import GrammarMatcher, TokenizerInfo

Chooser = Callable[[GrammarMatcher, list[int]], int]


def allowed_tokens(matcher: GrammarMatcher) -> list[int]:
    """Return the tokens of the mask."""
    size = matcher.compiled_grammar.tokenizer_info.vocab_size
    row = np.zeros((1, -(-size // 32)), dtype=np.int32)
    matcher.fill_next_token_bitmask(row)
    return np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist()


@cache
def _texts(info: TokenizerInfo) -> list[bytes]:
    """The text of each id; the property makes a list each time."""
    texts = info.decoded_vocab
    return [*texts, *[b""] * (info.vocab_size - len(texts))]


def _text(matcher: GrammarMatcher, token: int) -> bytes:
    return _texts(matcher.compiled_grammar.tokenizer_info)[token]


def at_random(rng: random.Random) -> Chooser:
    """Choose any token."""
    return lambda _, allowed: rng.choice(allowed)


def furthest(rng: random.Random, *, tried: int = 40) -> Chooser:
    """Choose, of some tokens, the one behind which most tokens are needed."""

    def choose(matcher: GrammarMatcher, allowed: list[int]) -> int:
        some = allowed if len(allowed) <= tried else rng.sample(allowed, tried)
        return max(some, key=lambda token: (needed_after(matcher, token), rng.random()))

    return choose


def longest(rng: random.Random) -> Chooser:
    """Choose one of the longest tokens, so never the stop token if there is another."""
    return lambda matcher, allowed: max(
        allowed, key=lambda token: (len(_text(matcher, token)), rng.random())
    )


def opening(rng: random.Random) -> Chooser:
    """Choose the token with the most brackets that it opens and does not close."""

    def choose(matcher: GrammarMatcher, allowed: list[int]) -> int:
        def opened(token: int) -> int:
            text = _text(matcher, token)
            return sum(map(text.count, (b"[", b"{", b"("))) - sum(
                map(text.count, (b"]", b"}", b")"))
            )

        return max(allowed, key=lambda token: (opened(token), rng.random()))

    return choose


def choosers(seed: int) -> dict[str, Chooser]:
    """Return all of them, seeded."""
    return {
        "random": at_random(random.Random(seed)),
        "furthest": furthest(random.Random(seed)),
        "longest": longest(random.Random(seed)),
        "opening": opening(random.Random(seed)),
    }


def needed_after(matcher: GrammarMatcher, token: int) -> int:
    """Return the least tokens behind one that is allowed."""
    fork = matcher.fork()
    assert fork.accept_token(token)
    return fork.min_tokens_to_finish()


def check_step(matcher: GrammarMatcher, tokens: Iterable[int]) -> list[int]:
    """Check one step for some tokens and return the allowed ones."""
    left = matcher.remaining_tokens
    assert left is not None
    assert matcher.min_tokens_to_finish() <= left
    # A fork first, so that no mask has been computed before.
    fork = matcher.fork()
    accepted = {token: fork.validate_tokens([token]) == 1 for token in tokens}
    allowed = allowed_tokens(matcher)
    assert allowed, "the mask is all zero before the end"
    for token, verdict in accepted.items():
        assert verdict == (token in set(allowed)), (token, verdict)
    return allowed


def walk(
    matcher: GrammarMatcher,
    choose: Chooser,
    *,
    tokens: Iterable[int] | None = None,
    check_every: int = 1,
) -> list[int]:
    """Follow a chooser to the end.

    Args:
        matcher: A fresh matcher with a budget.
        choose: Picks one of the allowed tokens.
        tokens: Those that are checked at each step; None for all.
        check_every: Check so many steps only.

    Returns:
        The tokens of the text.
    """
    budget = matcher.remaining_tokens
    assert budget is not None
    size = matcher.compiled_grammar.tokenizer_info.vocab_size
    taken: list[int] = []
    while not matcher.is_terminated():
        if len(taken) % check_every == 0:
            allowed = check_step(matcher, range(size) if tokens is None else tokens)
        else:
            allowed = allowed_tokens(matcher)
        token = choose(matcher, allowed)
        assert matcher.accept_token(token)
        taken.append(token)
        assert matcher.remaining_tokens == budget - len(taken)
        assert len(taken) <= budget
    return taken


def fewest_tokens(matcher: GrammarMatcher, *, below: int, max_forks: int) -> int | None:
    """Return the fewest tokens that complete the text, a stop token included, by trying all.

    Returns:
        The number, if it is less than `below`; None if it is not, or not found with so many forks.
    """
    level = {b"": matcher.fork()}
    seen = {b""}
    for tokens in range(1, below):
        if any(fork.is_completed() for fork in level.values()):
            return tokens
        further: dict[bytes, GrammarMatcher] = {}
        for text, fork in level.items():
            for token in allowed_tokens(fork) if tokens + 1 < below else ():
                longer = text + _text(fork, token)
                if token in fork.stop_token_ids or longer in seen:
                    continue
                if len(seen) == max_forks:
                    return None
                seen.add(longer)
                further[longer] = fork.fork()
                assert further[longer].accept_token(token)
        level = further
    return None


def all_texts(matcher: GrammarMatcher, prefix: bytes = b"") -> list[bytes]:
    """Return the texts of a finite grammar compiled for single bytes."""
    texts: list[bytes] = []
    for token in allowed_tokens(matcher):
        if token in matcher.stop_token_ids:
            texts.append(prefix)
            continue
        fork = matcher.fork()
        fork.accept_token(token)
        texts += all_texts(fork, prefix + bytes((token,)))
    return texts


def least_tokens(texts: Iterable[bytes], prefix: bytes, tokens: Iterable[bytes]) -> int:
    """Return the fewest tokens from a prefix to one of the texts, without a stop token."""
    spelled = {token for token in tokens if token}
    best: dict[bytes, int] = {b"": 0}

    def least(rest: bytes) -> int:
        if rest not in best:
            begins = [token for token in spelled if rest.startswith(token)]
            best[rest] = min((1 + least(rest[len(token) :]) for token in begins), default=10**6)
        return best[rest]

    return min(least(text[len(prefix) :]) for text in texts if text.startswith(prefix))
