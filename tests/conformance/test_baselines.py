"""A sample of the conformance suites, compared with the baselines; `make conformance` runs all."""

from __future__ import annotations

import sys
from zlib import crc32

import pytest

from conformance import baseline
from conformance.cases import DRAFTS, SUITES, data_folder, load
from conformance.run import new_seed
from conformance.verdicts import run_case

# One seed, so that the same commit gives the same result; `make conformance` takes fresh ones.
SEED = new_seed(default=1)
#: One case of so many is run.
SHARE = {"maskbench": 16}

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(data_folder() is None, reason="MASKWRIGHT_TEST_DATA names no folder"),
]


@pytest.mark.parametrize("suite", SUITES)
def test_sample(suite, capsys):
    share = SHARE.get(suite, 1 if suite in DRAFTS else 2)
    cases = [case for case in load(suite) if crc32(f"{SEED}{case.name}".encode()) % share == 0]
    results = [(case, run_case(case, SEED, spelled=2, walks=2)) for case in cases]
    worse, better = baseline.compare(baseline.read(suite), results)
    if better:
        with capsys.disabled():
            sys.stdout.write(f"\n{len(better)} better than the baseline: {baseline.UPDATE}\n")
    assert cases
    assert not worse, f"seed {SEED} (set MASKWRIGHT_CONFORMANCE_SEED)"
