"""The parts of the conformance runs, on cases of their own."""

from __future__ import annotations

import json
from random import Random

import pytest

from conformance import baseline, verdicts
from conformance.cases import Case, Instance
from conformance.verdicts import Verdict, run_case
from conformance.walks import Hints, Walk, WalkTokens, examples_of, walk_vocabulary
from json_spellings import NumberText, has_lone_surrogate, spellings
from maskwright import GrammarCompiler

VALUE = '{"a/b": [1, -0.5, 0, 12e3, "\\u00e9\\ud83d\\ude00\\n\\"", {"": null}], "c": true, "d": []}'


def parse(text):
    return json.loads(text, parse_int=NumberText, parse_float=NumberText)


def case(schema, *instances):
    tests = tuple(Instance(str(i), parse(text), valid) for i, (text, valid) in enumerate(instances))
    return Case("maskbench", "file", "name", json.dumps(schema), tests)


def test_spellings_mean_the_same_and_differ():
    texts = spellings(parse(VALUE), Random(1), 200)
    assert all(json.loads(text) == json.loads(VALUE) for text in texts)
    assert len(set(texts)) > 150
    joined = "".join(texts)
    for form in ("\\u00e9", "\\u00E9", "\\/", "\\ud83d", "😀", "1.0", "-0", "e+", "\r\n", "1E"):
        assert form in joined


def test_lone_surrogates_are_found():
    assert has_lone_surrogate(["a", "\ud800"])
    assert not has_lone_surrogate(["a", "😀"])


def test_a_case_is_judged():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    good = case(schema, ('{"a": 1, "b": 2}', True), ('{"b": 1}', False), ("[]", False))
    assert run_case(good, 1, spelled=5, walks=5) == Verdict(right=3, instances=3)
    bad = case(schema, ('{"a": 1}', False), ("[]", True))
    assert set(run_case(bad, 1, spelled=5, walks=5).wrong) == {"0", "1"}


def test_refusals_and_schemas_that_nothing_satisfies():
    refused = run_case(case({"type": 5}, ("1", True)), 1, spelled=1, walks=1)
    assert (refused.refused, refused.right) == ("schema-invalid-value", 0)
    nothing = run_case(case(False, ("1", False), ("2", True)), 1, spelled=1, walks=1)
    assert nothing.right == 1
    assert set(nothing.wrong) == {"1"}


def test_a_walk_that_ends_in_an_invalid_text_is_wrong(monkeypatch):
    monkeypatch.setattr(verdicts._Judge, "accepts", lambda *_: False)
    found = run_case(case({"type": "integer"}, ("1", True)), 1, spelled=1, walks=1)
    assert found.wrong["a walk"].startswith("ends in an invalid text")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "x\\.csv$"},
        {"type": "object", "required": ["far", "near"], "minProperties": 5},
        {"type": "array", "minItems": 7, "items": {"enum": ["red", 5.25]}},
        {"type": "number", "exclusiveMinimum": 0, "maximum": 0.01},
    ],
)
def test_walks_find_the_end(schema):
    info = walk_vocabulary()
    compiled = GrammarCompiler(info).compile_json_schema(schema, strict_mode=False)
    for seed in range(20):
        walk = Walk(compiled, WalkTokens(info), Random(seed), Hints(schema), ascii_only=True)
        walk.run()
        assert (walk.problem, walk.unfinished) == (None, False)
        json.loads(walk.text)


def test_examples_of_patterns():
    assert examples_of("^a+b|[x-z]{2}$") == ["ab", "xx"]
    assert examples_of("(") == []


def test_the_ratchet():
    first = case({}, ("1", True))
    was_right = baseline.summary([(first, Verdict(right=1, instances=1))])
    was_narrowed = baseline.summary([(first, Verdict(narrowed=["0"], instances=1))])
    was_refused = baseline.summary([(first, Verdict(refused="x", instances=1))])
    was_wrong = baseline.summary([(first, Verdict(wrong={"0": "accepts"}, instances=1))])
    assert baseline.totals(was_refused) == "0 right, 0 wrong, 0 narrowed, 1 refused"
    outcomes = {
        "right": Verdict(right=1, instances=1),
        "refused": Verdict(refused="x", instances=1),
        "narrowed": Verdict(narrowed=["0"], instances=1),
        "wrong": Verdict(wrong={"0": "accepts"}, instances=1),
    }
    worse = {
        ("right", "refused"), ("right", "narrowed"), ("right", "wrong"), ("refused", "wrong"),
        ("narrowed", "wrong"), ("narrowed", "refused"),
    }  # fmt: skip
    states = {
        "right": was_right, "refused": was_refused, "wrong": was_wrong, "narrowed": was_narrowed
    }  # fmt: skip
    for before, files in states.items():
        for after, verdict in outcomes.items():
            lines = baseline.compare(files, [(first, verdict)])
            assert bool(lines[0]) == ((before, after) in worse), (before, after)
            assert bool(lines[1]) == ((after, before) in worse), (before, after)
