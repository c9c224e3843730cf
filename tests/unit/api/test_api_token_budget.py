"""Token budgets: what counts, what comes back, what is refused, and where the text ends."""

from __future__ import annotations

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from budget_walks import all_texts, allowed_tokens, choosers, least_tokens, walk
from maskwright import CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.errors import MatcherError
from maskwright.testing import byte_tokenizer_info
from vocabularies import vocabulary

TEXTS = ["[", "]", "a", "b", "ab", "aaaa", "[[", "]]", '"', ",", "1", "0", '","', '"]', "</s>"]
STOP = len(TEXTS) - 1
ID = {text: i for i, text in enumerate(TEXTS)}
NESTED = 'root ::= "[" root? "]"'


def _info() -> TokenizerInfo:
    return TokenizerInfo(TEXTS, stop_token_ids=STOP)


def _matcher(ebnf: str, budget: int | None = None, **options: object) -> GrammarMatcher:
    compiled = GrammarCompiler(_info()).compile_grammar(ebnf)
    return GrammarMatcher(compiled, token_budget=budget, **options)


def _json_info() -> TokenizerInfo:
    found = vocabulary("json")
    return TokenizerInfo(
        list(found.tokens), vocab_size=found.vocab_size, stop_token_ids=list(found.stop_ids)
    )


def test_no_budget_is_no_bound() -> None:
    matcher = _matcher(NESTED)
    assert matcher.remaining_tokens is None
    assert matcher.min_tokens_to_finish() == 3  # "[", "]" and the stop token
    assert matcher.validate_tokens([ID["[["]] * 50) == 50


def test_the_stop_token_counts() -> None:
    matcher = _matcher(NESTED, 3)
    assert allowed_tokens(matcher) == [ID["["], ID["[["]]  # behind "[[" comes "]]"
    for token in (ID["["], ID["]"], STOP):
        assert matcher.accept_token(token)
        assert allowed_tokens(matcher.fork()) if token != STOP else matcher.is_terminated()
    assert matcher.remaining_tokens == 0
    assert matcher.min_tokens_to_finish() == 0


def test_without_a_stop_token_nothing_is_added() -> None:
    matcher = _matcher('root ::= "a"+', 2, terminate_without_stop_token=True)
    assert matcher.min_tokens_to_finish() == 1
    assert matcher.accept_token(ID["a"])
    assert matcher.min_tokens_to_finish() == 0
    assert sorted(allowed_tokens(matcher)) == [ID["a"], ID["aaaa"]]
    assert matcher.accept_token(ID["aaaa"])
    assert matcher.is_terminated()
    assert not matcher.accept_token(ID["a"])
    with pytest.raises(MatcherError) as caught:
        allowed_tokens(matcher)
    assert caught.value.code == "matcher-terminated"


def test_a_token_is_allowed_if_the_rest_fits() -> None:
    matcher = _matcher(NESTED, 4)
    # Behind "[[" come "]]" and the stop token; behind "[" and "[" the same, but that is one more.
    assert sorted(allowed_tokens(matcher)) == [ID["["], ID["[["]]
    assert matcher.validate_tokens([ID["["], ID["["], ID["]]"], STOP]) == 4
    assert matcher.validate_tokens([ID["["], ID["[["]]) == 1
    assert matcher.validate_tokens([ID["["], ID["["], ID["]"]]) == 2


