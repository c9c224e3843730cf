"""The subprocess of one scenario: `python -m benchmarks.hard.scenario NAME TOKENIZER SIZE STOP`.

Prints a JSON object: `figures`, or `wrong` with what was wrong.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.hard.scenarios import SCENARIOS, World
from benchmarks.hard.vocabularies import VOCABULARIES
from benchmarks.tokens import TokenizerFile, make_encoder
from benchmarks.worker import Memory


def execute(name: str, tokenizer: TokenizerFile) -> dict[str, float]:
    """Run a scenario; return its figures and the growth of memory."""
    library: Any = importlib.import_module("maskwright")
    if name in VOCABULARIES:
        return VOCABULARIES[name](library)
    info = library.TokenizerInfo.from_file(
        tokenizer.path, vocab_size=tokenizer.vocab_size, stop_token_ids=[tokenizer.stop_token_id]
    )
    world = World(library, info, make_encoder(tokenizer)[0])
    memory = Memory()
    figures = SCENARIOS[name](world)
    return {**figures, "growth, KiB": float(memory.finish()["growth_kib"])}


def main() -> None:
    """Run what the command line names."""
    name, path, size, stop = sys.argv[1:]
    tokenizer = TokenizerFile(Path(path), int(size), int(stop), "")
    try:
        result: dict[str, Any] = {"figures": execute(name, tokenizer)}
    except AssertionError as error:
        result = {"wrong": str(error)}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
