"""The page of the hard inputs: per engine a table, what is over the budget, the scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.hard import budget
from benchmarks.plots import duration
from benchmarks.report import markdown_table

if TYPE_CHECKING:
    from collections.abc import Mapping

COLUMNS = (
    ("front_end", "front-end"),
    ("core", "core compile"),
    ("ttfm", "TTFM"),
    ("mask_first_median", "mask, first, median"),
    ("mask_first_worst", "worst"),
    ("mask_second_median", "warm, median"),
    ("mask_second_worst", "worst"),
    ("accept_first_worst", "worst accept"),
    ("accept_second_worst", "warm"),
)
MAX_VERDICT = 90


def cell(value: float | None) -> str:
    """Write a time, or nothing."""
    return "" if value is None else duration(value)


def short(text: str) -> str:
    """Return text for a table cell: one line, without its separator, cut."""
    line = text.replace("|", "¦").replace("\n", " ")
    return line if len(line) <= MAX_VERDICT else line[: MAX_VERDICT - 1] + "…"


def engine_table(engine: str, cases: Mapping[str, Any]) -> list[str]:
    """Write the table of one engine and count what is in it."""
    rows, right, within = [], 0, 0
    found = {name: row[engine] for name, row in cases.items() if engine in row}
    for name, row in found.items():
        figures = row["figures"]
        right += row["verdict"] == budget.RIGHT
        within += not row["over"]
        memory = figures.get("growth_kib")
        cells = [cell(figures.get(key)) for key, _ in COLUMNS]
        cells.append("" if memory is None else f"{memory / 1024:.1f}")
        rows.append([name, short(row["verdict"]), ", ".join(row["over"]), *cells])
    titles = ("input", "answer", "over budget", *(title for _, title in COLUMNS), "MiB more")
    count = f"{right} of {len(rows)} right, {within} within the budget as far as they got."
    return [f"## {engine}", "", count, "", markdown_table(titles, rows), ""]


def scenario_table(scenarios: Mapping[str, Any]) -> list[str]:
    """Write the table of the scenarios."""
    rows = []
    for name, result in scenarios.items():
        parts = [
            f"{key} {value:,.0f}"
            if "KiB" in key or "compared" in key
            else f"{key} {duration(value)}"
            for key, value in result.get("figures", {}).items()
        ]
        rows.append([name, short(result.get("wrong", budget.RIGHT)), "; ".join(parts)])
    return ["## Scenarios", "", markdown_table(("scenario", "answer", "figures"), rows), ""]


def markdown(result: Mapping[str, Any]) -> str:
    """Write the page."""
    run = result["run"]
    budgets = [duration(us) for us in (budget.CORE_US, budget.MASK_US, budget.WARM_US)]
    parts = [
        "# Inputs that must stay cheap and right",
        "",
        f"Written by `{run['command']}`.",
        "",
        f"- Vocabulary {run['tokenizer']}, {run['vocab_size']:,} tokens.",
        f"- Limit: {run['seconds']:g} s per input.",
        "- Budget: core compile {}, a mask computed for the first time {}, warm {}.".format(
            *budgets
        ),
        "- What happens once is in CPU time, warm steps in wall time, the least of some readings.",
        f"- Machine: {run['machine']}",
        *(f"- {line}" for line in run["missing"]),
        "",
    ]
    engines = {engine for row in result["cases"].values() for engine in row}
    for engine in sorted(engines, key=lambda name: (name != "maskwright", name)):
        parts += engine_table(engine, result["cases"])
    if result["scenarios"]:
        parts += scenario_table(result["scenarios"])
    return "\n".join(parts)
