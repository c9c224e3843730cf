"""The masks along a walk that a seed chooses, to compare grammars that should be the same."""

from __future__ import annotations

import random

import numpy as np

from maskwright import CompiledGrammar, GrammarMatcher


def masks_along(
    compiled: CompiledGrammar, seed: int, steps: int = 40, *, is_forged: bool = False
) -> list[bytes]:
    """Return the masks of each step; each token that they allow must be accepted.

    Args:
        compiled: The grammar.
        seed: Chooses the tokens.
        steps: The most steps.
        is_forged: Masks may have been made up: the walk ends at a token that is refused.
    """
    matcher = GrammarMatcher(compiled)
    row = np.zeros((1, (compiled.tokenizer_info.vocab_size + 31) // 32), dtype=np.int32)
    rng = random.Random(seed)
    found = []
    while len(found) < steps and not matcher.is_terminated():
        matcher.fill_next_token_bitmask(row)
        found.append(row.tobytes())
        bits = np.unpackbits(row.view(np.uint8), bitorder="little")
        if not matcher.accept_token(int(rng.choice(np.flatnonzero(bits)))):
            assert is_forged, "the mask allows a token that is refused"
            break
    return found
