"""Regular expressions as ECMAScript has them: questions to one Node process that stays alive.

A pattern is read with the flag `u`, and without it where that is a syntax error. Costs some 50 µs a
question; answers are kept.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache

NODE = shutil.which("node")
NO_NODE = "node is not on PATH (package nodejs of Debian): ECMAScript's RegExp judges the patterns"

# One line in, a pattern and a string; one character out. "?": the pattern asks for properties of
# characters, and the string holds some that are newer than the process's tables.
_SCRIPT = r"""
const known = new Map();
function read(pattern) {
  for (const flags of ['u', '']) {
    try { return new RegExp(pattern, flags); } catch (error) { if (!flags) return null; }
  }
}
function answer(pattern, text) {
  if (!known.has(pattern)) known.set(pattern, read(pattern));
  const regex = known.get(pattern);
  if (regex === null) return '!';
  if (/\\[pP]/.test(pattern) && /\p{Cn}/u.test(text)) return '?';
  return regex.test(text) ? '1' : '0';
}
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  process.stdout.write(answer(...JSON.parse(line)) + '\n');
});
"""


class UnsureError(Exception):
    """A judge cannot know: characters newer than its tables, exponents beyond its numbers."""


@cache
def _process() -> subprocess.Popen[str]:
    assert NODE is not None, NO_NODE
    return subprocess.Popen(
        [NODE, "-e", _SCRIPT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="ascii",
        bufsize=1,
    )


@cache
def search(pattern: str, text: str) -> bool:
    """Whether a pattern matches somewhere in a text.

    Raises:
        ValueError: The pattern is none.
        UnsureError: Depends on characters that Node's tables do not have yet.
    """
    process = _process()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps([pattern, text]) + "\n")
    answer = process.stdout.readline().strip()
    if answer in ("0", "1"):
        return answer == "1"
    if answer == "?":
        raise UnsureError(text)
    raise ValueError(f"{pattern!r} is no pattern, Node answers {answer!r}")
