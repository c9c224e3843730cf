"""Stop tokens: which they are, when they are allowed, and texts that end without one."""

from __future__ import annotations

import numpy as np
import pytest

from maskwright import (
    CompiledGrammar,
    GrammarCompiler,
    GrammarMatcher,
    MatcherError,
    TokenizerInfo,
    UnsatisfiableGrammarError,
    _core,
)
from maskwright.ir import Builder

TOKENS = ["a", "b", "ab", "<s>", "</s>", "<|im_end|>", "b"]
SPECIAL, STOP, OTHER = 3, 4, 5
ONE = TokenizerInfo(TOKENS, stop_token_ids=STOP, special_token_ids=[SPECIAL, OTHER], vocab_size=9)
TWO = TokenizerInfo(TOKENS, stop_token_ids=[STOP, OTHER], special_token_ids=[SPECIAL], vocab_size=9)


def compiled(ebnf: str, info: TokenizerInfo = ONE) -> CompiledGrammar:
    return GrammarCompiler(info).compile_grammar(ebnf)


def allowed(matcher: GrammarMatcher) -> list[int]:
    """What the mask allows; for each id the same as accept_token and validate_tokens."""
    bitmask = np.full(1, 0x5A5A5A5A, dtype=np.int32)
    matcher.fill_next_token_bitmask(bitmask)
    ids = [
        int(token)
        for token in np.flatnonzero(np.unpackbits(bitmask.view(np.uint8)[:2], bitorder="little"))
    ]
    assert ids == [token for token in range(-2, 40) if matcher.fork().accept_token(token)]
    assert ids == [token for token in range(-2, 40) if matcher.validate_tokens([token])]
    return ids


def refuses_everything(matcher: GrammarMatcher) -> bool:
    with pytest.raises(MatcherError) as caught:
        matcher.fill_next_token_bitmask(np.zeros(1, dtype=np.int32))
    assert caught.value.code == "matcher-terminated"
    return not any(matcher.accept_token(token) for token in range(-1, 10))


def test_several_are_allowed_exactly_where_the_text_is_complete():
    matcher = GrammarMatcher(compiled('root ::= "a" "b"? "a"?', TWO))
    assert matcher.stop_token_ids == [STOP, OTHER]
    assert allowed(matcher) == [0, 2]
    assert matcher.accept_token(0)
    assert allowed(matcher) == [0, 1, STOP, OTHER, 6]  # complete, and may go on
    assert matcher.accept_token(0)
    assert allowed(matcher) == [STOP, OTHER]  # complete, and must end
    for stop in (STOP, OTHER):
        assert matcher.accept_token(stop)
        assert matcher.is_terminated()
        assert matcher.is_completed()
        assert refuses_everything(matcher)
        matcher.rollback()
        assert not matcher.is_terminated()


def test_the_callers_replace_the_vocabularys_own():
    matcher = GrammarMatcher(compiled('root ::= "a"+'), override_stop_tokens=OTHER)
    assert matcher.stop_token_ids == [OTHER]
    assert allowed(matcher) == [0]
    assert matcher.accept_token(0)
    assert allowed(matcher) == [0, OTHER]
    assert not matcher.accept_token(STOP)


def test_one_that_has_text_is_no_text():
    matcher = GrammarMatcher(compiled('root ::= "ab"+'), override_stop_tokens=[2, 1])
    assert allowed(matcher) == [0]
    assert matcher.accept_token(0)
    assert allowed(matcher) == [6]  # the other token of the same text
    assert matcher.accept_token(6)
    assert allowed(matcher) == [0, 1, 2]
    assert matcher.accept_string("ab")
    assert matcher.accept_token(2)
    assert matcher.is_terminated()


def token_set(
    info: TokenizerInfo, ids: list[int], *, exclude: bool = False
) -> _core.CompiledGrammar:
    builder = Builder()
    root = builder.rule("root")
    parts = [builder.literal(b"a"), builder.token_set(ids, exclude=exclude)]
    builder.define(root, builder.sequence([parts[0], builder.repeat(parts[1], 0, 2)]))
    return _core.compile(builder.finish(root), info._core)


def core_allowed(matcher: _core.Matcher) -> list[int]:
    bitmask = np.zeros(1, dtype=np.int32)
    matcher.fill_bitmask(bitmask)
    ids = [token for token in range(9) if bitmask[0] >> token & 1]
    assert ids == [token for token in range(9) if matcher.fork().accept_token(token)]
    return ids


def test_in_a_set_of_tokens_it_still_ends_the_text():
    matcher = _core.Matcher(token_set(ONE, [STOP, SPECIAL]))
    assert matcher.accept_token(0)
    assert core_allowed(matcher) == [SPECIAL, STOP]
    assert matcher.accept_token(STOP)
    assert matcher.is_terminated()


def test_all_tokens_but_some_leave_stop_tokens_out():
    matcher = _core.Matcher(token_set(ONE, [2, 6], exclude=True))
    assert matcher.accept_token(0)
    assert core_allowed(matcher) == [0, 1, SPECIAL, STOP, OTHER, 7, 8]  # complete here
    assert matcher.accept_token(OTHER)
    matcher = _core.Matcher(token_set(ONE, [2, 6], exclude=True), stop_token_ids=[OTHER])
    assert matcher.accept_token(0)
    assert matcher.accept_token(STOP)  # special by now, and named by the set
    assert matcher.accept_token(OTHER)
    assert matcher.is_terminated()


