"""What `$schema` and the dialect option change."""

from __future__ import annotations

import pytest

from maskwright.errors import InvalidSchemaError, UnsupportedFeatureError
from maskwright.frontends.json_schema import compile_json_schema
from unit.json_schema.judge import Judge

DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema",
    "draft7": "https://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema#",
}


def ignored(schema, name):
    """The ignored keywords, with the dialect given by `$schema` and by the option."""
    _, by_option = compile_json_schema(schema, dialect=name)
    _, by_schema = compile_json_schema({"$schema": DRAFTS.get(name, name), **schema})
    assert by_option.ignored == by_schema.ignored
    return by_option.ignored


@pytest.mark.parametrize(
    ("schema", "known_in"),
    [
        ({"const": 1}, "draft6 draft7 draft2019-09 draft2020-12"),
        ({"prefixItems": [True]}, "draft2020-12"),
        ({"unevaluatedItems": True}, "draft2019-09 draft2020-12"),
        ({"maxLength": 1}, "draft4 draft6 draft7 draft2019-09 draft2020-12"),
        ({"$anchor": "a"}, "draft2019-09 draft2020-12"),
        ({"if": True, "then": True}, "draft7 draft2019-09 draft2020-12"),
        ({"dependencies": {"a": ["b"]}}, "draft4 draft6 draft7"),
        ({"dependentRequired": {"a": ["b"]}}, "draft2019-09 draft2020-12"),
        ({"dependentSchemas": {"a": True}}, "draft2019-09 draft2020-12"),
    ],
)
def test_keywords_of_other_drafts_are_unknown(schema, known_in):
    for name in DRAFTS:
        expected = () if name in known_in.split() else tuple(f"#/{keyword}" for keyword in schema)
        assert ignored(schema, name) == expected


@pytest.mark.parametrize(
    ("schema", "refused_in"),
    [
        ({"contains": False}, "draft6 draft7 draft2019-09 draft2020-12"),
        ({"extends": {}}, ""),
    ],
)
def test_unsupported_keywords_are_refused_where_they_exist(schema, refused_in):
    for name in DRAFTS:
        if name in refused_in.split():
            with pytest.raises(UnsupportedFeatureError):
                compile_json_schema(schema, dialect=name)
        else:
            assert f"#/{next(iter(schema))}" in ignored(schema, name)
    with pytest.raises(UnsupportedFeatureError):
        compile_json_schema(schema)


def test_array_form_items_is_refused_only_in_2020_12():
    schema = {"items": [{"type": "null"}], "additionalItems": False}
    for name in (None, "draft4", "draft6", "draft7", "draft2019-09"):
        judge = Judge(compile_json_schema(schema, dialect=name)[0])
        assert judge.accepts([None])
        assert not judge.accepts([1])
        assert not judge.accepts([None, None])
    with pytest.raises(InvalidSchemaError, match='"prefixItems"') as caught:
        compile_json_schema(schema, dialect="draft2020-12")
    assert caught.value.pointer == "#/items"


def test_the_form_of_exclusive_bounds():
    boolean, number = {"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}
    for name in (None, *DRAFTS):
        for schema, refused in (
            (boolean, name not in (None, "draft4")),
            (number, name == "draft4"),
        ):
            if refused:
                with pytest.raises(InvalidSchemaError, match="draft") as caught:
                    compile_json_schema(schema, dialect=name)
                assert caught.value.pointer == "#/exclusiveMinimum"
            else:
                judge = Judge(compile_json_schema(schema, dialect=name)[0])
                assert judge.accepts(2)
                assert not judge.accepts(1)


def test_unknown_meta_schemas_read_as_the_default():
    for uri in ("http://json-schema.org/schema#", "https://x.test/meta", "urn:x:y"):
        ir, certificate = compile_json_schema({"$schema": uri, "items": [False]})
        assert not Judge(ir).accepts([1])
        assert certificate.ignored == ("#/$schema",)


def test_draft_4_identifiers():
    schema = {
        "$schema": DRAFTS["draft4"],
        "id": "http://x.test/root",
        "definitions": {"a": {"id": "#a", "type": "null"}, "b": {"id": "b", "type": "string"}},
        "properties": {"a": {"$ref": "#a"}, "b": {"$ref": "b"}},
    }
    ir, certificate = compile_json_schema(schema)
    assert Judge(ir).accepts({"a": None, "b": ""})
    assert not Judge(ir).accepts({"a": ""})
    assert not Judge(ir).accepts({"b": None})
    assert certificate.ignored == ()


def test_a_nested_resource_may_have_another_dialect():
    schema = {
        "$schema": DRAFTS["draft2020-12"],
        "$id": "http://x.test/root",
        "properties": {
            "old": {"$schema": DRAFTS["draft4"], "id": "ignored-here", "const": 1},
            "older": {
                "$id": "older",
                "$schema": DRAFTS["draft6"],
                "items": [{"type": "null"}],
                "if": False,
            },
        },
    }
    _, certificate = compile_json_schema(schema)
    assert certificate.ignored == ("#/properties/old/id", "#/properties/older/if")
