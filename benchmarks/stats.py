"""Percentiles, and the rule for what two engines may be compared on.

Only what both did counts: times to first mask over the files that both compiled, step times over
the instances that both accepted to the end. Everything else would compare different work.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

PERCENTILES = (50.0, 90.0, 99.0, 99.9, 100.0)
PERCENTILE_NAMES = ("p50", "p90", "p99", "p99.9", "max")

# (key, what it is); step metrics are lists per instance, file metrics numbers per file.
FILE_METRICS = {
    "ttfm": "TTFM: schema text to first mask",
    "total": "TTFM + all first-pass masks of a file",
}
STEP_METRICS = {
    "mask_first": "mask, first pass",
    "mask_second": "mask, second pass",
    "accept_first": "accept_token, first pass",
    "accept_second": "accept_token, second pass",
}

# What `tally` counts.
TALLY_KEYS = (
    *("files", "compiled", "refused", "timeout", "crash", "right"),
    *("valid_refused", "invalid_accepted", "disagreements"),
)

# One file as an engine saw it: {"status", "ttfm_ns", "instances": [{"verdict", "valid", metric:
# [ns, ...]}]}. Built by `process`, read here and by `report`.
Record = dict[str, Any]


def percentile(ordered: Sequence[float], q: float) -> float:
    """Return the nearest-rank percentile of a sorted, non-empty sequence; q = 100 is the maximum.

    Nearest rank never invents a value between two measured ones.
    """
    rank = math.ceil(q / 100.0 * len(ordered))
    return ordered[max(rank, 1) - 1]


def summarise(values: Iterable[float], per_unit: float = 1000.0) -> dict[str, float] | None:
    """Return count and percentiles; None if there is no value.

    Args:
        values: Nanoseconds, or anything else.
        per_unit: What a figure is divided by; by default, nanoseconds become microseconds.
    """
    ordered = sorted(values)
    if not ordered:
        return None
    summary: dict[str, float] = {"n": len(ordered)}
    for name, q in zip(PERCENTILE_NAMES, PERCENTILES, strict=True):
        summary[name] = round(percentile(ordered, q) / per_unit, 3)
    return summary


def compiled(record: Record) -> bool:
    """Whether the engine got as far as a first mask."""
    return "ttfm_ns" in record


def accepted(record: Record) -> set[int]:
    """Return the positions of valid instances that were accepted and measured twice."""
    return {
        k
        for k, instance in enumerate(record.get("instances", ()))
        if instance["valid"] and instance["verdict"] == "accepted" and "mask_second" in instance
    }


def collect(records: Sequence[Record], keep: Sequence[set[int] | None]) -> dict[str, list[float]]:
    """Gather all values in nanoseconds by metric.

    Args:
        records: What one engine did, a record per file.
        keep: For each file the instances that count; None: the file does not count.
    """
    values: dict[str, list[float]] = {key: [] for key in (*FILE_METRICS, *STEP_METRICS)}
    for record, chosen in zip(records, keep, strict=True):
        if chosen is None:
            continue
        values["ttfm"].append(record["ttfm_ns"])
        masks = 0.0
        for k in sorted(chosen):
            instance = record["instances"][k]
            for key in STEP_METRICS:
                values[key].extend(instance[key])
            masks += sum(instance["mask_first"])
        if chosen:
            values["total"].append(record["ttfm_ns"] + masks)
    return values


def common_work(engines: Sequence[Sequence[Record]]) -> list[set[int] | None]:
    """Return what all engines did, as `collect` takes it: only that may be compared.

    Args:
        engines: The records of each engine, of the same files in the same order.
    """
    return [
        set.intersection(*map(accepted, records)) if all(map(compiled, records)) else None
        for records in zip(*engines, strict=True)
    ]


def summaries(
    records: Sequence[Record], keep: Sequence[set[int] | None]
) -> dict[str, dict[str, float] | None]:
    """Summarise the chosen work of one engine by metric."""
    return {key: summarise(values) for key, values in collect(records, keep).items()}


def alone(records: Sequence[Record]) -> dict[str, dict[str, float] | None]:
    """Summarise one engine over all that it managed; not comparable between engines."""
    return summaries(records, common_work([records]))


def compare(ours: Sequence[Record], peer: Sequence[Record]) -> dict[str, Any]:
    """Summarise two engines over what both managed, with the peer's figure divided by ours.

    Returns:
        `files` and `instances` in common, and per metric `ours`, `peer` and `ratio`.
    """
    keep = common_work([ours, peer])
    mine, theirs = summaries(ours, keep), summaries(peer, keep)
    metrics: dict[str, Any] = {}
    for key in mine:
        a, b = mine[key], theirs[key]
        if a is not None and b is not None:
            metrics[key] = {"ours": a, "peer": b, "ratio": ratios(a, b)}
    return {**count(keep), "metrics": metrics}


def side_by_side(engines: Mapping[str, Sequence[Record]]) -> dict[str, Any]:
    """Summarise all engines over what every one of them managed.

    Returns:
        `files` and `instances` in common; per engine `metrics` and `growth_kib`; `curves` with
        (share of values that are larger, microseconds) per metric and engine.
    """
    keep = common_work(list(engines.values()))
    result: dict[str, Any] = {**count(keep), "engines": {}, "curves": {}}
    for name, records in engines.items():
        values = collect(records, keep)
        for key, numbers in values.items():
            result["curves"].setdefault(key, {})[name] = curve(numbers)
        growth = [r["growth_kib"] for r, k in zip(records, keep, strict=True) if grew(r, k)]
        result["engines"][name] = {
            "metrics": {key: summarise(numbers) for key, numbers in values.items()},
            "growth_kib": summarise(growth, per_unit=1.0),
        }
    return result


def grew(record: Record, chosen: set[int] | None) -> bool:
    """Whether the file counts and got as far as a reading of its memory."""
    return chosen is not None and "growth_kib" in record


def count(keep: Sequence[set[int] | None]) -> dict[str, int]:
    """Count the files and instances that were chosen."""
    common = [chosen for chosen in keep if chosen is not None]
    return {"files": len(common), "instances": sum(map(len, common))}


def curve(values_ns: Iterable[float], points_per_decade: int = 24) -> list[tuple[float, float]]:
    """Return points (share of values that are at least this large, microseconds).

    Shares fall from 1 to that of the largest value alone, evenly spaced on a logarithmic axis.
    """
    ordered = sorted(values_ns)
    total = len(ordered)
    if not total:
        return []
    steps = int(math.log10(total) * points_per_decade)
    shares = [10 ** (-k / points_per_decade) for k in range(steps + 1)] + [1 / total]
    ranks = sorted({max(1, round(share * total)) for share in shares}, reverse=True)
    return [(rank / total, ordered[total - rank] / 1000.0) for rank in ranks]


def ratios(ours: Mapping[str, float], peer: Mapping[str, float]) -> dict[str, float | None]:
    """Divide the peer's percentiles by ours: above 1 means that ours is faster."""
    return {
        name: round(peer[name] / ours[name], 2) if ours[name] else None for name in PERCENTILE_NAMES
    }


def tally(records: Sequence[Record]) -> dict[str, int]:
    """Count what an engine got right and wrong.

    A file is right if it compiled, every valid instance was accepted and every invalid one refused.
    """
    counts = dict.fromkeys(TALLY_KEYS, 0)
    for record in records:
        counts["files"] += 1
        counts["compiled"] += compiled(record)
        status = record["status"]
        if status in counts:
            counts[status] += 1
        verdicts = [(i["valid"], i["verdict"]) for i in record.get("instances", ())]
        # An instance that a kill left without a verdict makes the file wrong, but is in no count.
        valid_refused = sum(v and verdict in {"refused", "error"} for v, verdict in verdicts)
        invalid_accepted = sum(not v and verdict == "accepted" for v, verdict in verdicts)
        counts["valid_refused"] += valid_refused
        counts["invalid_accepted"] += invalid_accepted
        counts["disagreements"] += sum(bool(i.get("disagreed")) for i in record["instances"])
        unjudged = any(verdict is None for _, verdict in verdicts)
        counts["right"] += status == "ok" and not (valid_refused or invalid_accepted or unjudged)
    return counts
