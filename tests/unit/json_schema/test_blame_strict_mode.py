"""Strict mode is named where it, and not the schema, is why there is no value; and nowhere else."""

from __future__ import annotations

import pytest

from maskwright import GrammarCompiler, TokenizerInfo
from maskwright.errors import UnsatisfiableGrammarError, UnsupportedFeatureError

COMPILER = GrammarCompiler(
    TokenizerInfo([*(bytes((i,)) for i in range(256)), b""], stop_token_ids=256)
)


def refused(schema, **options):
    with pytest.raises(UnsatisfiableGrammarError) as caught:
        COMPILER.compile_json_schema(schema, **options)
    return caught.value


def closed(*names, **keywords):
    return {"type": "object", "properties": dict.fromkeys(names, True), **keywords}


def items(*prefix, **keywords):
    return {"type": "array", "prefixItems": [*prefix], **keywords}


NOTHING = {"type": "string", "enum": [1]}
NEEDS_B = closed("a", required=["b"])
WITHOUT_VALUE_ANYWAY = {
    "a text": {**NEEDS_B, "type": "string", "minLength": 3, "maxLength": 2},
    "few members": {**NEEDS_B, "minProperties": 3, "maxProperties": 1},
    "no members": {**NEEDS_B, "maxProperties": 0},
    "too few for those named": closed("a", "b", minProperties=3, maxProperties=2),
    "a member that is false": {**NEEDS_B, "properties": {"a": False}, "required": ["a", "b"]},
    "other names": {**NEEDS_B, "propertyNames": {"enum": ["a"]}},
    "fewer names": closed("a", propertyNames={"enum": ["a"]}, minProperties=2),
    "required and not": {**NEEDS_B, "not": {"required": ["b"]}},
    "required in circles": {
        "$defs": {"n": {**closed(required=["n", "z"]), "properties": {"n": {"$ref": "#/$defs/n"}}}},
        "$ref": "#/$defs/n",
    },
    "false by another": closed("a", required=["a", "q"], dependentSchemas={"a": False}),
    "a pattern that is false": {"allOf": [NEEDS_B, {"patternProperties": {"^b": False}}]},
    "a branch without a value": {"allOf": [NEEDS_B, {"properties": {"b": NOTHING}}]},
    "few items": items({}, minItems=3, maxItems=2),
    "an item that is false": items(False, minItems=3),
    "items that contain nothing": items({}, minItems=2, contains=False),
    "a member of several": {
        "type": "object",
        "properties": {"p": NEEDS_B, "q": {**closed(), "properties": {"a": NOTHING}}},
        "required": ["p", "q"],
        "maxProperties": 1,
    },
}


@pytest.mark.parametrize("name", WITHOUT_VALUE_ANYWAY)
def test_a_schema_without_a_value_in_open_mode_is_blamed_as_there(name):
    schema = WITHOUT_VALUE_ANYWAY[name]
    strict, in_open_mode = refused(schema), refused(schema, strict_mode=False)
    assert str(strict) == str(in_open_mode)
    assert (strict.pointer, strict.code) == (in_open_mode.pointer, "schema-unsatisfiable")
    assert "strict_mode" not in str(strict)


def test_strict_mode_is_not_named_where_open_mode_is_refused():
    schema = items({"const": 1}, {"const": 1}, minItems=3, uniqueItems=True)
    with pytest.raises(UnsupportedFeatureError):
        COMPILER.compile_json_schema(schema, strict_mode=False)
    assert str(refused(schema)) == (
        'no value is valid under the schema at #: "type", "prefixItems", "minItems", "uniqueItems" '
        "together allow none, and a value is needed there; correct it, or allow that place to be "
        "missing"
    )


UNDECLARED = '"required" asks for the member "{}", which "properties" does not declare, and'
BESIDE = {
    "more members": ({"properties": {"c": {}}}, "b"),
    "the member": ({"properties": {"b": {}}, "required": ["c"]}, "c"),
}


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("is_first", [True, False])
def test_what_stands_beside_counts(name, is_first):
    other, missing = BESIDE[name]
    error = refused({"allOf": [NEEDS_B, other] if is_first else [other, NEEDS_B]})
    start = f"no value is valid under the schema at #: {UNDECLARED.format(missing)} strict_mode"
    assert str(error).startswith(start)


def test_items_that_stand_beside_count():
    error = refused({"allOf": [items({}, minItems=3), {"prefixItems": [{}, {}]}]})
    assert "at #: " in str(error)
    assert '"minItems" asks for 3 items, and the schema names 2: strict_mode' in str(error)


@pytest.mark.parametrize(
    "schema",
    [
        closed("a", required=["a"], allOf=[{"required": ["b"]}]),
        closed("a", required=[], allOf=[{"required": ["b"]}]),
        closed("a", minProperties=1, allOf=[{"minProperties": 2}]),
        closed("a", minProperties=0, allOf=[{"minProperties": 2}]),
        items({}, minItems=1, anyOf=[items({}, {}, minItems=3)]),
    ],
)
def test_a_keyword_is_not_pointed_at_for_what_another_asks(schema):
    error = refused(schema)
    assert error.pointer == "#"
    assert "strict_mode admits no others" in str(error)


def test_members_beside_additional_properties_are_told_from_others():
    parts = [closed("a", additionalProperties=False), {"properties": {"b": {}}, "required": ["b"]}]
    for strict_mode in (True, False):
        error = refused({"allOf": parts}, strict_mode=strict_mode)
        assert (
            '"required" asks for the member "b", which the "properties" beside '
            '"additionalProperties" does not declare, and "additionalProperties" admits no others'
        ) in str(error)


REFERRED_TO = {"$defs": {"x": NEEDS_B}}
IN_GENERAL = {
    "patterns": {**NEEDS_B, "patternProperties": {"^c": {}}},
    "patterns beside": {"allOf": [NEEDS_B, {"patternProperties": {"^c": False}}]},
    "patterns in a branch": {
        **NEEDS_B,
        "anyOf": [{"patternProperties": {"^b": {}}, "required": ["c"]}],
    },
    "a branch that has none anyway": {"anyOf": [NEEDS_B, NOTHING]},
    "members in a branch": {
        **NEEDS_B,
        "anyOf": [{"properties": {"b": False}}, {"properties": {"c": {}}}],
    },
    "a condition": closed("a", required=["a"], **{"if": {"required": ["a"]}, "then": NEEDS_B}),
    "items": items({"const": 1}, contains={"const": 2}),
    "at several places": {
        "type": "object",
        "properties": {
            "p": {"allOf": [{"$ref": "#/$defs/x"}, {"properties": {"b": {}}, "required": ["c"]}]},
            "q": {"allOf": [{"$ref": "#/$defs/x"}, {"properties": {"b": {}}, "minProperties": 3}]},
        },
        "required": ["p", "q"],
        **REFERRED_TO,
    },
}


@pytest.mark.parametrize("name", IN_GENERAL)
def test_strict_mode_is_named_where_no_more_is_known(name):
    schema = IN_GENERAL[name]
    COMPILER.compile_json_schema(schema, strict_mode=False)
    error = refused(schema)
    assert " in strict_mode, and a value is needed there; " in str(error)
    assert str(error).endswith(
        "correct it, or allow that place to be missing, or admit what it does not name with "
        "strict_mode=False"
    )
