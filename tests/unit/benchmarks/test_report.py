from __future__ import annotations

import pytest
from benchmarks import report, stats


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.123, "0.12"), (9.87, "9.87"), (12.34, "12.3"), (1234567.8, "1,234,568")],
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


def test_report_has_the_ratio_of_the_run_and_names_what_was_wrong():
    info = {"version": "1.0", "load_seconds": 0.5}
    wrong = {"status": "refused", "message": "no\nsuch", "instances": [{"valid": True}]}
    wrong["instances"][0]["verdict"] = None
    engines = {
        "ours": {"info": info, "records": [timed(1000), wrong]},
        "peer": {"info": info, "records": [timed(3000), timed(7000)]},
    }
    run = {"command": "x", "description": ["what was run"], "machine": "idle"}
    result = report.data(run, engines, "ours")
    files = report.per_file(["f1", "f2"], engines, with_steps=False)
    text = report.markdown(result, files)
    assert "Over 1 files that both compiled, 1 instances that both accepted." in text
    assert "| **ratio** |  | **3.00** |" in text
    assert "- `f2`: refused no" in text
    assert "f1" not in text
    assert "mask_first" not in str(files)
    assert "mask_first" in str(report.per_file(["f1", "f2"], engines, with_steps=True))


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
