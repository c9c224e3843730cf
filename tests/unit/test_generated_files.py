"""Committed files that a script makes: they are what the script would write now."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest

import maskwright
import maskwright.chat
import maskwright.testing


@pytest.mark.parametrize(
    "script",
    ["make_formats.py", "make_metaschemas.py", "make_keyword_table.py", "make_api_reference.py"],
)
def test_no_drift(repository_root, script):
    ran = subprocess.run(
        [sys.executable, str(repository_root / "tools" / script), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


def test_the_api_reference_has_every_public_name(repository_root):
    page = (repository_root / "docs/api_reference.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"^###+ `(.+)`$", page, re.MULTILINE))
    links = set(re.findall(r"\]\(#(.+?)\)", page))
    for module in (maskwright, maskwright.chat, maskwright.testing):
        names = {name for name in module.__all__ if not inspect.ismodule(getattr(module, name))}
        assert names <= headings
        assert {name.lower() for name in names} <= links
    assert {"GrammarMatcher.accept_token", "Grammar.from_ebnf", "ChatEngine.stream"} <= headings
    assert "object at 0x" not in page
