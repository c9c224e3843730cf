"""The core against the reference on grammars over two letters: all small ones, and random ones."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import maskwright.errors
from core_adapter import CORE, CoreMatcher
from grammar_specs import all_specs, to_ir, to_text
from oracle import Oracle, reference_matcher
from strategies import EFFORT, examples, grammars
from vocabularies import vocabulary

AB = vocabulary("ab")
MAX_LENGTH = 6
LEAVES = ("a", "b", "", ("ref", 0))


def check_all_prefixes(grammar, max_length=MAX_LENGTH):
    """Masks, completeness and refusals agree at every prefix up to a length."""
    ir = to_ir(grammar)
    reference = reference_matcher(ir, AB)
    try:
        core = CoreMatcher.compile(ir, AB)
    except maskwright.errors.UnsatisfiableGrammarError:
        assert reference.is_empty_language, f"the core finds no text in {to_text(grammar)}"
        return
    assert not reference.is_empty_language, f"{to_text(grammar)} has no text, the core accepts it"
    work = [(b"", core, reference)]
    while work:
        prefix, core, reference = work.pop()
        where = f"{to_text(grammar)}, after {prefix!r}"
        got, wanted = core.allowed_tokens(), reference.allowed_tokens()
        assert got == wanted, (
            f"{where}: only the core allows {[AB.describe(t) for t in sorted(got - wanted)]}, "
            f"only the reference {[AB.describe(t) for t in sorted(wanted - got)]}"
        )
        assert core.is_completed() == reference.is_completed(), where
        for letter in (b"a", b"b"):
            core_twin, reference_twin = core.fork(), reference.fork()
            ok = reference_twin.accept_bytes(letter)
            assert core_twin.accept_bytes(letter) == ok, (where, letter)
            if ok and len(prefix) < max_length:
                work.append((prefix + letter, core_twin, reference_twin))


@pytest.mark.parametrize("size", range(1, 4 + (EFFORT > 5)))
def test_all_small_grammars(size):
    for spec in all_specs(size, LEAVES):
        check_all_prefixes((spec,), 5)


@given(grammars())
@examples(60)
def test_random_grammars(grammar):
    check_all_prefixes(grammar)


@given(grammars(), st.integers(0, 10**6))
@examples(40)
def test_walks(grammar, seed):
    """Mask, accept on a fork and reference agree for every token; rollback restores the mask."""
    ir = to_ir(grammar)
    if not reference_matcher(ir, AB).is_empty_language:
        Oracle(ir, AB, to_text(grammar)).walk(random.Random(seed), 12, rollback_rate=0.2)


@given(grammars(), st.text(alphabet="ab", max_size=8), st.integers(0, 8))
@examples(60)
def test_bytes_reset_fork_and_rollback(grammar, text, cut):
    ir = to_ir(grammar)
    if reference_matcher(ir, AB).is_empty_language:
        return
    data = text.encode()
    whole, pieces = CoreMatcher.compile(ir, AB), CoreMatcher.compile(ir, AB)
    start = whole.words().tobytes()
    accepted = whole.accept_bytes(data)
    by_byte = all(pieces.accept_bytes(data[i : i + 1]) for i in range(len(data)))
    assert accepted == by_byte, (to_text(grammar), data)
    if not accepted:
        assert whole.words().tobytes() == start, "a refused string changed the state"
        return
    end = whole.words().tobytes()
    assert pieces.words().tobytes() == end, (to_text(grammar), data)
    assert pieces.is_completed() == whole.is_completed()
    undone = min(cut, len(data))
    pieces.rollback(undone)
    twin = pieces.fork()
    rest = data[len(data) - undone :]
    assert twin.accept_bytes(rest)
    assert twin.words().tobytes() == end, (to_text(grammar), data, undone)
    assert pieces.accept_bytes(rest), "a fork that went on changed its origin"
    assert pieces.words().tobytes() == end
    pieces.reset()
    assert pieces.words().tobytes() == start, (to_text(grammar), data)
    assert twin.words().tobytes() == end, "a reset changed a fork"


def test_the_core_is_here():
    assert CORE.compile is not None
