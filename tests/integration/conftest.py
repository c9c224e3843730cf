"""What tests with the embedded model need; without it they are skipped, each with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from maskwright.chat import MissingDependencyError
from maskwright.chat.embedded import embedded_model_path

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def embedded_model() -> Path:
    """The file of the embedded model, which llama.cpp is there to run."""
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed (extra demo)")
    try:
        return embedded_model_path()
    except MissingDependencyError as error:
        pytest.skip(str(error))
