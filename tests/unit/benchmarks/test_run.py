from __future__ import annotations

import pytest
from benchmarks import run
from benchmarks.data import SchemaFile, shuffled
from benchmarks.engines import DEFAULT_ENGINES


def test_full_run_has_all_engines_both_tables_and_400_files():
    args = run.parse([])
    assert tuple(args.engines) == DEFAULT_ENGINES
    assert len(DEFAULT_ENGINES) == 7
    assert (args.tables, args.files, args.budget_seconds) == (["cold", "warm"], 400, None)


def test_quick_run_is_bounded_and_yields_to_what_is_given():
    args = run.parse(["--quick", "--files", "7"])
    assert (args.files, args.file_seconds) == (7, run.QUICK_FILE_SECONDS)
    assert args.budget_seconds <= 150


def test_several_vocabularies_are_separated_by_commas():
    assert run.parse(["--tokenizer", "qwen3,gemma3"]).tokenizer == ["qwen3", "gemma3"]


@pytest.mark.parametrize(
    "arguments", [["--engines", "none"], ["--tables", "hot"], ["--all", "--files", "3"]]
)
def test_unknown_or_contradictory_arguments_are_refused(arguments, capsys):
    with pytest.raises(SystemExit):
        run.parse(arguments)
    assert "choose" in capsys.readouterr().err


def test_warm_order_mixes_families_and_is_the_same_for_a_seed():
    files = [SchemaFile(family, f"{family}{k}", "{}", ()) for family in "ab" for k in range(20)]
    order = shuffled(files, 3)
    assert order == shuffled(files[::-1], 3)
    assert order != shuffled(files, 4)
    assert sorted(f.name for f in order) == sorted(f.name for f in files)
    assert len({f.family for f in order[:10]}) == 2
