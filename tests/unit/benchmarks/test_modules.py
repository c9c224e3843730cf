"""Every module of the benchmarks can be imported, and the commands say how to use them."""

from __future__ import annotations

import importlib
import pkgutil

import benchmarks
import pytest

MODULES = [m.name for m in pkgutil.walk_packages(benchmarks.__path__, "benchmarks.")]


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_import(name):
    importlib.import_module(name)


@pytest.mark.parametrize("name", ["run", "micro", "profile_compile", "hard.__main__"])
def test_commands_have_help(name, capsys, monkeypatch):
    module = importlib.import_module(f"benchmarks.{name}")
    monkeypatch.setattr("sys.argv", [name, "--help"])
    with pytest.raises(SystemExit, match="0"):
        module.main()
    assert "usage:" in capsys.readouterr().out
