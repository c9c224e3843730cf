"""Writes src/maskwright/_core.pyi from the compiled module, or checks that it is up to date.

The stub is committed so that type checkers and readers need no build; this script is what keeps it
equal to the module. The text comes from nanobind's stub generator.

Usage: python tools/update_stubs.py [--check]
"""

from __future__ import annotations

import difflib
import subprocess
import sys
import tempfile
from pathlib import Path

STUB = Path(__file__).resolve().parent.parent / "src" / "maskwright" / "_core.pyi"


def generate() -> str:
    """Returns the stub of the module that is installed in this interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "_core.pyi"
        command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "maskwright._core"]
        subprocess.run([*command, "-o", str(output)], check=True)
        return output.read_text(encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Writes or, with --check, compares the stub; returns the exit status."""
    new = generate()
    old = STUB.read_text(encoding="utf-8") if STUB.is_file() else ""
    if "--check" not in arguments:
        STUB.write_text(new, encoding="utf-8")
        print(f"{STUB.name}: {'unchanged' if new == old else 'written'}")
        return 0
    if new == old:
        print(f"{STUB.name}: up to date")
        return 0
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), "committed", "generated", lineterm=""
    )
    print("\n".join(lines))
    print(f"{STUB.name} differs from the module; run: make stubs-update")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
