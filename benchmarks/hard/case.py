"""A hard input: a source, texts that decide whether an engine is right, what a refusal means."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.data import JSON_SCHEMA, Instance, SchemaFile

if TYPE_CHECKING:
    from collections.abc import Iterable

# What refusing to compile means.
WRONG = "wrong"  # the input must compile
ALLOWED = "allowed"  # a named limit may refuse it
EXPECTED = "expected"  # it has no completion: compiling it would be wrong


@dataclass(frozen=True)
class Case:
    """An input and what a refusal of it means."""

    file: SchemaFile
    refusal: str = WRONG

    @property
    def name(self) -> str:
        """Family and name, as the command line selects it."""
        return f"{self.file.family}/{self.file.name}"


def case(
    name: str,
    source: object,
    accepts: Iterable[str] = (),
    rejects: Iterable[str] = (),
    *,
    kind: str = JSON_SCHEMA,
    refusal: str = WRONG,
) -> Case:
    """Build an input.

    Args:
        name: `family/name`.
        source: Grammar text, or a schema to be written as text.
        accepts: Complete texts of the language.
        rejects: Texts that are not in it, each to be refused at some token.
        kind: What the source is.
        refusal: What it means if the engine does not compile it.
    """
    family, short = name.split("/", 1)
    text = source if isinstance(source, str) else json.dumps(source, ensure_ascii=False)
    instances = [Instance(accepted, True) for accepted in accepts]
    instances += [Instance(rejected, False) for rejected in rejects]
    return Case(SchemaFile(family, short, text, tuple(instances), kind), refusal)


def quoted(text: object) -> str:
    """Write a JSON value without needless escapes."""
    return json.dumps(text, ensure_ascii=False)
