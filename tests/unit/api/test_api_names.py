"""The package's namespace: complete, lazy, and honest about what it does not have."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import maskwright

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", maskwright.__all__)
def test_every_public_name_resolves_and_is_listed(name):
    assert getattr(maskwright, name) is not None
    assert name in dir(maskwright)


def test_nothing_else_is_listed_whatever_was_loaded():
    import maskwright.chat  # loads many modules of the package

    assert maskwright.chat.load is maskwright.load
    names = [name for name in dir(maskwright) if not name.startswith("__")]
    assert set(names) <= set(maskwright.__all__)


def test_names_are_sorted_and_unique():
    assert maskwright.__all__ == sorted(set(maskwright.__all__))


def test_the_compatibility_page_says_what_is_missing():
    page = (ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8")
    missing = page.partition("Not there yet:")[2].partition("- values:")[0]
    of_classes = dict(re.findall(r"- of `(\w+)`: (.*)", missing))
    assert len(of_classes) == 3
    for name, methods in of_classes.items():
        for method in re.findall(r"`(\w+)`", methods):
            assert not hasattr(getattr(maskwright, name), method), f"{name}.{method} is there"
    names = re.findall(r"`(\w+)`", missing.partition("- of `")[0])
    assert len(names) > 5
    for name in names:
        assert not hasattr(maskwright, name), f"{name} is there"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'Grammer'"):
        maskwright.Grammer  # noqa: B018  the look-up raises
    with pytest.raises(AttributeError, match="has no attribute 'x'"):
        maskwright.bitmask.x  # noqa: B018  the look-up raises


def _loaded_after(statement: str) -> set[str]:
    code = f"import sys, maskwright; {statement}; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(result.stdout.split())


def test_import_loads_nothing_of_ours():
    assert {m for m in _loaded_after("pass") if m.startswith("maskwright.")} == set()


def test_errors_load_without_the_engine():
    loaded = _loaded_after("maskwright.GrammarError")
    assert "maskwright._core" not in loaded


def test_compiling_and_matching_load_no_large_package():
    loaded = _loaded_after(
        "g = maskwright.GrammarCompiler(maskwright.TokenizerInfo(['a', ''], stop_token_ids=1)); "
        "maskwright.GrammarMatcher(g.compile_grammar('root ::= \"a\"')).accept_token(0)"
    )
    assert "maskwright._core" in loaded
    assert loaded.isdisjoint({"numpy", "torch", "pydantic", "transformers"})
