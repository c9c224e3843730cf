"""The public data sets: case files of kind "regex", and every pattern of the schema collections."""

from __future__ import annotations

import json

import pytest
from regex_ir_matcher import IrMatcher

from maskwright.errors import GrammarError, UnsupportedFeatureError
from maskwright.frontends.regex import lower
from maskwright.ir import Builder

REFUSED_IN_MASKBENCH = {r"^\s*<([A-Za-z]+).+?(\/>|\/\1>)\s*$": "back reference"}


def patterns_of(schema) -> set[str]:
    """Return the patterns of a schema, without knowing its dialect."""
    found, stack = set(), [schema]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if isinstance(value.get("pattern"), str):
                found.add(value["pattern"])
            if isinstance(value.get("patternProperties"), dict):
                found.update(value["patternProperties"])
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    return found


def test_regex_cases(test_data):
    seen = 0
    for path in sorted((test_data / "cases").glob("*.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        if case["kind"] != "regex":
            continue
        seen += 1
        if case["expect_error"] and not str(case["expect_error"]).startswith("allowed"):
            with pytest.raises(GrammarError):
                lower(Builder(), case["grammar"], search=False)
            continue
        matcher = IrMatcher(case["grammar"], search=False)
        wrong = [text for text in case["accept"] if not matcher.accepts(text)]
        wrong += [text for text in case["reject"] if matcher.accepts(text)]
        assert wrong == [], case["id"]
    assert seen > 0


def test_patterns_of_real_schemas(test_data):
    patterns: set[str] = set()
    for path in sorted((test_data / "maskbench").glob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                if '"pattern' in line:
                    patterns |= patterns_of(json.loads(line)["schema"])
    refused = {}
    for pattern in sorted(patterns):
        try:
            lower(Builder(), pattern, search=True)
        except UnsupportedFeatureError as error:
            refused[pattern] = error.feature
    assert len(patterns) > 1000
    assert refused == REFUSED_IN_MASKBENCH
