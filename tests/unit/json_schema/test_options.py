"""Options, and what the certificate says about them."""

from __future__ import annotations

import pytest

from maskwright.errors import GrammarError
from maskwright.frontends.json_schema import compile_json_schema
from unit.json_schema.judge import Judge

MEMBERS = {"properties": {"a": {"type": "string"}}}
KEY_ORDER = "key-order: declared members first, in declared order"
WHITESPACE = "whitespace: at most 256 bytes between two tokens"
VALID = {"integer": 1, "string": "", "['null', 'array']": [1, 1]}
SPELLING = (
    "number-spelling: exponents from -400 to 400 only, under integer, bounds, multipleOf, const or "
    "enum"
)
DECIMAL_SPELLING = (
    "number-spelling: decimals only, without exponent, and integers without fraction or -0 where "
    "nothing else may come"
)
PLAIN_SPELLING = (
    "number-spelling: plain only, without exponent, zeros at the end of a fraction, or -0"
)


def compiled(schema, **options):
    ir, certificate = compile_json_schema(schema, **options)
    return Judge(ir).json, certificate


def test_default_options():
    json, certificate = compiled(MEMBERS)
    assert (json.any_order, json.any_whitespace, json.strict) == (False, True, True)
    assert json.number_spelling == "any"
    assert json.max_whitespace == 256
    assert (json.item_separator, json.key_separator) == (b",", b":")
    assert certificate.exact
    assert certificate.loosened == ()
    assert certificate.narrowed == (KEY_ORDER, "closed-objects", WHITESPACE)


def test_flags_are_passed_on():
    json, certificate = compiled(MEMBERS, any_order=True, strict_mode=False, max_whitespace_cnt=0)
    assert (json.any_order, json.strict, json.max_whitespace) == (True, False, 0)
    assert certificate.narrowed == ("whitespace: at most 0 bytes between two tokens",)


@pytest.mark.parametrize("schema", [{"type": "integer"}, {"type": "string"}, True])
def test_number_spelling(schema):
    json, certificate = compiled(schema, number_spelling="plain")
    assert json.number_spelling == "plain"
    assert certificate.exact
    assert certificate.narrowed == (WHITESPACE, PLAIN_SPELLING)
    json, certificate = compiled(schema, number_spelling="decimal")
    assert json.number_spelling == "decimal"
    assert certificate.narrowed == (WHITESPACE, DECIMAL_SPELLING)
    with pytest.raises(GrammarError) as caught:
        compiled(schema, number_spelling="short")
    assert caught.value.code == "schema-invalid-option"
    assert str(caught.value).startswith(
        "number_spelling is 'short': expected 'any', 'decimal' or 'plain'"
    )


def test_separators():
    json, certificate = compiled(MEMBERS, any_whitespace=False, any_order=True)
    assert (json.item_separator, json.key_separator) == (b", ", b": ")
    assert (json.any_whitespace, json.max_whitespace) == (False, 0)
    assert certificate.narrowed == ("closed-objects", "whitespace: the given separators only")
    json, _ = compiled({}, any_whitespace=False, separators=(",\n", ":"))
    assert (json.item_separator, json.key_separator) == (b",\n", b":")
    json, _ = compiled({}, any_whitespace=True, separators=(" , ", " : "), indent=2)
    assert (json.item_separator, json.key_separator) == (b",", b":")


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, ()),
        ({"type": "object"}, ()),
        ({"properties": {}}, ()),
        ({"properties": {"a": True}}, (KEY_ORDER, "closed-objects")),
        ({"properties": {"a": True}, "additionalProperties": True}, (KEY_ORDER,)),
        ({"prefixItems": [True]}, ("closed-arrays",)),
        ({"prefixItems": [True], "items": True}, ()),
        ({"type": "integer"}, (SPELLING,)),
        ({"type": ["integer", "number"]}, ()),
        ({"minimum": 1}, (SPELLING,)),
        ({"exclusiveMaximum": 1}, (SPELLING,)),
        ({"enum": ["a", 1]}, (SPELLING,)),
        ({"enum": ["a", True]}, ()),
        ({"const": [{"a": 1}]}, (KEY_ORDER, SPELLING)),
        ({"maxLength": 2**60}, ("counts: at most 4294967294",)),
        ({"maxItems": 2**32 - 1}, ("counts: at most 4294967294",)),
        ({"maxItems": 2**32 - 2}, ()),
    ],
)
def test_narrowed_says_what_the_schema_met(schema, expected):
    _, certificate = compiled(schema)
    assert tuple(entry for entry in certificate.narrowed if entry != WHITESPACE) == expected


