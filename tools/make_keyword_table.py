"""Makes ``docs/keywords.md``: what is supported of JSON Schema, from the conformance baselines.

What it does: one row per file of the official test suite, which has a file per keyword, and one
column per draft, with the tests that come out right; and one row per string format, with what it
leaves out. Run ``python tools/make_keyword_table.py`` to write it, with ``--check`` to compare.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from generated import write_or_check

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs/keywords.md"
BASELINES = ROOT / "tests/conformance/baselines"
DRAFTS = ("draft4", "draft6", "draft7", "draft2019-09", "draft2020-12")
INTRODUCTION = """\
# Supported keywords

Made by `tools/make_keyword_table.py` from the committed results of `make conformance`.

Each cell counts the tests of the official JSON Schema Test Suite that come out right, of all tests
in that file: a schema that is refused by name counts its tests as not right, and so does a valid
text that is left out, as the certificate of the grammar says. A dash: the draft has no such tests.
"""
WRONG = """\
Tests that come out wrong (a text is admitted that should not be, or the other way round): {count}.
"""
KEYWORDS = """\
## Keywords

The required tests, with `strict_mode=False`, `any_order=True` and `assert_format=False`. Each
instance is tried in several spellings.
"""
FORMATS_TEXT = """\
## Formats

The optional tests of formats, with `assert_format=True`, which is the default. "Leaves out" says
which strings of the format are never written; no string outside the format is admitted.
"""


def main() -> int:
    """Write the document, or compare it with what would be written."""
    return write_or_check(TARGET, document())


def document() -> str:
    """Return the text of the document."""
    required = {draft: _files(draft) for draft in DRAFTS}
    formats = {draft: _files(f"{draft}-format") for draft in DRAFTS}
    entries = [e for files in (*required.values(), *formats.values()) for e in files.values()]
    return "\n".join(
        (
            INTRODUCTION,
            WRONG.format(count=sum(entry["wrong"] for entry in entries)),
            KEYWORDS,
            _table(required, {}),
            FORMATS_TEXT,
            _table(formats, _narrowed()),
        )
    )


def _files(suite: str) -> dict[str, Any]:
    path = BASELINES / f"{suite}.json"
    files: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["files"]
    return files


def _narrowed() -> dict[str, str]:
    from maskwright.frontends.json_schema.formats import FORMATS

    return {name: found.narrowed or "" for name, found in FORMATS.items()}


def _table(suites: dict[str, dict[str, Any]], notes: dict[str, str]) -> str:
    names = sorted({name for files in suites.values() for name in files}, key=str.lower)
    headings = ["tests", *suites, *(["leaves out"] if notes else [])]
    lines = [
        f"| {' | '.join(headings)} |",
        f"|---|{'--:|' * len(suites)}{'---|' if notes else ''}",
    ]
    for name in names:
        cells = [_cell(files.get(name)) for files in suites.values()]
        if notes:
            cells.append(notes.get(name, ""))
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    totals = [
        _cell({key: sum(entry[key] for entry in files.values()) for key in _KEYS})
        for files in suites.values()
    ]
    lines.append(f"| all | {' | '.join(totals)} |{' |' if notes else ''}")
    return "\n".join(lines) + "\n"


_KEYS = ("right", "wrong", "narrowed", "refused")


def _cell(entry: dict[str, Any] | None) -> str:
    if entry is None:
        return "-"
    total = sum(entry[key] for key in _KEYS)
    return str(total) if entry["right"] == total else f"{entry['right']} of {total}"


if __name__ == "__main__":
    sys.exit(main())
