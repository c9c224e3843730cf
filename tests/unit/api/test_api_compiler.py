"""GrammarCompiler and CompiledGrammar."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from maskwright import (
    Certificate,
    CompiledGrammar,
    Grammar,
    GrammarCompiler,
    GrammarMatcher,
    GrammarSyntaxError,
    LimitExceededError,
    MalformedIRError,
    TokenizerInfo,
    UnsatisfiableGrammarError,
)

INFO = TokenizerInfo([*(chr(i) for i in range(32, 127)), ""], stop_token_ids=95)
EBNF = 'root ::= "ab"'


@pytest.fixture
def compiler() -> GrammarCompiler:
    return GrammarCompiler(INFO)


def accepts(compiled: CompiledGrammar, text: str) -> bool:
    matcher = GrammarMatcher(compiled)
    return matcher.accept_string(text) and matcher.is_completed()


def test_compiled_grammar(compiler):
    compiled = compiler.compile_grammar(EBNF)
    assert compiled.grammar == Grammar.from_ebnf(EBNF)
    assert compiled.tokenizer_info is INFO
    assert compiler.tokenizer_info is INFO
    assert compiled.certificate == Certificate()
    assert compiled.memory_size_bytes > 0
    assert "CompiledGrammar" in repr(compiled)


def test_memory_grows_with_what_matchers_compute(compiler):
    compiled = compiler.compile_grammar("root ::= [a-z]*")
    before = compiled.memory_size_bytes
    GrammarMatcher(compiled).fill_next_token_bitmask(np.zeros((1, 3), dtype=np.int32))
    assert compiled.memory_size_bytes > before
    assert compiler.get_cache_size_bytes() == compiled.memory_size_bytes


def test_one_text_in_three_languages_is_three_grammars(compiler):
    text = '"b" '
    schema = '{"const": "b"}'
    found = [
        compiler.compile_regex(schema),
        compiler.compile_json_schema(schema),
        compiler.compile_json_schema(schema, max_whitespace_cnt=0),
        compiler.compile_regex(text),
        compiler.compile_grammar("root ::= " + text),
    ]
    assert len(set(map(id, found))) == len(found)
    texts = [schema, '"b"', text, "b"]
    taken = [[one for one in texts if accepts(grammar, one)] for grammar in found]
    assert taken == [[schema], ['"b"'], ['"b"'], [text], ["b"]]


def test_text_of_a_subclass_is_not_looked_up(compiler):
    class Text(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            return True

    assert compiler.compile_regex("a") is compiler.compile_regex("a")
    assert compiler.compile_regex(Text("a")) is not compiler.compile_regex("a")


def test_every_kind(compiler):
    assert accepts(compiler.compile_grammar(EBNF), "ab")
    assert accepts(compiler.compile_grammar(Grammar.from_regex("x+")), "xx")
    assert accepts(compiler.compile_grammar('a ::= "q"', root_rule_name="a"), "q")
    assert accepts(compiler.compile_regex("[0-9]{2}"), "42")
    assert accepts(compiler.compile_json_schema({"type": "integer"}), "-3")
    assert accepts(compiler.compile_builtin_json_grammar(), '{"a": []}')
    assert not accepts(compiler.compile_builtin_json_grammar(number_spelling="plain"), "-3.0")
    assert accepts(compiler.submit("builtin_json", number_spelling="plain").result(), "-3")


def test_the_certificate_comes_along(compiler):
    compiled = compiler.compile_json_schema({"title": "t"}, max_whitespace_cnt=7)
    assert compiled.certificate.ignored == ("#/title",)
    assert any("7 bytes" in entry for entry in compiled.certificate.narrowed)


CALLS = [
    lambda c: c.compile_grammar(EBNF),
    lambda c: c.compile_grammar(EBNF + " "),
    lambda c: c.compile_grammar('other ::= "a"', root_rule_name="other"),
    lambda c: c.compile_grammar(Grammar.from_ebnf(EBNF)),
    lambda c: c.compile_grammar(Grammar(Grammar.from_ebnf(EBNF).ir, Certificate(exact=False))),
    lambda c: c.compile_regex("ab"),
    lambda c: c.compile_json_schema({"const": 1}),
    lambda c: c.compile_json_schema({"const": True}),
    lambda c: c.compile_json_schema('{"const": 1}'),
    lambda c: c.compile_json_schema({"const": 1, "title": "x"}),
    lambda c: c.compile_json_schema({"title": "x", "const": 1}),
    lambda c: c.compile_json_schema({"const": 1}, any_whitespace=False),
    lambda c: c.compile_json_schema({"const": 1}, any_whitespace=False, separators=(",", ":")),
    lambda c: c.compile_json_schema({"const": 1}, max_constant_values=5),
    lambda c: c.compile_json_schema(True),
    lambda c: c.compile_builtin_json_grammar(),
]


def test_equal_calls_share_and_others_do_not(compiler):
    first = [call(compiler) for call in CALLS]
    second = [call(compiler) for call in CALLS]
    assert [a is b for a, b in zip(first, second, strict=True)] == [True] * len(CALLS)
    meanings = {compiled.grammar.ir for compiled in first}
    assert len({id(compiled._core) for compiled in first}) == len(meanings) < len(CALLS)
    forms = {(compiled.grammar.ir, compiled.certificate) for compiled in first}
    assert len({id(compiled) for compiled in first}) >= len(forms) > len(meanings)
    stats = compiler.stats()
    by_meaning = len(CALLS) - len(meanings)
    assert stats.hits_by_meaning == by_meaning
    assert stats.grammars.hits == len(CALLS) + by_meaning
    assert stats.grammars.entries == stats.grammars.misses == len(meanings)


def test_a_model_class_is_looked_up_by_its_schema(compiler):
    pydantic = pytest.importorskip("pydantic")

    class Point(pydantic.BaseModel):
        x: int

    compiled = compiler.compile_json_schema(Point)
    assert compiler.compile_json_schema(Point) is compiled
    assert compiler.compile_json_schema(Point.model_json_schema()) is compiled
    assert accepts(compiled, '{"x": 1}')


def test_a_changed_schema_is_another_one(compiler):
    schema = {"enum": [1]}
    assert accepts(compiler.compile_json_schema(schema), "1")
    schema["enum"].append(2)
    assert accepts(compiler.compile_json_schema(schema), "2")


def test_schemas_that_have_no_key_compile(compiler):
    class Keys(dict):
        pass

    schema = Keys(type="integer")
    assert accepts(compiler.compile_json_schema(schema), "3")
    assert compiler.stats().grammars.entries == 0


def test_without_cache():
    compiler = GrammarCompiler(INFO, cache_enabled=False)
    assert compiler.compile_grammar(EBNF) is not compiler.compile_grammar(EBNF)
    assert compiler.get_cache_size_bytes() == 0
    assert compiler.stats().grammars.misses == 0


def test_clear_cache(compiler):
    compiled = compiler.compile_grammar(EBNF)
    size = compiler.get_cache_size_bytes()
    compiler.clear_cache()
    assert compiler.get_cache_size_bytes() == 0
    assert compiler.compile_grammar(EBNF) is not compiled
    assert compiler.get_cache_size_bytes() == size
    assert accepts(compiled, "ab")


def test_cache_limit():
    size = GrammarCompiler(INFO).compile_grammar(EBNF).memory_size_bytes
    limit = int(size * 2.5 * 3 / 2)  # of which a third is for masks that are shared
    compiler = GrammarCompiler(INFO, cache_limit_bytes=limit)
    assert compiler.cache_limit_bytes == limit
    for text in ("aa", "bb", "cc"):
        compiler.compile_grammar(f'root ::= "{text}"')
    stats = compiler.stats().grammars
    assert (stats.entries, stats.evictions) == (2, 1)
    assert compiler.get_cache_size_bytes() <= compiler.cache_limit_bytes
    assert GrammarCompiler(INFO).cache_limit_bytes == -1


def test_stats(compiler):
    compiled = compiler.compile_grammar("root ::= [a-z]*")
    before = compiler.stats()
    GrammarMatcher(compiled).fill_next_token_bitmask(np.zeros((1, 3), dtype=np.int32))
    after = compiler.stats()
    assert before.tokenizer_bytes == after.tokenizer_bytes > 0
    assert before.frames == after.frames == 1
    assert before.masks == before.cold_walks == 0
    assert after.masks >= 1
    assert after.cold_walks >= 1
    assert after.visited_nodes >= 26
    assert after.states >= before.states > 0


def test_stats_count_values_that_differ(compiler):
    schema = {"properties": {"a": {"type": "integer"}, "b": {"type": "integer", "title": "B"}}}
    frames = []
    for other in ("integer", "boolean"):
        schema["properties"]["c"] = {"type": other}
        compiler.clear_cache()
        compiler.compile_json_schema(schema)
        frames.append(compiler.stats().frames)
    assert frames[1] == frames[0] + 1


def test_errors_are_not_kept(compiler):
    for _ in range(2):
        with pytest.raises(GrammarSyntaxError):
            compiler.compile_grammar("root ::=")
        with pytest.raises(UnsatisfiableGrammarError) as caught:
            compiler.compile_grammar('root ::= "a" root')
        assert caught.value.code
    assert compiler.stats().grammars.entries == 0
    assert compiler.stats().grammars.misses == 4


def test_what_the_vocabulary_cannot_spell_is_unsatisfiable():
    compiler = GrammarCompiler(TokenizerInfo(["a", ""], stop_token_ids=1))
    assert accepts(compiler.compile_grammar('root ::= "a" | "b"'), "a")
    with pytest.raises(UnsatisfiableGrammarError):
        compiler.compile_grammar('root ::= "b"')


def test_limits():
    compiler = GrammarCompiler(INFO, max_states=10)
    assert accepts(compiler.compile_grammar(EBNF), "ab")
    with pytest.raises(LimitExceededError) as caught:
        compiler.compile_grammar('root ::= "abcdefghijklmnop" [a-c] "abcdefghijklmnop"')
    assert (caught.value.limit, caught.value.value) == ("max_states", 10)
    GrammarCompiler(INFO, max_targets=1, max_clauses=1, max_lang_states=1)


def test_malformed_ir(compiler):
    with pytest.raises(MalformedIRError) as caught:
        compiler.compile_grammar(Grammar(b"MWIR"))
    assert caught.value.code == "ir-malformed"


@pytest.mark.parametrize(
    "options",
    [
        {"max_threads": 0},
        {"cache_limit_bytes": -2},
        {"max_states": 0},
        {"max_clauses": -1},
        {"max_targets": 2**32},
    ],
)
def test_option_values(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        GrammarCompiler(INFO, **options)


def test_wrong_types(compiler):
    with pytest.raises(TypeError, match="expected a TokenizerInfo"):
        GrammarCompiler(["a"])
    with pytest.raises(TypeError, match="expected a Grammar or a str"):
        compiler.compile_grammar({"type": "integer"})


def test_accepted_for_compatibility():
    for dynamic in (True, False):
        compiler = GrammarCompiler(INFO, max_threads=1, enable_dynamic_compilation=dynamic)
        assert accepts(compiler.compile_grammar(EBNF), "ab")


def test_threads_share_one_compilation(compiler):
    barrier = threading.Barrier(8)

    def work(_: int) -> list[CompiledGrammar]:
        barrier.wait(30)
        return [compiler.compile_regex(f"[a-z]{{1,{n}}}") for n in range(1, 6)]

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(work, range(8)))
    assert all(a is b for other in results for a, b in zip(results[0], other, strict=True))
    assert compiler.stats().grammars.misses == 5


def test_a_schema_that_is_huge_when_written_out():
    shared = {"type": "string"}
    for _ in range(60):
        shared = {"anyOf": [shared, shared]}
    compiler = GrammarCompiler(TokenizerInfo(['"', "a", "</s>"], stop_token_ids=2))
    compiled = compiler.compile_json_schema(shared)
    assert GrammarMatcher(compiled).accept_string('"a"')
    assert compiler.get_cache_size_bytes() == 0  # not kept: its key would not fit in memory


@pytest.mark.parametrize("limit", ["1MB", None, 1.5, True])
def test_cache_limit_is_an_int(limit):
    with pytest.raises(TypeError, match=r"cache_limit_bytes is .*; expected an int"):
        GrammarCompiler(INFO, cache_limit_bytes=limit)


def test_what_only_looks_like_plain_data_has_no_key(compiler):
    text = np.str_("ab")
    as_number = np.frombuffer(np.array(text).tobytes(), dtype=np.float64)[0]
    first = compiler.compile_json_schema({"const": text})
    assert accepts(first, '"ab"')
    second = compiler.compile_json_schema({"const": as_number})
    assert not accepts(second, '"ab"')
    compiler.compile_regex(np.str_("a+"))
    with pytest.raises(TypeError, match="regex is a bytes; expected a str"):
        compiler.compile_regex(np.array("a+").tobytes())
    with pytest.raises(
        TypeError, match=r"regex_string is a Pattern; expected a str \(of a compiled"
    ):
        Grammar.from_regex(re.compile("a"))
    plain = compiler.compile_json_schema({"const": "ab"})
    assert compiler.compile_json_schema({"const": "ab"}) is plain
