from __future__ import annotations

import json
import re

import pytest
from benchmarks.data import JSON_SCHEMA, REGEX
from benchmarks.hard import budget, page
from benchmarks.hard.__main__ import all_cases
from benchmarks.hard.case import ALLOWED, EXPECTED, case

CASES = list(all_cases())
# Too large or too deep for the validator: what is right about them follows from how they are made.
# The validator's patterns and `re` would search `(x{1,50}){1,50}` for ever.
UNJUDGED = ("(x{1,50}){1,50}", "100000", "50000", "10000 deep", "2000 branches")


def judged(kind):
    chosen = [c for c in CASES if c.file.kind == kind]
    chosen = [c for c in chosen if not any(mark in c.name for mark in UNJUDGED)]
    return pytest.mark.parametrize("hard", chosen, ids=lambda c: c.name)


def test_names_are_unique_and_every_family_has_inputs():
    names = [c.name for c in CASES]
    assert len(set(names)) == len(names) > 50
    assert len({c.file.family for c in CASES}) == 7


def test_inputs_have_texts_of_both_kinds():
    for hard in CASES:
        if not hard.refusal:
            assert {i.valid for i in hard.file.instances} == {True, False}, hard.name


@judged(JSON_SCHEMA)
def test_texts_of_a_schema_are_what_they_are_said_to_be(hard):
    jsonschema = pytest.importorskip("jsonschema")
    if r"\p{" in json.dumps(json.loads(hard.file.schema), ensure_ascii=False):
        pytest.skip("the validator does not know Unicode classes")
    validator = jsonschema.Draft202012Validator(json.loads(hard.file.schema))
    for instance in hard.file.instances:
        try:
            value = json.loads(instance.text)
        except ValueError:
            valid = False
        else:
            valid = validator.is_valid(value)
        assert valid == instance.valid, instance.text[:100]


@judged(REGEX)
def test_texts_of_a_pattern_are_what_they_are_said_to_be(hard):
    if hard.refusal == ALLOWED or r"\p{" in hard.file.schema or hard.file.schema == "(a*)*":
        pytest.skip("not for this engine of regular expressions")
    for instance in hard.file.instances:
        assert bool(re.fullmatch(hard.file.schema, instance.text)) == instance.valid


OBJECT = case("family/name", {"type": "object"}, ["{}"], ["1"])
RIGHT = [{"valid": True, "verdict": "accepted"}, {"valid": False, "verdict": "refused"}]


def record(instances=RIGHT, **more):
    return {"status": "ok", "ttfm_ns": 1, "instances": instances, **more}


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (record(), "right"),
        (record(status="refused", message="no"), "refused: no"),
        (record(status="timeout"), "timeout"),
        ({"status": "timeout", "instances": []}, "timeout, not compiled"),
        (record(status="crash", message="killed"), "crash killed"),
        (
            record([{"valid": True, "verdict": "refused", "position": 3}]),
            "valid text refused at token 3",
        ),
        (record([{"valid": False, "verdict": "accepted"}]), "invalid text accepted"),
        (
            record([{"valid": False, "verdict": "refused", "position": 2, "disagreed": True}]),
            "mask and accept differ at token 2",
        ),
        (record([{"valid": True, "verdict": None}]), "valid text None"),
    ],
)
def test_verdict_says_what_was_wrong(got, expected):
    assert budget.verdict(OBJECT, got) == expected


def test_refusal_is_right_where_it_may_or_must_be():
    refused = {"status": "refused", "instances": []}
    bomb = case("family/bomb", "x", kind=REGEX, refusal=ALLOWED)
    endless = case("family/endless", "x", kind=REGEX, refusal=EXPECTED)
    assert budget.verdict(bomb, refused) == "right"
    assert budget.verdict(bomb, record()) == "right"
    assert budget.verdict(endless, refused) == "right"
    assert budget.verdict(endless, record()) == "compiled, though no text completes it"


def test_figures_are_of_valid_texts_and_in_microseconds():
    steps = {"mask_first": [1000, 7_000_000, 2000], "mask_second": [1000, 3000]}
    instances = [{"valid": True, **steps}, {"valid": False, "mask_first": [9_000_000_000]}]
    found = budget.figures(record(instances, core_ns=60_000_000, growth_kib=8))
    assert found["core"] == 60_000.0
    assert (found["mask_first_median"], found["mask_first_worst"]) == (2.0, 7000.0)
    assert found["mask_second_worst"] == 3.0
    assert found["growth_kib"] == 8
    assert budget.over_budget(found) == ["core compile", "a first mask"]


@pytest.mark.parametrize(
    ("key", "limit"), [("core", 50_000), ("mask_first_worst", 5_000), ("mask_second_worst", 20)]
)
def test_budget_holds_up_to_the_limit_and_not_beyond(key, limit):
    assert budget.over_budget({key: limit}) == []
    assert len(budget.over_budget({key: limit + 0.1})) == 1


def test_page_counts_right_answers_and_budgets():
    row = budget.row(OBJECT, record(core_ns=1000))
    wrong = budget.row(OBJECT, {"status": "refused", "message": "a|b", "instances": []})
    slow = budget.row(OBJECT, record(core_ns=90_000_000))
    cases = {"a": {"maskwright": row}, "b": {"maskwright": wrong}, "c": {"maskwright": slow}}
    info = {"command": "x", "tokenizer": "t", "vocab_size": 9, "seconds": 1, "missing": []}
    scenarios = {"forks": {"figures": {"fork": 2.0}}, "threads": {"wrong": "masks differ"}}
    result = {"run": {**info, "machine": "idle"}, "cases": cases, "scenarios": scenarios}
    text = page.markdown(result)
    assert "2 of 3 right, 2 within the budget as far as they got." in text
    assert "| b | refused: a¦b |" in text
    assert "| c | right | core compile |" in text
    assert "| threads | masks differ |" in text
