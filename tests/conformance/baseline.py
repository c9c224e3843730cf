"""The state that each suite has reached, and what a run is compared with.

Idea: a ratchet. Right is better than refused or narrowed, and those are better than wrong. A run in
which any test comes out worse than in the committed file fails; one with better results says so,
and how to write them down. One file per suite: per file of the suite the counts, the tests that
come out wrong or are narrowed, and the schemas that are refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from conformance.cases import Case
from conformance.verdicts import Verdict

FOLDER = Path(__file__).parent / "baselines"
_COUNTS = ("right", "wrong", "narrowed", "refused")
UPDATE = "make conformance-update"


def path_of(suite: str) -> Path:
    """Return where the baseline of a suite is."""
    return FOLDER / f"{suite}.json"


def read(suite: str) -> dict[str, Any]:
    """Return the baseline of a suite; an empty one where there is none yet."""
    path = path_of(suite)
    if not path.exists():
        return {}
    files: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["files"]
    return files


def summary(results: Iterable[tuple[Case, Verdict]]) -> dict[str, Any]:
    """Return what the baseline of a suite would be after a run."""
    files: dict[str, Any] = {}
    for case, verdict in results:
        entry = files.setdefault(
            case.file,
            {**dict.fromkeys(_COUNTS, 0), "wrong_tests": [], "narrowed_tests": [], "refusals": {}},
        )
        if verdict.refused is not None:
            entry["refused"] += verdict.instances
            entry["refusals"][case.name] = verdict.refused
        entry["right"] += verdict.right
        entry["wrong"] += len(verdict.wrong)
        entry["narrowed"] += len(verdict.narrowed)
        entry["narrowed_tests"] += [f"{case.name} / {name}" for name in verdict.narrowed]
        entry["wrong_tests"] += [f"{case.name} / {name}" for name in verdict.wrong]
    return files


def totals(files: dict[str, Any]) -> str:
    """Return the counts of a whole suite in words."""
    counts = {key: sum(entry[key] for entry in files.values()) for key in _COUNTS}
    return ", ".join(f"{count} {key}" for key, count in counts.items())


def write(suite: str, files: dict[str, Any]) -> None:
    """Write the baseline of a suite."""
    content = {"suite": suite, "totals": totals(files), "files": files}
    text = json.dumps(content, indent=1, ensure_ascii=False)
    path_of(suite).write_text(text + "\n", encoding="utf-8")


def compare(
    files: dict[str, Any], results: Iterable[tuple[Case, Verdict]]
) -> tuple[list[str], list[str]]:
    """Return what is worse and what is better than a baseline, one line each."""
    worse: list[str] = []
    better: list[str] = []
    for case, verdict in results:
        entry = files.get(case.file, {"wrong_tests": [], "narrowed_tests": [], "refusals": {}})
        where = f"{case.suite} {case.file}: {case.name}"
        was_refused = case.name in entry["refusals"]
        was_wrong = _names(entry["wrong_tests"], case)
        was_narrowed = _names(entry["narrowed_tests"], case)
        worse += [
            f"{where} / {name}: {what}"
            for name, what in verdict.wrong.items()
            if name not in was_wrong
        ]
        if verdict.refused is not None:
            if was_wrong:
                better.append(f"{where}: was wrong, is refused")
            elif not was_refused:
                worse.append(f"{where}: refused ({verdict.refused})")
            continue
        known = was_wrong | was_narrowed
        worse += [
            f"{where} / {name}: narrowed"
            for name in verdict.narrowed
            if name not in known and not was_refused
        ]
        if was_refused and not verdict.wrong:
            better.append(f"{where}: is not refused any more")
        # Walks are random: one that ends well is no news.
        better += [
            f"{where} / {name}: is right now"
            for name in known - {*verdict.wrong, *verdict.narrowed, "a walk"}
        ]
        better += [
            f"{where} / {name}: was wrong, is narrowed"
            for name in was_wrong.intersection(verdict.narrowed)
        ]
    return worse, better


def _names(tests: list[str], case: Case) -> set[str]:
    """Return the names of those tests that belong to a case."""
    prefix = f"{case.name} / "
    return {test[len(prefix) :] for test in tests if test.startswith(prefix)}
