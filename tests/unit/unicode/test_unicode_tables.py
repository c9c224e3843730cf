"""The committed Unicode table: against Node's own properties, and by samples."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import maskwright.unicode as table

_SCRIPT = r"""
const names = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const answers = names.map((name) => {
  let test;
  try { test = new RegExp('^\\p{' + name + '}$', 'u'); } catch { return null; }
  const edges = [];
  let inside = false;
  for (let c = 0; c <= 0x110000; c++) {
    const now = c < 0x110000 && test.test(String.fromCodePoint(c));
    if (now !== inside) { edges.push(c); inside = now; }
  }
  return edges;
});
process.stdout.write(JSON.stringify({version: process.versions.unicode, answers}));
"""
SAMPLE = [
    "Lu",
    "L",
    "LC",
    "Cn",
    "Alphabetic",
    "Emoji",
    "ID_Start",
    "sc=Grek",
    "scx=Deva",
    "sc=Zyyy",
]
SAMPLE += ["Any", "Assigned", "Changes_When_NFKC_Casefolded", "General_Category=Nd", "punct"]


def edges(name: str) -> list[int]:
    """Return where membership changes."""
    key, _, value = name.partition("=")
    ranges = table.property_ranges(key, value or None)
    merged: list[int] = []
    for lo, hi in ranges:
        if merged and merged[-1] == lo:
            merged[-1] = hi + 1
        else:
            merged += [lo, hi + 1]
    return merged


def test_sample_against_node():
    if shutil.which("node") is None:
        pytest.skip("Node is not installed; it is the oracle of this test")
    done = subprocess.run(
        ["node", "-e", _SCRIPT],
        input=json.dumps(SAMPLE),
        capture_output=True,
        text=True,
        check=True,
    )
    answer = json.loads(done.stdout)
    if not answer["version"].startswith("17."):
        pytest.skip(f"Node has Unicode {answer['version']}, the table has {table.UNICODE_VERSION}")
    for name, expected in zip(SAMPLE, answer["answers"], strict=True):
        assert edges(name) == expected, name


def test_every_name_decodes_to_sorted_ranges():
    names = table.property_names()
    assert len(names) > 900
    for name, value in names:
        ranges = table.property_ranges(name, value)
        flat = [bound for pair in ranges for bound in pair]
        assert flat == sorted(flat), (name, value)
        assert not flat or 0 <= flat[0] <= flat[-1] <= 0x10FFFF


def test_general_categories_partition_all_code_points():
    leaves = (
        "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn"
    )
    pairs = sorted(pair for name in leaves.split() for pair in table.property_ranges(name))
    expected = 0
    for lo, hi in pairs:
        assert lo == expected
        expected = hi + 1
    assert expected == 0x110000


def test_aliases():
    assert table.property_ranges("Lu") == table.property_ranges("Uppercase_Letter")
    assert table.property_ranges("gc", "Lu") == table.property_ranges("General_Category", "Lu")
    assert table.property_ranges("sc", "Grek") == table.property_ranges("Script", "Greek")
    assert table.property_ranges("scx", "Grek") != table.property_ranges("sc", "Grek")
    assert table.property_ranges("AHex") == ((48, 57), (65, 70), (97, 102))
    assert table.property_ranges("sc", "Qaai") == table.property_ranges("sc", "Inherited")
    assert table.property_ranges("sc", "Sidt"), "a script that is new in Unicode 17"


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("lu", None, "unknown Unicode property or general category 'lu'"),
        ("Greek", None, "unknown Unicode property or general category 'Greek'"),
        ("Script", "greek", "unknown value 'greek'"),
        ("Alphabetic", "Y", "must be General_Category"),
        ("Other_Alphabetic", None, "unknown Unicode property"),
    ],
)
def test_unknown_names(name, value, text):
    with pytest.raises(table.UnknownPropertyError, match=text):
        table.property_ranges(name, value)
    assert issubclass(table.UnknownPropertyError, KeyError)


def test_case_orbits():
    orbits = {member: orbit for orbit in table.case_orbits() for member in orbit}
    assert orbits[ord("k")] == (ord("K"), ord("k"), 0x212A)
    assert orbits[ord("s")] == (ord("S"), ord("s"), 0x17F)
    assert orbits[ord("σ")] == (ord("Σ"), ord("ς"), ord("σ"))
    assert orbits[0x1E9E] == (0xDF, 0x1E9E)
    assert ord("1") not in orbits
    assert ord("İ") not in orbits, "its folding is not simple"


def test_size_and_laziness():
    path = Path(table.__file__).with_name("ucd.bin")
    assert path.stat().st_size < 100_000
    code = "import maskwright, sys; sys.exit('maskwright.unicode.tables' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