def test_ignored_lists_annotations_and_unknown_keywords():
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": "c",
        "title": "t",
        "properties": {"a/b": {"~x": 1, "description": "d", "readOnly": True}},
        "$defs": {"unused": {"title": "never reached"}},
        "items": {"prefixItems": [{"default": 1}]},
        "then": False,
        "minContains": 2,
        "if": {"type": "string"},
    }
    del schema["then"]
    _, certificate = compiled(schema)
    assert sorted(certificate.ignored) == [
        "#/$comment",
        "#/if",
        "#/items/prefixItems/0/default",
        "#/minContains",
        "#/properties/a~1b/description",
        "#/properties/a~1b/readOnly",
        "#/properties/a~1b/~0x",
        "#/title",
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"then": False},
        {"else": False},
        {"if": False},
        {"maxContains": 0},
        {"format": "zip-code-xx"},
        {"type": "integer", "format": "date"},
        {"type": "string", "uniqueItems": True},
        {"additionalItems": False},
    ],
)
def test_keywords_without_effect_are_ignored(schema):
    keyword = list(schema)[-1]
    ir, certificate = compile_json_schema(schema)
    assert certificate.ignored == (f"#/{keyword}",)
    assert Judge(ir).accepts(None if "type" not in schema else VALID[str(schema["type"])])


def test_format_is_an_annotation_on_request():
    _, certificate = compiled({"type": "string", "format": "date"}, assert_format=False)
    assert certificate.ignored == ("#/format",)


@pytest.mark.parametrize(
    "options",
    [
        {"max_whitespace_cnt": -1},
        {"max_whitespace_cnt": 2**32},
        {"any_whitespace": False, "separators": (";", ":")},
        {"any_whitespace": False, "separators": (",", "")},
        {"any_whitespace": False, "separators": (",\u00a0", ":")},
        {"dialect": "draft8"},
    ],
)
def test_options_without_meaning_are_refused(options):
    with pytest.raises(GrammarError, match="expected") as caught:
        compile_json_schema({}, **options)
    assert caught.value.code == "schema-invalid-option"


@pytest.mark.parametrize("separators", [",", (",",), (",", ":", ":")])
def test_separators_that_are_not_two(separators):
    with pytest.raises(GrammarError, match="expected two") as caught:
        compile_json_schema({}, any_whitespace=False, separators=separators)
    assert caught.value.code == "schema-invalid-option"


@pytest.mark.parametrize("options", [{"dialect": 5}, {"separators": (1, 2)}])
def test_options_of_the_wrong_type(options):
    with pytest.raises(TypeError):
        compile_json_schema({}, any_whitespace=False, **options)


# --- whether or not the schema comes to need them -----------------------------------------------


@pytest.mark.parametrize("schema", [True, {"type": "object"}])
@pytest.mark.parametrize("any_whitespace", [True, False])
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("max_whitespace_cnt", 1.5),
        ("max_whitespace_cnt", True),
        ("max_number_digits", "x"),
        ("max_constant_values", None),
        ("max_ignored_bytes", []),
        ("max_dynamic_scopes", 1.5),
        ("strict_mode", 1),
        ("any_order", "yes"),
        ("assert_format", None),
        ("nullable", "no"),
        ("separators", 5),
        ("separators", (1, 2)),
        ("indent", "x"),
        ("registry", 5),
    ],
)
def test_an_option_of_a_wrong_type(schema, any_whitespace, option, value):
    with pytest.raises(TypeError, match=option):
        compile_json_schema(schema, any_whitespace=any_whitespace, **{option: value})


@pytest.mark.parametrize("any_whitespace", [True, False])
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("max_whitespace_cnt", -1),
        ("max_whitespace_cnt", 2**32),
        ("max_number_digits", -1),
        ("max_constant_values", -1),
        ("max_ignored_bytes", -1),
        ("max_dynamic_scopes", -1),
        ("separators", (";", ":")),
        ("registry", {"urn:x": 5}),
    ],
)
def test_an_option_out_of_range(any_whitespace, option, value):
    with pytest.raises(GrammarError, match="urn:x" if option == "registry" else option):
        compile_json_schema(True, any_whitespace=any_whitespace, **{option: value})
