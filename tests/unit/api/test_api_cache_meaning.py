"""Grammars that mean the same share one compiled grammar, and each reports what its source says."""

from __future__ import annotations

import random
import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from cache_fakes import Waits
from maskwright import (
    Certificate,
    Grammar,
    GrammarCompiler,
    GrammarMatcher,
    TokenizerInfo,
    UnsatisfiableGrammarError,
    _core,
)
from maskwright import compiler as module
from maskwright.cache_entries import MAX_KEYS
from schema_spellings import respelled, retyped

SECONDS = 30
INFO = TokenizerInfo([*(chr(i) for i in range(32, 127)), ""], stop_token_ids=95)
SCHEMA = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["a", "b"]},
        "size": {"minimum": 1, "maximum": 9, "type": "integer"},
    },
    "required": ["kind"],
}


@pytest.fixture
def compiler() -> GrammarCompiler:
    return GrammarCompiler(INFO)


def spelling(number: int) -> str:
    rng = random.Random(number)
    return retyped(respelled({**SCHEMA, "$comment": f"spelling {number}"}, rng), rng)


def test_other_spellings_hit(compiler: GrammarCompiler) -> None:
    first = compiler.compile_json_schema(SCHEMA)
    for number in range(20):
        other = compiler.compile_json_schema(spelling(number))
        assert other._core is first._core
        assert other.grammar == first.grammar
        assert "#/$comment" in other.certificate.ignored
    assert first.certificate.ignored == ()
    stats = compiler.stats()
    assert (stats.grammars.entries, stats.grammars.misses, stats.grammars.hits) == (1, 1, 20)
    assert stats.hits_by_meaning == 20


def test_what_reports_the_same_is_the_same(compiler: GrammarCompiler) -> None:
    first = compiler.compile_json_schema('{"type": "integer"}')
    assert compiler.compile_json_schema('{"type":"integer"}') is first
    assert compiler.compile_json_schema({"type": "integer"}) is first
    assert compiler.compile_json_schema({"type": "integer"}, any_order=True) is not first
    plain = compiler.compile_json_schema({"type": "integer"}, number_spelling="plain")
    assert plain is not first
    assert plain._core is not first._core
    assert (
        compiler.submit("json_schema", '{"type":"integer"}', number_spelling="plain").result()
        is plain
    )
    assert compiler.compile_regex("[0-9]") is compiler.compile_regex("[0123456789]")
    ebnf = compiler.compile_grammar('root ::= "a" [bc]*')
    assert compiler.compile_grammar('# rules\nroot  ::=  "a"  [bc]*') is ebnf
    assert compiler.compile_grammar(Grammar.from_ebnf('root ::= "a" [bc]*')) is ebnf


def test_each_source_has_its_certificate(compiler: GrammarCompiler) -> None:
    plain = Grammar.from_regex("a+")
    other = Grammar(plain.ir, Certificate(exact=False, narrowed=("half of it",)))
    compiled = [compiler.compile_grammar(grammar) for grammar in (plain, other, plain, other)]
    assert [one.certificate for one in compiled] == [
        plain.certificate,
        other.certificate,
    ] * 2
    assert compiled[0] is compiled[2]
    assert compiled[1] is compiled[3]
    assert compiled[0]._core is compiled[1]._core
    stored = [one.serialize() for one in compiled[:2]]
    assert stored[0] != stored[1]
    assert compiled[1].deserialize(stored[1], INFO).certificate == other.certificate


def test_the_order_of_members_counts(compiler: GrammarCompiler) -> None:
    members: Any = SCHEMA["properties"]
    turned = {**SCHEMA, "properties": dict(reversed(members.items()))}
    first = compiler.compile_json_schema(SCHEMA)
    assert compiler.compile_json_schema(turned)._core is not first._core


def test_all_keys_are_counted(compiler: GrammarCompiler) -> None:
    compiled = compiler.compile_json_schema(SCHEMA)
    alone = compiler.get_cache_size_bytes()
    assert alone == compiled.memory_size_bytes
    long = spelling(0) + " " * 10_000
    assert compiler.compile_json_schema(long)._core is compiled._core
    assert alone + 10_000 < compiler.get_cache_size_bytes() < alone + 12_000
    size = compiler.get_cache_size_bytes()
    compiler.clear_cache()
    assert compiler.get_cache_size_bytes() == 0
    for source in (SCHEMA, long):
        compiler.compile_json_schema(source)
    assert compiler.get_cache_size_bytes() == size


def test_an_entry_has_a_bounded_number_of_keys(compiler: GrammarCompiler) -> None:
    sizes = []
    for number in range(10 * MAX_KEYS):
        compiler.compile_json_schema(f'{{"type": "integer", "title": "{number:04}"}}')
        sizes.append(compiler.get_cache_size_bytes())
    assert sizes[MAX_KEYS - 2] < sizes[MAX_KEYS - 1]
    assert len(set(sizes[MAX_KEYS - 1 :])) == 1
    hits = compiler.stats().hits_by_meaning
    compiler.compile_json_schema('{"type": "integer", "title": "0000"}')  # the entry's own
    assert compiler.stats().hits_by_meaning == hits
    compiler.compile_json_schema('{"type": "integer", "title": "0001"}')
    assert compiler.stats().hits_by_meaning == hits + 1
    assert compiler.stats().grammars.misses == 1