def test_a_budget_that_is_too_small_is_refused() -> None:
    with pytest.raises(MatcherError) as caught:
        _matcher('root ::= "abab"', 2)
    assert caught.value.code == "matcher-budget-too-small"
    assert str(caught.value) == (
        "token_budget is 2, but the text takes 3 more tokens to be complete (with the stop token); "
        "pass at least 3, or make the grammar's shortest text shorter"
    )
    assert pickle.loads(pickle.dumps(caught.value)).code == caught.value.code
    with pytest.raises(ValueError, match="token_budget is -1; expected 0 or more"):
        _matcher(NESTED, -1)
    with pytest.raises(TypeError, match="token_budget is '3', a str; expected an int, or None"):
        _matcher(NESTED, "3")  # type: ignore[arg-type]  # the fault
    with pytest.raises(TypeError, match=r"token_budget is 1\.5, a float; expected an int"):
        _matcher(NESTED, 1.5)  # type: ignore[arg-type]  # the fault
    with pytest.raises(TypeError, match="token_budget is True, a bool; expected an int, or None"):
        _matcher(NESTED, True)
    matcher = _matcher(NESTED, 5)
    with pytest.raises(TypeError, match="remaining_tokens is False, a bool"):
        matcher.remaining_tokens = False
    assert matcher.remaining_tokens == 5
    assert _matcher(NESTED, 2**70).remaining_tokens == 2**32 - 2


def test_rollback_fork_and_reset() -> None:
    matcher = _matcher(NESTED, 9)
    assert matcher.accept_token(ID["["])
    fork = matcher.fork()
    assert matcher.accept_token(ID["[["])
    assert (matcher.remaining_tokens, fork.remaining_tokens) == (7, 8)
    matcher.rollback(2)
    assert matcher.remaining_tokens == 9
    fork.reset()
    assert fork.remaining_tokens == 9
    matcher.reset()
    assert matcher.remaining_tokens == 9


def test_what_is_left_can_be_set() -> None:
    matcher = _matcher(NESTED)
    assert matcher.accept_token(ID["["])
    matcher.remaining_tokens = 5
    assert matcher.accept_token(ID["["])
    assert matcher.remaining_tokens == 4
    with pytest.raises(MatcherError, match="remaining_tokens is 1, but the text takes 2 more"):
        matcher.remaining_tokens = 1
    assert matcher.remaining_tokens == 4
    matcher.rollback()
    assert matcher.remaining_tokens == 5
    matcher.rollback()
    assert matcher.remaining_tokens is None
    matcher.remaining_tokens = 3
    assert matcher.validate_tokens([ID["["]] * 9) == 1
    matcher.remaining_tokens = None
    assert matcher.validate_tokens([ID["["]] * 9) == 9


def test_strings_take_nothing_off_but_must_leave_enough() -> None:
    matcher = _matcher(NESTED, 3)
    assert matcher.accept_string("[[[[")  # "]]", "]]" and the stop token will do
    assert matcher.remaining_tokens == 3
    assert not matcher.accept_string("[")
    assert matcher.accept_string("]]]]")
    assert matcher.accept_token(STOP)


def test_forced_tokens_stay_within_the_budget() -> None:
    matcher = _matcher('root ::= "abab" "a"*', 4)
    matcher.remaining_tokens = 3
    assert matcher.validate_tokens(matcher.find_jump_forward_tokens()) == len(
        matcher.find_jump_forward_tokens()
    )


def test_the_far_case_and_the_near_case_agree() -> None:
    # The largest need behind any one token is remembered; with it and without it masks are equal.
    compiled = GrammarCompiler(_json_info()).compile_json_schema(
        {"type": "array", "items": {"type": "string", "minLength": 3, "maxLength": 30}}
    )
    for budget in range(3, 40):
        fresh = GrammarMatcher(compiled, token_budget=budget)
        used = GrammarMatcher(compiled, token_budget=100)
        allowed_tokens(used)
        used.remaining_tokens = budget
        assert allowed_tokens(fresh) == allowed_tokens(used)


def _searches(compiled: CompiledGrammar) -> tuple[int, int]:
    counts = compiled._core.counters()
    return counts["budget_searches"], counts["budget_walks"]


