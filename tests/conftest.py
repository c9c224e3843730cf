"""Set-up shared by all tests: reproducible hypothesis runs and the optional data folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Wall-clock deadlines would make results depend on the machine. In CI the examples are the same in
# every run; elsewhere hypothesis explores, and prints how to reproduce what it finds.
settings.register_profile(
    "local", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("ci", settings.get_profile("local"), derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(scope="session")
def repository_root() -> Path:
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder with schemas and vocabularies that are too large for the repository."""
    name = os.environ.get("MASKWRIGHT_TEST_DATA")
    if not name:
        pytest.skip("set MASKWRIGHT_TEST_DATA to the data folder to run this test")
    folder = Path(name)
    if not folder.is_dir():
        pytest.fail(f"MASKWRIGHT_TEST_DATA is {name!r}, which is no folder")
    return folder