def test_an_evicted_entry_goes_with_all_its_keys() -> None:
    size = GrammarCompiler(INFO).compile_json_schema(SCHEMA).memory_size_bytes
    compiler = GrammarCompiler(INFO, cache_limit_bytes=size * 4)
    first = compiler.compile_json_schema(SCHEMA)
    for number in range(3):
        compiler.compile_json_schema(spelling(number))
    assert compiler.stats().grammars.entries == 1
    number = 0
    while compiler.stats().grammars.evictions == 0:
        number += 1
        compiler.compile_json_schema({**SCHEMA, "maxProperties": number})
    before = compiler.stats()
    for source in (SCHEMA, spelling(0), spelling(1), spelling(2)):
        assert compiler.compile_json_schema(source)._core is not first._core
    after = compiler.stats()
    assert after.grammars.misses == before.grammars.misses + 1
    assert after.hits_by_meaning == before.hits_by_meaning + 3


def test_masks_are_those_of_a_grammar_of_its_own(compiler: GrammarCompiler) -> None:
    compiler.compile_json_schema(SCHEMA)
    alone = GrammarCompiler(INFO)
    for number in range(3):
        matchers = [
            GrammarMatcher(c.compile_json_schema(spelling(number))) for c in (compiler, alone)
        ]
        for char in '{"kind": "a", "size": 3}':
            rows = np.zeros((2, 3), dtype=np.int32)
            for row, matcher in enumerate(matchers):
                matcher.fill_next_token_bitmask(rows, row)
                assert matcher.accept_token(ord(char) - 32)
            assert (rows[0] == rows[1]).all()


class Builds:
    """Takes the place of the core's `compile`: counts calls, and holds up the first.

    Those that cannot be stopped are made for messages, and do not count.
    """

    def __init__(self, patch: pytest.MonkeyPatch, *, stoppable: bool = False) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.calls = 0
        self._stoppable = stoppable
        self._compile = _core.compile
        patch.setattr(module._core, "compile", self)

    def __call__(self, *arguments: Any, stop: Any = None, **options: Any) -> Any:
        if stop is None:
            return self._compile(*arguments, **options)
        self.calls += 1
        if self.calls == 1:
            self.begun.set()
            assert self.go.wait(SECONDS)
            if self._stoppable:
                assert stop.is_set
                raise CancelledError
        return self._compile(*arguments, stop=stop, **options)


def test_one_build_for_two_keys_at_a_time(
    compiler: GrammarCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    builds = Builds(monkeypatch)
    try:
        first = compiler.submit("json_schema", SCHEMA)
        assert builds.begun.wait(SECONDS)
        others = [compiler.submit("json_schema", spelling(number)) for number in range(4)]
        builds.go.set()
        cores = {future.result(SECONDS)._core for future in [first, *others]}
    finally:
        builds.go.set()
    assert (builds.calls, len(cores)) == (1, 1)
    assert compiler.stats().hits_by_meaning == 4
    assert compiler.stats().grammars.misses == 1


def test_one_who_waits_for_a_build_that_is_stopped_builds_it(
    compiler: GrammarCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    builds = Builds(monkeypatch, stoppable=True)
    with ThreadPoolExecutor(1) as pool:
        try:
            given_up = compiler.submit("json_schema", SCHEMA)
            assert builds.begun.wait(SECONDS)
            other = pool.submit(compiler.compile_json_schema, spelling(0))
            assert given_up.cancel()
            builds.go.set()
            assert other.result(SECONDS) is compiler.compile_json_schema(spelling(0))
        finally:
            builds.go.set()
    assert builds.calls == 2
    assert compiler.stats().grammars.entries == 1


def test_an_error_of_one_build_is_located_in_each_source(
    compiler: GrammarCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    def schema(name: str) -> dict[str, Any]:
        impossible = {"type": "integer", "minimum": 1, "maximum": 0}
        reference = {"$ref": f"#/$defs/{name}"}
        return {"type": "array", "items": reference, "minItems": 1, "$defs": {name: impossible}}

    builds, waits = Builds(monkeypatch), Waits(monkeypatch)
    try:
        first = compiler.submit("json_schema", schema("x"))
        assert builds.begun.wait(SECONDS)
        second = compiler.submit("json_schema", schema("y"))
        assert waits.noted.wait(SECONDS)
        builds.go.set()
        errors = [first.exception(SECONDS), second.exception(SECONDS)]
    finally:
        builds.go.set()
    assert builds.calls == 1
    for error, name in zip(errors, "xy", strict=True):
        assert isinstance(error, UnsatisfiableGrammarError)
        assert error.pointer == f"#/$defs/{name}"
        assert f"the schema at #/$defs/{name}: " in str(error)
    assert compiler.stats().grammars.entries == 0
