"""The case files about JSON Schema.

They need the data folder named by MASKWRIGHT_TEST_DATA. Texts are parsed before they are judged:
what depends on their spelling (whitespace between tokens, duplicate keys) is the core's part.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from maskwright.errors import GrammarSyntaxError, MaskwrightError
from maskwright.frontends.json_schema import compile_json_schema
from maskwright.frontends.json_schema.json_text import parse_json
from unit.json_schema.judge import Judge

DATA = Path(os.environ.get("MASKWRIGHT_TEST_DATA", "no-data-folder"))
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not DATA.is_dir(), reason="MASKWRIGHT_TEST_DATA names no folder"),
]
CASES = sorted((DATA / "cases").glob("*.json"))


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def compile_case(schema, options):
    dialect = f"draft{options['draft']}" if "draft" in options else "draft2020-12"
    return compile_json_schema(
        schema,
        strict_mode=False,
        any_order=True,
        assert_format=bool(options.get("assert_format")),
        dialect=dialect,
    )


def verdict(judge, text):
    """Whether a text is accepted; a text that is no JSON, or has a duplicate key, is not."""
    try:
        value = parse_json(text)
    except GrammarSyntaxError:
        return False
    if text != text.strip(" \t\n\r"):
        return False
    return judge.accepts(value)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path):
    case = load(path)
    if case["kind"] != "json_schema":
        pytest.skip(f"a case about {case['kind']}")
    try:
        ir, _ = compile_case(case["grammar"], case["options"])
    except MaskwrightError:
        assert case["expect_error"]
        return
    judge = Judge(ir)
    must_fail = bool(case["expect_error"]) and not str(case["expect_error"]).startswith("allowed")
    assert not must_fail or not case["accept"]
    for text in case["accept"]:
        assert verdict(judge, text), text
    for text in case["reject"]:
        assert not verdict(judge, text), text
