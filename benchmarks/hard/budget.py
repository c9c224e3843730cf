"""What a hard input cost, whether that is within the budget, and whether the answers were right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.hard.case import ALLOWED, EXPECTED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.hard.case import Case
    from benchmarks.stats import Record

# The budget of any input, in microseconds.
CORE_US = 50_000.0
MASK_US = 5_000.0
WARM_US = 20.0

RIGHT = "right"


def verdict(case: Case, record: Record) -> str:
    """Return `RIGHT`, or what was wrong in a few words."""
    status = record["status"]
    if status == "refused":
        if case.refusal in {EXPECTED, ALLOWED}:
            return RIGHT
        return f"refused: {record.get('message', '')}"
    if status != "ok":
        reached = "" if "ttfm_ns" in record else ", not compiled"
        return f"{status}{reached} {record.get('message', '')}".rstrip()
    if case.refusal == EXPECTED:
        return "compiled, though no text completes it"
    for instance in record["instances"]:
        at = f" at token {instance['position']}" if "position" in instance else ""
        if instance.get("disagreed"):
            return f"mask and accept differ{at}"
        if (instance["verdict"] == "accepted") != instance["valid"]:
            kind = "valid text" if instance["valid"] else "invalid text"
            return f"{kind} {instance['verdict']}{at} {instance.get('message', '')}".rstrip()
    return RIGHT


def figures(record: Record) -> dict[str, float]:
    """Return the figures there are, in microseconds (`growth_kib` but for that)."""
    found: dict[str, float] = {}
    for name in ("ttfm", "front_end", "core"):
        if f"{name}_ns" in record:
            found[name] = record[f"{name}_ns"] / 1000.0
    if "growth_kib" in record:
        found["growth_kib"] = record["growth_kib"]
    measured = [i for i in record["instances"] if i["valid"]]
    for key in ("mask_first", "mask_second", "accept_first", "accept_second"):
        times = sorted(ns / 1000.0 for instance in measured for ns in instance.get(key, ()))
        if times:
            found[f"{key}_median"] = times[len(times) // 2]
            found[f"{key}_worst"] = times[-1]
    return found


def over_budget(found: Mapping[str, float]) -> list[str]:
    """Name what is over the budget; a first mask that is part of TTFM alone is not seen."""
    limits = (
        ("core", CORE_US, "core compile"),
        ("mask_first_worst", MASK_US, "a first mask"),
        ("mask_second_worst", WARM_US, "a warm mask"),
    )
    return [name for key, limit, name in limits if found.get(key, 0.0) > limit]


def row(case: Case, record: Record) -> dict[str, Any]:
    """Return the JSON result of one input with one engine."""
    found = figures(record)
    return {"verdict": verdict(case, record), "over": over_budget(found), "figures": found}
