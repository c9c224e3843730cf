"""One request at a time: formats, limits, choices of tokens, what is counted."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from maskwright import GrammarCompiler, GrammarMatcher, MatcherError, TokenizerInfo
from maskwright.chat import (
    ChatEngine,
    ChatRequest,
    EngineClosedError,
    ModelError,
    RequestError,
    error_body,
)
from maskwright.chat.complete_texts import CompleteTexts
from maskwright.errors import GrammarSyntaxError, InvalidSchemaError, UnsupportedFeatureError
from maskwright.tokenizers import from_tokens
from scripted_model import STOP, ScriptedModel

HI = [{"role": "user", "content": "hi"}]


def _schema(schema: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}


def _regex(pattern: str) -> dict[str, Any]:
    return {"type": "grammar", "syntax": "regex", "grammar": pattern}


def _ask(engine: ChatEngine, **fields: Any) -> Any:
    fields.setdefault("temperature", 0)
    return engine.complete({"messages": HI}, **fields)


def test_free_text_ends_at_the_stop_token(engine_of) -> None:
    model = ScriptedModel([b"abc", b" ", b"ab"])
    completion = _ask(engine_of(model))
    (choice,) = completion.choices
    assert (choice.text, choice.finish_reason) == ("abc ab", "stop")
    token_ids = [entry.token_id for entry in choice.tokens]
    assert token_ids[-1] in model.vocabulary.stop_token_ids
    # The prompt in one go, then each token but the last, which nothing follows.
    assert model.evaluated == [list(b"<user>hi"), *([token] for token in token_ids[:-1])]
    assert model.seen == [[]]  # and forgotten


def test_the_answer_as_openai_lays_it_out(engine_of) -> None:
    completion = _ask(engine_of(ScriptedModel([b"abc"]), model_name="m")).to_dict()
    assert completion["object"] == "chat.completion"
    assert completion["id"].startswith("chatcmpl-")
    assert (completion["model"], type(completion["created"])) == ("m", int)
    assert completion["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "abc"},
            "finish_reason": "stop",
            "logprobs": None,
        }
    ]
    json.dumps(completion)


@pytest.mark.parametrize(
    ("response_format", "text"),
    [
        (_schema({"const": {"a": None}}), '{"a": null}'),
        ({"type": "json_object", "schema": {"const": [True]}}, "[true]"),
        (_regex("true|false"), "true"),
        ({"type": "grammar", "syntax": "ebnf", "grammar": 'root ::= "ab" "c"'}, "abc"),
        ({"type": "text"}, "abc"),
    ],
)
def test_every_format(engine_of, response_format: Any, text: str) -> None:
    engine = engine_of(ScriptedModel([bytes([byte]) for byte in text.encode()]))
    assert _ask(engine, response_format=response_format).text == text


def test_json_object_is_any_json(engine_of) -> None:
    engine = engine_of(ScriptedModel([b"true"]))
    assert _ask(engine, response_format={"type": "json_object"}).text == "true"
    engine = engine_of(ScriptedModel([b"{", b'"', b"a", b'"', b":", b" ", b"[", b"]", b"}"]))
    assert _ask(engine, response_format={"type": "json_object"}).text == '{"a": []}'


def test_whitespace_is_a_choice_of_the_engine(engine_of) -> None:
    script = [b"[", b" ", b" ", b"]"]
    fields = {"response_format": {"type": "json_object"}, "max_tokens": 9}
    engine = engine_of(ScriptedModel(script), json_options={"any_whitespace": True})
    assert _ask(engine, **fields).text == "[  ]"
    assert _ask(engine_of(ScriptedModel(script)), **fields).text.startswith('["')


def test_limits_cut_off_free_text(engine_of) -> None:
    completion = _ask(engine_of(ScriptedModel([b"a"] * 10)), max_tokens=3)
    assert (completion.text, completion.choices[0].finish_reason) == ("aaa", "length")
    model = ScriptedModel([b"a"] * 10, context_size=10)
    assert _ask(engine_of(model)).text == "aaa"  # the last one is not evaluated any more
    assert sum(map(len, model.evaluated)) == 10


def test_text_under_a_format_is_complete_within_the_limit(engine_of) -> None:
    engine = engine_of(ScriptedModel([b'"', *[b"a"] * 50]))
    for limit in range(3, 9):
        completion = _ask(engine, response_format=_schema({"type": "string"}), max_tokens=limit)
        assert completion.text == f'"{"a" * (limit - 3)}"'
        assert completion.choices[0].finish_reason == "stop"
        assert completion.usage.completion_tokens == limit
    with pytest.raises(MatcherError, match="is 2, but the format takes 3 tokens") as caught:
        _ask(engine, response_format=_schema({"type": "string"}), max_tokens=2)
    body = error_body(caught.value)["error"]
    assert (body["type"], body["param"]) == ("invalid_request_error", "max_tokens")


def test_the_context_is_a_budget_too(engine_of) -> None:
    engine = engine_of(ScriptedModel([b'"', *[b"a"] * 50], context_size=12))
    assert _ask(engine, response_format=_schema({"type": "string"})).text == '"aa"'


def test_an_unknown_minimum_may_be_cut_off(engine_of, monkeypatch) -> None:
    def unknown(_matcher: Any) -> int:
        raise MatcherError("not known", code="matcher-no-known-end")

    monkeypatch.setattr(GrammarMatcher, "min_tokens_to_finish", unknown)
    completion = _ask(engine_of(ScriptedModel()), response_format=_regex("a{5}"), max_tokens=3)
    assert (completion.text, completion.choices[0].finish_reason) == ("aaa", "length")


def test_prompts_must_fit(engine_of) -> None:
    engine = engine_of(ScriptedModel(context_size=7))
    with pytest.raises(ModelError, match=r"has 8 tokens and the context .* place for 7") as caught:
        _ask(engine)
    assert caught.value.code == "prompt-too-long"
    body = error_body(caught.value)["error"]
    assert (body["type"], body["param"]) == ("invalid_request_error", "messages")
    model = ScriptedModel()
    model.tokenize = lambda _text: []  # type: ignore[method-assign]  # of one test
    with pytest.raises(ModelError) as caught:
        _ask(engine_of(model))
    assert caught.value.code == "prompt-empty"


@pytest.mark.parametrize(
    ("response_format", "error", "pointer", "keyword"),
    [
        (
            _schema({"properties": {"a": {"type": 5}}}),
            InvalidSchemaError,
            "#/properties/a/type",
            "type",
        ),
        (_schema({"extends": {}}), UnsupportedFeatureError, "#/extends", "extends"),
        (_regex("("), GrammarSyntaxError, None, None),
        ({"type": "grammar", "grammar": "nonsense"}, GrammarSyntaxError, None, None),
    ],
)
def test_a_format_that_is_refused(
    engine_of, response_format: Any, error: type[Exception], pointer: Any, keyword: Any
) -> None:
    engine = engine_of(ScriptedModel([b"ab"]))
    with pytest.raises(error) as caught:
        _ask(engine, response_format=response_format)
    body = error_body(caught.value)["error"]
    assert body["type"] == "invalid_request_error"
    assert (body["param"], body["pointer"], body["keyword"]) == (
        "response_format",
        pointer,
        keyword,
    )
    assert body["reason"]
    assert body["reason"] in body["message"]
    assert _ask(engine).text == "ab"  # the engine is as before


def test_formats_are_compiled_once_and_matchers_used_again(engine_of, monkeypatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(
        "maskwright.chat.grammar_pool.GrammarMatcher",
        lambda *a, **k: made.append(a) or GrammarMatcher(*a, **k),
    )
    engine = engine_of(ScriptedModel([b"true"]))
    for schema in ({"type": "boolean"}, {"type": "boolean"}, {"enum": [True]}, {"type": "boolean"}):
        for limit in (9, None):
            text = _ask(engine, response_format=_schema(dict(schema)), max_tokens=limit).text
            assert text == "true"
    assert len(made) == 2
    stats = engine.stats().compiler.grammars
    assert (stats.misses, stats.hits) == (2, 6)


def test_a_budget_does_not_stay_with_a_matcher(engine_of) -> None:
    engine = engine_of(ScriptedModel([b'"', *[b"a"] * 9]))
    fields = {"response_format": _schema({"type": "string"})}
    assert _ask(engine, max_tokens=4, **fields).text == '"a"'
    assert _ask(engine, max_tokens=11, **fields).text == f'"{"a" * 8}"'


def test_a_processor_cannot_allow_what_the_mask_forbids(engine_of) -> None:
    def push(_generated: Any, row: Any) -> None:
        row[:] = -math.inf
        row[ord("z")] = math.inf

    engine = engine_of(ScriptedModel([b"b"]))
    completion = engine.complete(
        messages=HI, response_format=_regex("[a-y]"), processors=[push], temperature=1, seed=1
    )
    assert completion.text == "b"  # of the allowed ones the best that the model gave
    assert engine.complete(messages=HI, processors=[push], max_tokens=2).text == "zz"


def test_a_logit_bias_cannot_either(engine_of) -> None:
    engine = engine_of(ScriptedModel([b"b"]))
    bias = {str(ord("z")): 100, str(ord("c")): 50, str(ord("d")): -100}
    assert _ask(engine, response_format=_regex("[a-y]"), logit_bias=bias).text == "c"
    assert _ask(engine, logit_bias=bias, max_tokens=1).text == "z"


def test_processors_see_what_was_generated(engine_of) -> None:
    seen: list[list[int]] = []
    engine = engine_of(ScriptedModel([b"a", b"b"]))
    engine.complete(
        messages=HI, temperature=0, processors=[lambda generated, _row: seen.append([*generated])]
    )
    assert seen == [[], [97], [97, 98]]


def test_an_error_of_a_processor_ends_its_request(engine_of) -> None:
    def fail(_generated: Any, _row: Any) -> None:
        raise ZeroDivisionError("of the user")

    engine = engine_of(ScriptedModel([b"ab"]))
    with pytest.raises(ZeroDivisionError, match="of the user"):
        engine.complete(messages=HI, processors=[fail])
    assert _ask(engine).text == "ab"


@pytest.mark.parametrize("value", [-math.inf, math.nan])
@pytest.mark.parametrize("temperature", [0, 1])
@pytest.mark.parametrize("pattern", ["[ab]c", None])
def test_rows_without_a_usable_logit(
    engine_of, value: float, temperature: int, pattern: Any
) -> None:
    def spoil(_tokens: Any, row: Any) -> None:
        row[:] = value

    engine = engine_of(ScriptedModel(edit=spoil))
    fields = {"response_format": _regex(pattern)} if pattern else {}
    completion = _ask(engine, temperature=temperature, max_tokens=3, logprobs=True, **fields)
    assert completion.text == ("ac" if pattern else "\0\0\0")
    json.dumps(completion.to_dict(), allow_nan=False)


def test_only_allowed_logits_count_as_usable(engine_of) -> None:
    def spoil(_tokens: Any, row: Any) -> None:
        row[ord("a")] = -math.inf
        row[ord("b")] = math.nan
        row[ord("d")] = math.inf

    engine = engine_of(ScriptedModel([b"x"], edit=spoil))
    for pattern, text in (("[ab]", "a"), ("[abc]", "c")):
        assert _ask(engine, response_format=_regex(pattern)).text == text


def test_forced_tokens_are_not_asked_for(engine_of) -> None:
    # Each letter is its own token, so that the mask leaves one at a time.
    vocabulary = from_tokens([*map(bytes, zip(range(256))), STOP], stop_token_ids=[256])
    model = ScriptedModel(vocabulary=vocabulary)
    completion = _ask(
        engine_of(model), response_format=_regex("name: [ab]!"), logprobs=True, top_logprobs=1
    )
    assert completion.text == "name: a!"
    assert completion.usage.completion_tokens == 9
    assert [len(call[0][1]) for call in model.calls] == [8, 6]  # prompt; "name: "
    logprobs = [entry.logprob for entry in completion.choices[0].tokens]
    assert [logprob == 0.0 for logprob in logprobs] == [True] * 6 + [False] + [True] * 2
    assert completion.choices[0].tokens[0].top == ((ord("n"), b"n", 0.0),)


def test_forced_tokens_are_the_same_text_as_asked_for(engine_of, monkeypatch) -> None:
    patterns = ["abcabc", "ab(c|d)abc", "true", '"(abc|abd)"']
    texts = []
    for limit in (64, 0):
        monkeypatch.setattr("maskwright.chat.decoder._MOST_FORCED", limit)
        engine = engine_of(ScriptedModel([b"ab", b"c"]))
        texts.append([_ask(engine, response_format=_regex(p)).choices[0].tokens for p in patterns])
    assert texts[0] == texts[1]


def test_jump_forward_is_a_choice_of_the_engine(engine_of) -> None:
    tokens = [*map(bytes, zip(range(256))), b"name", STOP]

    def encode(text: str) -> list[int]:
        ids = []
        data = text.encode()
        while data:
            size = 4 if data.startswith(b"name") else 1
            ids.append(256 if size == 4 else data[0])
            data = data[size:]
        return ids

    for encoder, jumps in ((encode, True), (None, False)):
        vocabulary = from_tokens(tokens, stop_token_ids=[257], encode=encoder)
        model = ScriptedModel([b"n"], vocabulary=vocabulary)
        engine = engine_of(model, jump_forward=True)
        completion = _ask(engine, response_format=_regex("-name-[ab]"))
        assert completion.text == "-name-a"
        assert (completion.choices[0].tokens[1].token_id == 256) == jumps


def test_a_forced_stop_string_and_limit(engine_of) -> None:
    vocabulary = from_tokens([*map(bytes, zip(range(256))), STOP], stop_token_ids=[256])
    engine = engine_of(ScriptedModel(vocabulary=vocabulary))
    completion = _ask(engine, response_format=_regex("abcd(efgh)?"), stop="efg")
    assert (completion.text, completion.usage.completion_tokens) == ("abcd", 5)  # the stop token
    model = ScriptedModel([*b"abcde"], vocabulary=vocabulary)
    completion = _ask(engine_of(model), response_format=_regex("abcd(efgh)?"), stop="efg")
    assert (completion.text, completion.usage.completion_tokens) == ("abcd", 7)


@pytest.mark.parametrize(
    ("stop", "text", "tokens"),
    [
        ("b", "a", 1),  # within a token
        ("cab", "ab", 5),  # across tokens
        ("abca", "", 4),  # from the first on
        ("zz", "abcabc", 7),
        (["bca", "ca"], "a", 4),  # the one that begins first, of those that end together
    ],
)
def test_stop_strings_in_free_text(engine_of, stop: Any, text: str, tokens: int) -> None:
    engine = engine_of(ScriptedModel([b"ab", b"c", b"", b"a", b"b", b"c"]))
    completion = _ask(engine, stop=stop)
    assert (completion.text, completion.choices[0].finish_reason) == (text, "stop")
    assert completion.usage.completion_tokens == tokens


@pytest.mark.parametrize("stop", ["\ufffd", "b\ufffd"])
def test_a_stop_string_that_the_end_of_the_text_makes(engine_of, stop: str) -> None:
    engine = engine_of(ScriptedModel([b"b", b"\xe2", b"\x82"]))
    for limit in (2, 3):  # within the code point
        completion = _ask(engine, stop=stop, max_tokens=limit)
        (choice,) = completion.choices
        assert (choice.text, choice.finish_reason) == ("b\ufffd"[: -len(stop)], "stop")
    (choice,) = _ask(engine, stop="\ufffdx", max_tokens=2).choices
    assert (choice.text, choice.finish_reason) == ("b\ufffd", "length")


def test_stop_strings_under_a_format_leave_a_complete_text(engine_of) -> None:
    engine = engine_of(ScriptedModel([*b"aXbXcXd"]))
    completion = _ask(engine, response_format=_regex("[a-zX]{3,}"), stop="X")
    assert completion.text == "aXb"
    engine = engine_of(ScriptedModel([*b'"a}b"']))
    assert (
        _ask(engine, response_format=_schema({"type": "string"}), stop=["a", "}"]).text == '"a}b"'
    )


def test_a_later_stop_string_acts_where_an_earlier_one_does_not(engine_of) -> None:
    engine = engine_of(ScriptedModel([*b"abcbca"]))
    fields = {"response_format": _regex("([a-c]{3})*"), "stop": ["b", "bc"]}
    assert _ask(engine, **fields).text == "abc"


def test_complete_texts_that_grow_and_shrink() -> None:
    info = TokenizerInfo(["a", "b", "</s>"], stop_token_ids=2)
    complete = CompleteTexts(GrammarCompiler(info).compile_regex("(ab)*"))
    texts = ["", "a", "ab", "aba", "abab", "ab", "b", "ab", "abb", "abab", "a", "\udcff", "ab"]
    assert [complete(text) for text in texts] == [text in ("", "ab", "abab") for text in texts]


def test_logprobs_are_over_the_allowed_tokens(engine_of) -> None:
    engine = engine_of(ScriptedModel([b"z", b"c"]))
    completion = _ask(engine, response_format=_regex("[ab][cd]"), logprobs=True, top_logprobs=5)
    first, second, stop = completion.choices[0].tokens
    assert [entry[1] for entry in first.top] == [b"a", b"b"]
    assert math.exp(first.top[0][2]) + math.exp(first.top[1][2]) == pytest.approx(1)
    assert first.logprob == first.top[0][2]
    assert second.logprob == pytest.approx(-math.log1p(math.exp(second.top[1][2] - second.logprob)))
    assert stop.logprob == 0
    content = completion.to_dict()["choices"][0]["logprobs"]["content"]
    assert [entry["token"] for entry in content] == ["a", "c"]  # the stop token is no text
    assert content[0]["bytes"] == [97]
    assert [entry["token"] for entry in content[0]["top_logprobs"]] == ["a", "b"]


def test_seeds_repeat(engine_of) -> None:
    engine = engine_of(ScriptedModel())
    texts = [_ask(engine, temperature=40, seed=seed, max_tokens=20).text for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_usage_adds_up(engine_of) -> None:
    usage = _ask(engine_of(ScriptedModel([b"abc"])), response_format=_regex("abc|x")).usage
    extra = usage.to_dict()["extra"]
    assert usage.to_dict()["total_tokens"] == usage.prompt_tokens + usage.completion_tokens == 10
    assert 0 < extra["time_to_first_token_s"] <= extra["e2e_latency_s"]
    assert extra["prefill_tokens_per_s"] == pytest.approx(8 / usage.prompt_seconds)
    assert 0 < extra["grammar_per_token_s"] * 2 < extra["e2e_latency_s"]
    assert 0 < extra["grammar_init_s"] < extra["e2e_latency_s"]
    spent = usage.prompt_seconds + usage.model_seconds + usage.sample_seconds
    assert spent + extra["grammar_per_token_s"] * 2 < extra["e2e_latency_s"]


def test_grammar_figures_are_there_only_with_a_grammar(engine_of) -> None:
    extra = _ask(engine_of(ScriptedModel([b"abc"]))).usage.to_dict()["extra"]
    assert not any(name.startswith("grammar") for name in extra)
    assert extra["decode_tokens_per_s"] > 0


def test_what_the_model_decides_about_a_request(engine_of) -> None:
    engine = engine_of(ScriptedModel())
    with pytest.raises(RequestError, match="the model has 1 sequences") as caught:
        _ask(engine, n=2)
    assert caught.value.code == "request-too-many-choices"
    with pytest.raises(RequestError, match="names token 264") as caught:
        _ask(engine, logit_bias={"264": 1})
    assert caught.value.param == "logit_bias"
    with pytest.raises(TypeError, match="beside a ChatRequest"):
        engine.complete(ChatRequest.read(messages=HI), n=1)
    with pytest.raises(ValueError, match="prefill_chunk is 0"):
        ChatEngine(ScriptedModel(), prefill_chunk=0)


def test_without_a_stop_token_a_text_ends_as_soon_as_it_is_complete(engine_of) -> None:
    vocabulary = from_tokens([*map(bytes, zip(range(256)))])
    model = ScriptedModel([*b"abcabc"], vocabulary=vocabulary)
    assert _ask(engine_of(model), response_format=_regex("ab?c?"), max_tokens=5).text == "a"


def test_a_closed_engine_says_so(engine_of) -> None:
    engine = engine_of(ScriptedModel())
    engine.close()
    engine.close()
    with pytest.raises(EngineClosedError, match="is closed; make another ChatEngine") as caught:
        _ask(engine)
    assert caught.value.code == "engine-closed"
    assert error_body(caught.value)["error"]["type"] == "server_error"


def test_logits_that_do_not_fit(engine_of) -> None:
    model = ScriptedModel()
    model.evaluate = lambda inputs: np.zeros((len(inputs), 5), np.float32)  # type: ignore[method-assign]  # of one test
    with pytest.raises(ModelError, match=r"float32 with shape \(1, 5\); expected .*\(1, 264\)"):
        _ask(engine_of(model))
