"""Every error code of the front-end, with what its message says."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from maskwright.errors import (
    GrammarSyntaxError,
    InvalidSchemaError,
    LimitExceededError,
    UnsupportedFeatureError,
)
from maskwright.frontends.json_schema import compile_json_schema


def error_of(schema, kind, **options):
    with pytest.raises(kind) as caught:
        compile_json_schema(schema, **options)
    return caught.value


@pytest.mark.parametrize(
    ("schema", "pointer", "found", "expected"),
    [
        ({"type": 5}, "#/type", "the number 5", "one of the types null, boolean"),
        ({"type": "objekt"}, "#/type", 'the string "objekt"', "one of the types"),
        ({"type": []}, "#/type", "an empty array", "non-empty array"),
        ({"type": ["string", None]}, "#/type/1", "null", "one of the types"),
        ({"required": True}, "#/required", "true", "an array of member names"),
        ({"required": ["a", 1]}, "#/required/1", "the number 1", "a member name"),
        ({"properties": []}, "#/properties", "an empty array", "a schema per member"),
        ({"enum": "a"}, "#/enum", 'the string "a"', "an array of values"),
        ({"enum": [{1, 2}]}, "#/enum", "type set", "a JSON value"),
        ({"const": [object()]}, "#/const", "type object", "a JSON value"),
        ({"minLength": -1}, "#/minLength", "the number -1", "an integer of at least 0"),
        ({"maxLength": 1.5}, "#/maxLength", "the number 1.5", "an integer"),
        ({"maxItems": True}, "#/maxItems", "true", "an integer"),
        ({"minItems": "1"}, "#/minItems", "the string", "an integer"),
        ({"maxProperties": None}, "#/maxProperties", "null", "an integer"),
        ({"minimum": "1"}, "#/minimum", "the string", "a number"),
        ({"minimum": True}, "#/minimum", "true", "a number"),
        ({"maximum": math.nan}, "#/maximum", "the number NaN", "a finite number"),
        ({"maximum": -math.inf}, "#/maximum", "the number -Infinity", "a finite number"),
        ({"const": Decimal("Infinity")}, "#/const", "Infinity", "a finite number"),
        ({"exclusiveMinimum": []}, "#/exclusiveMinimum", "an empty array", "a number"),
        ({"exclusiveMinimum": True}, "#/exclusiveMinimum", "true", '"minimum" beside it'),
        ({"pattern": 5}, "#/pattern", "the number 5", "a regular expression as a string"),
        ({"anyOf": {}}, "#/anyOf", "an empty object", "a non-empty array of schemas"),
        ({"allOf": []}, "#/allOf", "an empty array", "a non-empty array of schemas"),
        ({"$ref": 1}, "#/$ref", "the number 1", "a URI reference"),
        ({"$defs": 1}, "#/$defs", "the number 1", "a schema per name"),
        ({"$id": 1}, "#/$id", "the number 1", "a URI"),
        ({"$schema": 7}, "#/$schema", "the number 7", "the URI of a meta-schema"),
        ({"prefixItems": True}, "#/prefixItems", "true", "a non-empty array of schemas"),
        ({"prefixItems": [True], "items": [True]}, "#/items", "an array", "a schema"),
        ({"format": 5}, "#/format", "the number 5", "the name of a format"),
        ({"uniqueItems": "yes"}, "#/uniqueItems", "the string", "a Boolean"),
        ({"multipleOf": 0}, "#/multipleOf", "the number 0", "a number above 0"),
        ({"multipleOf": -0.5}, "#/multipleOf", "the number -0.5", "a number above 0"),
        ({"multipleOf": True}, "#/multipleOf", "true", "a number above 0"),
        ({"multipleOf": "2"}, "#/multipleOf", "the string", "a number above 0"),
        ({"patternProperties": []}, "#/patternProperties", "an empty array", "an object"),
        (
            {"properties": {"a/b": {"items": {"type": "x"}}}},
            "#/properties/a~1b/items/type",
            'the string "x"',
            "one of the types",
        ),
    ],
)
def test_malformed_values(schema, pointer, found, expected):
    error = error_of(schema, InvalidSchemaError)
    assert error.code == "schema-invalid-value"
    assert error.pointer == pointer
    text = str(error)
    assert f"at {pointer}: expected" in text
    assert found in text.partition(" at #")[0]
    assert expected in text.partition(": expected")[2]


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        (5, "#"),
        ("[1]", "#"),
        ('"x"', "#"),
        (None, "#"),
        ([], "#"),
        ({"items": 1}, "#/items"),
        ({"properties": {"a": []}}, "#/properties/a"),
        ({"anyOf": [True, "x"]}, "#/anyOf/1"),
        ({"additionalProperties": None}, "#/additionalProperties"),
        ({"prefixItems": [True], "items": 1}, "#/items"),
        ({"$ref": "#/x", "x": [1]}, "#/x"),
        ({"propertyNames": 5}, "#/propertyNames"),
        ({"patternProperties": {"^a/": 5}}, "#/patternProperties/^a~1"),
    ],
)
def test_not_a_schema(schema, pointer):
    error = error_of(schema, InvalidSchemaError)
    assert (error.code, error.pointer) == ("schema-not-a-schema", pointer)
    assert f"at {pointer}: expected a schema (an object or a Boolean)" in str(error)


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({1: True}, "#"),
        ({"properties": {1: True}}, "#/properties"),
        ({"patternProperties": {1: True}}, "#/patternProperties"),
        ({"const": {None: 1}}, "#/const"),
    ],
)
def test_non_string_keys(schema, pointer):
    error = error_of(schema, InvalidSchemaError)
    assert (error.code, error.pointer) == ("schema-non-string-key", pointer)
    assert "expected only strings as keys" in str(error)


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ('{"enum": ["a", "\\ud800"]}', "#/enum"),
        ({"const": {"a": ["\udc00"]}}, "#/const"),
        ({"const": {"\udc00": 1}}, "#/const"),
        ({"properties": {"\ud800x": True}}, "#/properties"),
        ({"required": ["a", "\ud800"]}, "#/required"),
    ],
)
def test_lone_surrogates(schema, pointer):
    error = error_of(schema, InvalidSchemaError)
    assert (error.code, error.pointer) == ("schema-lone-surrogate", pointer)
    assert "lone surrogate" in str(error)
    str(error).encode("utf-8")


@pytest.mark.parametrize(
    ("keyword", "value"),
    [
        ("unevaluatedProperties", False),
        ("unevaluatedItems", {}),
        ("extends", {}),
        ("disallow", "string"),
        ("divisibleBy", 2),
    ],
)
def test_unsupported_keywords(keyword, value):
    schema = {"properties": {"a": {keyword: value, "then": True}}}
    error = error_of(schema, UnsupportedFeatureError)
    assert error.code == "schema-unsupported-keyword"
    assert error.feature == keyword
    assert error.pointer == f"#/properties/a/{keyword}"
    assert f'the keyword "{keyword}" at {error.pointer} is not supported' in str(error)
    # Nothing refuses where the root does not reach.
    compile_json_schema({"$defs": schema["properties"]})


def test_unsupported_divisor():
    schema = {"properties": {"a": {"multipleOf": 2**59 + 1}}}
    error = error_of(schema, UnsupportedFeatureError)
    assert error.code == "schema-unsupported-divisor"
    assert (error.feature, error.pointer) == ("multipleOf", "#/properties/a/multipleOf")
    assert "at most 17 significant digits" in str(error)
    compile_json_schema('{"multipleOf": 12345678901234567e-300}')


@pytest.mark.parametrize(
    ("pattern", "error_class", "said"),
    [
        ("a(", InvalidSchemaError, "is no regular expression"),
        ("(a*)\\1", UnsupportedFeatureError, "is not supported"),
    ],
)
def test_key_patterns_say_where_they_stand(pattern, error_class, said):
    schema = {"items": {"patternProperties": {pattern: True}}}
    error = error_of(schema, error_class)
    assert error.pointer == f"#/items/patternProperties/{pattern}"
    assert f"the pattern at {error.pointer} {said}" in str(error)


@pytest.mark.parametrize("draft", ["draft-03", "draft-00", "draft-05"])
def test_unsupported_dialects(draft):
    uri = f"http://json-schema.org/{draft}/schema#"
    error = error_of({"$schema": uri}, UnsupportedFeatureError)
    assert error.code == "schema-unsupported-dialect"
    assert (error.feature, error.pointer) == ("$schema", "#/$schema")
    assert uri in str(error)
    assert "expected draft 4, 6, 7" in str(error)


def test_unsupported_option():
    error = error_of({}, UnsupportedFeatureError, any_whitespace=False, indent=2)
    assert (error.code, error.feature) == ("schema-unsupported-option", "indent")


def test_number_digits_limit():
    for schema, options in (
        ({"minimum": 10**2100}, {}),
        ('{"minimum": 1e2001}', {}),
        ('{"const": 1e-2001}', {}),
        ('{"enum": [1e999999999999]}', {}),
        ('{"minimum": ' + "9" * 5000 + "}", {}),
        ({"minimum": 123456}, {"max_number_digits": 3}),
    ):
        error = error_of(schema, LimitExceededError, **options)
        assert error.code == "schema-number-digits"
        assert error.limit == "max_number_digits"
        assert error.value == options.get("max_number_digits", 2000)
        assert f"max_number_digits = {error.value}" in str(error)
    compile_json_schema('{"minimum": 1e1990, "maximum": 1' + "0" * 1995 + "}")


def test_count_limit():
    for value in (2**32 - 1, 1e300, Decimal("1e99999")):
        error = error_of({"items": {"minLength": value}}, LimitExceededError)
        assert (error.code, error.limit) == ("schema-count-limit", "max_count")
        assert error.value == 2**32 - 2
        assert '"minLength" at #/items/minLength' in str(error)


def test_constant_values_limit():
    endless = []
    endless.append(endless)
    for constant in (endless, list(range(100)), [[0] * 50, {"a": [0] * 50}]):
        error = error_of({"const": constant}, LimitExceededError, max_constant_values=99)
        assert (error.code, error.value) == ("schema-constant-values", 99)
        assert error.limit == "max_constant_values"
        assert "#/const" in str(error)


def test_ignored_bytes_limit():
    schema = {}
    for _ in range(500):
        schema = {"title": "", "items": schema}
    error = error_of(schema, LimitExceededError, max_ignored_bytes=1000)
    assert (error.code, error.value) == ("schema-ignored-bytes", 1000)
    assert error.limit == "max_ignored_bytes"
    assert len(compile_json_schema(schema)[1].ignored) == 500


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "expected a value, found the end"),
        ('{"a": 1,\n "a": 2}', 2, 2, 'duplicate key "a"'),
        ('[{"x": {"\\u0061": 1, "a": 2}}]', 1, 22, 'duplicate key "a"'),
        ('{"a": 1,}', 1, 9, "expected a key in double quotes"),
        ('{"a" 1}', 1, 6, 'expected ":" after a key, found "1"'),
        ('{"a": 1', 1, 8, 'expected "," or "}", found the end'),
        ("[1 2]", 1, 4, 'expected "," or "]", found "2"'),
        ("{} {}", 1, 4, "expected nothing after the value"),
        ('{"minimum": NaN}', 1, 13, 'expected a value, found "N"'),
        ('{"minimum": -Infinity}', 1, 13, 'expected a value, found "-"'),
        ('{"a": 01}', 1, 8, 'expected "," or "}"'),
        ('{"a\nb": 1}', 1, 4, "raw control character U+000A"),
        ('{"a\\x": 1}', 1, 4, "invalid escape"),
        ('{"a', 1, 4, "a string does not end"),
        ("\ufeff{}", 1, 1, "expected a value"),
        ("[" * 100_000, 1, 100_001, "found the end"),
        ("[1e99999999999999999999]", 1, 2, "the exponent of a number is out of range"),
    ],
)
def test_invalid_json(text, line, column, message):
    error = error_of(text, GrammarSyntaxError)
    assert error.code == "schema-invalid-json"
    assert "the schema is not valid JSON: " in str(error)
    assert message in str(error)
    assert (error.line, error.column) == (line, column)
    assert str(error).endswith("^")


def test_invalid_patterns():
    error = error_of({"items": {"pattern": "(a"}}, InvalidSchemaError)
    assert (error.code, error.pointer) == ("schema-invalid-pattern", "#/items/pattern")
    assert "the pattern at #/items/pattern is no regular expression: " in str(error)
    assert "^" in str(error)


def test_unsupported_patterns():
    error = error_of({"items": {"pattern": "(a*)\\1"}}, UnsupportedFeatureError)
    assert error.code.startswith("regex-")
    assert error.pointer == "#/items/pattern"
    assert "the pattern at #/items/pattern is not supported: " in str(error)


def test_patterns_beyond_a_limit():
    error = error_of({"items": {"pattern": "(" * 5000 + ")" * 5000}}, LimitExceededError)
    assert error.code.startswith("regex-")
    assert error.value > 0
    assert f"{error.limit} = {error.value}" in str(error) or str(error.value) in str(error)
    assert "the pattern at #/items/pattern is too large: " in str(error)


def test_reference_loops():
    for schema, pointer in (
        ({"$ref": "#"}, "#"),
        ({"$ref": "#", "allOf": [{}], "anyOf": [True]}, "#"),
        ({"allOf": [{"anyOf": [{"type": "null"}, {"$ref": "#"}]}]}, None),
        (
            {
                "$ref": "#/$defs/a",
                "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
            },
            None,
        ),
        (
            # The loop lies beside the path on which the walk first meets its schemas.
            {
                "$ref": "#/$defs/v",
                "$defs": {
                    "v": {
                        "properties": {"x": {"$ref": "#/$defs/u"}},
                        "allOf": [{"$ref": "#/$defs/u"}],
                    },
                    "u": {"$ref": "#/$defs/v"},
                },
            },
            None,
        ),
    ):
        error = error_of(schema, InvalidSchemaError)
        assert error.code == "schema-reference-loop"
        assert f"the schema at {error.pointer} refers back to itself" in str(error)
        assert pointer in (None, error.pointer)


def test_recursion_below_the_instance_is_no_loop():
    schema = {
        "anyOf": [{"type": "null"}, {"properties": {"a": {"$ref": "#"}}, "items": {"$ref": "#"}}],
        "$defs": {"d": {"$ref": "#"}},
        "properties": {"b": {"$ref": "#/$defs/d"}},
    }
    compile_json_schema(schema)


@pytest.mark.parametrize(
    "keyword",
    [{"uniqueItems": True}, {"format": "date"}, {"contains": {}}, {"dependentRequired": {"a": []}}],
    ids=lambda schema: next(iter(schema)),
)
@pytest.mark.parametrize("bad", [5, None, {"a": 1}])
def test_a_malformed_type_behind_another_keyword(keyword, bad):
    with pytest.raises(InvalidSchemaError) as caught:
        compile_json_schema({**keyword, "type": bad})
    assert caught.value.pointer == "#/type"


@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_references_are_named_by_their_keyword(keyword):
    with pytest.raises(InvalidSchemaError) as caught:
        compile_json_schema({keyword: "#/nowhere"})
    assert caught.value.pointer == f"#/{keyword}"
