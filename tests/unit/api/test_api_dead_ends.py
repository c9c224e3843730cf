"""No dead ends: what tokens cannot complete is refused, at the latest when a matcher is made."""

from __future__ import annotations

import time

import numpy as np
import pytest

import maskwright as mw

BYTES = [bytes([byte]) for byte in range(256)]


def allowed(matcher: mw.GrammarMatcher) -> set[bytes]:
    info = matcher.compiled_grammar.tokenizer_info
    bitmask = np.zeros((info.vocab_size + 31) // 32, dtype=np.int32)
    matcher.fill_next_token_bitmask(bitmask)
    bits = np.flatnonzero(np.unpackbits(bitmask.view(np.uint8), bitorder="little"))
    for token in range(info.vocab_size):
        assert matcher.fork().accept_token(token) == (token in bits)
    return {info.decoded_vocab[token] for token in bits}


def compiler(tokens: list[bytes]) -> mw.GrammarCompiler:
    info = mw.TokenizerInfo([*tokens, b"</s>"], stop_token_ids=len(tokens))
    return mw.GrammarCompiler(info)


@pytest.mark.parametrize(
    "repeat", [r"[^\x00-\U0010FFFF]{0,73}", "x{0,73}", "x{0,2000000}", "(x{0,70} x){0,90}"]
)
def test_a_repeat_of_nothing_can_be_left_out(repeat: str) -> None:
    compiled = compiler(BYTES).compile_grammar(f'root ::= {repeat} "a"\nx ::= x "b"')
    matcher = mw.GrammarMatcher(compiled)
    assert allowed(matcher) == {b"a"}
    assert matcher.accept_string("a")
    assert matcher.is_completed()


@pytest.mark.parametrize(("regex", "stop"), [("a", 0), ("b?a", 0), ("c*ab", 1)])
def test_a_stop_token_cannot_spell(regex: str, stop: int) -> None:
    compiled = compiler([b"a", b"b", b"c"]).compile_regex(regex)
    with pytest.raises(mw.UnsatisfiableGrammarError) as caught:
        mw.GrammarMatcher(compiled, override_stop_tokens=stop)
    assert caught.value.code == "grammar-unspellable"


def test_what_needs_a_stop_token_is_not_allowed() -> None:
    compiled = compiler([b"a", b"b", b"c", b"bc"]).compile_regex("a(b|ca)c?")
    matcher = mw.GrammarMatcher(compiled, override_stop_tokens=2)
    assert matcher.accept_token(0)
    assert allowed(matcher) == {b"b", b"bc"}


def test_another_token_can_stand_in_for_a_stop_token() -> None:
    compiled = compiler([b"a", b"b", b"a"]).compile_regex("a")
    matcher = mw.GrammarMatcher(compiled, override_stop_tokens=0)
    assert not matcher.accept_token(0)
    assert matcher.accept_token(2)


@pytest.mark.parametrize("missing", [b"\x98", b"\x80", b"u", b"d", b"9", b"l"])
def test_a_spelling_that_a_missing_byte_cuts_off(missing: bytes) -> None:
    tokens = [token for token in BYTES if token != missing]
    compiled = compiler(tokens).compile_json_schema(
        {"enum": ["\U0001f600", {"\xe9": 1, "e": "\x01"}, True, None, 199, 1]}, strict_mode=False
    )
    waiting, seen = [mw.GrammarMatcher(compiled, terminate_without_stop_token=True)], 0
    while waiting and seen < 300:
        matcher = waiting.pop()
        seen += 1
        if matcher.is_terminated():
            continue
        tokens_here = allowed(matcher)
        assert tokens_here
        for token in sorted(tokens_here - {b" ", b"\n", b"\t", b"\r"}):
            waiting.append(matcher.fork())
            assert waiting[-1].accept_string(token)
    assert seen > 5


def test_whitespace_does_not_hide_a_dead_end() -> None:
    tokens = [b'{"', b'{"a"', b"a", b'"', b":1}", b"\n", b"\n  ", b" ", b": "]
    compiled = compiler(tokens).compile_json_schema({"const": {"a": 1}})
    matcher = mw.GrammarMatcher(compiled)
    assert matcher.accept_string('{"a"')
    assert allowed(matcher) == {b":1}", b" ", b"\n", b"\n  "}


def test_unspellable_is_found_by_the_compiler() -> None:
    with pytest.raises(mw.UnsatisfiableGrammarError) as caught:
        compiler([b"a", b"bc"]).compile_grammar('root ::= "a" "b"')
    assert caught.value.code == "grammar-unspellable"


def test_long_tokens_in_an_ambiguous_grammar() -> None:
    info = compiler([*BYTES, b"a" * 128, b"a" * 40]).tokenizer_info
    compiled = mw.GrammarCompiler(info).compile_grammar('root ::= root root | "a"')
    matcher = mw.GrammarMatcher(compiled)
    begin = time.monotonic()
    for _ in range(12):
        assert b"a" * 128 in allowed(matcher)
        assert matcher.accept_string("a")
    assert time.monotonic() - begin < 60


# --- searches for completions ---------------------------------------------------------------------

SMALL = [bytes([byte]) for byte in b'{}[]":,.-0123456789 \\abcelnrstu']
STRUCTURES = {
    "required": ({"required": ["abc"]}, '{"a":[{"b":"\\n"},1.5],"ab":{"'),
    "required by an escape": ({"required": ["xa"]}, '{"a":[1],"b'),
    "nested and required": (
        {
            "required": ["a"],
            "properties": {"a": {"type": "object", "required": ["b"], "properties": {}}},
            "additionalProperties": {"$ref": "#"},
        },
        '{"t":{"a":{"c":1,"',
    ),
    "minProperties": ({"minProperties": 4}, '{"a":1,"b":{"c":[null,'),
    "unique objects": (
        {"properties": {"a": {"uniqueItems": True, "items": {"minProperties": 2}}}},
        '{"a":[{"a":1,"b":[2]},{"b":[2],"a":1',
    ),
    "a long text": ({"properties": {"a": {"minLength": 300}}, "required": ["a"]}, '{"a":"b'),
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_search_visits_few_places(name: str) -> None:
    """Each step's mask and all accepts: what could be written instead of an end is endless."""
    schema, text = STRUCTURES[name]
    compiled = compiler(SMALL).compile_json_schema(
        {"type": "object", **schema}, strict_mode=False, any_order=True
    )
    matcher = mw.GrammarMatcher(compiled)
    budget = {"required by an escape": 20_000, "a long text": 1_000}.get(name, 300)
    for char in text:
        before = compiled._core.counters()["searched_places"]
        assert char.encode() in allowed(matcher)
        assert compiled._core.counters()["searched_places"] - before <= budget
        assert matcher.accept_string(char)
    assert allowed(matcher)


def test_only_what_can_be_spelled_to_its_end_is_allowed() -> None:
    """Without "d" and "f": U+0078 has an escape, U+007F and all surrogates have none."""
    compiled = compiler(SMALL).compile_json_schema(
        {"enum": [{"x": 1}, {"\x7fb": 1}, {"\U0001f600": 1}, "b\x7f"]}, strict_mode=False
    )
    expected = {
        "": b"{",
        '{"': b"\\",
        '{"\\': b"u",
        '{"\\u': b"0",
        '{"\\u00': b"7",
        '{"\\u007': b"8",
        '{"\\u0078': b'"',
        '{"\\u0078":1': b" .0e}",
    }
    for text, tokens in expected.items():
        matcher = mw.GrammarMatcher(compiled)
        assert matcher.accept_string(text)
        assert allowed(matcher) == {bytes([t]) for t in tokens}


def test_a_dead_end_in_an_item_is_seen_whatever_the_items_before() -> None:
    tokens = [token for token in SMALL if token not in (b"l", b"s")]
    compiled = compiler([*tokens, b"ls"]).compile_json_schema(
        {"type": "array", "uniqueItems": True, "items": {"type": ["boolean", "array", "integer"]}},
        strict_mode=False,
    )
    matcher = mw.GrammarMatcher(compiled)
    assert matcher.accept_string("[[],1,")
    assert allowed(matcher) == {bytes([byte]) for byte in b" -0123456789[t"}


OBJECT_TOKENS = [b"{", b":", b"1", b",", b"}"]


def read(schema: object, names: list[bytes], text: list[bytes]) -> set[bytes]:
    """Returns what is allowed behind a text, in objects without whitespace."""
    tokens = [*OBJECT_TOKENS, *names]
    compiled = compiler(tokens).compile_json_schema(
        schema, any_order=True, strict_mode=False, max_whitespace_cnt=0
    )
    matcher = mw.GrammarMatcher(compiled)
    for token in text:
        assert matcher.accept_token(tokens.index(token))
    return allowed(matcher)


def test_names_that_no_token_spells_run_out() -> None:
    one = [b"{", b'"a"', b":", b"1"]
    assert read({"type": "object"}, [b'"a"'], one) == {b"1", b"}"}
    assert read({"type": "object"}, [b'"a"', b'"b"'], one) == {b"1", b"}", b","}
    two = [*one, b",", b'"b"', b":", b"1"]
    assert read({"type": "object"}, [b'"a"', b'"b"'], two) == {b"1", b"}"}


def test_names_of_a_class_run_out_where_few_are_spelled() -> None:
    schema = {"type": "object", "propertyNames": {"pattern": "^[b-z]*$"}}
    assert read(schema, [b'"', b"b", b'c"'], [b"{", b'"', b"b"]) == {b"b", b'"', b'c"'}
    assert read(schema, [b'"', b"a", b'"b"'], [b"{", b'"b"', b":", b"1"]) == {b"1", b"}", b","}
    schema["propertyNames"] = {"pattern": "^[b-z]+$"}
    assert read(schema, [b'"', b"a", b'"b"'], [b"{", b'"b"', b":", b"1"]) == {b"1", b"}"}
