"""Vocabularies of real models have odd tokens: what users of this field have reported as faults.

Ids 0 to 255 are the single bytes, 256 is the stop token, more tokens follow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo

END = 256


def info_of(*more: bytes, **options: Any) -> TokenizerInfo:
    options.setdefault("stop_token_ids", END)
    return TokenizerInfo([*(bytes([byte]) for byte in range(256)), b"</s>", *more], **options)


def matcher_of(info: TokenizerInfo, kind: str, grammar: Any, **options: Any) -> GrammarMatcher:
    compiler = GrammarCompiler(info)
    return GrammarMatcher(getattr(compiler, f"compile_{kind}")(grammar, **options))


def allowed(matcher: GrammarMatcher) -> set[int]:
    size = matcher.compiled_grammar.tokenizer_info.vocab_size
    bitmask = np.zeros(-(-size // 32), dtype=np.int32)
    matcher.fill_next_token_bitmask(bitmask)
    bits = np.unpackbits(bitmask.view(np.uint8), bitorder="little")
    ids = {int(token) for token in bits.nonzero()[0]}
    assert ids == {token for token in range(size) if matcher.fork().accept_token(token)}
    return ids


def accepts(matcher: GrammarMatcher, ids: list[int]) -> bool:
    """Whether the tokens can come from here, mask and acceptance agreeing at each."""
    matcher = matcher.fork()
    for token in ids:
        if token not in allowed(matcher):
            return False
        assert matcher.accept_token(token)
    return True


def test_several_ids_with_the_same_bytes():
    """All are allowed or none is."""
    info = info_of(b"a", b"a", b'\\"', b"\xc3", b"\xc3\xa9")
    matcher = matcher_of(info, "json_schema", {"const": "a\u00e9"})
    assert allowed(matcher) == {ord('"')}
    assert matcher.accept_token(ord('"'))
    same = {ord("a"), 257, 258}
    assert allowed(matcher) == {*same, ord("\\")}  # or the escape of the same character
    assert matcher.accept_token(258)
    assert {0xC3, 260, 261} <= allowed(matcher)
    assert not same & allowed(matcher)
    assert 259 not in allowed(matcher)
    assert accepts(matcher, [260, 0xA9, ord('"'), END])
    assert accepts(matcher, [261, ord('"'), END])


def test_tokens_that_cut_characters():
    info = info_of(b"\xf0\x9f", b"\x98\x80", b"\xe4\xb8\xad\xe6", b"\x96\x87")
    matcher = matcher_of(info, "regex", "[\u4e2d\u6587\U0001f600]+")
    for text in ("\u4e2d\u6587", "\U0001f600\u4e2d"):
        assert accepts(matcher, [*text.encode(), END])
    assert accepts(matcher, [257, 258, END])
    assert accepts(matcher, [259, 260, END])
    assert not accepts(matcher, [257, 260])
    assert not accepts(matcher, [257, END])
    assert not accepts(matcher, [258])


def test_a_position_inside_a_character_forces_no_string():
    info = info_of(b"\xf0\x9f", b"\x98\x80", encoder=lambda text: list(text.encode()))
    matcher = matcher_of(info, "regex", "\U0001f600b")
    assert matcher.find_jump_forward_string() == "\U0001f600b"
    assert matcher.accept_token(257)
    assert matcher.find_jump_forward_string() == ""
    assert matcher.find_jump_forward_tokens() == [0x98, 0x80, ord("b")]
    assert matcher.accept_token(258)
    assert matcher.find_jump_forward_string() == "b"


def test_a_forced_string_ends_at_a_character():
    matcher = matcher_of(info_of(), "regex", "x[\u00e8\u00e9]")
    assert matcher.find_jump_forward_string() == "x"


def test_several_end_tokens():
    info = info_of(b"<|end|>", b"<|eot|>", stop_token_ids=[256, 257, 258])
    matcher = matcher_of(info, "json_schema", {"type": "integer"})
    for end in (256, 257, 258):
        assert accepts(matcher, [ord("7"), end])
    assert not accepts(matcher, [257])
    assert not accepts(matcher, [ord("-"), 258])


@pytest.mark.parametrize("where", ["vocabulary", "matcher"])
def test_the_end_token_is_the_callers(where):
    """What looks like an end token, or is the vocabulary's own, is special then and not allowed."""
    stops = 257 if where == "vocabulary" else 256
    info = info_of(b"<|im_end|>", stop_token_ids=stops, special_token_ids=[256, 257])
    compiled = GrammarCompiler(info).compile_json_schema({"type": "boolean"})
    matcher = GrammarMatcher(
        compiled, override_stop_tokens=None if where == "vocabulary" else [257]
    )
    assert accepts(matcher, [*b"true", 257])
    assert not accepts(matcher, [*b"true", 256])


def test_what_is_complete_and_cannot_go_on_must_end():
    matcher = matcher_of(info_of(), "regex", "ab")
    assert accepts(matcher, [*b"ab", END])
    assert matcher.accept_string("ab")
    assert allowed(matcher) == {END}


def test_separators_inside_tokens():
    info = info_of(b'": ', b'":', b": ")
    schema = {
        "type": "object",
        "properties": {"t": {"type": "string", "minLength": 1}},
        "required": ["t"],
        "additionalProperties": False,
    }
    matcher = matcher_of(info, "json_schema", schema, any_whitespace=False, separators=(", ", ": "))
    rest = [*b'"x"}', END]
    assert accepts(matcher, [*b'{"t', 257, *rest])
    assert accepts(matcher, [*b'{"t"', 259, *rest])
    assert accepts(matcher, [*b'{"t', 258, ord(" "), *rest])
    assert not accepts(matcher, [*b'{"t', 258, ord('"')])
