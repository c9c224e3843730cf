"""Schemas without a value: the error names the smallest part that has none."""

from __future__ import annotations

import pytest

from maskwright import GrammarCompiler, TokenizerInfo
from maskwright.errors import UnsatisfiableGrammarError, UnsupportedFeatureError

INFO = TokenizerInfo([*(bytes((i,)) for i in range(256)), b""], stop_token_ids=256)


def refused(schema, error=UnsatisfiableGrammarError, **options):
    compiler = GrammarCompiler(INFO)
    with pytest.raises(error) as caught:
        compiler.compile_json_schema(schema, **{"any_order": True, "strict_mode": False, **options})
    return caught.value


TEXT_OF_3_TO_2 = {"type": "string", "minLength": 3, "maxLength": 2}
LIST_OF_X = {"type": "array", "items": {"$ref": "#/$defs/x"}, "minItems": 1}
RECURSIVE = {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}


def an_object(value):
    return {"type": "object", "properties": {"a": value}, "required": ["a"]}


@pytest.mark.parametrize(
    ("schema", "pointer", "keywords"),
    [
        (TEXT_OF_3_TO_2, "#", ("type", "minLength", "maxLength")),
        (an_object({"type": "string", "enum": [1, 2]}), "#/properties/a", ("type", "enum")),
        (an_object(an_object({"enum": []})), "#/properties/a/properties/a/enum", ("enum",)),
        (an_object(False), "#", ("type", "properties", "required")),
        (RECURSIVE, "#", ("type", "properties", "required")),
        (
            {**LIST_OF_X, "$defs": {"x": TEXT_OF_3_TO_2}},
            "#/$defs/x",
            ("type", "minLength", "maxLength"),
        ),
        (
            {"type": "array", "prefixItems": [{}, an_object({"not": {}})], "minItems": 2},
            "#/prefixItems/1/properties/a/not",
            ("not",),
        ),
        ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "#/allOf", ("allOf",)),
        ({"allOf": [True, {"enum": []}]}, "#/allOf/1/enum", ("enum",)),
        ({"oneOf": [True, True]}, "#/oneOf", ("oneOf",)),
        ({"anyOf": [TEXT_OF_3_TO_2, {"enum": []}]}, "#/anyOf", ("anyOf",)),
    ],
)
def test_the_smallest_part_without_a_value_is_named(schema, pointer, keywords):
    error = refused(schema)
    assert error.code == "schema-unsatisfiable"
    assert error.pointer == pointer
    said = ", ".join(f'"{keyword}"' for keyword in keywords)
    assert f"no value is valid under the schema at {pointer}: {said}" in str(error)
    assert "allow that place to be missing" in str(error)


def test_the_place_is_found_with_all_options():
    error = refused(an_object({"enum": []}), any_order=False, strict_mode=True, dialect="draft7")
    assert error.pointer == "#/properties/a/enum"


def test_a_grammar_that_is_no_schema_has_no_pointer():
    with pytest.raises(UnsatisfiableGrammarError) as caught:
        GrammarCompiler(INFO).compile_grammar('root ::= "a" root')
    assert (caught.value.pointer, caught.value.node) == (None, None)


def test_the_schema_false_is_a_place():
    error = refused(False)
    assert error.pointer == "#"
    assert str(error).startswith("no value is valid under the schema at #: false allows none here")


def closed(*names, **keywords):
    return {"type": "object", "properties": dict.fromkeys(names, True), **keywords}


