"""Cases as data: ``tests/data/corpus/*.json`` and how they become IR.

A case has ``name``, ``kind`` (ebnf, regex, json_schema), ``grammar``, ``options`` (of the front-end),
``vocabulary`` (a list of texts, or the name of a small vocabulary), ``accepts`` and ``rejects``
(complete texts), ``dead`` (texts that are not even the beginning of an accepted one),
``allowed_next`` (after a text exactly these tokens are allowed; ``<stop>`` stands for the stop
tokens) and ``error`` (the name of the class of errors; compiling must raise it).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from maskwright.frontends.ebnf import compile_ebnf
from maskwright.frontends.json_schema import compile_json_schema
from maskwright.frontends.regex import lower
from maskwright.ir import Builder

from vocabularies import TestVocabulary, listed_vocabulary, vocabulary

CORPUS = Path(__file__).parent / "data" / "corpus"
STOP = "<stop>"


@dataclass(frozen=True)
class CorpusCase:
    """One case."""

    name: str
    kind: str
    grammar: Any
    vocabulary: Any
    accepts: list[str]
    rejects: list[str]
    options: dict[str, Any] = field(default_factory=dict)
    dead: list[str] = field(default_factory=list)
    allowed_next: dict[str, list[str]] = field(default_factory=dict)
    error: str | None = None

    def tokens(self) -> TestVocabulary:
        """The vocabulary."""
        if isinstance(self.vocabulary, str):
            return vocabulary(self.vocabulary)
        return listed_vocabulary(self.vocabulary)

    def ir(self) -> bytes:
        """The grammar as IR."""
        return compile_source(self.kind, self.grammar, self.options)

    def describe(self) -> str:
        """The grammar for a message."""
        return f"{self.name}: {self.kind} {json.dumps(self.grammar, ensure_ascii=False)}"


def compile_source(kind: str, grammar: Any, options: dict[str, Any]) -> bytes:
    """The IR of an EBNF text, a regular expression or a schema."""
    if kind == "ebnf":
        return compile_ebnf(grammar, **options)
    if kind == "regex":
        builder = Builder()
        root = builder.rule("root")
        builder.define(root, lower(builder, grammar, search=False, **options))
        return builder.finish(root)
    return compile_json_schema(grammar, **options)[0]


def corpus_cases() -> list[CorpusCase]:
    """All cases, file by file."""
    return [
        CorpusCase(**case)
        for path in sorted(CORPUS.glob("*.json"))
        for case in json.loads(path.read_text(encoding="utf-8"))
    ]


def greedy_tokens(text: bytes, tokens: TestVocabulary) -> list[int] | None:
    """A text as ids, longest tokens first; None if that does not spell it."""
    ids = []
    at = 0
    longest = max(map(len, tokens.ids))
    while at < len(text):
        for length in range(min(longest, len(text) - at), 0, -1):
            token = tokens.ids.get(text[at : at + length])
            if token is not None:
                ids.append(token)
                at += length
                break
        else:
            return None
    return ids
