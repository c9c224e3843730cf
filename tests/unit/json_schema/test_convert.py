"""How much a conversion writes, and that it does not depend on the stack."""

from __future__ import annotations

import gc
import inspect
import sys

import pytest

from maskwright.errors import InvalidSchemaError
from maskwright.frontends.json_schema import compile_json_schema
from maskwright.ir import nodes as n
from maskwright.ir.reader import read

CHAIN = 400
"""Definitions that refer to each other, and levels of nesting: more than one recursion converts."""


def nodes_of(schema, kind):
    return [node for node in read(compile_json_schema(schema)[0]).nodes if isinstance(node, kind)]


@pytest.mark.parametrize("users", [2, 200])
def test_a_shared_definition_is_converted_once(users):
    shared = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
    schema = {
        "properties": {f"p{i}": {"$ref": "#/$defs/shared"} for i in range(users)},
        "$defs": {"shared": shared},
    }
    assert len(nodes_of(schema, n.Required)) == 1
    assert len(nodes_of(schema, n.Object)) == 2


def test_equal_conjunctions_are_one_node():
    schema = {
        "properties": {f"p{i}": {"type": "string", "minLength": 1 + i % 2} for i in range(100)}
    }
    assert len(nodes_of(schema, n.AllOf)) == 2


def test_the_ir_grows_with_the_branches_of_a_one_of():
    def size(count):
        branches = [
            {"properties": {"kind": {"const": f"kind{i:04}"}}, "required": ["kind"]}
            for i in range(count)
        ]
        return len(compile_json_schema({"oneOf": branches})[0])

    assert size(3000) - size(2000) == size(2000) - size(1000)


def chain_of(last):
    definitions = {
        f"d{i}": {"type": "array", "items": {"$ref": f"#/$defs/d{i + 1}"}} for i in range(CHAIN)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{CHAIN}": last}}


def test_a_chain_of_references_is_longer_than_a_recursion():
    schema = chain_of({"type": "string"})
    assert len(nodes_of(schema, n.Array)) == CHAIN
    assert len(nodes_of(chain_of({"$ref": "#/$defs/d0"}), n.Array)) == CHAIN


def test_a_conversion_needs_little_stack():
    schema = {"type": "string"}
    for _ in range(5 * CHAIN):
        schema = {"type": "array", "items": schema}
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 400)
    try:
        assert len(nodes_of(schema, n.Array)) == 5 * CHAIN
    finally:
        sys.setrecursionlimit(before)


def test_a_loop_of_references_is_found_beyond_a_recursion():
    definitions = {f"d{i}": {"$ref": f"#/$defs/d{(i + 1) % CHAIN}"} for i in range(CHAIN)}
    with pytest.raises(InvalidSchemaError) as caught:
        compile_json_schema({"$ref": "#/$defs/d0", "$defs": definitions})
    assert caught.value.code == "schema-reference-loop"


def test_schemas_leave_no_reference_cycles():
    schema = {
        "$ref": "#/$defs/node",
        "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}}}},
    }
    compile_json_schema(schema)
    gc.collect()
    gc.disable()
    try:
        for _ in range(20):
            compile_json_schema(schema)
        assert gc.collect() == 0
    finally:
        gc.enable()
