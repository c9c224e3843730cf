"""What becomes of each keyword, and what can be long without bound, per rule of the report."""

from __future__ import annotations

import pytest

from maskwright.frontends.json_schema import compile_json_schema
from maskwright.frontends.json_schema.coverage import Coverage, Recorder

OPEN = {"strict_mode": False, "any_order": True}


def coverage(schema, **options) -> Coverage:
    recorder = Recorder()
    compile_json_schema(schema, **options, recorder=recorder)
    return recorder.coverage


def found(schema, **options):
    return {
        entry.pointer: (entry.status, entry.reason)
        for entry in coverage(schema, **options).keywords
    }


EXPONENTS = "numbers with exponents from -400 to 400 only"
PLAIN = {**OPEN, "number_spelling": "plain"}
SPELLING = 'numbers in plain spelling only (number_spelling="any" lifts it)'
DECIMAL = {**OPEN, "number_spelling": "decimal"}
DECIMALS = 'numbers without exponents only (number_spelling="any" lifts it)'
DIGITS = "numbers may have any number of digits, whatever their bounds"
NO_ITEMS = "no other items (strict_mode=False lifts it)"


@pytest.mark.parametrize(
    ("schema", "options", "pointer", "reason"),
    [
        (
            {"properties": {"a": True}},
            {},
            "#/properties",
            (
                "members in declared order (any_order lifts it); "
                "no other members (strict_mode=False lifts it)"
            ),
        ),
        ({"prefixItems": [True]}, {}, "#/prefixItems", NO_ITEMS),
        ({"items": [True]}, {"dialect": "draft7"}, "#/items", NO_ITEMS),
        ({"format": "hostname"}, {}, "#/format", None),
        ({"maxLength": 1 << 40}, OPEN, "#/maxLength", "at most 4294967294"),
        ({"type": "integer"}, OPEN, "#/type", EXPONENTS),
        ({"minimum": 1, "exclusiveMaximum": 4}, OPEN, "#/minimum", EXPONENTS),
        ({"minimum": 1, "exclusiveMaximum": 4}, OPEN, "#/exclusiveMaximum", EXPONENTS),
        ({"multipleOf": 3}, OPEN, "#/multipleOf", EXPONENTS),
        ({"const": 1.5}, OPEN, "#/const", EXPONENTS),
        ({"enum": ["a", [1]]}, OPEN, "#/enum", EXPONENTS),
        ({"type": "integer"}, PLAIN, "#/type", SPELLING),
        ({"type": ["number", "null"]}, PLAIN, "#/type", SPELLING),
        ({"minimum": 1, "exclusiveMaximum": 4}, PLAIN, "#/minimum", SPELLING),
        ({"const": 1.5}, PLAIN, "#/const", SPELLING),
        ({"type": "number"}, DECIMAL, "#/type", DECIMALS),
        ({"minimum": 1}, DECIMAL, "#/minimum", DECIMALS),
    ],
)
def test_what_is_narrowed_and_why(schema, options, pointer, reason):
    status, said = found(schema, **options)[pointer]
    assert status == "narrowed"
    assert said == reason if reason is not None else said


@pytest.mark.parametrize(
    ("schema", "options", "pointer"),
    [
        ({"properties": {"a": True}}, OPEN, "#/properties"),
        ({"prefixItems": [True]}, OPEN, "#/prefixItems"),
        ({"prefixItems": [True], "items": True}, {}, "#/prefixItems"),
        ({"items": [True]}, {**OPEN, "dialect": "draft7"}, "#/items"),
        ({"items": [True], "additionalItems": True}, {"dialect": "draft7"}, "#/items"),
        ({"items": True}, {}, "#/items"),
        ({"type": "number"}, OPEN, "#/type"),
        ({"type": ["integer", "number"]}, OPEN, "#/type"),
        ({"enum": ["a", True]}, OPEN, "#/enum"),
        ({"allOf": [{"const": 1}]}, OPEN, "#/allOf"),
    ],
)
def test_what_is_enforced_as_written(schema, options, pointer):
    assert found(schema, **options)[pointer] == ("enforced", "")


def test_what_is_ignored_and_refused():
    schema = {
        "title": "T",
        "type": "string",
        "uniqueItems": True,
        "allOf": [{"unevaluatedItems": {}}],
    }
    report = found(schema)
    assert report["#/title"] == ("ignored", "an annotation, or without effect here")
    assert report["#/uniqueItems"] == ("ignored", "an annotation, or without effect here")
    status, reason = report["#/allOf/0/unevaluatedItems"]
    assert status == "refused"
    assert 'the keyword "unevaluatedItems" at #/allOf/0/unevaluatedItems is not supported' in reason


@pytest.mark.parametrize(
    ("schema", "reasons"),
    [
        ({"type": "string"}, ["strings have no maxLength"]),
        ({"type": "string", "pattern": "^a$"}, []),
        ({"type": "array", "prefixItems": [{"const": 1}]}, []),
        ({"type": "array", "items": {"const": 1}}, ["arrays have no maxItems"]),
        ({"type": "integer", "minimum": 1, "maximum": 9}, [DIGITS]),
        ({"type": "object", "properties": {}}, []),
        ({"type": "object"}, ["objects admit any number of other members"]),
        ({}, ["any value is admitted, of any length"]),
        ({"enum": [1]}, []),
    ],
)
def test_what_has_no_bound(schema, reasons):
    assert [warning.reason for warning in coverage(schema).warnings] == reasons


def test_values_that_hold_themselves():
    warnings = coverage({"properties": {"a": {"$ref": "#"}}, "type": "object"}).warnings
    assert [(w.pointer, w.reason) for w in warnings] == [
        ("#/properties/a", "values can be nested without bound")
    ]


@pytest.mark.parametrize(
    ("keyword", "meant"), [("propertys", "properties"), ("maxLenght", "maxLength"), ("title", None)]
)
def test_what_looks_like_a_keyword_is_asked_about(keyword, meant):
    _, reason = found({"type": "string", keyword: 1})[f"#/{keyword}"]
    assert reason.endswith(f'; is "{meant}" meant?') == (meant is not None)
