"""Threads that wait for a grammar: neither for ever, nor while they keep Python to themselves."""

from __future__ import annotations

import subprocess
import sys

import pytest

WAIT = 50
"""Seconds after which a program counts as stuck."""
ROUNDS = 60_000

PROGRAM = f"""
import sys, threading
from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo

info = TokenizerInfo([bytes((byte,)) for byte in range(256)] + ["</s>"], stop_token_ids=256)
compiler = GrammarCompiler(info)
schema = {{"type": "object", "properties": {{"a": {{"type": "integer"}}}}}}
compiled = compiler.compile_json_schema(schema)
running = True
sys.setswitchinterval(1e-6)

def look():
    while running:
        LOOK

def compute():
    matcher = GrammarMatcher(compiled)
    for _ in range({ROUNDS}):
        matcher.reset()
        matcher.remaining_tokens = 40
        matcher.min_tokens_to_finish()

looking = threading.Thread(target=look)
computing = [threading.Thread(target=compute) for _ in range(3)]
for thread in (looking, *computing):
    thread.start()
for thread in computing:
    thread.join()
running = False
looking.join()
print("all have ended")
"""


@pytest.mark.parametrize(
    "look",
    [
        "compiler.stats()",
        "compiled.memory_size_bytes",
        "compiler.get_cache_size_bytes()",
        "compiled.serialize(include_masks=True)",
        "GrammarMatcher(compiled).fork()",
    ],
)
def test_whoever_looks_at_a_grammar_stops_nobody(look: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("LOOK", look)],
        capture_output=True,
        text=True,
        check=False,
        timeout=WAIT,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "all have ended\n", "")
