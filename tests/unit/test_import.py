"""What `import maskwright` costs: nothing that a user did not ask for gets loaded."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

# Large packages, and the parts of ours that are loaded on first use.
PROBE = "import sys, maskwright; print(*sorted(m.split('.')[0] for m in sys.modules))"


@pytest.fixture(scope="module")
def loaded_modules() -> set[str]:
    result = subprocess.run(
        [sys.executable, "-c", PROBE], capture_output=True, text=True, check=True
    )
    return set(result.stdout.split())


def test_the_probe_sees_modules(loaded_modules):
    assert {"maskwright", "sys"} <= loaded_modules


@pytest.mark.parametrize("package", ["numpy", "pydantic", "torch", "transformers", "llama_cpp"])
def test_import_leaves_large_packages_alone(loaded_modules, package):
    assert package not in loaded_modules


def test_the_engine_has_the_version_of_the_package():
    core = importlib.import_module("maskwright._core")
    metadata = importlib.import_module("importlib.metadata")
    assert core.engine_version() == metadata.version("maskwright")
