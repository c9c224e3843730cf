"""The direction of the layers: this repository keeps it, and the check sees when one does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CLEAN_TREE = {
    "src/maskwright/__init__.py": "def f():\n    from .chat import load\n",
    "src/maskwright/errors.py": "",
    "src/maskwright/grammar.py": "from maskwright import _core, errors\n",
    "src/maskwright/ir/__init__.py": "from maskwright.errors import GrammarError\n",
    "src/maskwright/ir/builder.py": "import struct\n",
    "src/maskwright/frontends/__init__.py": "",
    "src/maskwright/frontends/regex/__init__.py": "from maskwright.ir import Builder\n",
    "src/maskwright/frontends/json_schema/__init__.py": (
        "from maskwright.frontends.regex import lower\n"
    ),
    "src/maskwright/cli/__init__.py": "import maskwright\nfrom maskwright import Grammar\n",
    "cpp/include/maskwright/support/pool.h": "#include <vector>\n",
    "cpp/include/maskwright/automata/store.h": '#include "maskwright/support/pool.h"\n',
    "cpp/include/maskwright/trie/trie.h": '#include "maskwright/support/pool.h"\n',
    "cpp/src/automata/store.cpp": '#include "maskwright/automata/store.h"\n',
    "cpp/src/mask/local.h": "",
    "cpp/src/mask/mask.cpp": (
        '#include "local.h"\n#include "maskwright/trie/trie.h"\n'
        '#include "maskwright/automata/store.h"\n'
    ),
    "cpp/bindings/module.cpp": "#include <nanobind/nanobind.h>\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small repository without a back edge."""
    for name, text in CLEAN_TREE.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="session")
def script(repository_root: Path) -> Path:
    return repository_root / "tools" / "check_layers.py"


def run(script: Path, root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(script), str(root)], capture_output=True, text=True, check=False
    )


def test_this_repository_has_no_back_edge(script, repository_root):
    result = run(script, repository_root)
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_clean_tree_passes(script, tree):
    result = run(script, tree)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("path", "planted", "expected"),
    [
        ("frontends/regex/a.py", "from maskwright import _core", "frontends must not import _core"),
        ("frontends/regex/a.py", "import maskwright._core", "frontends must not import _core"),
        ("frontends/ebnf/a.py", "from maskwright import Grammar", "frontends must not import api"),
        ("frontends/ebnf/a.py", "from ...grammar import x", "frontends must not import api"),
        ("frontends/regex/a.py", "from ..json_schema import x", "must not import json_schema"),
        ("frontends/ebnf/a.py", "def f():\n    import maskwright.cli", "must not import cli"),
        ("ir/a.py", "from maskwright.frontends.regex import x", "ir must not import frontends"),
        ("ir/a.py", "from ..unicode import x", "ir must not import unicode"),
        ("errors.py", "from maskwright.ir import x", "errors must not import ir"),
        ("grammar.py", "from maskwright.chat import x", "api must not import chat"),
        ("__init__.py", "from .cli import main", "__init__ must not import cli"),
        ("chat/a.py", "import importlib\nimportlib.import_module('maskwright.server')", "server"),
        ("tokenizers/a.py", "from maskwright import _core", "tokenizers must not import _core"),
        ("surprise/__init__.py", "", "'surprise' has no layer"),
    ],
)
def test_a_planted_python_back_edge_fails(script, tree, path, planted, expected):
    target = tree / "src" / "maskwright" / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(planted + "\n", encoding="utf-8")
    result = run(script, tree)
    assert result.returncode == 1
    assert expected in result.stdout
    assert target.name in result.stdout


@pytest.mark.parametrize(
    ("path", "planted", "expected"),
    [
        (
            "include/maskwright/support/pool.h",
            '"maskwright/ir/ir.h"',
            "support must not include ir",
        ),
        ("src/trie/trie.cpp", '"maskwright/automata/store.h"', "trie must not include automata"),
        ("src/automata/a.cpp", '"mask/local.h"', "automata must not include mask"),
        ("src/automata/a.cpp", '"../mask/local.h"', "automata must not include mask"),
        ("src/json/a.cpp", '"maskwright/matcher/m.h"', "json must not include matcher"),
        ("src/matcher/a.cpp", "<Python.h>", "must not include Python.h"),
        ("src/mask/a.cpp", "<nanobind/nanobind.h>", "must not include nanobind"),
        ("front_end/a.cpp", '"maskwright/automata/store.h"', "front_end must not include automata"),
        ("src/surprise/a.cpp", "<vector>", "no known layer"),
    ],
)
def test_a_planted_cpp_back_edge_fails(script, tree, path, planted, expected):
    target = tree / "cpp" / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f"#pragma once\n  #  include {planted}\n", encoding="utf-8")
    result = run(script, tree)
    assert result.returncode == 1
    assert expected in result.stdout
    assert f"{target.name}:" in result.stdout
