"""References into other documents: the caller's registry and the meta-schemas."""

from __future__ import annotations

import subprocess
import sys

import pytest

from maskwright.errors import GrammarError, GrammarSyntaxError, InvalidSchemaError
from maskwright.frontends.json_schema import compile_json_schema
from maskwright.frontends.json_schema.registry import metaschemas
from unit.json_schema.judge import Judge

NULL, TEXT = {"type": "null"}, {"type": "string"}


def judge(schema, registry=None, **options):
    return Judge(compile_json_schema(schema, registry=registry, strict_mode=False, **options)[0])


def test_a_document_as_dict_text_or_boolean():
    for document in (NULL, '{"type": "null"}'):
        found = judge({"$ref": "http://x.test/a.json"}, {"http://x.test/a.json": document})
        assert found.accepts(None)
        assert not found.accepts(1)
    assert not judge({"$ref": "urn:no"}, {"urn:no": "false"}).accepts(1)
    assert judge({"$ref": "urn:yes"}, {"urn:yes#": True}).accepts(1)


def test_relative_references_and_back():
    registry = {
        "http://x.test/dir/list.json": {
            "type": "array",
            "items": {"$ref": "../item.json#/$defs/it~1em"},
        },
        "http://x.test/item.json": {
            "$defs": {"it/em": {"anyOf": [NULL, {"$ref": "root.json"}, {"$ref": "#loop"}]}},
            "definitions": {"x": {"$anchor": "loop", "$ref": "dir/list.json"}},
        },
    }
    schema = {"$id": "http://x.test/root.json", "properties": {"a": {"$ref": "dir/list.json"}}}
    schema["type"] = "object"
    found = judge(schema, registry)
    assert found.accepts({"a": [None, {"a": []}, [[None]]]})
    assert not found.accepts({"a": [None, {"a": [1]}]})


def test_a_document_is_known_by_its_own_identifier_too():
    registry = {
        "http://x.test/retrieved": {
            "$id": "http://y.test/canonical",
            "$defs": {"part": {"$id": "part", **NULL}, "text": TEXT},
        }
    }
    for reference in ("http://y.test/part", "http://x.test/retrieved#/$defs/part"):
        assert not judge({"$ref": reference}, registry).accepts(1)
    assert judge({"$ref": "http://y.test/canonical#/$defs/text"}, registry).accepts("a")


def test_the_document_itself_comes_before_the_registry():
    schema = {"$ref": "http://x.test/a", "$defs": {"a": {"$id": "http://x.test/a", **NULL}}}
    assert judge(schema, {"http://x.test/a": TEXT}).accepts(None)


def test_documents_have_dialects_of_their_own():
    old = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "id": "http://x.test/old",
        "definitions": {"a": {"id": "a", "minimum": 1, "exclusiveMinimum": True}},
        "items": [{"$ref": "a"}],
    }
    found = judge({"$ref": "old"} | {"$id": "http://x.test/new"}, {"http://x.test/old": old})
    assert found.accepts([2])
    assert not found.accepts([1])


def test_what_nothing_refers_to_is_not_read():
    registry = {"http://x.test/a": NULL, "http://x.test/b": "no JSON"}
    assert judge({"$ref": "http://x.test/a"}, registry).accepts(None)
    with pytest.raises(GrammarSyntaxError, match=r'document "http://x\.test/b": '):
        judge({"$ref": "http://x.test/b"}, registry)


def test_errors_name_the_document():
    registry = {"http://x.test/a": {"properties": {"b": {"type": "nul"}, "c": {"$ref": "#/d"}}}}
    with pytest.raises(InvalidSchemaError) as caught:
        judge({"$ref": "http://x.test/a"}, registry)
    assert caught.value.pointer == "http://x.test/a#/properties/b/type"
    del registry["http://x.test/a"]["properties"]["b"]
    with pytest.raises(InvalidSchemaError) as caught:
        judge({"$ref": "http://x.test/a"}, registry)
    assert caught.value.pointer == "http://x.test/a#/properties/c/$ref"
    with pytest.raises(InvalidSchemaError) as caught:
        judge({"$ref": "http://x.test/n"}, {"http://x.test/n": [1]})
    assert caught.value.pointer == "http://x.test/n#"


@pytest.mark.parametrize("uri", ["", "#", "#/a", "http://x.test/a#/b"])
def test_keys_that_are_no_document(uri):
    with pytest.raises(GrammarError, match="whole document, without a fragment") as caught:
        judge({}, {uri: True})
    assert caught.value.code == "schema-invalid-option"


@pytest.mark.parametrize("registry", [[("a", True)], {5: True}])
def test_a_registry_of_the_wrong_type(registry):
    with pytest.raises(TypeError):
        judge({}, registry)


def test_every_reference_within_the_meta_schemas_resolves():
    for uri in metaschemas():
        name = f"https://{uri}"
        found = None
        try:
            found = judge({"$ref": name}, assert_format=False)
        except GrammarError as error:
            # Keywords that are not supported yet; a reference that leads nowhere is a fault.
            assert error.code.startswith("schema-unsupported"), (uri, error)  # noqa: PT017  not all are refused
        if found is not None:
            assert found.accepts({})
            assert not found.accepts(5)


def test_the_meta_schemas_are_loaded_when_referred_to():
    code = """
import contextlib
from maskwright.frontends.json_schema import compile_json_schema, registry

draft = "http://json-schema.org/draft-07/schema#"
compile_json_schema({"$schema": draft, "$ref": "#/a", "a": True})
assert registry.metaschemas.cache_info().misses == 0
with contextlib.suppress(ValueError):
    compile_json_schema({"$ref": draft})
assert registry.metaschemas.cache_info().misses == 1
"""
    subprocess.run([sys.executable, "-c", code], check=True)
