"""The page about the command line says what the command line says."""

from __future__ import annotations

import re

import pytest

from maskwright.cli import exit_codes
from maskwright.cli.parser import command_line_parser


@pytest.fixture
def page(repository_root):
    return (repository_root / "docs/command_line.md").read_text(encoding="utf-8")


def test_exit_codes(page):
    rows = dict(re.findall(r"^\| (\d+) \| (.+) \|$", page, re.MULTILINE))
    values = {value for name, value in vars(exit_codes).items() if name.isupper()}
    assert set(map(int, rows)) == values
    said = " ".join(command_line_parser().epilog.split())
    for code, meaning in rows.items():
        assert f"{code} {meaning.replace('`--max-tokens`', '--max-tokens')}" in said


def test_every_option_of_schemas_is_listed(page, capsys):
    with pytest.raises(SystemExit):
        command_line_parser().parse_args(["check", "--help"])
    group = capsys.readouterr().out.partition("how a JSON Schema is read")[2]
    options = set(re.findall(r"^  (--[a-z-]+)", group, re.MULTILINE))
    assert len(options) == 8
    table = page.partition("## One language")[2]
    assert options == set(re.findall(r"^\| `(--[a-z-]+)", table, re.MULTILINE))
