"""Schemas to measure on, and which of them a run takes.

A corpus is a folder of JSON-lines files, one per family, each line
`{"name", "schema", "tests": [{"valid", "data"}]}`: the form of MaskBench (JSONSchemaBench). Without
the data folder the twelve schemas beside this file stand in.

A sample is stratified by family and ordered by a hash of seed and name, so that it does not depend
on the order of the files, and a smaller sample of a family is a prefix of a larger one. Families
alternate in the result: a run that is cut short still covers all of them.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Kinds of sources.
JSON_SCHEMA = "json_schema"
REGEX = "regex"
EBNF = "ebnf"

OWN_SCHEMAS = Path(__file__).resolve().parent / "schemas"


@dataclass(frozen=True)
class Instance:
    """A JSON text and whether it is valid."""

    text: str
    valid: bool


@dataclass(frozen=True)
class SchemaFile:
    """A schema as text, or a source of another kind, and instances to try on it."""

    family: str
    name: str
    schema: str
    instances: tuple[Instance, ...]
    kind: str = JSON_SCHEMA


def to_text(value: object) -> str:
    """Write a JSON value as a model would: default separators, no needless escapes."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate can only be written as an escape
        text = json.dumps(value)
    return text


def load_corpus(folder: Path) -> list[SchemaFile]:
    """Read all schema files of a folder, in the order of their names."""
    corpus: list[SchemaFile] = []
    for path in sorted(folder.glob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                instances = tuple(
                    Instance(to_text(test["data"]), bool(test["valid"])) for test in record["tests"]
                )
                schema = to_text(record["schema"])
                corpus.append(SchemaFile(path.stem, record["name"], schema, instances))
    return corpus


def allocate(sizes: Mapping[str, int], count: int) -> dict[str, int]:
    """Share out `count` places among families of the given sizes.

    Shares are proportional, rounded so that they add up, but no family that has files goes without
    as long as the places suffice for all families.
    """
    families = sorted(name for name, size in sizes.items() if size)
    total = sum(sizes[name] for name in families)
    count = min(count, total)
    if count < len(families):
        largest = sorted(families, key=lambda name: (-sizes[name], name))[:count]
        return dict.fromkeys(sorted(largest), 1)
    ideal = {name: sizes[name] * count / total for name in families}
    shares = {name: max(1, int(ideal[name])) for name in families}
    while (left := count - sum(shares.values())) != 0:
        # One to the family furthest below its ideal, or one from the furthest above.
        step = 1 if left > 0 else -1
        movable = [n for n in families if 1 <= shares[n] + step <= sizes[n]]
        shares[max(movable, key=lambda n: (step * (ideal[n] - shares[n]), n))] += step
    return shares


def sample(corpus: Sequence[SchemaFile], count: int, seed: int) -> list[SchemaFile]:
    """Choose `count` files, stratified by family, the same ones for the same seed."""
    families: dict[str, list[SchemaFile]] = defaultdict(list)
    for file in corpus:
        families[file.family].append(file)
    for members in families.values():
        members.sort(key=lambda file: _rank(seed, file.name))
    shares = allocate({name: len(members) for name, members in families.items()}, count)
    # The k-th of n files of a family goes to position (k + 1/2) / n: families interleave evenly.
    placed = [
        ((k + 0.5) / share, _rank(seed, name), families[name][k])
        for name, share in shares.items()
        for k in range(share)
    ]
    placed.sort(key=lambda entry: entry[:2])
    return [file for _, _, file in placed]


def shuffled(files: Sequence[SchemaFile], seed: int) -> list[SchemaFile]:
    """Return the files in an order that depends on seed and names alone."""
    return sorted(files, key=lambda file: _rank(seed, f"{file.family}/{file.name}"))


def _rank(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{name}".encode()).digest()
