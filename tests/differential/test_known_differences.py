"""Where the core and the design differ today. Each is an expected failure that must be mended.

When one passes, strict xfail fails the run: move the case into the corpus then.
"""

from __future__ import annotations

import pytest

from core_adapter import CoreMatcher, needs_core
from corpus import compile_source
from vocabularies import vocabulary

pytestmark = needs_core

OPEN = {"any_order": True, "strict_mode": False}


def accepts(schema, text, options):
    matcher = CoreMatcher.compile(
        compile_source("json_schema", schema, options), vocabulary("bytes")
    )
    return matcher.accept_bytes(text.encode()) and matcher.is_completed()


@pytest.mark.xfail(strict=True, reason="undeclared keys may come twice")
@pytest.mark.parametrize("schema", [{"type": "object"}, {"additionalProperties": {"const": 1}}])
def test_duplicate_undeclared_keys_are_refused(schema):
    assert not accepts(schema, '{"x":1,"x":1}', OPEN)


@pytest.mark.xfail(strict=True, reason="a key that comes twice counts as two members")
def test_a_duplicate_key_is_not_a_second_member():
    """Any JSON parser makes one member of it: not valid under the schema."""
    assert not accepts({"type": "object", "minProperties": 2}, '{"x":1,"x":1}', OPEN)


@pytest.mark.xfail(strict=True, reason="strictness looks at one branch of anyOf at a time")
def test_strict_mode_lets_two_valid_branches_name_keys():
    """As unevaluatedProperties: false would: both branches hold, so both name their keys."""
    branches = [
        {"properties": {"a": {"const": 1}}, "required": ["a"]},
        {"properties": {"b": {"const": 2}}, "required": ["b"]},
    ]
    schema = {"type": "object", "anyOf": branches}
    assert accepts(schema, '{"a":1,"b":2}', {"any_order": False, "strict_mode": True})