def test_a_second_matcher_finds_the_work_done() -> None:
    compiled = GrammarCompiler(_json_info()).compile_json_schema(
        {"type": "array", "items": {"type": "string", "minLength": 3, "maxLength": 9}}
    )

    def walk_once() -> None:
        matcher = GrammarMatcher(compiled, token_budget=9)
        while not matcher.is_terminated():
            matcher.accept_token(allowed_tokens(matcher)[-1])

    before = _searches(compiled)
    memory = compiled.memory_size_bytes
    walk_once()
    done = _searches(compiled)
    assert done[0] > before[0]
    assert done[1] > before[1]
    assert compiled.memory_size_bytes > memory
    walk_once()
    assert _searches(compiled) == done


def test_threads_share_what_they_find_out() -> None:
    compiler = GrammarCompiler(_json_info())
    schema = {"type": "array", "items": {"type": "string", "maxLength": 9}, "minItems": 2}

    def texts(compiled: CompiledGrammar, seed: int) -> list[list[int]]:
        return [
            walk(GrammarMatcher(compiled, token_budget=9), choose, check_every=100)
            for choose in choosers(seed).values()
        ]

    expected = [texts(compiler.compile_json_schema(schema), seed) for seed in range(4)]
    compiler.clear_cache()
    shared = compiler.compile_json_schema(schema)
    begin = threading.Barrier(4)

    def work(seed: int) -> list[list[int]]:
        begin.wait(timeout=60)
        return texts(shared, seed)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == expected


def test_other_stop_tokens_have_other_budgets() -> None:
    compiled = GrammarCompiler(_info()).compile_grammar('root ::= "abab"')
    assert GrammarMatcher(compiled).min_tokens_to_finish() == 3
    without = GrammarMatcher(compiled, override_stop_tokens=ID["ab"])
    assert without.min_tokens_to_finish() == 5
    assert GrammarMatcher(compiled).min_tokens_to_finish() == 3


def test_a_budget_that_is_set_late_knows_the_text() -> None:
    matcher = _matcher(NESTED)
    fork = matcher.fork()
    assert fork.accept_string("[[")
    assert matcher.accept_token(ID["[["])
    assert matcher.accept_string("[[")
    assert fork.accept_token(ID["["])
    matcher.remaining_tokens = fork.remaining_tokens = 4
    assert matcher.min_tokens_to_finish() == 3  # "]]" twice and the stop token
    assert fork.min_tokens_to_finish() == 3
    assert matcher.validate_tokens([ID["]]"], ID["]]"], STOP]) == 3
    assert fork.validate_tokens([ID["]]"], ID["]"], STOP]) == 3


FINITE = [
    ("literal", 'root ::= "ab[a]ab"'),
    ("choices", 'root ::= "a" ("aaaa" | "b0" | "[[ab") "," ("1" | "aaaaab")'),
    ("repeats", 'root ::= ("a" | "b"){2,5} ("]]" | "0")'),
    ("nested", 'root ::= "[" ("" | item ("," item){0,2}) "]"\nitem ::= "a" | "[" "b" "]"'),
]
FINITE_SCHEMAS = [
    {"enum": ["foo", "name", 10, 12345, None]},
    {
        "type": "object",
        "properties": {"id": {"enum": ["ab", "typekind", 7]}, "name": {"type": "boolean"}},
        "required": ["name"],
        "additionalProperties": False,
    },
    {"type": "array", "items": {"enum": [1, "a", None]}, "minItems": 2, "maxItems": 3},
    {
        "type": "array",
        "items": {"enum": [1, 100, "bar"]},
        "minItems": 2,
        "maxItems": 3,
        "uniqueItems": True,
    },
    {"type": "string", "pattern": "^[ab]{3,5}$"},
]


@pytest.mark.parametrize("name", [name for name, _ in FINITE])
def test_the_number_is_the_least_for_finite_grammars(name: str) -> None:
    grammar = dict(FINITE)[name]
    texts = all_texts(
        GrammarMatcher(GrammarCompiler(byte_tokenizer_info()).compile_grammar(grammar))
    )
    compiled = GrammarCompiler(_info()).compile_grammar(grammar)
    _check_least(compiled, texts, [text.encode() for text in TEXTS[:STOP]])


