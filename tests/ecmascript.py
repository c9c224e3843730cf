"""Regular expressions as ECMAScript has them: questions to one Node process that stays alive.

A question and its answer are one line of JSON each. Costs some 50 µs a question.

Node lets an empty match stand between the halves of a surrogate pair, which ECMA-262 does not under
``u``; and its tables lack the newest characters, which matters to patterns that ask for properties.
It knows no answer to such a text.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from typing import Any

NODE = shutil.which("node")
NO_NODE = "node is not on PATH (package nodejs of Debian): ECMAScript's RegExp judges the patterns"

# [[pattern, flags, [text, ...]], ...] in; out for each an error text or [true, false or null, ...].
_SCRIPT = r"""
const known = new Map();
function read(pattern, flags) {
  const key = flags + '/' + pattern;
  if (!known.has(key)) {
    let regex;
    try { regex = new RegExp(pattern, flags); } catch (error) { regex = String(error); }
    known.set(key, regex);
  }
  return known.get(key);
}
const pair = /[\uD800-\uDBFF][\uDC00-\uDFFF]/;
function find(regex, text) {
  if (/\\[pP]/.test(regex.source) && /\p{Cn}/u.test(text)) return null;
  const match = regex.exec(text);
  if (match === null) return false;
  const splits = match.index > 0 && pair.test(text.slice(match.index - 1, match.index + 1));
  return splits && regex.unicode ? null : true;
}
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const answers = JSON.parse(line).map(([pattern, flags, texts]) => {
    const regex = read(pattern, flags);
    return typeof regex === 'string' ? regex : texts.map((text) => find(regex, text));
  });
  process.stdout.write(JSON.stringify(answers) + '\n');
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
        encoding="utf-8",
        bufsize=1,
    )


def ask(questions: list[tuple[str, str, list[str]]]) -> list[Any]:
    """Return, per (pattern, flags, texts), an error text or whether each text has a match.

    Where Node cannot know, that is None.
    """
    process = _process()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(questions) + "\n")
    answers: list[Any] = json.loads(process.stdout.readline())
    return answers


def ask_both(questions: list[tuple[str, str, list[str]]]) -> list[Any]:
    """Return, per (pattern, flags, texts), an error text or pairs (match somewhere, whole match).

    A whole match has no multiline form.
    """
    whole = [(f"^(?:{p})$", flags.replace("m", ""), texts) for p, flags, texts in questions]
    return [
        found if isinstance(found, str) else list(zip(found, all_of_it, strict=True))
        for found, all_of_it in zip(ask(questions), ask(whole), strict=True)
    ]


@cache
def search(pattern: str, text: str) -> bool:
    """Whether a pattern matches somewhere in a text; answers are kept.

    The pattern is read with the flag `u`, and without it where that is a syntax error.

    Raises:
        ValueError: The pattern is none.
        UnsureError: Node cannot know.
    """
    strict, loose = ask([(pattern, "u", [text]), (pattern, "", [text])])
    answer = loose if isinstance(strict, str) else strict
    if isinstance(answer, str):
        # A fault of the value, whatever type Node's answer has.
        raise ValueError(f"{pattern!r} is no pattern, Node answers {answer!r}")  # noqa: TRY004
    if answer[0] is None:
        raise UnsureError(text)
    return bool(answer[0])
