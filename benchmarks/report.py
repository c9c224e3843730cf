"""The result of a run as Markdown and as data.

Figures are microseconds. A ratio is the peer's figure divided by ours: above 1, ours is faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks import stats

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmarks.stats import Record

MAX_LISTED = 25
METRIC_TITLES = {**stats.FILE_METRICS, **stats.STEP_METRICS}


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Format a Markdown table, the first column to the left, the others to the right."""
    lines = ["| " + " | ".join(header) + " |", "|---|" + "--:|" * (len(header) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def number(value: float | None) -> str:
    """Format a figure with three significant digits or all its integer ones."""
    if value is None:
        return "-"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def data(
    run: Mapping[str, Any], engines: Mapping[str, Mapping[str, Any]], subject: str
) -> dict[str, Any]:
    """Build the JSON result.

    Args:
        run: What was run: seed, files, options, machine.
        engines: Per engine `info` and `records` (one per file of the run, in its order).
        subject: The engine that the others are compared with.
    """
    result: dict[str, Any] = {"run": dict(run), "subject": subject, "engines": {}, "peers": {}}
    for name, engine in engines.items():
        records: Sequence[Record] = engine["records"]
        result["engines"][name] = {
            **engine["info"],
            "tally": stats.tally(records),
            "peak_mib": max((r.get("peak_mib", 0) for r in records), default=0),
            "alone_us": stats.alone(records),
        }
        if name != subject:
            result["peers"][name] = stats.compare(engines[subject]["records"], records)
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
        cost = [number(engine["load_seconds"]), engine["peak_mib"]]
        rows.append([name, engine["version"], *counts, *cost])
    return table([*titles, "load s", "peak MiB"], rows)


def comparison(subject: str, peer: str, compared: Mapping[str, Any]) -> str:
    """The figures of two engines over what both managed, and their ratios."""
    rows: list[list[str]] = []
    for key, metric in compared["metrics"].items():
        lines = ((f"{METRIC_TITLES[key]}: {subject}", "ours"), (peer, "peer"))
        for title, side in lines:
            figures = [number(metric[side][name]) for name in stats.PERCENTILE_NAMES]
            rows.append([title, str(metric[side]["n"]), *figures])
        ratios = [metric["ratio"][name] for name in stats.PERCENTILE_NAMES]
        rows.append(["**ratio**", "", *(f"**{number(r)}**" for r in ratios)])
    return table(("µs", "n", *stats.PERCENTILE_NAMES), rows)


def own_figures(engine: Mapping[str, Any]) -> str:
    """The figures of one engine over all that it managed."""
    rows = [
        [METRIC_TITLES[key], str(s["n"]), *(number(s[name]) for name in stats.PERCENTILE_NAMES)]
        for key, s in engine["alone_us"].items()
        if s is not None
    ]
    return table(("µs", "n", *stats.PERCENTILE_NAMES), rows)


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


def markdown(result: Mapping[str, Any], files: Sequence[Mapping[str, Any]]) -> str:
    """Write the report."""
    run, subject = result["run"], result["subject"]
    parts = ["# Masks on real schemas, cold", "", f"`{run['command']}`", ""]
    parts += [f"- {line}" for line in run["description"]]
    parts += [f"- Machine: {run['machine']}", "", "## Right and wrong", "", correctness(result), ""]
    for peer, compared in result["peers"].items():
        parts += [f"## {subject} next to {peer}", ""]
        common = f"{compared['files']} files that both compiled, {compared['instances']} instances"
        parts += [f"Over {common} that both accepted.", ""]
        parts += [comparison(subject, peer, compared), ""]
    parts += ["## Each engine over all that it managed (not comparable)", ""]
    for name, engine in result["engines"].items():
        parts += [f"### {name}", "", own_figures(engine), ""]
    if lines := failures(subject, files):
        parts += [f"## What {subject} did not get right", "", *lines, ""]
    return "\n".join(parts)
