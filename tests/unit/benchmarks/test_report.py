from __future__ import annotations

import re

import pytest
from benchmarks import page, report, stats


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0.123, "0.12"),
        (9.87, "9.87"),
        (12.34, "12.3"),
        (-3044.0, "-3,044"),
        (1234567.8, "1,234,568"),
    ],
)
def test_numbers_are_short(value, text):
    assert report.number(value) == text


def timed(ns):
    steps = {key: [ns] for key in stats.STEP_METRICS}
    instances = [
        {"valid": True, "verdict": "accepted", **steps},
        {"valid": False, "verdict": "refused", "position": 3},
    ]
    return {"status": "ok", "ttfm_ns": ns, "instances": instances, "stage": "done"}


def result_of(engines):
    content = report.table_data(engines, "ours")
    names = [f"f{k}" for k in range(len(engines["ours"]["records"]))]
    content |= {"note": "how it went", "vocab_size": 1000}
    content["files"] = report.per_file(names, engines, with_steps=False)
    run = {"command": "x", "description": ["what was run"], "machine": "idle"}
    return {"run": run, "vocabularies": {"small": {"cold": content}}}


@pytest.fixture
def engines():
    info = {"version": "1.0", "load_seconds": 0.5}
    wrong = {"status": "refused", "message": "no\nsuch", "instances": [{"valid": True}]}
    wrong["instances"][0]["verdict"] = None
    return {
        "ours": {"info": info, "records": [timed(1000), wrong]},
        "peer": {"info": info, "records": [timed(3000), timed(7000)]},
    }


def test_page_has_the_ratio_of_the_run_and_names_what_was_wrong(engines):
    text = page.markdown(result_of(engines), {})
    assert "Over 1 files that both compiled, 1 instances that both accepted." in text
    assert "Over 1 files that all compiled, 1 instances that all accepted:" in text
    assert "| **ratio** |  | **3.00** |" in text
    assert "| mask, first pass, p50 | 1.00 | 3.00 |" in text
    assert "- `f1`: refused no" in text
    assert "f0" not in text


def test_step_times_are_in_the_result_on_request_only(engines):
    assert "mask_first" not in str(report.per_file(["a", "b"], engines, with_steps=False))
    assert "mask_first" in str(report.per_file(["a", "b"], engines, with_steps=True))


def test_engines_that_have_no_file_in_common_have_no_figures(engines):
    engines["ours"]["records"] = engines["ours"]["records"][::-1]
    engines["peer"]["records"][1] = {"status": "timeout", "instances": []}
    text = page.markdown(result_of(engines), {})
    assert "Over 0 files that all compiled" in text
    assert "p50 |" not in text.split("### Cold", 1)[1].split("| engine", 1)[0]


def test_written_page_shows_the_pictures_beside_it(engines, tmp_path):
    page.write(result_of(engines), tmp_path, "page.md")
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[.+\]\((.+)\)", text)
    assert len(shown) == len(page.PLOTTED)
    assert all((tmp_path / name).read_text(encoding="utf-8").startswith("<svg") for name in shown)


def test_invalid_instance_let_through_is_named():
    record = timed(10)
    record["instances"][1] = {"valid": False, "verdict": "accepted"}
    files = [{"name": "f", "ours": record}]
    assert report.failures("ours", files) == ["- `f`: invalid instance 1 accepted"]


def test_long_list_of_failures_is_cut():
    refused = {"status": "refused", "message": "", "instances": []}
    files = [{"name": f"f{k}", "ours": refused} for k in range(report.MAX_LISTED + 7)]
    lines = report.failures("ours", files)
    assert len(lines) == report.MAX_LISTED + 1
    assert "and 7 more" in lines[-1]