@pytest.mark.parametrize("schema", FINITE_SCHEMAS, ids=range(len(FINITE_SCHEMAS)))
def test_the_number_is_the_least_for_finite_schemas(schema: dict[str, object]) -> None:
    options: dict[str, bool] = {"any_whitespace": False}
    compiler = GrammarCompiler(byte_tokenizer_info())
    matcher = GrammarMatcher(compiler.compile_json_schema(schema, **options))
    texts = _plain_texts(matcher)
    info = _json_info()
    special = set(info.special_token_ids) | set(info.stop_token_ids)
    tokens = [t for i, t in enumerate(info.decoded_vocab) if i not in special and b"\\" not in t]
    _check_least(GrammarCompiler(info).compile_json_schema(schema, **options), texts, tokens)


def _plain_texts(matcher: GrammarMatcher, prefix: bytes = b"") -> list[bytes]:
    """Return the texts of a finite schema, without escapes, exponents and fractions.

    Those spell the same values in more bytes, and not in fewer tokens.
    """
    texts: list[bytes] = []
    for token in allowed_tokens(matcher):
        if token in matcher.stop_token_ids:
            texts.append(prefix)
        elif token != ord("\\") and not (token in b".eE" and prefix[-1:].isdigit()):
            fork = matcher.fork()
            fork.accept_token(token)
            texts += _plain_texts(fork, prefix + bytes((token,)))
    return texts


def _check_least(compiled: CompiledGrammar, texts: list[bytes], tokens: list[bytes]) -> None:
    """At the start, and along the way of each chooser."""
    assert texts
    for name, choose in choosers(3).items():
        least = least_tokens(texts, b"", tokens) + 1
        matcher = GrammarMatcher(compiled)
        assert matcher.min_tokens_to_finish() == least, name
        matcher.remaining_tokens = least + 3
        info = matcher.compiled_grammar.tokenizer_info
        prefix = b""
        while not matcher.is_terminated():
            if any(text.startswith(prefix) for text in texts):
                assert matcher.min_tokens_to_finish() == least_tokens(texts, prefix, tokens) + 1
            token = choose(matcher, allowed_tokens(matcher))
            assert matcher.accept_token(token)
            if token not in matcher.stop_token_ids:
                prefix += info.decoded_vocab[token]


@pytest.mark.parametrize("extra", [0, 1, 5, 20])
def test_adversaries_run_out_of_nothing(extra: int) -> None:
    compiled = GrammarCompiler(_info()).compile_grammar(
        'root ::= "[" (root | text) ("," root)* "]"\ntext ::= [ab]+ | "\\"" [^"]* "\\""'
    )
    least = GrammarMatcher(compiled).min_tokens_to_finish()
    for choose in choosers(extra).values():
        walk(GrammarMatcher(compiled, token_budget=least + extra), choose)


def _bytes_and(*more: bytes) -> TokenizerInfo:
    tokens = [*(bytes([byte]) for byte in range(256)), *more, b"</s>"]
    return TokenizerInfo(tokens, stop_token_ids=len(tokens) - 1)


@pytest.mark.parametrize(
    ("schema", "more", "used", "text"),
    [
        pytest.param({"const": [True]}, [], "[ ", "[", id="whitespace"),
        pytest.param({"const": {"a": 1}}, [], "{ ", "{", id="whitespace-in-object"),
        pytest.param(
            {"type": "array", "items": {"type": ["string", "array"]}, "uniqueItems": True},
            [b'","b",[[[[[[['],
            '["b',
            '["a',
            id="a-name-that-is-there",
        ),
    ],
)
def test_places_that_read_less_say_nothing_of_those_that_read_more(
    schema: dict[str, object], more: list[bytes], used: str, text: str
) -> None:
    info = _bytes_and(*more)

    def matcher_at(compiled: CompiledGrammar, read: str, spare: int) -> GrammarMatcher:
        matcher = GrammarMatcher(compiled)
        assert matcher.accept_string(read)
        matcher.remaining_tokens = matcher.min_tokens_to_finish() + spare
        return matcher

    for spare in range(14):
        compiled = GrammarCompiler(info).compile_json_schema(
            schema, strict_mode=False, max_whitespace_cnt=1
        )
        for spare_before in range(14):
            allowed_tokens(matcher_at(compiled, used, spare_before))
        shared = matcher_at(compiled, text, spare)
        fresh = GrammarCompiler(info).compile_json_schema(
            schema, strict_mode=False, max_whitespace_cnt=1
        )
        assert allowed_tokens(shared) == allowed_tokens(matcher_at(fresh, text, spare))


