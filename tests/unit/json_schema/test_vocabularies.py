"""`$schema` with a meta-schema of the caller's: the vocabularies it uses decide on keywords."""

from __future__ import annotations

import pytest

from maskwright.errors import InvalidSchemaError, UnsupportedFeatureError
from maskwright.frontends.json_schema import compile_json_schema
from unit.json_schema.judge import Judge

DRAFT = "https://json-schema.org/draft/2020-12/"
URI = "http://x.test/meta"


def compiled(schema, metaschema, **options):
    registry = {URI: {"$schema": f"{DRAFT}schema", **metaschema}}
    return compile_json_schema({"$schema": URI, **schema}, registry=registry, **options)


def vocabularies(*names):
    return {"$vocabulary": {f"{DRAFT}vocab/{name}": True for name in names}}


def test_keywords_of_vocabularies_that_are_left_out_are_ignored():
    ir, certificate = compiled(
        {
            "minimum": 5,
            "properties": {"a": {"type": "null"}},
            "$ref": "#/$defs/x",
            "$defs": {"x": True},
        },
        vocabularies("core", "applicator"),
    )
    assert Judge(ir).accepts({"a": 1})
    assert set(certificate.ignored) == {"#/minimum", "#/properties/a/type"}


def test_without_vocabularies_a_meta_schema_stands_for_its_own():
    ir, certificate = compiled({"minimum": 5}, {})
    assert not Judge(ir).accepts(1)
    assert certificate.ignored == ()


def test_draft_of_the_meta_schema():
    metaschema = {"$schema": "http://json-schema.org/draft-04/schema#"}
    ir, _ = compiled({"minimum": 5, "exclusiveMinimum": True, "const": 1}, metaschema)
    assert not Judge(ir).accepts(5)
    assert Judge(ir).accepts(6)


def test_an_unknown_vocabulary_is_refused_if_it_must_be_understood():
    for needed in (False, True):
        metaschema = vocabularies("core", "validation")
        metaschema["$vocabulary"]["http://x.test/vocab"] = needed
        if not needed:
            assert not Judge(compiled({"minimum": 5}, metaschema)[0]).accepts(1)
            continue
        with pytest.raises(UnsupportedFeatureError, match="must be understood") as caught:
            compiled({"minimum": 5}, metaschema)
        assert caught.value.code == "schema-unsupported-vocabulary"
        assert caught.value.pointer == f"{URI}#/$vocabulary/http:~1~1x.test~1vocab"


def test_meta_schemas_in_a_circle():
    with pytest.raises(InvalidSchemaError, match="in a circle") as caught:
        compiled({}, {"$schema": URI})
    assert caught.value.code == "schema-metaschema-loop"
