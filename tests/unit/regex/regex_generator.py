"""Seeded random patterns and texts over a small alphabet, non-BMP characters included."""

from __future__ import annotations

import itertools
import random

LETTERS = ["a", "b", "1", "_", " ", "\n", "é", "😀", "K", "\u212a"]
_ATOMS = [
    *("a", "b", "ab", "1", "é", "😀", ".", "[ab]", "[^a]", "[a-c1]", "[^\\w]", "[😀-😂é]", "k"),
    *("\\w", "\\W", "\\d", "\\D", "\\s", "\\S", "\\n", "\\u{1F600}", "\\ud83d\\ude00", "\\x61"),
    *("[]", "[^]", "\\p{L}", "\\P{L}", "[\\p{N}a]", "_", "\\."),
]
_QUANTIFIERS = ["?", "*", "+", "{2}", "{1,}", "{0,2}", "{1,3}", "{0}", "*?", "+?", "??", "{1,2}?"]
_LOOKS = ["(?=", "(?!", "(?<=", "(?<!"]


class PatternGenerator:
    """Random patterns.

    Args:
        seed: Of the generator.
        anchors: Share of anchors among the atoms.
        looks: Share of lookarounds and word boundaries.
    """

    def __init__(self, seed: int, *, anchors: float = 0.1, looks: float = 0.0) -> None:
        self._random = random.Random(seed)
        self._anchors, self._looks = anchors, looks

    def pattern(self, depth: int = 3) -> str:
        """Return an alternation."""
        rng = self._random
        count = rng.choice([1, 1, 1, 2, 3]) if depth else 1
        return "|".join(self._sequence(depth) for _ in range(count))

    def _sequence(self, depth: int) -> str:
        rng = self._random
        return "".join(self._item(depth) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4])))

    def _item(self, depth: int) -> str:
        rng = self._random
        roll = rng.random()
        if roll < self._anchors:
            return rng.choice("^$")
        if roll < self._anchors + self._looks:
            if rng.random() < 0.3 or not depth:
                return rng.choice(["\\b", "\\B"])
            return rng.choice(_LOOKS) + self.pattern(depth - 1) + ")"
        if depth and rng.random() < 0.35:
            atom = rng.choice(["(", "(?:"]) + self.pattern(depth - 1) + ")"
        else:
            atom = rng.choice(_ATOMS)
        return atom + rng.choice(_QUANTIFIERS) if rng.random() < 0.3 else atom

    def texts(self, count: int) -> list[str]:
        """Return every text over "ab" up to length 3, and random longer ones."""
        rng = self._random
        short = ["".join(t) for n in range(4) for t in itertools.product("ab", repeat=n)]
        longer = ["".join(rng.choices(LETTERS, k=rng.randint(1, 7))) for _ in range(count)]
        return short + longer
