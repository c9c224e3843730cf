from __future__ import annotations

import pytest
from benchmarks import stats


def instance(*, valid=True, verdict="accepted", first=(), second=None, **more):
    steps = {"mask_first": list(first), "accept_first": list(first)}
    if second is not None:
        steps.update(mask_second=list(second), accept_second=list(second))
    return {"valid": valid, "verdict": verdict, **steps, **more}


def record(*instances, ttfm_ns=1000, status="ok"):
    timed = {} if ttfm_ns is None else {"ttfm_ns": ttfm_ns}
    return {"status": status, "instances": list(instances), **timed}


@pytest.mark.parametrize(
    ("q", "expected"), [(50.0, 5), (90.0, 9), (91.0, 10), (99.9, 10), (100.0, 10), (0.0, 1)]
)
def test_percentile_is_a_measured_value(q, expected):
    assert stats.percentile(range(1, 11), q) == expected


def test_summary_is_in_microseconds():
    assert stats.summarise([]) is None
    assert stats.summarise([3000, 1000, 2000]) == {
        "n": 3,
        "p50": 2.0,
        "p90": 3.0,
        "p99": 3.0,
        "p99.9": 3.0,
        "max": 3.0,
    }


def test_only_what_both_engines_did_is_compared():
    both = instance(first=[1000], second=[1000])
    slow = instance(first=[4000], second=[2000])
    refused = instance(verdict="refused", first=[9_000_000])
    ours = [record(both, both), record(both, ttfm_ns=2000), record(both)]
    peer = [
        record(slow, refused, ttfm_ns=5000),
        record(ttfm_ns=None, status="refused"),
        record(ttfm_ns=None, status="timeout"),
    ]
    compared = stats.compare(ours, peer)
    assert (compared["files"], compared["instances"]) == (1, 1)
    metrics = compared["metrics"]
    assert metrics["ttfm"]["ours"]["n"] == 1
    assert metrics["ttfm"]["ratio"]["p50"] == 5.0
    assert metrics["mask_first"]["peer"]["max"] == 4.0
    assert metrics["mask_first"]["ratio"]["p50"] == 4.0
    assert metrics["mask_second"]["ratio"]["p50"] == 2.0
    assert metrics["total"]["ours"]["p50"] == 2.0
    assert metrics["total"]["peer"]["p50"] == 9.0


def test_side_by_side_takes_only_what_every_engine_did():
    both = instance(first=[1000], second=[1000])
    refused = instance(verdict="refused", first=[7])
    engines = {
        "a": [record(both, both), record(both), record(both, ttfm_ns=9000)],
        "b": [record(both, refused), record(ttfm_ns=None, status="timeout"), record(both)],
        "c": [record(both, both), record(both), record(refused)],
    }
    engines["a"][0]["growth_kib"] = 12
    together = stats.side_by_side(engines)
    assert (together["files"], together["instances"]) == (2, 1)
    assert together["engines"]["a"]["metrics"]["ttfm"]["max"] == 9.0
    assert together["engines"]["a"]["metrics"]["mask_first"]["n"] == 1
    assert together["engines"]["c"]["metrics"]["total"]["n"] == 1
    assert together["engines"]["a"]["growth_kib"]["max"] == 12.0
    assert together["engines"]["b"]["growth_kib"] is None
    assert together["curves"]["mask_first"]["b"] == [(1.0, 1.0)]


def test_curve_falls_from_all_values_to_the_largest():
    values = [k * 1000 for k in range(1, 1001)]
    points = stats.curve(values[::-1])
    assert points[0] == (1.0, 1.0)
    assert points[-1] == (0.001, 1000.0)
    assert dict(points)[0.1] == 901.0
    shares, times = zip(*points, strict=True)
    assert list(shares) == sorted(shares, reverse=True)
    assert list(times) == sorted(times)
    assert len(points) < 80
    assert stats.curve([]) == []


def test_invalid_instances_have_no_times():
    let_through = instance(valid=False)
    assert stats.accepted(record(let_through, instance(first=[1], second=[1]))) == {1}


def test_instances_cut_off_before_the_second_pass_do_not_count():
    assert stats.accepted(record(instance(first=[1]))) == set()


def test_ratio_of_nothing_is_none():
    zero = dict.fromkeys(stats.PERCENTILE_NAMES, 0.0)
    assert set(stats.ratios(zero, zero).values()) == {None}


def test_tally_counts_each_kind_of_wrong():
    unjudged = {"valid": True, "verdict": None}
    counts = stats.tally(
        [
            record(instance(), instance(valid=False, verdict="refused")),
            record(instance(verdict="refused"), instance(valid=False)),
            record(instance(verdict="error", disagreed=True)),
            record(unjudged, ttfm_ns=None, status="timeout"),
            record(unjudged, status="crash"),
            record(unjudged, ttfm_ns=None, status="refused"),
        ]
    )
    assert counts == {
        "files": 6,
        "compiled": 4,
        "refused": 1,
        "timeout": 1,
        "crash": 1,
        "right": 1,
        "valid_refused": 2,
        "invalid_accepted": 1,
        "disagreements": 1,
    }
