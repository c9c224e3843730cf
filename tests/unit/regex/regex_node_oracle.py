"""Verdicts of ECMA-262 itself: one Node process that answers many patterns per request.

A request is one line of JSON, ``[[pattern, flags, [text, ...]], ...]``; the answer one line with,
for each pattern, an error text or ``[[found, whole match], ...]``. Node lets an empty match stand
between the halves of a surrogate pair, which ECMA-262 does not under ``u``: ``found`` is null then.
"""

from __future__ import annotations

import json
import subprocess
from typing import Any

from typing_extensions import Self

_SCRIPT = r"""
const lines = require('node:readline').createInterface({input: process.stdin});
lines.on('line', (line) => {
  const answers = JSON.parse(line).map(([pattern, flags, texts]) => {
    try {
      const search = new RegExp(pattern, flags);
      const whole = new RegExp('^(?:' + pattern + ')$', flags.replace('m', ''));
      const pair = /[\uD800-\uDBFF][\uDC00-\uDFFF]/;
      const inPair = (text, at) => pair.test(text.slice(at - 1, at + 1));
      return texts.map((text) => {
        const match = search.exec(text);
        const unsure = match && flags.includes('u') && match.index > 0 && inPair(text, match.index);
        return [unsure ? null : match !== null, whole.test(text)];
      });
    } catch (error) {
      return String(error);
    }
  });
  process.stdout.write(JSON.stringify(answers) + '\n');
});
"""


class NodeOracle:
    """A running process; a context manager."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            ["node", "-e", _SCRIPT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()

    def ask(self, questions: list[tuple[str, str, list[str]]]) -> list[Any]:
        """Return, per (pattern, flags, texts), an error text or pairs (found, whole match)."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(questions) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())
