"""Make the helpers of this folder importable in every import mode, and find the data."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder with the public data sets."""
    folder = os.environ.get("MASKWRIGHT_TEST_DATA")
    if not folder:
        pytest.skip("MASKWRIGHT_TEST_DATA is not set; it names the folder with the test data")
    return Path(folder)
