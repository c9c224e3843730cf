"""The recorded cases of the data folder (kinds ebnf, regex, json_schema) by accept and reject lists.

Run through the reference always and through the core where it is built. A case that uses a feature
which is not supported yet must raise UnsupportedFeatureError and is an expected failure; everything
else must be right.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from core_adapter import CORE, CoreMatcher
from corpus import compile_source
from oracle import reference_matcher
from vocabularies import vocabulary

import maskwright.errors

DATA = os.environ.get("MASKWRIGHT_TEST_DATA")
FOLDER = Path(DATA) / "cases" if DATA else None
KINDS = ("ebnf", "regex", "json_schema")
BYTES = vocabulary("bytes")

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        FOLDER is None or not FOLDER.is_dir(), reason="MASKWRIGHT_TEST_DATA names no data folder"
    ),
]


def load_cases():
    if FOLDER is None or not FOLDER.is_dir():
        return []
    cases = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))]
    return [pytest.param(c, id=c["id"]) for c in cases if c["kind"] in KINDS]


def options_of(case):
    """The options of the front-end that a case asks for."""
    if case["kind"] != "json_schema":
        return {}
    options = {"strict_mode": False, "any_order": True}
    asked = case["options"]
    if "draft" in asked:
        options["dialect"] = asked["draft"]
    options["assert_format"] = bool(asked.get("assert_format", False))
    return options


def matchers_of(ir):
    """Reference and core."""
    yield "reference", reference_matcher(ir, BYTES)
    if CORE is not None:
        yield "core", CoreMatcher.compile(ir, BYTES)


def refuse_or_xfail(case, raised):
    """An error is right if the case asks for one, or if it names an unsupported feature."""
    unsupported = isinstance(raised, maskwright.errors.UnsupportedFeatureError)
    if case["expect_error"] or not case["accept"]:
        return
    if unsupported:
        pytest.xfail(f"not supported yet: {raised.feature}")
    raise raised


@pytest.mark.parametrize("case", load_cases())
def test_case(case):
    try:
        ir = compile_source(case["kind"], case["grammar"], options_of(case))
        matchers = list(matchers_of(ir))
    except maskwright.errors.MaskwrightError as raised:
        refuse_or_xfail(case, raised)
        return
    for name, matcher in matchers:
        for text, wanted in [(t, True) for t in case["accept"]] + [
            (t, False) for t in case["reject"]
        ]:
            matcher.reset()
            got = matcher.accept_bytes(text.encode()) if text else True
            got = got and matcher.is_completed()
            assert got == wanted, (
                f"{name} {'accepts' if got else 'refuses'} {text!r} of {case['id']} "
                f"({case['why']}): {json.dumps(case['grammar'], ensure_ascii=False)[:500]}"
            )
