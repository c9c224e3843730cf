"""Committed files that a script makes: they are what the script would write now."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "script", ["make_formats.py", "make_metaschemas.py", "make_keyword_table.py"]
)
def test_no_drift(repository_root, script):
    ran = subprocess.run(
        [sys.executable, str(repository_root / "tools" / script), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
