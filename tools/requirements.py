"""Prints one of the requirement lists of pyproject.toml, one requirement per line.

pip installs an extra only together with the package, and building the package needs the build
requirements first; with the bare lists the Makefile installs and refreshes each of the three alone.

Cost: none to speak of. Python 3.10 has no `tomllib`; pip, which is there in any case, carries a
copy of it.

Usage: python tools/requirements.py build | run | EXTRA
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any


def read_project() -> dict[str, Any]:
    """Reads pyproject.toml of this repository."""
    name = "tomllib" if sys.version_info >= (3, 11) else "pip._vendor.tomli"
    text = (Path(__file__).resolve().parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    document: dict[str, Any] = importlib.import_module(name).loads(text)
    return document


def main(arguments: list[str]) -> int:
    """Prints the list that the only argument names; returns the exit status."""
    document = read_project()
    lists: dict[str, list[str]] = {
        "build": document["build-system"]["requires"],
        "run": document["project"]["dependencies"],
        **document["project"]["optional-dependencies"],
    }
    if len(arguments) != 1 or arguments[0] not in lists:
        print(f"usage: requirements.py {' | '.join(lists)}", file=sys.stderr)
        return 2
    print("\n".join(lists[arguments[0]]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
