"""`GrammarMatcher.explain`: where a text is, what may come next, why a token was refused."""

from __future__ import annotations

import json

import pytest

from maskwright import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo

WORDS = ['{"', '":', "name", "red", "green", "12", "xyz"]
INFO = TokenizerInfo(
    [*WORDS, *(bytes([k]) for k in range(256)), "</s>"],
    stop_token_ids=len(WORDS) + 256,
    vocab_size=len(WORDS) + 300,
)
STOP = len(WORDS) + 256
COMPILER = GrammarCompiler(INFO)
SCHEMA = {
    "type": "object",
    "properties": {"name": {"enum": ["red", "green"]}, "size": {"type": "integer"}},
    "required": ["name", "size"],
}
ARITHMETIC = """
root ::= sum
sum ::= term ("+" term){0,3}
term ::= number | "(" sum ")"
number ::= [0-9]+ "." [0-9]+
"""


def after(compiled, text: str, **options) -> GrammarMatcher:
    matcher = GrammarMatcher(compiled, **options)
    assert matcher.accept_string(text)
    return matcher


def test_a_json_schema():
    matcher = after(COMPILER.compile_json_schema(SCHEMA), '{"name":"')
    assert not matcher.accept_token(WORDS.index("xyz"))
    told = matcher.explain()
    assert (told.position, told.text, told.pointer) == (1, '{"name":"', "#/name")
    assert told.rules[0] == "JSON string"
    assert "JSON object" in told.rules
    assert told.literals == ('red"', 'green"')
    assert (ord("g"), ord("g")) in told.byte_classes
    assert told.refusal is not None
    assert (told.refusal.reason, told.refusal.offset) == ("grammar", 0)
    assert not told.is_completed
    assert told.remaining_tokens is None
    assert "at #/name" in str(told)
    assert "token 6 ('xyz') was refused: its byte 0" in str(told)


def test_the_byte_at_which_a_token_is_refused():
    info = TokenizerInfo(["red", "rex", "</s>"], stop_token_ids=2)
    matcher = GrammarMatcher(GrammarCompiler(info).compile_regex("red"))
    assert not matcher.accept_token(1)
    refusal = matcher.explain().refusal
    assert refusal is not None
    assert (refusal.text, refusal.reason, refusal.offset) == (b"rex", "grammar", 2)


def test_a_grammar_names_its_rules():
    told = after(COMPILER.compile_grammar(ARITHMETIC), "1.5+(2").explain()
    assert told.rules[0] == "term"  # which has taken in its small rule "number"
    assert {"term", "sum"} <= set(told.rules)
    assert told.byte_classes == ((ord("."), ord(".")), (ord("0"), ord("9")))
    assert told.pointer is None


def test_a_regex():
    told = after(COMPILER.compile_regex("(foo|bar)[a-f]{3}"), "fo").explain()
    assert told.byte_classes == ((ord("o"), ord("o")),)
    assert told.rules == ("root",)
    assert len(told.literals) > 0
    assert all(text.startswith("o") for text in told.literals)


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        (-1, "out-of-range"),
        (2**70, "out-of-range"),
        (INFO.vocab_size, "out-of-range"),
        (INFO.vocab_size - 1, "special"),
        (STOP, "incomplete"),
        (WORDS.index("12"), "grammar"),
    ],
)
def test_reasons(token, reason):
    matcher = after(COMPILER.compile_regex("red"), "r")
    assert not matcher.accept_token(token)
    refusal = matcher.explain().refusal
    assert refusal is not None
    assert refusal.reason == reason
    assert str(refusal) in str(matcher.explain())


