"""The schemas and instances of the conformance suites, as one kind of case.

Suites are named by draft (``draft7``: its required tests), ``draft7-format`` (its optional tests of
formats, which are asserted there) and ``maskbench``. They live in the data folder named by
MASKWRIGHT_TEST_DATA. Numbers in instances keep their spelling.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from json_spellings import NumberText

DRAFTS = ("draft4", "draft6", "draft7", "draft2019-09", "draft2020-12")
SUITES = (*DRAFTS, *(f"{draft}-format" for draft in DRAFTS), "maskbench")
REMOTE = "http://localhost:1234/"
# Remote documents of other generations of the suite, which no draft here refers to.
_FOREIGN = ("v1/", "draft3/")


@dataclass(frozen=True)
class Instance:
    """One test: a value, and whether the schema admits it."""

    name: str
    value: Any
    valid: bool


@dataclass(frozen=True)
class Case:
    """A schema with its tests; ``options`` are those of the compiler."""

    suite: str
    file: str
    name: str
    schema_text: str
    instances: tuple[Instance, ...]

    @property
    def options(self) -> dict[str, Any]:
        options: dict[str, Any] = {"strict_mode": False, "any_order": True, "assert_format": True}
        if self.suite != "maskbench":
            options["dialect"] = self.suite.removesuffix("-format")
            options["assert_format"] = self.suite.endswith("-format")
            options["registry"] = remotes()
        return options


def data_folder() -> Path | None:
    """Return the data folder, or None where there is none."""
    name = os.environ.get("MASKWRIGHT_TEST_DATA")
    return Path(name) if name and Path(name).is_dir() else None


def _parse(text: str) -> Any:
    return json.loads(text, parse_int=NumberText, parse_float=NumberText)


@cache
def remotes() -> dict[str, str]:
    """Return the documents that the official suite refers to, as text by URI."""
    folder = data_folder()
    assert folder is not None
    root = folder / "json-schema-test-suite" / "remotes"
    found = {}
    for path in sorted(root.rglob("*.json")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(_FOREIGN):
            found[REMOTE + name] = path.read_text(encoding="utf-8")
    return found


def load(suite: str) -> list[Case]:
    """Return all cases of a suite, in a fixed order."""
    folder = data_folder()
    assert folder is not None, "set MASKWRIGHT_TEST_DATA to the data folder"
    if suite == "maskbench":
        return [
            case
            for path in sorted((folder / "maskbench").glob("*.jsonl"))
            for case in _benchmark_cases(path)
        ]
    draft = suite.removesuffix("-format")
    root = folder / "json-schema-test-suite" / "tests" / draft
    if suite != draft:
        root = root / "optional" / "format"
    return [case for path in sorted(root.glob("*.json")) for case in _suite_cases(suite, path)]


def _suite_cases(suite: str, path: Path) -> list[Case]:
    text = path.read_text(encoding="utf-8")
    schemas = [json.dumps(group["schema"]) for group in json.loads(text)]
    cases = []
    for index, group in enumerate(_parse(text)):
        instances = tuple(
            Instance(test["description"], test["data"], test["valid"]) for test in group["tests"]
        )
        name = f"{index}: {group['description']}"
        cases.append(Case(suite, path.stem, name, schemas[index], instances))
    return cases


def _benchmark_cases(path: Path) -> list[Case]:
    cases = []
    for line in path.read_text(encoding="utf-8").strip("\n").split("\n"):
        record = _parse(line)
        instances = tuple(
            Instance(str(index), test["data"], test["valid"])
            for index, test in enumerate(record["tests"])
        )
        schema_text = json.dumps(json.loads(line)["schema"])
        cases.append(Case("maskbench", path.stem, record["name"], schema_text, instances))
    return cases
