"""Runs one case of the data folder through the core in a process of its own.

Usage: ``python case_process.py < case.json``. Prints the verdicts on all accept and reject
texts as a JSON list, or ``{"error": class}``. Hostile cases run here so that a core that hangs is
one failed test and not a hung test run.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import maskwright.errors
from core_adapter import CoreMatcher
from corpus import compile_source
from vocabularies import vocabulary


def main() -> None:
    """Reads the case and prints the verdicts."""
    case = json.load(sys.stdin)
    ir = compile_source(case["kind"], case["grammar"], case["front_end_options"])
    try:
        matcher = CoreMatcher.compile(ir, vocabulary("bytes"))
    except maskwright.errors.MaskwrightError as raised:
        print(json.dumps({"error": type(raised).__name__}))  # noqa: T201 - the answer
        return
    verdicts = []
    for text in [*case["accept"], *case["reject"]]:
        matcher.reset()
        ok = matcher.accept_bytes(text.encode()) if text else True
        verdicts.append(bool(ok and matcher.is_completed()))
    print(json.dumps(verdicts))  # noqa: T201 - the answer


if __name__ == "__main__":
    main()
