"""The examples of the guides run as written."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    "name",
    [
        "chat_guide.md",
        "compiler_guide.md",
        "ebnf_guide.md",
        "engine_guide.md",
        "regex_guide.md",
        "serialisation_guide.md",
    ],
)
def test_examples(name):
    pytest.importorskip("numpy")
    result = doctest.testfile(str(DOCS / name), module_relative=False)
    assert result.attempted >= 8
    assert result.failed == 0
