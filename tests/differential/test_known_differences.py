"""Where the core and the design differ today. Each is an expected failure that must be mended.

When one passes, strict xfail fails the run: move the case into the corpus then.
"""

from __future__ import annotations

import pytest

from core_adapter import CoreMatcher
from corpus import compile_source
from vocabularies import vocabulary


def accepts(schema, text, options):
    matcher = CoreMatcher.compile(
        compile_source("json_schema", schema, options), vocabulary("bytes")
    )
    return matcher.accept_bytes(text.encode()) and matcher.is_completed()


@pytest.mark.xfail(strict=True, reason="strictness looks at one branch of anyOf at a time")
def test_strict_mode_lets_two_valid_branches_name_keys():
    """As unevaluatedProperties: false would: both branches hold, so both name their keys."""
    branches = [
        {"properties": {"a": {"const": 1}}, "required": ["a"]},
        {"properties": {"b": {"const": 2}}, "required": ["b"]},
    ]
    schema = {"type": "object", "anyOf": branches}
    assert accepts(schema, '{"a":1,"b":2}', {"any_order": False, "strict_mode": True})