def test_the_budget_is_named():
    compiled = COMPILER.compile_regex("[a-z]*(12)?")
    matcher = GrammarMatcher(compiled, token_budget=2)
    assert matcher.accept_token(WORDS.index("red"))
    assert not matcher.accept_token(WORDS.index("green"))
    refusal = matcher.explain().refusal
    assert refusal is not None
    assert (refusal.reason, refusal.needed, refusal.left) == ("budget", 1, 0)
    assert str(refusal) == (
        "token 4 ('green') was refused by the token budget: 1 tokens complete the text behind it, "
        "and 0 would be left"
    )
    assert not matcher.accept_token(len(WORDS) + ord("!"))
    refusal = matcher.explain().refusal
    assert refusal is not None
    assert refusal.reason == "grammar"
    assert matcher.remaining_tokens == matcher.explain().remaining_tokens == 1


def test_after_the_end():
    matcher = after(COMPILER.compile_regex("red"), "red")
    assert matcher.explain().literals == ("the end of the text",)
    assert matcher.accept_token(STOP)
    assert not matcher.accept_token(STOP)
    told = matcher.explain()
    assert told.is_terminated
    assert told.literals == ()
    assert told.byte_classes == ()
    assert told.refusal is not None
    assert told.refusal.reason == "terminated"
    assert "the text has ended" in str(told)
    matcher = after(COMPILER.compile_regex("red"), "red", terminate_without_stop_token=True)
    assert not matcher.accept_token(STOP)
    assert matcher.explain().is_terminated


def test_tokens_that_cannot_complete_the_text():
    info = TokenizerInfo(["ab", "a", "c", "</s>"], stop_token_ids=3)
    matcher = GrammarMatcher(GrammarCompiler(info).compile_regex("ab|c"))
    assert not matcher.accept_token(1)
    refusal = matcher.explain().refusal
    assert refusal is not None
    assert (refusal.reason, refusal.offset) == ("unspellable", 1)


def test_a_refusal_is_forgotten_with_the_next_step():
    matcher = GrammarMatcher(COMPILER.compile_regex("[rx]ed"))
    red = [len(WORDS) + byte for byte in b"red"]
    for step in (
        lambda: matcher.accept_token(red[0]),
        lambda: matcher.rollback(1),
        lambda: matcher.accept_string("r"),
        matcher.reset,
    ):
        assert not matcher.accept_token(STOP)
        assert matcher.explain().refusal is not None
        step()
        assert matcher.explain().refusal is None
    matcher.validate_tokens([STOP])
    assert matcher.explain().refusal is None


def test_nothing_changes_and_no_mask_is_computed():
    compiled = GrammarCompiler(INFO).compile_json_schema(SCHEMA)
    matcher = after(compiled, '{"name":"red","size":', token_budget=40)
    assert not matcher.accept_token(STOP)
    walks = compiled._core.counters()["cold_walks"]
    assert matcher.explain() == matcher.explain()
    assert matcher.remaining_tokens == 40
    assert compiled._core.counters()["cold_walks"] == walks
    assert matcher.accept_token(len(WORDS) + ord("7"))


def test_a_text_that_may_go_on_has_not_ended():
    matcher = after(COMPILER.compile_regex("a+"), "a", terminate_without_stop_token=True)
    assert matcher.is_terminated()
    told = matcher.explain()
    assert (told.is_completed, told.is_terminated) == (True, False)
    assert told.byte_classes == ((ord("a"), ord("a")),)
    assert "the text has ended" not in str(told)


def test_the_stop_token_of_the_vocabulary_is_special_beside_others():
    string = COMPILER.compile_json_schema({"type": "string"})
    matcher = after(string, '"', override_stop_tokens=[WORDS.index("xyz")])
    assert not matcher.accept_token(STOP)
    refusal = matcher.explain().refusal
    assert refusal is not None
    assert refusal.reason == "special"


@pytest.mark.parametrize("text", ['{"\\x":', '{"\n":', "{'a':", '"a":'])
def test_no_pointer_where_the_text_around_a_json_value_is_none(text):
    grammar = Grammar.from_ebnf(f"root ::= {json.dumps(text)}")
    value = Grammar.from_json_schema({"type": "object"})
    matcher = after(COMPILER.compile_grammar(Grammar.concat(grammar, value)), text + '{"b":')
    told = matcher.explain()
    assert told.pointer is None
    assert told.rules[0] == "JSON value"
