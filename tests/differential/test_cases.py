"""The recorded cases of the data folder (ebnf, regex, json_schema) by accept and reject lists.

Run through the reference where that judges all that the case uses, and through the core.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import maskwright.errors
from core_adapter import CoreMatcher
from corpus import compile_source
from oracle import reference_matcher
from reference import ReferenceLimitError
from vocabularies import vocabulary

DATA = os.environ.get("MASKWRIGHT_TEST_DATA")
FOLDER = Path(DATA) / "cases" if DATA else None
KINDS = ("ebnf", "regex", "json_schema")
BYTES = vocabulary("bytes")
#: Longer texts are left to the core.
REFERENCE_LENGTH = 400

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
        draft = str(asked["draft"])
        options["dialect"] = draft if draft.startswith("draft") else f"draft{draft}"
    options["assert_format"] = bool(asked.get("assert_format", False))
    return options


def matchers_of(case, ir):
    """Reference, if it judges all nodes, and core; hostile cases run through the core elsewhere."""
    with contextlib.suppress(ReferenceLimitError):
        yield "reference", reference_matcher(ir, BYTES)
    if not is_hostile(case):
        yield "core", CoreMatcher.compile(ir, BYTES)


def is_hostile(case):
    """Whether a case is about cost: it says so with limits of its own, or by a huge text."""
    return bool(case.get("limits")) or any(len(t) > 5000 for t in case["accept"])


def expect_refusal(case, raised):
    """An error is right if the case asks for one."""
    if not case["expect_error"] and case["accept"]:
        raise raised


@pytest.mark.parametrize("case", load_cases())
def test_case(case):
    try:
        ir = compile_source(case["kind"], case["grammar"], options_of(case))
        matchers = list(matchers_of(case, ir))
    except maskwright.errors.MaskwrightError as raised:
        expect_refusal(case, raised)
        return
    for name, matcher in matchers:
        for text, wanted in [(t, True) for t in case["accept"]] + [
            (t, False) for t in case["reject"]
        ]:
            if name == "reference" and len(text) > REFERENCE_LENGTH:
                continue
            matcher.reset()
            try:
                got = matcher.accept_bytes(text.encode()) if text else True
            except ReferenceLimitError:
                continue
            got = got and matcher.is_completed()
            assert got == wanted, (
                f"{name} {'accepts' if got else 'refuses'} {text!r} of {case['id']} "
                f"({case['why']}): {json.dumps(case['grammar'], ensure_ascii=False)[:500]}"
            )


@pytest.mark.parametrize("case", [p for p in load_cases() if is_hostile(p.values[0])])
def test_hostile_case_in_a_process_of_its_own(case):
    case = {**case, "front_end_options": options_of(case)}
    try:
        compile_source(case["kind"], case["grammar"], case["front_end_options"])
    except maskwright.errors.MaskwrightError as raised:
        expect_refusal(case, raised)
        return
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("case_process.py"))],
        input=json.dumps(case),
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    verdicts = json.loads(done.stdout)
    wanted = [True] * len(case["accept"]) + [False] * len(case["reject"])
    if isinstance(verdicts, dict):
        assert not case["accept"], verdicts
    else:
        assert verdicts == wanted, (case["id"], case["why"])
