"""Regular expressions over integer symbols (bytes or code points), by Brzozowski derivatives.

Idea: a term *is* its language. ``derive(t, c)`` is what may follow ``c``; a word is in the language
iff the term left after it is nullable; a prefix is viable iff the term left is not empty. Terms are
kept small by a few identities (sets for unions and intersections), which makes the number of
different derivatives finite. Emptiness of terms without intersection and complement is structural;
for the others the derivatives are searched.

Source: J. Brzozowski, Derivatives of regular expressions (1964); S. Owens, J. Reppy, A. Turon,
Regular-expression derivatives re-examined (2009).

Cost: exponential in the worst case; ``ReferenceLimitError`` beyond ``MAX_SEARCH`` terms.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from .flat import FlatIr
from .intervals import ALL_BYTES, SCALARS, Ranges, contains, intersect, normalise
from .utf8 import byte_sequences

MAX_SEARCH = 20_000


class ReferenceLimitError(Exception):
    """The reference cannot decide this with its simple means (never a wrong answer)."""


@dataclass(frozen=True)
class Term:
    """A regular expression. ``op`` is one of: class, cat, alt, and, not, repeat."""

    op: str
    args: tuple[Term, ...] = ()
    ranges: Ranges = ()
    low: int = 0
    high: int | None = None
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:  # terms are deep: compute the hash once
        key = (self.op, self.args, self.ranges, self.low, self.high)
        object.__setattr__(self, "_hash", hash(key))

    def __hash__(self) -> int:
        return self._hash


NOTHING = Term("class")
EPSILON = Term("cat")


def char_class(ranges: Iterable[tuple[int, int]]) -> Term:
    """Any one symbol of a set."""
    return Term("class", ranges=normalise(ranges))


def cat(*parts: Term) -> Term:
    """One after the other."""
    flat: list[Term] = []
    for part in parts:
        if part == NOTHING:
            return NOTHING
        flat.extend(part.args if part.op == "cat" else (part,))
    return flat[0] if len(flat) == 1 else Term("cat", tuple(flat))


def _as_set(op: str, parts: Iterable[Term]) -> tuple[Term, ...]:
    flat: dict[Term, None] = {}
    for part in parts:
        for item in part.args if part.op == op else (part,):
            flat[item] = None
    return tuple(sorted(flat, key=lambda t: (t.op, hash(t))))


def alt(parts: Iterable[Term]) -> Term:
    """Any of them."""
    items = tuple(t for t in _as_set("alt", parts) if t != NOTHING)
    if not items:
        return NOTHING
    return items[0] if len(items) == 1 else Term("alt", items)


def both(parts: Iterable[Term]) -> Term:
    """All of them (at least one part)."""
    items = _as_set("and", parts)
    if NOTHING in items:
        return NOTHING
    return items[0] if len(items) == 1 else Term("and", items)


def negate(body: Term) -> Term:
    """All words, over any symbols whatever, that are not in ``body``."""
    return body.args[0] if body.op == "not" else Term("not", (body,))


def repeat(body: Term, low: int, high: int | None) -> Term:
    """``body`` between ``low`` and ``high`` times; ``None`` is no upper bound."""
    if high is not None and low > high:
        return NOTHING
    if high == 0 or body == EPSILON:
        return EPSILON
    if body == NOTHING:
        return EPSILON if low == 0 else NOTHING
    if low == 1 and high == 1:
        return body
    return Term("repeat", (body,), low=low, high=high)


def word(symbols: Iterable[int]) -> Term:
    """Exactly this word."""
    return cat(*(char_class([(s, s)]) for s in symbols))


@lru_cache(maxsize=200_000)
def nullable(t: Term) -> bool:
    """Whether the empty word is in the language."""
    if t.op == "class":
        return False
    if t.op == "repeat":
        return t.low == 0 or nullable(t.args[0])
    if t.op == "not":
        return not nullable(t.args[0])
    verdicts = (nullable(a) for a in t.args)
    return any(verdicts) if t.op == "alt" else all(verdicts)


@lru_cache(maxsize=400_000)
def derive(t: Term, symbol: int) -> Term:
    """The language of what may follow ``symbol``."""
    if t.op == "class":
        return EPSILON if contains(t.ranges, symbol) else NOTHING
    if t.op == "alt":
        return alt(derive(a, symbol) for a in t.args)
    if t.op == "and":
        return both([derive(a, symbol) for a in t.args])
    if t.op == "not":
        return negate(derive(t.args[0], symbol))
    if t.op == "repeat":
        # Also right if the body is nullable: fewer rounds are then contained in more of them.
        high = None if t.high is None else t.high - 1
        rest = repeat(t.args[0], max(t.low - 1, 0), high)
        return cat(derive(t.args[0], symbol), rest)
    choices = []
    for i, part in enumerate(t.args):
        choices.append(cat(derive(part, symbol), *t.args[i + 1 :]))
        if not nullable(part):
            break
    return alt(choices)


def derive_word(t: Term, symbols: Iterable[int]) -> Term:
    """The language of what may follow a word."""
    for symbol in symbols:
        t = derive(t, symbol)
    return t


def matches(t: Term, symbols: Iterable[int]) -> bool:
    """Whether a word is in the language."""
    return nullable(derive_word(t, symbols))


def _boundaries(t: Term, cuts: set[int], seen: set[Term]) -> None:
    if t in seen:
        return
    seen.add(t)
    for lo, hi in t.ranges:
        cuts.add(lo)
        cuts.add(hi + 1)
    for a in t.args:
        _boundaries(a, cuts, seen)


def representatives(t: Term, alphabet: Ranges) -> list[int]:
    """Symbols of ``alphabet`` such that every other one behaves like one of them in ``t``."""
    cuts: set[int] = set()
    _boundaries(t, cuts, set())
    found = []
    for lo, hi in alphabet:
        found.append(lo)
        found.extend(c for c in cuts if lo < c <= hi)
    return sorted(found)


@lru_cache(maxsize=200_000)
def _empty_by_structure(t: Term, alphabet: Ranges) -> bool | None:
    """Emptiness where the structure tells it; None where it does not."""
    if t.op == "class":
        return not intersect(t.ranges, alphabet)
    if t.op in ("and", "not"):
        return False if nullable(t) else None
    if t.op == "repeat" and t.low == 0:
        return False
    verdicts = [_empty_by_structure(a, alphabet) for a in t.args]
    if t.op == "alt":
        return False if False in verdicts else (None if None in verdicts else True)
    return True if True in verdicts else (None if None in verdicts else False)


@lru_cache(maxsize=200_000)
def is_empty(t: Term, alphabet: Ranges) -> bool:
    """Whether no word over ``alphabet`` is in the language."""
    seen = {t}
    work = [t]
    while work:
        term = work.pop()
        verdict = _empty_by_structure(term, alphabet)
        if verdict is False:
            return False
        if verdict is True:
            continue
        for symbol in representatives(term, alphabet):
            following = derive(term, symbol)
            if following not in seen:
                seen.add(following)
                work.append(following)
        if len(seen) > MAX_SEARCH:
            raise ReferenceLimitError("too many derivatives")
    return True


class Lowering:
    """Regular IR expressions as terms, over bytes or over code points."""

    def __init__(self, ir: FlatIr, *, over_bytes: bool) -> None:
        self._ir = ir
        self._over_bytes = over_bytes
        self._memo: dict[int, Term] = {}
        #: Every word that counts as text.
        self.text = repeat(self._characters(SCALARS), 0, None)
        #: One symbol, of any value.
        self._symbol = char_class(ALL_BYTES if over_bytes else SCALARS)

    def term(self, expression: int, rules_open: frozenset[int] = frozenset()) -> Term:
        """The term of an expression; a recursive rule raises ``ValueError``."""
        if expression not in self._memo:
            self._memo[expression] = self._lower(expression, rules_open)
        return self._memo[expression]

    def _lower(self, expression: int, rules_open: frozenset[int]) -> Term:
        e = self._ir.expressions[expression]
        if e.kind == "EMPTY":
            return EPSILON
        if e.kind == "LITERAL":
            return self._word(e.value)
        if e.kind == "LITERAL_SET":
            return alt(self._word(v) for v in e.values)
        if e.kind == "CLASS":
            return self._characters(e.ranges)
        if e.kind == "TEXT_UNTIL":
            return self._text_until(e.stops, e.excludes)
        if e.kind == "REF":
            if e.rule in rules_open:
                raise ValueError("a regular operand refers to a recursive rule")
            return self.term(self._ir.rules[e.rule][1], rules_open | {e.rule})
        if e.kind == "REPEAT":
            return repeat(self.term(e.body, rules_open), e.min, e.max)
        if e.kind == "COMPLEMENT":
            return both([self.text, negate(self.term(e.body, rules_open))])
        parts = [self.term(i, rules_open) for i in e.items]  # JSON, TOKEN_SET: not regular, fails
        if e.kind == "SEQUENCE":
            return cat(*parts)
        return alt(parts) if e.kind == "CHOICE" else both(parts)

    def _word(self, value: bytes) -> Term:
        return word(value) if self._over_bytes else word(map(ord, value.decode("utf-8")))

    def _characters(self, ranges: Ranges) -> Term:
        if not self._over_bytes:
            return char_class(ranges)
        return alt(
            cat(*(char_class([byte_range]) for byte_range in sequence))
            for sequence in byte_sequences(ranges)
        )

    def _text_until(self, stops: list[bytes], excludes: list[bytes]) -> Term:
        anything = repeat(self._symbol, 0, None)
        stop = alt(self._word(s) for s in stops)
        parts = [
            cat(anything, stop),
            negate(cat(anything, stop, self._symbol, anything)),  # no stop ends before the end
            negate(cat(anything, alt(self._word(x) for x in excludes), anything)),
        ]
        if all(_is_text(s) for s in stops):
            parts.append(self.text)
        return both(parts)


def _is_text(value: bytes) -> bool:
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
