"""Small worlds of JSON: a schema against every value of a small universe, with a judge.

The judge is the ``jsonschema`` library (draft 2020-12), which knows nothing of grammars. For one
schema ``check_world`` verifies, whatever keywords it uses:

1. every value of the universe is read iff it is valid, in several spellings;
2. every prefix of a valid text is allowed by the masks, byte by byte;
3. walks through the masks, at random and along all short texts over a small alphabet, can always
   be ended, and end in valid texts;
4. for a vocabulary with long and odd tokens the mask of a step is what ``accept_token`` says.

Together these say that the masks are the truth over the small world: (1) and (2) that nothing valid
is refused, (3) that nothing allowed leads nowhere or to something invalid.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import jsonschema

from core_adapter import CoreMatcher
from json_spellings import spellings
from maskwright.errors import UnsatisfiableGrammarError, UnsupportedFeatureError
from maskwright.frontends.json_schema import compile_json_schema
from oracle import DisagreementError, Oracle
from vocabularies import vocabulary

Schema = Any
Judge = Callable[[Any], bool]

OPTIONS = {
    "any_order": True,
    "strict_mode": False,
    "assert_format": False,
    "max_whitespace_cnt": 1,
}
SCALARS = (None, False, True, 0, 1, 2, -1, 1.5, 10, "", "a", "b", "ab")
KEYS = ("a", "b", "c")
EXPONENTS = [b"e%d" % exponent for exponent in sorted(range(-30, 31), key=abs)]
KEY_TEXTS = [key.encode() for key in KEYS]
MAX_STEPS_TO_END = 2000
N_SPELLINGS = 3


def judge_of(schema: Schema) -> Judge:
    """Whether a value is valid, by draft 2020-12."""
    return jsonschema.Draft202012Validator(schema).is_valid


def values_over(scalars: Iterable[Any], keys: Iterable[str]) -> Iterator[Any]:
    """Scalars, arrays and objects of up to two, and one level more of each."""
    scalars, keys = list(scalars), list(keys)
    yield from scalars
    flat: list[Any] = [[], {}]
    for n in (1, 2):
        flat += [list(items) for items in itertools.product(scalars, repeat=n)]
        for names in itertools.combinations(keys, n):
            flat += [
                dict(zip(names, items, strict=True))
                for items in itertools.product(scalars, repeat=n)
            ]
    yield from flat
    few = [None, 1, "a"]
    for names in itertools.combinations(keys, 3):
        yield from (
            dict(zip(names, items, strict=True)) for items in itertools.product(few, repeat=3)
        )
    yield from (list(items) for items in itertools.product(few, repeat=3))
    inner = [[], [1], ["a", 1], {}, {"a": 1}, {"a": "b", "b": 1}]
    for value in inner:
        yield [value]
        yield from ([value, other] for other in (1, *inner[::2]))
        yield from ({key: value} for key in keys)
        yield {keys[0]: value, keys[1]: value}


@cache
def universe() -> tuple[Any, ...]:
    """The values over SCALARS and KEYS."""
    return tuple(values_over(SCALARS, KEYS))


def open_string(text: bytes) -> bytes | None:
    """The content so far of the string that is open at the end of a JSON text, if one is."""
    content: bytes | None = None
    i = 0
    while i < len(text):
        byte = text[i : i + 1]
        if content is None:
            content = b"" if byte == b'"' else None
        elif byte == b'"':
            content = None
        else:
            step = 2 if byte == b"\\" else 1
            content += text[i : i + step]
            i += step - 1
        i += 1
    return content


def _strings_in(schema: Schema) -> Iterator[str]:
    """The member names and string constants of a schema."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key in ("properties", "dependentRequired", "dependentSchemas", "dependencies"):
                yield from value
                yield from re.findall(r"\w+", json.dumps(value))
            if key in ("const", "enum", "required"):
                yield from re.findall(r"\w+", json.dumps(value))
            yield from _strings_in(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _strings_in(value)


@dataclass
class World:
    """One schema, compiled for the vocabularies at hand, and its judge.

    Args:
        schema: The schema.
        judge: Says which values are valid; draft 2020-12 by default.
        options: Options of the front-end beside OPTIONS.
        exact: Every valid value has a text; False where the options narrow, as strict mode does.
        loads: Reads a JSON text for the judge.
    """

    schema: Schema
    judge: Judge | None = None
    options: dict[str, Any] = field(default_factory=dict)
    exact: bool = True
    loads: Callable[[str], Any] = json.loads
    ir: bytes = field(init=False)
    empty: bool = field(init=False, default=False)
    _words: list[bytes] = field(init=False)  # strings that may help to end a text

    def __post_init__(self) -> None:
        self.judge = self.judge or judge_of(self.schema)
        self._words = [word.encode() for word in {*_strings_in(self.schema), *KEYS, "ab", "aaaa"}]
        self._words.sort()
        self.ir = compile_json_schema(self.schema, **{**OPTIONS, **self.options})[0]
        try:
            CoreMatcher.compile(self.ir, vocabulary("bytes"))
        except UnsatisfiableGrammarError:
            self.empty = True

    def fail(self, what: str) -> None:
        """Raises with the schema and the options."""
        source = json.dumps(self.schema, ensure_ascii=False)
        raise DisagreementError(f"{what}\n  schema: {source}\n  options: {self.options}")

    def valid(self, value: Any) -> bool:
        """The judge's verdict."""
        assert self.judge is not None
        return self.judge(value)

    def check_verdicts(self, values: Iterable[Any], n_prefixes: int = 40) -> int:
        """Checks (1) for values, and (2) for the first few valid ones; returns how many are."""
        matcher = None if self.empty else CoreMatcher.compile(self.ir, vocabulary("bytes"))
        n_valid = 0
        for value in values:
            valid = self.valid(value)
            n_valid += valid
            for text in self._spellings(value):
                fork = None if matcher is None else matcher.fork()
                got = bool(fork and fork.accept_bytes(text.encode()) and fork.is_completed())
                if got != valid and (got or self.exact):
                    self.fail(f"{text} is {'valid' if valid else 'invalid'}, the core disagrees")
                if got and matcher is not None and n_valid <= n_prefixes:
                    self._check_prefixes(matcher.fork(), text.encode())
        return n_valid

    def _spellings(self, value: Any) -> set[str]:
        """Some texts of a value, always the same."""
        rng = random.Random(repr(value))
        most = {**OPTIONS, **self.options}["max_whitespace_cnt"]
        return {*spellings(value, rng, N_SPELLINGS, max_whitespace=most)}

    def _check_prefixes(self, matcher: CoreMatcher, text: bytes) -> None:
        ids = matcher.vocabulary.ids
        for i, byte in enumerate(text):
            token = ids[bytes([byte])]
            if token not in matcher.allowed_tokens():
                self.fail(f"{text!r} is valid, but its byte {i} is not in the mask")
            if not matcher.accept_token(token):
                self.fail(f"{text!r} is valid, but its byte {i} is refused")

    def end(self, matcher: CoreMatcher, rng: random.Random, text: bytes = b"") -> bytes:
        """Ends a text that the matcher has read, with tokens that tend to end things.

        Checks that the masks are never empty and that an end is found. Returns the whole text.
        """
        stops = matcher.vocabulary.stop_ids
        for _ in range(MAX_STEPS_TO_END):
            allowed = matcher.allowed_tokens()
            if not allowed:
                self.fail(f"the mask is all zero after {text!r}")
            step = self._step_to_end(matcher, text, rng)
            if step is None:
                token = next((t for t in stops if t in allowed), rng.choice(sorted(allowed)))
                if token in stops:
                    return text
                step = matcher.vocabulary.tokens[token]
            if not matcher.accept_bytes(step):
                self.fail(f"{step!r} is allowed, but refused after {text!r}")
            text += step
        self.fail(f"no end is found in {MAX_STEPS_TO_END} steps: {text!r}")
        raise AssertionError

    def _step_to_end(self, matcher: CoreMatcher, text: bytes, rng: random.Random) -> bytes | None:
        """What may lead to an end: a string of the schema within strings, brackets elsewhere."""
        content = open_string(text)
        if content is None:
            if matcher.is_completed():
                return None
            others = [bytes([b]) for b in rng.sample(b'"",:tn[{', 8)]
            # Digits are many; an exponent often ends what they have begun.
            numbers = [*EXPONENTS, *(bytes([b]) for b in rng.sample(b"0123456789-", 11))]
            first, last = (numbers, others) if rng.random() < 0.25 else (others, numbers)
            steps = [b"}", b"]", *first, *last]
        else:
            words = KEY_TEXTS if rng.random() < 0.5 else self._words
            rests = [w[len(content) :] + b'"' for w in words if w.startswith(content)]
            letters = rng.sample((b"a", b"b", b"x"), 3)
            steps = [b'"', *rng.sample(rests, len(rests)), *letters]
            if rng.random() < 0.8:
                steps.append(steps.pop(0))
        return next((step for step in steps if matcher.fork().accept_bytes(step)), None)

    def check_ends(self, alphabet: bytes, length: int, rng: random.Random, limit: int) -> int:
        """Checks (3) along the allowed texts over an alphabet; returns how many there were."""
        if self.empty:
            return 0
        start = CoreMatcher.compile(self.ir, vocabulary("bytes"))
        ids = start.vocabulary.ids
        level: list[tuple[bytes, CoreMatcher]] = [(b"", start)]
        n_checked = 0
        for _ in range(length + 1):
            following = []
            for text, matcher in level:
                n_checked += 1
                self._check_end(text, matcher.fork(), rng)
                allowed = matcher.allowed_tokens()
                for byte in alphabet:
                    if ids[bytes([byte])] in allowed:
                        fork = matcher.fork()
                        if not fork.accept_token(ids[bytes([byte])]):
                            self.fail(f"{bytes([byte])!r} is in the mask, but refused: {text!r}")
                        following.append((text + bytes([byte]), fork))
            if len(following) > limit:
                following = rng.sample(following, limit)
            level = following
        return n_checked

    def _check_end(self, text: bytes, matcher: CoreMatcher, rng: random.Random) -> None:
        whole = self.end(matcher, rng, text)
        if not self.valid(self.loads(whole.decode())):
            self.fail(f"{whole!r} is allowed, but invalid")

    def check_walks(self, rng: random.Random, n_walks: int, n_steps: int = 12) -> None:
        """Checks (3) and (4) on random walks over tokens of all kinds."""
        if self.empty:
            return
        for _ in range(n_walks):
            oracle = Oracle(
                self.ir, vocabulary("json"), json.dumps(self.schema), with_reference=False
            )
            text = oracle.walk(rng, n_steps, every=3)
            if text is not None and not self.valid(self.loads(text.decode())):
                oracle.fail(f"{text!r} is allowed, but invalid")


def check_world(
    schema: Schema,
    *,
    seed: int = 0,
    values: Iterable[Any] | None = None,
    judge: Judge | None = None,
    options: dict[str, Any] | None = None,
    exact: bool = True,
    alphabet: bytes = b'{}[]",:ab1-.n',
    length: int = 7,
    n_walks: int = 4,
    limit: int = 24,
) -> int:
    """Checks one schema in full; returns how many values of the universe are valid."""
    world = World(schema, judge=judge, options=options or {}, exact=exact)
    rng = random.Random(seed)
    n_valid = world.check_verdicts(universe() if values is None else values)
    world.check_ends(alphabet, length, rng, limit)
    world.check_walks(rng, n_walks)
    return n_valid


def refused_features(schemas: Iterable[Schema], options: dict[str, Any] | None = None) -> list[str]:
    """The features that are named where a schema is refused, one for each such schema.

    Tests on random schemas skip those; how many they are may not grow unseen.
    """
    features = []
    for schema in schemas:
        try:
            World(schema, options=options or {})
        except UnsupportedFeatureError as error:
            features.append(error.feature)
    return features
