"""The case files about JSON Schema, the official suite, and a count over the benchmark's schemas.

They need the data folder named by MASKWRIGHT_TEST_DATA. Texts are parsed before they are judged:
what depends on their spelling (whitespace between tokens, duplicate keys) is the core's part.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from maskwright.errors import GrammarSyntaxError, MaskwrightError, UnsupportedFeatureError
from maskwright.frontends.json_schema import compile_json_schema
from maskwright.frontends.json_schema.json_text import parse_json
from unit.json_schema.judge import Judge

DATA = Path(os.environ.get("MASKWRIGHT_TEST_DATA", "no-data-folder"))
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not DATA.is_dir(), reason="MASKWRIGHT_TEST_DATA names no folder"),
]
CASES = sorted((DATA / "cases").glob("*.json"))
SUITE = {
    "draft4": "draft4",
    "draft6": "draft6",
    "draft7": "draft7",
    "draft2019-09": "draft2019-09",
    "draft2020-12": "draft2020-12",
}
# `$schema` names a meta-schema of the suite that leaves a vocabulary out. Other documents are not
# loaded, so it is read as the default dialect, and listed as ignored.
VOCABULARY = (
    "vocabulary",
    "schema that uses custom metaschema with with no validation vocabulary",
    "no validation: invalid number, but it still validates",
)
KNOWN = {"draft2019-09": [VOCABULARY], "draft2020-12": [VOCABULARY]}


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def report(capsys, line):
    with capsys.disabled():
        sys.stdout.write(f"\n{line}\n")


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
    except UnsupportedFeatureError as error:
        pytest.skip(f"not supported: {error.feature}")
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


@pytest.mark.parametrize("name", SUITE)
def test_official_suite(name, capsys):
    folder = DATA / "json-schema-test-suite" / "tests" / name
    counts = Counter()
    wrong = []
    for path in sorted(folder.glob("*.json")):
        for group in load(path):
            try:
                ir, _ = compile_json_schema(
                    group["schema"], strict_mode=False, assert_format=False, dialect=name
                )
            except MaskwrightError as error:
                counts[getattr(error, "feature", error.code)] += len(group["tests"])
                continue
            judge = Judge(ir)
            for test in group["tests"]:
                counts["judged"] += 1
                value = parse_json(json.dumps(test["data"]))
                if judge.accepts(value) != test["valid"]:
                    wrong.append((path.stem, group["description"], test["description"]))
    report(capsys, f"{name}: {dict(counts.most_common())}, wrong: {wrong}")
    assert counts["judged"] > 300
    assert wrong == KNOWN.get(name, [])


@pytest.mark.slow
def test_benchmark_schemas(capsys):
    counts = Counter()
    for path in sorted((DATA / "maskbench").glob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                schema = json.loads(line)["schema"]
                try:
                    compile_json_schema(schema, strict_mode=False, any_order=True)
                    counts["compiled"] += 1
                except MaskwrightError as error:
                    counts[f"{error.code}: {getattr(error, 'feature', '')}"] += 1
    report(capsys, f"schemas of the benchmark: {dict(counts.most_common())}")
    assert counts["compiled"]
