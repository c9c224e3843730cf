"""Public reports about tokenizers, restated: what a mask must make of odd vocabularies."""

from __future__ import annotations

import numpy as np
import pytest

from maskwright import (
    GrammarCompiler,
    GrammarMatcher,
    TokenizerError,
    TokenizerInfo,
    VocabType,
    get_bitmask_shape,
)

BYTES = [bytes((byte,)) for byte in range(256)]
END = 256


def matcher_of(info, *, ebnf=None, regex=None, schema=None):
    compiler = GrammarCompiler(info)
    if regex is not None:
        return GrammarMatcher(compiler.compile_regex(regex))
    if schema is not None:
        return GrammarMatcher(compiler.compile_json_schema(schema))
    return GrammarMatcher(compiler.compile_grammar(ebnf))


def mask_of(matcher, info) -> set[int]:
    bitmask = np.full(get_bitmask_shape(1, info.vocab_size), -1, dtype=np.int32)
    matcher.fill_next_token_bitmask(bitmask)
    bits = np.unpackbits(bitmask.view(np.uint8), bitorder="little")[: info.vocab_size]
    return set(np.flatnonzero(bits).tolist())


def accepts(matcher, *parts) -> bool:
    """Accept token ids, and strings byte by byte."""
    for part in parts:
        for token in [part] if isinstance(part, int) else part.encode():
            if not matcher.accept_token(token):
                return False
    return True


def test_a_size_below_the_vocabulary_is_a_clear_error():
    with pytest.raises(TokenizerError) as caught:
        TokenizerInfo([*BYTES, b"</s>"], vocab_size=100, stop_token_ids=END)
    assert caught.value.code == "tokenizer-vocab-size"
    assert "vocab_size 100 is smaller than the 257 tokens" in str(caught.value)


def test_special_tokens_never_come_in_free_text():
    info = TokenizerInfo(
        [*BYTES, b"</s>", b"<|reserved_7|>", b"<unk>"],
        stop_token_ids=END,
        special_token_ids=[257, 258],
    )
    matcher = matcher_of(info, ebnf='root ::= [^\\n]* "\\n"')
    before = mask_of(matcher, info)
    assert before.isdisjoint({257, 258, END})
    assert not matcher.accept_token(257)
    assert not matcher.accept_token(258)
    assert mask_of(matcher, info) == before
    assert accepts(matcher, "anything <|reserved_7|> spelled out\n", END)
    assert matcher.is_terminated()


def test_a_literal_that_spells_a_special_token_is_text():
    info = TokenizerInfo(
        [*BYTES, b"</s>", b"<think>", b"</think>"],
        stop_token_ids=END,
        special_token_ids=[257, 258],
    )
    matcher = matcher_of(info, ebnf='root ::= "<think>" [a-z]* "</think>" "ok"')
    assert mask_of(matcher, info) == {ord("<")}
    assert not matcher.accept_token(257)
    assert accepts(matcher, "<think>abc</think>ok", END)


def test_byte_level_entries_outside_the_alphabet_stand_for_themselves():
    info = TokenizerInfo(
        ["\u0120there", "\u010a", "\n", "\u203c", "</s>"], VocabType.BYTE_LEVEL, stop_token_ids=4
    )
    assert info.decoded_vocab[:4] == [b" there", b"\n", b"\n", "\u203c".encode()]
    pattern = "\u203c? there\\n+"
    assert accepts(matcher_of(info, regex=pattern), 3, 0, 1, 4)
    assert accepts(matcher_of(info, regex=pattern), 0, 2, 4)
    assert mask_of(matcher_of(info, regex=pattern), info) == {0, 3}


def test_each_of_several_stop_tokens_ends_a_complete_text():
    info = TokenizerInfo([*BYTES, b"</s>", b"<e>", b""], stop_token_ids=[256, 257, 258])
    for stop in (256, 257, 258):
        matcher = matcher_of(info, schema={"type": "integer"})
        assert not matcher.accept_token(stop)
        assert accepts(matcher, "7")
        assert {256, 257, 258} <= mask_of(matcher, info)
        assert matcher.accept_token(stop)
        assert matcher.is_terminated()
        open_matcher = matcher_of(info, schema={"type": "integer"})
        assert accepts(open_matcher, "-")
        assert not open_matcher.accept_token(stop)


def test_stop_tokens_of_the_caller_replace_those_found():
    info = TokenizerInfo(
        [*BYTES, b"</s>", b"<|im_end|>"], stop_token_ids=257, special_token_ids=[256]
    )
    matcher = matcher_of(info, schema={"type": "boolean"})
    assert accepts(matcher, "true")
    assert mask_of(matcher, info) == {257}
    assert not matcher.accept_token(256)
    assert matcher.accept_token(257)


def test_in_a_raw_vocabulary_a_letter_is_itself():
    info = TokenizerInfo([*BYTES, b"</s>", b"\xc4\xa0", b" .", b"*."], stop_token_ids=END)
    pattern = "\u0120? \\*?\\.txt"
    assert accepts(matcher_of(info, regex=pattern), 257, " .txt", END)
    assert accepts(matcher_of(info, regex=pattern), 258, "txt", END)
    matcher = matcher_of(info, regex=pattern)
    assert matcher.accept_token(257)
    assert not matcher.accept_token(257)  # it was no blank, so no dot can follow
    assert not matcher.accept_token(259)