STRICT = "strict_mode admits no others, and a value is needed there; "
ADVICE = 'or admit others with "additionalProperties": true or strict_mode=False'
ASKS = '"required" asks for the member "b", which "properties" does not declare, and '
TOO_SMALL = {
    "a member": (closed("a", required=["b"]), "#/required", ASKS + STRICT),
    "members": (
        closed("a", required=["a", "b", "c", "d", '\u00e9"' + "x" * 99]),
        "#/required",
        '"required" asks for the members "b", "c", "d" and 1 more, which "properties" does not '
        "declare, and " + STRICT + f'declare them under "properties", {ADVICE}',
    ),
    "a long name": (
        closed("a", required=["\u00e9" * 99]),
        "#/required",
        'asks for the member "' + "\u00e9" * 60 + '...", which',
    ),
    "a member of a member": (
        an_object(closed("x", required=["b"])),
        "#/properties/a/required",
        ASKS + STRICT + f'declare it under "properties", {ADVICE}',
    ),
    "under allOf": (closed("a", allOf=[{"required": ["b"]}]), "#", ASKS + STRICT),
    "of a reference": (
        closed("a", **{"$ref": "#/$defs/x", "$defs": {"x": {"required": ["b"]}}}),
        "#",
        ASKS + STRICT,
    ),
    "each branch": (
        {"anyOf": [closed("a", required=["b"]), closed("a", required=["c"])]},
        "#",
        "no branch has a value; of the first, " + ASKS + STRICT,
    ),
    "by another member": (
        closed("a", required=["a"], dependentRequired={"a": ["b"]}),
        "#/dependentRequired",
        '"dependentRequired" asks for the member "b", which',
    ),
    "false": (
        closed("a", required=["b"], additionalProperties=False),
        "#/required",
        (
            '"required" asks for the member "b", which the "properties" beside '
            '"additionalProperties" does not declare, and "additionalProperties" admits no others, '
            'and a value is needed there; declare it under the "properties" beside '
            '"additionalProperties", or change "additionalProperties"'
        ),
    ),
    "too many": (
        closed("a", minProperties=2),
        "#/minProperties",
        '"minProperties" asks for 2 members, and "properties" declares 1: ' + STRICT,
    ),
    "items": (
        {"type": "array", "prefixItems": [True], "minItems": 2},
        "#/minItems",
        '"minItems" asks for 2 items, and the schema names 1: '
        + STRICT
        + 'name more, or admit others with "items": true ("additionalItems" in older drafts) or '
        "strict_mode=False",
    ),
}


@pytest.mark.parametrize("name", TOO_SMALL)
@pytest.mark.parametrize("any_order", [False, True])
def test_what_a_closed_schema_lacks_is_named(name, any_order):
    schema, pointer, message = TOO_SMALL[name]
    error = refused(schema, strict_mode=True, any_order=any_order)
    assert (error.code, error.pointer) == ("schema-unsatisfiable", pointer)
    assert f"no value is valid under the schema at {pointer}: " in str(error)
    assert message in str(error)
    if "additionalProperties" not in schema:  # it was strict mode
        GrammarCompiler(INFO).compile_json_schema(schema, strict_mode=False)


