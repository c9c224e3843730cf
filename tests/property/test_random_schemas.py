"""Random schemas of the common keywords: front-end, core and reference mean the same by them.

All keywords, and verdicts on spelled instances: see test_keyword_grammar.py.
"""

from __future__ import annotations

import json
import random

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maskwright.errors
from core_adapter import CoreMatcher
from maskwright.frontends.json_schema import compile_json_schema
from oracle import Oracle, reference_matcher
from schema_specs import schema_ir
from strategies import (
    examples,
    instances_near,
    recursive_schemas,
    schemas,
    spellings,
)
from vocabularies import vocabulary

JSON = vocabulary("json")
any_schemas = st.one_of(schemas(), recursive_schemas())
OPTIONS = {"any_order": True, "strict_mode": False, "max_whitespace_cnt": 2}


def is_valid(schema, value):
    return jsonschema.Draft202012Validator(schema).is_valid(value)


def front_end_ir(schema, **options):
    return compile_json_schema(schema, **{**OPTIONS, **options})[0]


def is_unsatisfiable(schema, ir):
    """Whether neither core nor reference find a text; they must agree."""
    empty = reference_matcher(ir, JSON).is_empty_language
    try:
        CoreMatcher.compile(ir, JSON)
    except maskwright.errors.UnsatisfiableGrammarError:
        assert empty, f"the core finds no text of {json.dumps(schema)}"
        return True
    assert not empty, f"{json.dumps(schema)} has no text, the core compiles it"
    return False


@given(st.data())
@examples(60)
def test_front_end_and_hand_made_ir_mean_the_same(data):
    """Through the reference: no core is needed."""
    schema = data.draw(any_schemas)
    options = data.draw(
        st.fixed_dictionaries({"any_order": st.booleans(), "strict": st.booleans()})
    )
    try:
        ir = front_end_ir(schema, any_order=options["any_order"], strict_mode=options["strict"])
    except maskwright.errors.UnsatisfiableGrammarError:
        assert reference_matcher(schema_ir(schema, **options), JSON).is_empty_language, schema
        return
    front_end = reference_matcher(ir, JSON)
    hand_made = reference_matcher(schema_ir(schema, **options), JSON)
    assert front_end.is_empty_language == hand_made.is_empty_language, schema
    text = data.draw(spellings(data.draw(instances_near(schema))))
    checked = data.draw(st.integers(0, len(text)))
    for i, byte in enumerate(text.encode()):
        if i == checked:
            before = front_end.allowed_tokens(), hand_made.allowed_tokens()
            assert before[0] == before[1], (schema, options, text)
        got = front_end.accept_bytes(bytes([byte])), hand_made.accept_bytes(bytes([byte]))
        assert got[0] == got[1], (schema, options, text)
        if not got[0]:
            return
    assert front_end.is_completed() == hand_made.is_completed(), (schema, options, text)


@given(any_schemas, st.integers(0, 10**6))
@examples(60)
def test_sampled_outputs_are_valid(schema, seed):
    ir = front_end_ir(schema)
    if is_unsatisfiable(schema, ir):
        return
    oracle = Oracle(ir, JSON, json.dumps(schema, ensure_ascii=False))
    text = oracle.walk(random.Random(seed), 10, every=2)
    if text is not None and not is_valid(schema, json.loads(text)):
        oracle.fail(f"{text!r} is not valid")


@given(any_schemas, st.integers(0, 10**6))
@examples(40)
def test_oracle_in_declared_order_and_strict_mode(schema, seed):
    ir = schema_ir(schema, any_order=False, strict=True)
    if not is_unsatisfiable(schema, ir):
        source = "strict, declared order: " + json.dumps(schema, ensure_ascii=False)
        Oracle(ir, JSON, source).walk(random.Random(seed), 8)


@given(st.data())
@examples(60)
def test_masks_on_the_way_through_instances(data):
    schema = data.draw(any_schemas)
    text = data.draw(spellings(data.draw(instances_near(schema)))).encode()
    strict = data.draw(st.booleans())
    ir = schema_ir(schema, any_order=data.draw(st.booleans()), strict=strict)
    if is_unsatisfiable(schema, ir):
        return
    oracle = Oracle(ir, JSON, f"strict={strict}: {json.dumps(schema, ensure_ascii=False)}")
    checked = set(data.draw(st.lists(st.integers(0, max(len(text), 1)), max_size=4)))
    for i in range(len(text)):
        if i in checked:
            oracle.check_step()
        if not oracle.accept_bytes(text[i : i + 1]):
            return
    oracle.check_step()


@pytest.mark.parametrize("schema", [{"type": "integer"}, {"required": ["a"]}, {"items": False}])
def test_the_strategies_know_valid_from_invalid(schema):
    """The generators above would be worthless if nearly all values were invalid."""
    n_valid = 0

    @given(instances_near(schema))
    @examples(40)
    def count(value):
        nonlocal n_valid
        n_valid += is_valid(schema, value)

    count()
    assert n_valid >= 10
