"""The corpus through every path: reference, core cold, warm, rolled back, forked."""

from __future__ import annotations

import pytest

import maskwright.errors
from core_adapter import CoreMatcher, compile_core
from corpus import STOP, CorpusCase, corpus_cases, greedy_tokens
from oracle import Oracle, reference_matcher

CASES = corpus_cases()
GOOD = [c for c in CASES if c.error is None]
BAD = [c for c in CASES if c.error is not None]


#: Masks that are known to differ from the reference's; see test_known_differences.py.
DIFFERENT_MASKS = {"strict-any-of-branches": "strictness looks at one branch of anyOf at a time"}


def named(cases, failing=()):
    """Parameters with readable ids; some of them are expected to fail."""
    return [
        pytest.param(
            c,
            id=f"{c.kind}-{c.name}",
            marks=[pytest.mark.xfail(strict=True, reason=DIFFERENT_MASKS[c.name])]
            if c.name in failing
            else [],
        )
        for c in cases
    ]


def test_the_corpus_is_large_and_its_names_are_unique():
    assert len(CASES) >= 120
    names = [(c.kind, c.name) for c in CASES]
    assert len(set(names)) == len(names)


def reads(matcher, text):
    """Whether a matcher reads a text (as one step), and is then complete."""
    matcher.reset()
    ok = text == "" or matcher.accept_bytes(text.encode())
    return ok, ok and matcher.is_completed()


def check_texts(case: CorpusCase, matcher):
    for text in case.accepts:
        assert reads(matcher, text) == (True, True), (case.describe(), text)
    for text in case.rejects:
        assert not reads(matcher, text)[1], (case.describe(), text)
    for text in case.dead:
        assert not reads(matcher, text)[0], (case.describe(), text)


def check_allowed_next(case: CorpusCase, matcher):
    v = case.tokens()
    for prefix, wanted in case.allowed_next.items():
        matcher.reset()
        assert prefix == "" or matcher.accept_bytes(prefix.encode()), (case.describe(), prefix)
        allowed = matcher.allowed_tokens()
        got = {STOP if t in v.stop_ids else v.tokens[t].decode() for t in allowed}
        assert got == set(wanted), (case.describe(), prefix)
        same_text = {t for t, text in enumerate(v.tokens) if text.decode() in got}
        assert same_text - set(v.special_ids) <= allowed, "duplicate tokens are allowed together"


@pytest.mark.parametrize("case", named(GOOD))
def test_reference(case):
    matcher = reference_matcher(case.ir(), case.tokens())
    assert not matcher.is_empty_language
    check_texts(case, matcher)
    check_allowed_next(case, matcher)


@pytest.mark.parametrize("case", named(BAD))
def test_errors(case):
    error = getattr(maskwright.errors, case.error)
    try:
        ir = case.ir()
    except maskwright.errors.MaskwrightError as raised:
        assert isinstance(raised, error), case.describe()  # noqa: PT017 - one of two outcomes
        return
    assert error is maskwright.errors.UnsatisfiableGrammarError, case.describe()
    assert reference_matcher(ir, case.tokens()).is_empty_language, case.describe()
    with pytest.raises(error):
        CoreMatcher.compile(ir, case.tokens())


@pytest.mark.parametrize("case", named(GOOD))
def test_core_by_bytes(case):
    matcher = CoreMatcher.compile(case.ir(), case.tokens())
    check_texts(case, matcher)
    check_allowed_next(case, matcher)


@pytest.mark.parametrize("case", named(GOOD))
def test_core_by_tokens_cold_warm_rolled_back_and_forked(case):
    v = case.tokens()
    compiled = compile_core(case.ir(), v)
    for text in case.accepts:
        ids = greedy_tokens(text.encode(), v)
        if ids is None:
            continue
        cold = CoreMatcher.of_compiled(compile_core(case.ir(), v), v)
        rows = read_tokens(case, cold, ids)
        assert read_tokens(case, CoreMatcher.of_compiled(compiled, v), ids) == rows
        warm = CoreMatcher.of_compiled(compiled, v)
        assert read_tokens(case, warm, ids) == rows, (case.describe(), text, "warm")
        warm.rollback(len(ids))
        assert read_tokens(case, warm, ids[: len(ids) // 2]) == rows[: len(ids) // 2 + 1]
        twin = warm.fork()
        assert read_tokens(case, twin, ids[len(ids) // 2 :]) == rows[len(ids) // 2 :]
        assert warm.words().tobytes() == rows[len(ids) // 2], (case.describe(), text, "fork")
        assert twin.is_completed()
        assert twin.accept_token(v.stop_ids[0])
        assert twin.is_terminated()


def read_tokens(case, matcher, ids):
    """Reads tokens and returns the rows of the bitmask, before each and after the last."""
    rows = [matcher.words().tobytes()]
    for token in ids:
        assert token in matcher.allowed_tokens(), (case.describe(), token)
        assert matcher.accept_token(token), (case.describe(), token)
        rows.append(matcher.words().tobytes())
    return rows


@pytest.mark.parametrize("case", named(GOOD, DIFFERENT_MASKS))
def test_oracle_on_the_way_through_accepted_texts(case):
    """Every mask on the way through one accepted text, for all tokens, against the reference."""
    v = case.tokens()
    for text in [t for t in case.accepts if len(t) <= 40][:1]:
        ids = greedy_tokens(text.encode(), v)
        if ids is None:
            continue
        oracle = Oracle(case.ir(), v, case.describe())
        for token in ids:
            oracle.check_step()
            oracle.accept(token)
        oracle.check_step()