NULL, TEXT = {"type": "null"}, {"type": "string"}
PRIMES = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43)
CORE_REFUSALS = {
    "two equal items": (
        {"items": {"not": {"uniqueItems": True}}},
        ("json-unsupported-keyword", "uniqueItems", "#/items/not/uniqueItems"),
        (
            'nothing finds two equal items, as under "not" or in all but one branch of '
            '"oneOf"; drop '
            "it there"
        ),
    ),
    "too many different items": (
        {
            "properties": {
                "a": {
                    "type": "array",
                    "uniqueItems": True,
                    "minItems": 3,
                    "prefixItems": [{"enum": ["a"]}, {"enum": ["a", "b"]}, {"enum": ["b", "c"]}],
                }
            },
            "required": ["a"],
        },
        ("json-unique-items-undecided", "uniqueItems", "#/properties/a/uniqueItems"),
        (
            '"minItems" or "contains" need more different items than can be counted; let '
            "each position "
            'that is needed have more values, or drop "uniqueItems"'
        ),
    ),
    "names in a circle": (
        {
            "items": {
                "dependentRequired": {"a": ["b"], "b": ["a"]},
                "minProperties": 2,
                "maxProperties": 3,
            }
        },
        ("json-unsupported-keyword", "dependentRequired", "#/items/dependentRequired"),
        (
            'names that need each other in a circle, beside "minProperties" and '
            '"maxProperties"; drop '
            "one of the two bounds"
        ),
    ),
    "several broken members": (
        {"allOf": [{"not": {"patternProperties": {f"^a{i}": NULL}}} for i in range(5)]},
        ("json-unsupported-keyword", "not", "#/allOf/4/not"),
        (
            "one object must break what several schemas say of members that only a pattern, "
            '"additionalProperties" or "propertyNames" concerns; list the members under '
            '"properties"'
        ),
    ),
    "an object in a constant": (  # its own node has no place
        {
            "items": {
                "dependentRequired": {"c": ["d"]},
                "not": {"enum": [{}, {"a": []}]},
            }
        },
        ("json-unsupported-keyword", "not", "#/items/not"),
        (
            "one object must break what several schemas say of members that only a pattern, "
            '"additionalProperties" or "propertyNames" concerns; list the members under '
            '"properties"'
        ),
    ),
    "names that run out": (
        {"propertyNames": {"pattern": "^[ab]{9}$"}, "not": {"additionalProperties": TEXT}},
        ("json-unsupported-keyword", "not", "#/not"),
        (
            "some member must break a schema, and the names that it may have can run out; "
            "list them "
            'under "properties" or set a lower "maxProperties"'
        ),
    ),
    "a long common multiple": (
        {"items": {"allOf": [{"multipleOf": 999999937}, {"multipleOf": 998244353}]}},
        ("json-number-divisor", "multipleOf", "#/items/allOf/1/multipleOf"),
        "the divisors at one place have a least common multiple of more than 17 significant digits",
    ),
    "many divisors": (
        {"allOf": [{"not": {"multipleOf": n}} for n in PRIMES]},
        ("json-number-divisor", "multipleOf", "#/allOf/12/not/multipleOf"),
        'more than 12 divisors under "not" at one place',
    ),
}


@pytest.mark.parametrize("name", CORE_REFUSALS)
def test_what_the_core_refuses_is_named_with_its_place(name):
    schema, (code, feature, pointer), reason = CORE_REFUSALS[name]
    error = refused(schema, UnsupportedFeatureError)
    assert (error.code, error.feature, error.pointer) == (code, feature, pointer)
    message = f'the keyword "{feature}" is not supported here: {reason}: at {pointer}'
    assert str(error) == message


def test_a_divisor_that_the_vocabulary_cannot_spell_is_named_with_its_place():
    tokens = [bytes((i,)) for i in range(256) if i != ord("7")]
    compiler = GrammarCompiler(TokenizerInfo([*tokens, b""], stop_token_ids=255))
    with pytest.raises(UnsupportedFeatureError) as caught:
        compiler.compile_json_schema({"items": {"multipleOf": 10_007}})
    assert (caught.value.feature, caught.value.pointer) == ("multipleOf", "#/items/multipleOf")
    assert str(caught.value) == (
        'the keyword "multipleOf" is not supported here: the vocabulary is without some digit or '
        "the point, and it would take too long to tell which numbers can be spelled: at "
        "#/items/multipleOf"
    )


@pytest.mark.parametrize(
    ("characters", "spelling", "schema"),
    [
        (
            "123456789-.",
            "decimal",
            (
                '{"type": "number", "multipleOf": 9970, "exclusiveMinimum": 0, '
                '"not": {"multipleOf": 9967}}'
            ),
        ),
        (
            "1346789.+e",
            "any",
            (
                '{"type": "number", "multipleOf": 0.07, "not": {"anyOf": [{"multipleOf": 12}, '
                '{"multipleOf": 0.11}, {"maximum": 1e400}]}}'
            ),
        ),
    ],
)
def test_divisors_that_a_vocabulary_makes_too_hard(characters, spelling, schema):
    def compiler(spelled: str) -> GrammarCompiler:
        tokens = [b"</s>", *(character.encode() for character in spelled)]
        return GrammarCompiler(TokenizerInfo(tokens, stop_token_ids=0))

    with pytest.raises(UnsupportedFeatureError) as refusal:
        compiler(characters).compile_json_schema(schema, number_spelling=spelling)
    assert refusal.value.code == "json-number-divisor"
    assert "the vocabulary is without some digit or the point" in str(refusal.value)
    compiler("0123456789.+-e").compile_json_schema(schema, number_spelling=spelling)
