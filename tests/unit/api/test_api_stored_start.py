"""The stored mask of the start: a new matcher answers as that of the compiled grammar does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from maskwright import (
    BatchGrammarMatcher,
    CompiledGrammar,
    GrammarCompiler,
    GrammarMatcher,
    MatcherError,
    TokenizerInfo,
    UnsatisfiableGrammarError,
)

WORDS = ['{"', '":', "ab", "12", '{"a', "]]", "xx"]
TOKENS = [bytes([byte]) for byte in range(256)] + [word.encode() for word in WORDS] + [b"</s>"]
STOP = len(TOKENS) - 1
INFO = TokenizerInfo(TOKENS, stop_token_ids=STOP)
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "ab": {"type": "string", "maxLength": 3}},
    "required": ["a"],
    "additionalProperties": False,
}
EBNF = 'root ::= root "+" item | item\nitem ::= [0-9]{1,20} | "(" root ")"'
UNIQUE = {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True}
Compile = Callable[[GrammarCompiler], CompiledGrammar]
KINDS: dict[str, Compile] = {
    "schema": lambda compiler: compiler.compile_json_schema(SCHEMA),
    "any value": lambda compiler: compiler.compile_json_schema(True),
    "unique items": lambda compiler: compiler.compile_json_schema(UNIQUE),
    "ebnf": lambda compiler: compiler.compile_grammar(EBNF),
    "free text": lambda compiler: compiler.compile_regex(r"[^\n]+"),
    "may be empty": lambda compiler: compiler.compile_regex("(ab)*"),
    "ambiguous": lambda compiler: compiler.compile_grammar('root ::= ("x" | "xx")+ root?'),
}


def compiled_and_loaded(kind: str) -> tuple[CompiledGrammar, CompiledGrammar]:
    """A grammar whose first mask is known, and what is loaded of it."""
    compiled = KINDS[kind](GrammarCompiler(INFO))
    filled(GrammarMatcher(compiled))
    stored = compiled.serialize(include_masks=True)
    return compiled, CompiledGrammar.deserialize(stored, INFO, trust_masks=True)


def filled(matcher: GrammarMatcher) -> bytes:
    row = np.full((1, (INFO.vocab_size + 31) // 32), -1, dtype=np.int32)
    matcher.fill_next_token_bitmask(row)
    return row.tobytes()


def allows(mask: bytes, token: int) -> bool:
    return bool(mask[token // 8] >> token % 8 & 1)


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_mask_takes_no_states(kind: str) -> None:
    compiled, loaded = compiled_and_loaded(kind)
    before = loaded._core.counters()
    assert filled(GrammarMatcher(loaded)) == filled(GrammarMatcher(compiled))
    assert loaded._core.counters() == before
    fresh = CompiledGrammar.deserialize(compiled.serialize(), INFO)
    filled(GrammarMatcher(fresh))
    assert fresh._core.counters()["states"] > before["states"]  # which has masks to take


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ends", [False, True])
def test_the_first_mask_is_what_is_accepted(kind: str, ends: bool) -> None:
    matcher = GrammarMatcher(compiled_and_loaded(kind)[1], terminate_without_stop_token=ends)
    if matcher.is_terminated():
        return
    mask = filled(matcher)
    for token in range(INFO.vocab_size):
        assert matcher.fork().accept_token(token) == allows(mask, token), TOKENS[token]
    assert filled(matcher) == mask


def after_fork(matcher: GrammarMatcher) -> object:
    fork = matcher.fork()
    return fork.accept_token(ord("x")), filled(fork), filled(matcher)


def after_rollback(matcher: GrammarMatcher) -> object:
    accepted = [token for token in range(INFO.vocab_size) if matcher.fork().accept_token(token)]
    matcher.accept_token(accepted[0])
    matcher.rollback(1)
    return accepted, filled(matcher)


def after_reset(matcher: GrammarMatcher) -> object:
    fork = matcher.fork()
    matcher.reset()
    return filled(matcher), filled(fork), matcher.accept_string('{"a'), fork.accept_string("12")


def after_a_budget(matcher: GrammarMatcher) -> object:
    least = matcher.min_tokens_to_finish()
    matcher.remaining_tokens = least
    return least, filled(matcher), matcher.remaining_tokens


def after_a_stop(matcher: GrammarMatcher) -> object:
    return matcher.accept_token(STOP), matcher.is_terminated(), matcher.find_jump_forward_string()


def draft_tree(matcher: GrammarMatcher) -> object:
    rows = np.zeros((3, (INFO.vocab_size + 31) // 32), dtype=np.int32)
    tree = np.array([1, 2, -1]), np.array([-1, -1, -1]), np.array([0, ord("x"), ord("x")])
    matcher.traverse_draft_tree(*tree, rows)
    return rows.tobytes()


def in_a_batch(matcher: GrammarMatcher) -> object:
    rows = np.zeros((2, (INFO.vocab_size + 31) // 32), dtype=np.int32)
    BatchGrammarMatcher(1).batch_fill_next_token_bitmask([matcher, matcher.fork()], rows)
    return rows.tobytes()


CALLS: dict[str, Callable[[GrammarMatcher], object]] = {
    "is_completed": lambda matcher: (matcher.is_completed(), matcher.is_terminated()),
    "fork": after_fork,
    "rollback": after_rollback,
    "reset": after_reset,
    "budget": after_a_budget,
    "stop": after_a_stop,
    "draft tree": draft_tree,
    "batch": in_a_batch,
    "mask id": lambda matcher: (matcher.next_mask_id(), filled(matcher)),
    "jump": lambda matcher: (matcher.find_jump_forward_string(), filled(matcher)),
    "validate": lambda matcher: [matcher.validate_tokens([token]) for token in range(264)],
    "text": lambda matcher: (matcher.accept_string("xx"), matcher.is_completed(), filled(matcher)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("call", CALLS)
def test_the_first_call_is_answered_as_after_compiling(kind: str, call: str) -> None:
    compiled, loaded = compiled_and_loaded(kind)
    expected = CALLS[call](GrammarMatcher(compiled))
    assert CALLS[call](GrammarMatcher(loaded)) == expected


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stop", [ord("x"), ord('"'), ord("1"), STOP - 1])
def test_stop_tokens_of_a_matcher_count(kind: str, stop: int) -> None:
    """Without a byte as a token, some texts can't be spelt to their end."""
    answers = []
    for grammar in compiled_and_loaded(kind):
        matcher = GrammarMatcher(grammar, override_stop_tokens=stop)
        mask = filled(matcher)
        for token in range(INFO.vocab_size):
            assert matcher.fork().accept_token(token) == allows(mask, token), TOKENS[token]
        answers.append(mask)
    assert answers[0] == answers[1]


def test_stop_tokens_that_leave_no_text_are_refused() -> None:
    for grammar in compiled_and_loaded("ambiguous"):
        with pytest.raises(UnsatisfiableGrammarError) as raised:
            GrammarMatcher(grammar, override_stop_tokens=[ord("x"), STOP - 1])
        assert raised.value.code == "grammar-unspellable"


def test_a_budget_that_is_too_small_is_refused() -> None:
    for grammar in compiled_and_loaded("schema"):
        with pytest.raises(MatcherError) as raised:
            GrammarMatcher(grammar, token_budget=3)
        assert raised.value.code == "matcher-budget-too-small"


def test_the_mask_of_a_start_that_was_not_asked_for_is_not_stored() -> None:
    compiled = KINDS["schema"](GrammarCompiler(INFO))
    assert compiled.serialize(include_masks=True) == compiled.serialize()
