"""`$ref`: pointers, identifiers, anchors, and what is said when there is no target."""

from __future__ import annotations

import pytest

from maskwright.errors import InvalidSchemaError
from maskwright.frontends.json_schema import compile_json_schema
from maskwright.ir import format as f
from maskwright.ir import nodes as n
from unit.json_schema.judge import Judge

NULL, TEXT = {"type": "null"}, {"type": "string"}


def root_of(schema, **options):
    return Judge(compile_json_schema(schema, **options)[0]).root


@pytest.mark.parametrize(
    "reference",
    [
        "#/$defs/a~1b",
        "#/%24defs/a~1b",
        "#/$defs/c~0d",
        "#/$defs/e%25f",
        "#/$defs/g%20h",
        "#/$defs/~01",
        "#/$defs/",
        "#/$defs/list/anyOf/1",
        "#/components/schemas/X",
        "#/$defs/%C3%A9",
        "#anchor",
        "#dynamic",
        "#old-style",
        "http://x.test/root.json#/$defs/",
        "root.json#anchor",
        "/other.json",
        "urn:uuid:1",
        "urn:uuid:1#/$defs/inner",
        "http://x.test/other.json#here",
    ],
)
def test_targets(reference):
    schema = {
        "$id": "http://x.test/root.json",
        "properties": {"target": {"$ref": reference}},
        # No schema, so no identifier and no anchor.
        "enum": [{"$id": "other.json", "$anchor": "anchor"}],
        "$defs": {
            "a/b": NULL.copy(),
            "c~d": NULL.copy(),
            "e%f": NULL.copy(),
            "g h": NULL.copy(),
            "~1": NULL.copy(),
            "": NULL.copy(),
            "é": NULL.copy(),
            "list": {"anyOf": [TEXT.copy(), NULL.copy()]},
            "named": {**NULL, "$anchor": "anchor"},
            "dyn": {**NULL, "$dynamicAnchor": "dynamic"},
            "old": {**NULL, "$id": "#old-style"},
            "other": {**NULL, "$id": "other.json", "$anchor": "here"},
            "urn": {**NULL, "$id": "urn:uuid:1", "$defs": {"inner": NULL.copy()}},
        },
        "components": {"schemas": {"X": NULL.copy()}},
    }
    judge = Judge(compile_json_schema(schema)[0])
    parts = map(judge.node, judge.root.items)
    ((_, target),) = next(part for part in parts if isinstance(part, n.Object)).members
    assert judge.node(target) == n.Types(f.TYPE_NULL)


def test_a_reference_to_a_boolean():
    assert root_of({"$ref": "#/$defs/no", "$defs": {"no": False}}) == n.Never()
    assert root_of({"$ref": "#/$defs/yes", "$defs": {"yes": True}}) == n.Any()


def test_references_are_relative_to_the_resource_they_stand_in():
    inner = {"$id": "inner", "$defs": {"x": TEXT}, "properties": {"v": {"$ref": "#/$defs/x"}}}
    schema = {
        "$id": "http://x.test/root",
        "$defs": {"x": NULL, "inner": inner},
        "properties": {
            "i": {"$ref": "inner"},
            "j": {"$ref": "#/$defs/inner"},
            "k": {"$ref": "inner#"},
            "v": {"$ref": "#/$defs/x"},
        },
        "additionalProperties": inner,
    }
    judge = Judge(compile_json_schema(schema)[0])
    for key in "ijkl":
        assert judge.accepts({key: {"v": "text"}})
        assert not judge.accepts({key: {"v": None}})
    assert judge.accepts({"v": None})
    assert not judge.accepts({"v": "text"})


def test_recursion_within_a_nested_resource():
    schema = {
        "$id": "http://x.test/list",
        "properties": {
            "tree": {
                "$id": "tree",
                "type": "object",
                "properties": {"child": {"$ref": "#"}, "list": {"$ref": "list"}},
            }
        },
        "required": ["tree"],
    }
    judge = Judge(compile_json_schema(schema)[0])
    assert judge.accepts({"tree": {"child": {"child": {}}, "list": {"tree": {}}}})
    assert not judge.accepts({"tree": {"child": {"child": 1}}})
    assert not judge.accepts({"tree": {"list": {}}})


def test_siblings_are_enforced_together_with_the_target():
    judge = Judge(
        compile_json_schema({"$ref": "#/$defs/d", "maxLength": 2, "$defs": {"d": TEXT}})[0]
    )
    assert judge.accepts("ab")
    assert not judge.accepts("abc")
    assert not judge.accepts(1)


@pytest.mark.parametrize("draft", ["draft-04", "draft-06", "draft-07"])
def test_siblings_are_ignored_in_old_drafts(draft):
    schema = {
        "$schema": f"http://json-schema.org/{draft}/schema#",
        "definitions": {"d": TEXT},
        "properties": {"a": {"$ref": "#/definitions/d", "maxLength": 2, "title": "t", "oneOf": []}},
    }
    ir, certificate = compile_json_schema(schema)
    assert Judge(ir).accepts({"a": "abc"})
    assert certificate.ignored == (
        "#/properties/a/maxLength",
        "#/properties/a/title",
        "#/properties/a/oneOf",
    )


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("#/$defs/Uzer", "did you mean #/$defs/User?"),
        ("#/definitions/User", "did you mean #/$defs/User"),
        ("#/$defs/Missing/x", 'an object at #/$defs has no "Missing"'),
        ("#/$defs/list/anyOf/01", 'an array at #/$defs/list/anyOf has no "01"'),
        ("#/$defs/list/anyOf/2", 'has no "2"'),
        ("#/$defs/list/anyOf/-", 'has no "-"'),
        ("#/type/x", 'the string "object" at #/type has no "x"'),
        ("#nowhere", 'there is no anchor "nowhere"'),
        ("other.json#/$defs/U", '"other.json" is neither in this document nor in the registry'),
        ("http://json-schema.org/draft-03/schema#", "pass it in registry={uri: schema}"),
        ("Pet", "the definitions here are #/$defs/User, #/$defs/a~1b, #/$defs/list"),
    ],
)
def test_unresolvable_references(reference, said):
    schema = {
        "type": "object",
        "$defs": {"User": {}, "a/b": {}, "list": {"anyOf": [True, True]}},
        "properties": {"a": {"$ref": reference}},
    }
    with pytest.raises(InvalidSchemaError) as caught:
        compile_json_schema(schema)
    error = caught.value
    assert error.code == "schema-unresolvable-ref"
    assert error.pointer == "#/properties/a/$ref"
    assert f'the reference "{reference}" at {error.pointer} cannot be resolved' in str(error)
    assert said in str(error)


def test_unresolvable_without_definitions():
    with pytest.raises(InvalidSchemaError, match="the schema has no definitions"):
        compile_json_schema({"$ref": "#/$defs/x"})
