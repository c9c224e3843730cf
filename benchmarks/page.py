"""The page of a run: Markdown, and the pictures that it shows.

The same page is written next to the JSON result and, on request, into a folder of documentation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks import plots, report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

IMAGES = "images/benchmarks"
PLOTTED = ("ttfm", "total", "mask_first", "mask_second", "accept_first", "accept_second")
TABLE_TITLES = {
    "cold": "Cold: a new compiler per file",
    "warm": "Warm: one compiler over all files, in a shuffled order",
}


def pictures(result: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield (file name, title, SVG text) of each curve of a run."""
    for vocabulary, tables in result["vocabularies"].items():
        for table, content in tables.items():
            for key in PLOTTED:
                title = f"{report.METRIC_TITLES[key]} ({table}, {vocabulary})"
                if image := plots.draw(title, content["all"]["curves"].get(key, {})):
                    yield f"{vocabulary}-{table}-{key}.svg", title, image


def table_section(
    vocabulary: str, table: str, content: Mapping[str, Any], images: Mapping[str, str]
) -> list[str]:
    """Write one table: all engines side by side, curves, memory, then each peer alone."""
    subject, everyone = content["subject"], content["all"]
    over = f"{everyone['files']} files that all compiled, {everyone['instances']} instances"
    parts = [f"### {TABLE_TITLES[table]}", "", content["note"], ""]
    parts += [f"Over {over} that all accepted:", "", report.side_by_side(content), ""]
    for key in PLOTTED:
        name = f"{vocabulary}-{table}-{key}.svg"
        if name in images:
            parts += [f"![{images[name]}]({IMAGES}/{name})", ""]
    parts += [report.memory(content), ""]
    for peer, compared in content["peers"].items():
        common = f"{compared['files']} files that both compiled, {compared['instances']} instances"
        parts += [f"#### {subject} next to {peer} ({table})", ""]
        parts += [f"Over {common} that both accepted.", ""]
        parts += [report.comparison(subject, peer, compared), ""]
    return parts


def markdown(result: Mapping[str, Any], images: Mapping[str, str]) -> str:
    """Write the page.

    Args:
        result: The JSON result: `run`, and `vocabularies` with the tables of each.
        images: Titles of the pictures there are, by file name.
    """
    run = result["run"]
    parts = ["# Masks on real schemas", "", f"Written by `{run['command']}`.", ""]
    parts += [f"- {line}" for line in run["description"]]
    parts += [f"- Machine: {run['machine']}", ""]
    for vocabulary, tables in result["vocabularies"].items():
        first = next(iter(tables.values()))
        parts += [f"## Vocabulary {vocabulary}, {first['vocab_size']:,} tokens", ""]
        parts += ["### Right and wrong", "", report.correctness(first), ""]
        for table, content in tables.items():
            parts += table_section(vocabulary, table, content, images)
        subject = first["subject"]
        if lines := report.failures(subject, first["files"]):
            parts += [f"### What {subject} did not get right", "", *lines, ""]
    return "\n".join(parts)


def write(result: Mapping[str, Any], folder: Path, name: str) -> None:
    """Write the page and its pictures into a folder."""
    images = folder / IMAGES
    images.mkdir(parents=True, exist_ok=True)
    titles = {}
    for file_name, title, image in pictures(result):
        (images / file_name).write_text(image, encoding="utf-8")
        titles[file_name] = title
    (folder / name).write_text(markdown(result, titles), encoding="utf-8")
