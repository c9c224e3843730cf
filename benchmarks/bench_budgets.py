"""What token budgets cost: the first number of tokens, masks near the end, and the same once more.

    python -m benchmarks.bench_budgets

Each text is written by choosing among the allowed tokens, short ones mostly, with 2 and with 20
tokens more than the least, so that most of its steps are near the end. Before that one text is
written without a budget: the masks of the grammar alone are no budget's. Figures are processor time
of the thread, which other work on the machine disturbs little.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

if __package__ in {None, ""}:  # started as a file: make the folder importable as a package
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.report import markdown_table
from benchmarks.tokens import find_tokenizer
from maskwright import CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo

MAX_STEPS = 60
EXTRA = (2, 20)
SEEDS = (0, 1)

_ROW = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
    "required": ["id", "name"],
}
CASES: dict[str, Any] = {
    "free string in an object": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
    "string and number": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "size": {"type": "number"}},
        "required": ["name", "size"],
    },
    "any object": {"type": "object"},
    "array of objects": {"type": "array", "items": _ROW, "minItems": 2},
    "any value": {},
    "string of 20 to 30 characters": {"type": "string", "minLength": 20, "maxLength": 30},
    "three members of any names": {"type": "object", "minProperties": 3},
    "array of 1,000 values": {"type": "array", "minItems": 1000},
    "12 integers that must differ": {
        "type": "array",
        "items": {"type": "integer"},
        "minItems": 12,
        "uniqueItems": True,
    },
    "4 objects that must differ": {
        "type": "array",
        "items": _ROW,
        "minItems": 4,
        "uniqueItems": True,
    },
}
REGEXES = {"regular expression `[a-z ]{0,200}`": "[a-z ]{0,200}"}
GRAMMARS = {
    "EBNF expressions": 'root ::= root "+" root | root "*" root | "(" root ")" | [0-9]+',
}


class Texts:
    """Writes texts and remembers what the masks took, in milliseconds."""

    def __init__(self, info: TokenizerInfo) -> None:
        """Take the tokens' lengths from the vocabulary."""
        texts = info.decoded_vocab
        self.lengths = [len(text) or 1000 for text in texts]
        self.lengths += [1000] * (info.vocab_size - len(texts))
        self.row = np.zeros((1, -(-info.vocab_size // 32)), dtype=np.int32)

    def write(self, matcher: GrammarMatcher, seed: int) -> list[float]:
        """Write one text, or its first steps."""
        rng = random.Random(seed)
        times: list[float] = []
        while not matcher.is_terminated() and len(times) < MAX_STEPS:
            begin = time.thread_time()
            matcher.fill_next_token_bitmask(self.row)
            times.append((time.thread_time() - begin) * 1e3)
            allowed = np.flatnonzero(np.unpackbits(self.row.view(np.uint8), bitorder="little"))
            some = [int(token) for token in rng.choices(allowed, k=40)]
            if rng.random() < 0.7:
                some = sorted(some, key=lambda token: self.lengths[token])[:8]
            others = [token for token in some if token not in matcher.stop_token_ids]
            matcher.accept_token(rng.choice(others or some))
        return times


def _compile(info: TokenizerInfo, name: str) -> CompiledGrammar:
    compiler = GrammarCompiler(info)
    if name in REGEXES:
        return compiler.compile_regex(REGEXES[name])
    if name in GRAMMARS:
        return compiler.compile_grammar(GRAMMARS[name])
    return compiler.compile_json_schema(CASES[name], strict_mode=False)


def _measure(info: TokenizerInfo, texts: Texts, name: str) -> dict[str, str]:
    firsts: list[float] = []
    cold: list[float] = []
    warm: list[float] = []
    for seed in SEEDS:
        for extra in EXTRA:
            compiled = _compile(info, name)
            texts.write(GrammarMatcher(compiled), seed)
            begin = time.thread_time()
            least = GrammarMatcher(compiled).min_tokens_to_finish()
            firsts.append((time.thread_time() - begin) * 1e3)
            budget = least + extra
            cold += texts.write(GrammarMatcher(compiled, token_budget=budget), seed)
            warm += texts.write(GrammarMatcher(compiled, token_budget=budget), seed)
    return {
        "grammar": name,
        "first number": f"{statistics.median(firsts):.2f}",
        "mask, median": f"{statistics.median(cold):.2f}",
        "largest": f"{max(cold):.1f}",
        "once more, median": f"{statistics.median(warm):.3f}",
        "largest then": f"{max(warm):.2f}",
    }


def main() -> None:
    """Print a table."""
    file = find_tokenizer("llama3_1")
    info = TokenizerInfo.from_file(file.path)
    texts = Texts(info)
    rows = [_measure(info, texts, name) for name in (*CASES, *REGEXES, *GRAMMARS)]
    print(f"Milliseconds; vocabulary: {file.description}, {info.vocab_size:,} ids")
    print(markdown_table(list(rows[0]), [list(row.values()) for row in rows]))


if __name__ == "__main__":
    main()