def test_a_text_that_only_a_stop_token_could_spell():
    builder = Builder()
    root = builder.rule("root")
    builder.define(root, builder.token_set([STOP]))
    with pytest.raises(UnsatisfiableGrammarError) as caught:
        _core.compile(builder.finish(root), ONE._core)
    assert caught.value.code == "grammar-unspellable"
    builder = Builder()
    root = builder.rule("root")
    builder.define(root, builder.choice([builder.token_set([STOP]), builder.literal(b"ab")]))
    grammar = _core.compile(builder.finish(root), ONE._core)
    assert core_allowed(_core.Matcher(grammar)) == [0, 2]
    matcher = _core.Matcher(grammar, stop_token_ids=[OTHER])
    assert core_allowed(matcher) == [0, 2, STOP]
    assert matcher.accept_token(STOP)
    assert core_allowed(matcher) == [OTHER]


# Ending without one ------------------------------------------------------------------------------


def test_ending_by_itself():
    matcher = GrammarMatcher(
        compiled('root ::= "a" "b"? "a"?', TWO), terminate_without_stop_token=True
    )
    assert matcher.stop_token_ids == [STOP, OTHER]
    assert allowed(matcher) == [0, 2]
    assert not matcher.is_terminated()
    assert matcher.accept_token(0)
    assert matcher.is_terminated()  # and goes on while the grammar does
    assert matcher.is_completed()
    assert allowed(matcher) == [0, 1, 6]
    assert matcher.accept_token(1)
    assert allowed(matcher) == [0]
    assert matcher.accept_token(0)
    assert refuses_everything(matcher)
    matcher.rollback()
    assert allowed(matcher) == [0]


def test_ending_by_itself_needs_no_stop_token():
    info = TokenizerInfo(["a", "b"])
    matcher = GrammarMatcher(compiled('root ::= "a" "b"', info), terminate_without_stop_token=True)
    assert matcher.stop_token_ids == []
    assert matcher.validate_tokens([0, 1, 0]) == 2
    assert matcher.accept_token(0)
    assert not matcher.is_terminated()
    assert matcher.accept_token(1)
    assert refuses_everything(matcher)


def test_ending_by_itself_with_the_callers_stop_tokens():
    """They are no text, and never allowed."""
    grammar = compiled('root ::= "ab" | "a"')
    matcher = GrammarMatcher(grammar, override_stop_tokens=[1], terminate_without_stop_token=True)
    assert allowed(matcher) == [0, 2]
    assert matcher.accept_token(0)
    assert allowed(matcher) == [6]


def test_the_empty_text():
    matcher = GrammarMatcher(compiled('root ::= "a"?'))
    assert matcher.is_completed()
    assert allowed(matcher) == [0, STOP]
    assert matcher.accept_token(STOP)
    matcher.reset()
    assert allowed(matcher) == [0, STOP]
    matcher = GrammarMatcher(compiled('root ::= ""'))
    assert allowed(matcher) == [STOP]
    matcher = GrammarMatcher(compiled('root ::= ""'), terminate_without_stop_token=True)
    assert matcher.is_terminated()
    assert refuses_everything(matcher)


BYTES = TokenizerInfo([*(bytes([k]) for k in range(256)), b"</s>"], stop_token_ids=256)
LINE_FEED = 10


def object_grammar(**layout: object) -> CompiledGrammar:
    members = {"a": {"type": "integer", "enum": [1]}, "b": {"type": "boolean"}}
    schema = {
        "type": "object",
        "properties": members,
        "additionalProperties": False,
        "minProperties": 2,
    }
    return GrammarCompiler(BYTES).compile_json_schema(schema, strict_mode=False, **layout)


def byte_mask(matcher: GrammarMatcher) -> set[int]:
    bitmask = np.zeros((1, 9), dtype=np.int32)
    matcher.fill_next_token_bitmask(bitmask)
    return set(np.flatnonzero(np.unpackbits(bitmask.view(np.uint8), bitorder="little")).tolist())


@pytest.mark.parametrize("layout", [{}, {"any_whitespace": False, "separators": (",", ":")}])
def test_json_needs_no_line_feed_so_nothing_is_searched_where_it_stops(layout):
    grammar = object_grammar(**layout)
    stopped = GrammarMatcher(grammar, override_stop_tokens=LINE_FEED)
    plain = GrammarMatcher(grammar)
    for token in b'{"a":1,"b":true}':
        assert byte_mask(stopped) == byte_mask(plain) - {LINE_FEED}
        assert stopped.accept_token(token)
        assert plain.accept_token(token)
    assert byte_mask(plain) - byte_mask(stopped) <= {256, LINE_FEED}
    assert stopped.accept_token(LINE_FEED)
    assert stopped.is_terminated()
    assert grammar._core.counters()["searched_places"] == 0


def test_a_line_feed_that_stops_and_is_needed_is_a_dead_end():
    grammar = object_grammar(any_whitespace=False, separators=(",\n", ":"))
    GrammarMatcher(grammar)
    with pytest.raises(UnsatisfiableGrammarError):
        GrammarMatcher(grammar, override_stop_tokens=LINE_FEED)
    assert grammar._core.counters()["searched_places"] > 0
