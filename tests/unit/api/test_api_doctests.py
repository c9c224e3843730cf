"""The examples in the public docstrings run as written."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES_WITH_EXAMPLES = [
    *(
        "batch",
        "bitmask",
        "certificate",
        "compiler",
        "config",
        "grammar",
        "matcher",
        "testing",
        "tokenizer_info",
    ),
]


@pytest.mark.parametrize("name", MODULES_WITH_EXAMPLES)
def test_examples(name):
    pytest.importorskip("numpy")
    result = doctest.testmod(importlib.import_module(f"maskwright.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
