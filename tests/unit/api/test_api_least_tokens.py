"""`min_tokens_to_finish` where the shortest text is not the one of the fewest tokens, or is hard to
find: what the answer is, and in counts what it takes."""

from __future__ import annotations

from typing import Any

import pytest

from budget_walks import allowed_tokens, choosers, walk
from maskwright import CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo


def _info(*more: bytes) -> TokenizerInfo:
    tokens = [*(bytes([byte]) for byte in range(256)), *more, b"</s>"]
    return TokenizerInfo(tokens, stop_token_ids=len(tokens) - 1)


def _large(*more: bytes) -> TokenizerInfo:
    """A vocabulary that counts as none of the small ones."""
    return _info(*more, *(b"~%05d" % i for i in range(5000)))


def _compile(info: TokenizerInfo, schema: Any, **options: Any) -> CompiledGrammar:
    return GrammarCompiler(info).compile_json_schema(schema, **options)


def _items(value: str, least: int) -> dict[str, Any]:
    return {"type": "array", "items": {"const": value}, "minItems": least}


def _member(name: str, value: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"const": value}}, "required": [name]}


# With the tokens of the longer text, without the stop token.
CHOICES: dict[str, tuple[Any, tuple[bytes, ...], int]] = {
    "constants": (
        {"anyOf": [{"const": [1, 2, 3, 4]}, {"const": ["organization"]}]},
        (b'["', b"organization", b'"]'),
        3,
    ),
    "arrays": (
        {"anyOf": [_items("q9", 4), _items("international", 2)]},
        (b'["', b"international", b'","', b'"]'),
        5,
    ),
    "objects": (
        {"oneOf": [_member("zq", "xq0v"), _member("description", "information")]},
        (b'{"', b"description", b'":"', b"information", b'"}'),
        5,
    ),
    "texts": ({"enum": ["x9q7z", "international"]}, (b'"', b"international"), 3),
    "parts of an object": (
        {
            "type": "object",
            "properties": {name: {"enum": ["q1w2", "international"]} for name in "abc"},
            "required": ["a", "b", "c"],
        },
        (b'{"', b'":"', b"international", b'","', b'"}'),
        13,
    ),
}


@pytest.mark.parametrize("info", [_info, _large], ids=["small", "large"])
@pytest.mark.parametrize("name", CHOICES)
def test_a_longer_text_of_fewer_tokens_is_found(name: str, info: Any) -> None:
    schema, tokens, least = CHOICES[name]
    compiled = _compile(info(*tokens), schema, strict_mode=False)
    assert GrammarMatcher(compiled).min_tokens_to_finish() == least + 1
    for extra in (0, 1, 4):
        for choose in choosers(extra).values():
            walk(GrammarMatcher(compiled, token_budget=least + 1 + extra), choose, check_every=3)


@pytest.mark.parametrize("any_order", [False, True])
def test_members_that_need_not_be_cost_nothing(any_order: bool) -> None:
    schema = {
        "type": "object",
        "properties": {f"p{i}": {"type": "string"} for i in range(2000)},
        "required": ["p700", "p1200"],
    }
    compiled = _compile(_info(), schema, strict_mode=False, any_order=any_order)
    least = len('{"p700":"","p1200":""}') + 1
    assert GrammarMatcher(compiled).min_tokens_to_finish() == least
    assert compiled._core.counters()["states"] < 2500
    matcher = GrammarMatcher(compiled, token_budget=least)
    assert matcher.accept_string('{"p')
    assert [chr(token) for token in allowed_tokens(matcher)] == (["1", "7"] if any_order else ["7"])


@pytest.mark.parametrize("any_order", [False, True])
def test_many_members_that_must_be_are_found_one_after_the_other(any_order: bool) -> None:
    names = [f"name{i}" for i in range(40)]
    schema = {
        "type": "object",
        "properties": {name: {"type": "null"} for name in names},
        "required": names,
    }
    compiled = _compile(_info(b"null"), schema, any_order=any_order)
    bytes_of_names = sum(len(name) + 2 for name in names)
    least = bytes_of_names + len("{}") + len(names) * len([":", "null", ","]) - 1 + 1
    assert GrammarMatcher(compiled).min_tokens_to_finish() == least
    assert compiled._core.counters()["states"] < 2000


@pytest.mark.parametrize("count", [20, 1000])
@pytest.mark.parametrize("info", [_info, _large], ids=["small", "large"])
def test_items_that_are_longer_but_take_fewer_tokens(count: int, info: Any) -> None:
    compiled = _compile(info(b"{},"), {"type": "array", "minItems": count}, strict_mode=False)
    # A bracket, "{}," for each item but the last, that item, a bracket and the stop token.
    assert GrammarMatcher(compiled).min_tokens_to_finish() == 1 + (count - 1) + 1 + 1 + 1
    inside = GrammarMatcher(compiled)
    assert inside.accept_string("[" + "0," * (count // 2))
    assert inside.min_tokens_to_finish() == (count - count // 2 - 1) + 1 + 1 + 1


def test_an_end_that_was_far_begun_is_found_from_the_end() -> None:
    compiled = GrammarCompiler(_info()).compile_regex("(a|b)*a(a|b){13}")
    matcher = GrammarMatcher(compiled)
    assert matcher.min_tokens_to_finish() == 15
    assert matcher.accept_string("bbbabbbb")
    assert matcher.min_tokens_to_finish() == 10
    # Not each of the 2 ** 14 sets of positions.
    assert compiled._core.counters()["states"] < 200
