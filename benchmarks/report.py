"""The tables of a run, as Markdown and as data.

Figures are microseconds. A ratio is the peer's figure divided by ours: above 1, ours is faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks import stats

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MAX_LISTED = 25
METRIC_TITLES = {**stats.FILE_METRICS, **stats.STEP_METRICS}


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Format a Markdown table, the first column to the left, the others to the right."""
    lines = ["| " + " | ".join(header) + " |", "|---|" + "--:|" * (len(header) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def number(value: float | None) -> str:
    """Format a figure with three significant digits or all its integer ones."""
    if value is None:
        return "-"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def table_data(engines: Mapping[str, Mapping[str, Any]], subject: str) -> dict[str, Any]:
    """Build the JSON result of one table.

    Args:
        engines: Per engine `info` and `records` (one per file of the run, in its order).
        subject: The engine that the others are compared with.
    """
    records = {name: engine["records"] for name, engine in engines.items()}
    result: dict[str, Any] = {"subject": subject, "engines": {}, "peers": {}}
    result["all"] = stats.side_by_side(records)
    for name, engine in engines.items():
        result["engines"][name] = {
            **engine["info"],
            "tally": stats.tally(records[name]),
            "peak_mib": max((r.get("peak_mib", 0) for r in records[name]), default=0),
            "alone_us": stats.alone(records[name]),
        }
        if name != subject:
            result["peers"][name] = stats.compare(records[subject], records[name])
    return result


def per_file(
    names: Sequence[str], engines: Mapping[str, Mapping[str, Any]], *, with_steps: bool
) -> list[dict[str, Any]]:
    """List what each engine did with each file, step times only on request."""
    files = []
    for k, name in enumerate(names):
        entry: dict[str, Any] = {"name": name}
        for engine_name, engine in engines.items():
            record = dict(engine["records"][k])
            record.pop("stage", None)
            if not with_steps:
                record["instances"] = [
                    {key: v for key, v in instance.items() if not isinstance(v, list)}
                    for instance in record["instances"]
                ]
            entry[engine_name] = record
        files.append(entry)
    return files


def correctness(result: Mapping[str, Any]) -> str:
    """One row per engine: what it compiled and what it got right."""
    titles = ["engine", "version", "files", "compiled", "refused", "timeout", "crash", "**right**"]
    titles += ["valid refused", "**invalid let through**", "mask and accept differ"]
    rows = []
    for name, engine in result["engines"].items():
        counts = [engine["tally"][key] for key in stats.TALLY_KEYS]
        rows.append([name, engine["version"], *counts])
    return markdown_table(titles, rows)


def side_by_side(result: Mapping[str, Any]) -> str:
    """One row per figure, one column per engine, over what all engines managed."""
    together = result["all"]["engines"]
    rows: list[list[str]] = []
    for key, title in METRIC_TITLES.items():
        columns = [engine["metrics"][key] for engine in together.values()]
        if any(column is None for column in columns):
            continue
        rows += [
            [f"{title}, {name}", *(number(column[name]) for column in columns)]
            for name in stats.PERCENTILE_NAMES
        ]
    return markdown_table(("µs", *together), rows)


def memory(result: Mapping[str, Any]) -> str:
    """One row per engine: time to load, peak, and growth per file over the files of all."""
    rows = []
    for name, engine in result["engines"].items():
        growth = result["all"]["engines"][name]["growth_kib"]
        grown = [number(growth[q]) if growth else "-" for q in ("p50", "p90", "p99", "max")]
        starts = str(engine.get("starts", 1))
        rows.append(
            [name, number(engine["load_seconds"]), starts, f"{engine['peak_mib']:,}", *grown]
        )
    titles = ("engine", "load s", "started", "peak MiB")
    return markdown_table(
        (*titles, *(f"KiB per file, {q}" for q in ("p50", "p90", "p99", "max"))), rows
    )


def comparison(subject: str, peer: str, compared: Mapping[str, Any]) -> str:
    """The figures of two engines over what both managed, and their ratios."""
    rows: list[list[str]] = []
    for key, metric in compared["metrics"].items():
        lines = ((f"{METRIC_TITLES[key]}: {subject}", "ours"), (f"… {peer}", "peer"))
        for title, side in lines:
            figures = [number(metric[side][name]) for name in stats.PERCENTILE_NAMES]
            rows.append([title, str(metric[side]["n"]), *figures])
        ratios = [metric["ratio"][name] for name in stats.PERCENTILE_NAMES]
        rows.append(["**ratio**", "", *(f"**{number(r)}**" for r in ratios)])
    return markdown_table(("µs", "n", *stats.PERCENTILE_NAMES), rows)


def failures(subject: str, files: Sequence[Mapping[str, Any]]) -> list[str]:
    """Describe the files that the subject did not get right, at most `MAX_LISTED`."""
    lines: list[str] = []
    for entry in files:
        record = entry[subject]
        if record["status"] != "ok":
            message = str(record.get("message", "")).split("\n", 1)[0]
            lines.append(f"- `{entry['name']}`: {record['status']} {message}".rstrip())
            continue
        for k, instance in enumerate(record["instances"]):
            wrong = (instance["verdict"] == "accepted") != instance["valid"]
            if wrong or instance.get("disagreed"):
                kind = "valid" if instance["valid"] else "invalid"
                at = f" at token {instance['position']}" if "position" in instance else ""
                what = f"{kind} instance {k} {instance['verdict']}{at}"
                lines.append(f"- `{entry['name']}`: {what} {instance.get('message', '')}".rstrip())
    if len(lines) > MAX_LISTED:
        lines[MAX_LISTED:] = [f"- and {len(lines) - MAX_LISTED} more in the JSON result"]
    return lines
