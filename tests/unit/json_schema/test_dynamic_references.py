"""`$dynamicRef` and `$recursiveRef`: a schema means different things on different ways to it."""

from __future__ import annotations

import pytest

from maskwright.errors import InvalidSchemaError, LimitExceededError
from maskwright.frontends.json_schema import compile_json_schema
from unit.json_schema.judge import Judge

NULL, TEXT = {"type": "null"}, {"type": "string"}


def judge(schema, **options):
    return Judge(compile_json_schema(schema, strict_mode=False, **options)[0])


def tree(**root):
    """A tree whose nodes an extending schema can restrict."""
    return {
        "$id": "http://x.test/tree",
        "$dynamicAnchor": "node",
        "type": "object",
        "properties": {"data": True, "children": {"items": {"$dynamicRef": "#node"}}},
        **root,
    }


def test_without_an_outer_anchor_it_is_a_plain_reference():
    found = judge(tree())
    assert found.accepts({"children": [{"children": []}]})
    assert not found.accepts({"children": [{"children": [1]}]})
    plain = judge({"$dynamicRef": "#/$defs/a", "$defs": {"a": NULL}})
    assert not plain.accepts(1)
    anchored = judge({"$dynamicRef": "#a", "$defs": {"a": {"$anchor": "a", **NULL}}})
    assert not anchored.accepts(1)


def test_the_outermost_anchor_of_the_way_counts():
    strict = {
        "$id": "http://x.test/strict",
        "$dynamicAnchor": "node",
        "$ref": "tree",
        "properties": {"data": NULL},
    }
    both = judge(
        {
            "$id": "http://x.test/root",
            "properties": {"open": {"$ref": "tree"}, "closed": {"$ref": "strict"}},
            "$defs": {"tree": tree(), "strict": strict},
        }
    )
    value = {"children": [{"data": 1}]}
    assert both.accepts({"open": value})
    assert not both.accepts({"closed": value})
    assert both.accepts({"closed": {"children": [{"data": None}]}})


def test_a_recursive_reference():
    base = {
        "$id": "http://x.test/base",
        "$recursiveAnchor": True,
        "anyOf": [NULL, {"type": "array", "items": {"$recursiveRef": "#"}}],
    }
    schema = {
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "$id": "http://x.test/root",
        "$recursiveAnchor": True,
        "anyOf": [TEXT, {"$ref": "base"}],
        "$defs": {"base": base},
    }
    assert judge(schema).accepts([["text", None]])
    del schema["$recursiveAnchor"]
    assert not judge(schema).accepts([["text", None]])
    assert judge(schema).accepts([[None]])
    schema["$recursiveAnchor"] = True
    del base["$recursiveAnchor"]
    assert not judge(schema).accepts([["text", None]])


def test_a_recursive_reference_is_always_the_same():
    with pytest.raises(InvalidSchemaError, match='expected the string "#"'):
        judge({"$recursiveRef": "#/a"})


def test_the_number_of_scopes_is_limited():
    resources = {
        f"r{i}": {
            "$id": f"r{i}",
            "$defs": {"here": {"$dynamicAnchor": f"a{i}"}},
            "properties": {f"p{j}": {"$ref": f"r{j}"} for j in range(8)},
        }
        for i in range(8)
    }
    schema = {
        "$id": "http://x.test/root",
        "$ref": "r0",
        "$defs": {**resources, "user": {"$dynamicAnchor": "a0"}},
        "items": {"$dynamicRef": "#a0"},
    }
    with pytest.raises(LimitExceededError, match="max_dynamic_scopes = 50 scopes") as caught:
        judge(schema, max_dynamic_scopes=50)
    assert caught.value.code == "schema-dynamic-scopes"


def test_a_loop_through_scopes_is_told():
    schema = {
        "$id": "http://x.test/a",
        "$dynamicAnchor": "n",
        "$ref": "b",
        "$defs": {"b": {"$id": "b", "$dynamicAnchor": "n", "$dynamicRef": "#n"}},
    }
    with pytest.raises(InvalidSchemaError) as caught:
        judge(schema)
    assert caught.value.code == "schema-reference-loop"