def test_tokens_that_end_items_of_several_kinds() -> None:
    compiled = GrammarCompiler(_bytes_and(b'1,"ite', b"null,8")).compile_json_schema(
        {"uniqueItems": True}, strict_mode=False
    )
    matcher = GrammarMatcher(compiled)
    assert matcher.accept_string('["",')
    matcher.remaining_tokens = 6
    walk(matcher, choosers(1)["furthest"], check_every=1)
    assert matcher.is_terminated()


HARD_TO_COMPLETE = [
    pytest.param({"pattern": "^(a|b)*a(a|b){14}$", "type": "string"}, id="ambiguous-pattern"),
    pytest.param({"enum": [f"{i * 7919 % 100_003:012d}" for i in range(20_000)]}, id="enum"),
    pytest.param({"type": "string", "minLength": 9000}, id="long-string"),
]


@pytest.mark.parametrize("schema", HARD_TO_COMPLETE)
def test_a_search_for_texts_that_finds_none_is_not_repeated_token_by_token(
    schema: dict[str, object],
) -> None:
    matcher = GrammarMatcher(GrammarCompiler(_bytes_and()).compile_json_schema(schema))
    with pytest.raises(MatcherError) as caught:
        matcher.min_tokens_to_finish()
    assert caught.value.code == "matcher-no-known-end"
    assert _searches(matcher.compiled_grammar)[0] < 20


def _unique(b: dict[str, object]) -> dict[str, object]:
    """Items of free text, and of something that differs without letters."""
    members = {"a": {"type": "string"}, "b": {"type": "array", **b}}
    items = {"type": "object", "properties": members, "required": ["a", "b"]}
    return {"type": "array", "uniqueItems": True, "items": items}


@pytest.mark.parametrize(
    ("b", "text"),
    [
        # Not [1], which is there, in any spelling; but 1,2 is near.
        ({"items": {"enum": [1, 2, 3]}, "uniqueItems": True}, '[{"a":"x","b":[1]},{"a":"x","b":['),
        ({"items": {"enum": [1, 2, 3]}, "uniqueItems": True}, '[{"a":"x","b":[1]},{"a":"x","b":[1'),
        # 250 lengths of whitespace, each a place of its own.
        ({"contains": {"const": 1}}, '[{"a":"x","b":[1]},{"a":"x"'),
    ],
)
def test_unique_items_that_differ_in_more_than_letters_are_no_end(
    b: dict[str, object], text: str
) -> None:
    spaces = [b" " * n for n in range(2, 200)] + [b"," + b" " * n for n in range(1, 50)]
    compiled = GrammarCompiler(_bytes_and(*spaces)).compile_json_schema(
        _unique(b), strict_mode=False
    )
    free = GrammarMatcher(compiled)
    assert free.accept_string(text)
    matcher = GrammarMatcher(compiled)
    assert matcher.accept_string(text)
    matcher.remaining_tokens = 500
    assert allowed_tokens(matcher) == allowed_tokens(free)
    for choose in choosers(3).values():
        at = GrammarMatcher(compiled)
        assert at.accept_string(text)
        at.remaining_tokens = at.min_tokens_to_finish() + 9
        walk(at, choose, check_every=5)
        assert at.is_terminated()
