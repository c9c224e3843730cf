r"""Random regular expressions as ECMA-262 has them, for `pattern` and `patternProperties`.

A few need the reading of Annex B (a syntax error with the flag `u`); those have only characters
for which code points and UTF-16 units come to the same. Only single characters are repeated without
a bound, so that an engine that backtracks is never slow.
"""

from __future__ import annotations

import re
from random import Random

_CHARACTERS = (
    *"abcxyzAZ019 _-é日ß", "😀", "𝒳", r"\.", r"\/", r"\\", r"\+", r"\$", r"\t", r"\n", r"\x00",
    r"\x41", r"\u00e9", r"\u{1F600}", r"\ud83d\ude00", r"\cJ", '"', "'", "#", "&&", "~",
)  # fmt: skip
_SETS = (
    ".", r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", "[a-z]", "[^a-z]", "[a-fA-F0-9]", "[^0-9]",
    r"[\w.-]", r"[^\s]", r"[\d,]", "[é-ü]", "[あ-ん]", "[😀-😎]", "[^😀]", r"[\u0400-\u04ff]",
    r"[\u{1F600}-\u{1F64F}]", r"\p{L}", r"\p{Lu}", r"\P{L}", r"\p{N}", r"\p{Script=Greek}",
    r"\p{Emoji}", r"[\p{L}\p{N}_]", r"[^\p{L}]", r"[\]\\^-]", r"[\b]", "[^]", r"[\s\S]",
    "[\x00-\x1f]", '["\\\\]',
)  # fmt: skip
_LEGACY = (
    r"\-a", r"a\_", "{", "a{,2}", r"[\w-a]b", "x{y}", "]", r"\@[a-c]", r"^\_\-$", "a{1", r"\8",
    r"\012", r"\c", r"[\-\_]c",
)  # fmt: skip
_COUNTS = ("{0}", "{1}", "{2}", "{3}", "{0,1}", "{1,2}", "{0,3}", "{2,4}")
_OPEN_COUNTS = ("*", "+", "?", "{0,}", "{1,}", "{2,}", *_COUNTS)
_GROUPS = ("(", "(?:", "(?<name>")
_ASSERTIONS = (r"\b", r"\B", "(?=a)", "(?!b)", r"(?=.*\d)", r"(?!.*\s)", "(?<=a)", "(?<!b)")


def random_pattern(rng: Random) -> str:
    """A pattern."""
    if rng.random() < 0.05:
        return rng.choice(_LEGACY)
    pattern = _alternatives(rng, 2)
    if rng.random() < 0.1:
        pattern = rng.choice(_ASSERTIONS) + pattern
    if "(?<name>" in pattern:  # a name may be used once
        pattern = pattern.replace("(?<name>", "(?:").replace("(?:", "(?<name>", 1)
    if rng.random() < 0.15:
        return pattern
    if "|" in pattern:
        pattern = f"(?:{pattern})"
    start, end = rng.choice((("^", ""), ("", "$"), ("^", "$"), ("^", "$")))
    return start + pattern + end


def _alternatives(rng: Random, depth: int) -> str:
    count = rng.choice((1, 1, 1, 2, 3))
    return "|".join(_sequence(rng, depth) for _ in range(count))


def _sequence(rng: Random, depth: int) -> str:
    return "".join(_part(rng, depth) for _ in range(rng.choice((0, 1, 1, 2, 2, 3))))


def _part(rng: Random, depth: int) -> str:
    kind = rng.random()
    if kind < 0.2 and depth:
        body = rng.choice(_GROUPS) + _alternatives(rng, depth - 1) + ")"
        return body + (rng.choice(("?", *_COUNTS)) if rng.random() < 0.5 else "")
    if kind < 0.23:
        return rng.choice(("^", "$", "(?:^|a)", "(?:$|b)"))
    if kind < 0.6:
        literal = rng.choice(_CHARACTERS)
        return literal + (rng.choice(_OPEN_COUNTS) if rng.random() < 0.2 else "")
    chosen = rng.choice(_SETS)
    if rng.random() < 0.6:
        chosen += rng.choice(_OPEN_COUNTS) + rng.choice(("", "", "?"))
    return chosen


# What Python's `re` lacks. Properties become one character that has them: Python's patterns are
# only asked for strings that are likely to match.
_FOREIGN = re.compile(
    r"\\u[dD]([89abAB]..)\\u[dD]([c-fC-F]..)|\\u\{(\w+)\}|\\[pP]\{(\w+=?\w*)\}|\\c(.)|\(\?<n|"
    r"\[\^\]|\\/|\$|\\.",
    re.DOTALL,
)
_EXAMPLES = {"L": "é", "Lu": "É", "N": "7", "Script=Greek": "λ", "Emoji": "😀"}


def python_pattern(pattern: str) -> str:
    """A pattern of Python that matches about the same; `re.error` may still be its answer."""
    return _FOREIGN.sub(_in_python, pattern)


def _in_python(match: re.Match[str]) -> str:
    text = match.group()
    high, low, code, name, control = match.groups()
    if high:
        units = bytes.fromhex(f"d{high}d{low}")
        return units.decode("utf-16-be")
    if code:
        return chr(int(code, 16))
    if name:
        return _EXAMPLES[name] if text[1] == "p" else "%"
    if control:
        return chr(ord(control) % 32)
    return {"(?<n": "(?P<n", "[^]": r"[\s\S]", "\\/": "/", "$": r"\Z"}.get(text, text)
