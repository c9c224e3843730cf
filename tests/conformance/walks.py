"""Random walks through the masks of a compiled schema, which must end in a valid text.

Idea: for some steps any allowed token is taken; from then on the walk goes for the end, by trying
what ends or fills values soonest, spelled in tokens that must be in the masks. Every mask must have
a token, and a bit must be what `accept_token` says. A walk that has found no end within a bound
says nothing: the schema may ask for a long text, or for one that is hard to guess.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from random import Random
from typing import Any

import numpy as np

from maskwright import CompiledGrammar, GrammarMatcher, TokenizerInfo
from maskwright.errors import MaskwrightError
from maskwright.frontends.regex import lower
from maskwright.ir import Builder, nodes
from maskwright.ir.reader import read

MAX_STEPS = 1500
"""Steps after which a walk is given up."""
# Of so many allowed tokens hardly any is one of JSON's structure.
_MANY = 500

_TOKENS = (
    '{"', '":', '": ', '","', '", "', '"}', '"]', "}}", "]}", "},{", '":"', '": "', "true", "false",
    "null", "[[", "[{", "00", "12", "ab", "é", "\\u00", '\\"', "  ", ", ", "1.5", "e+", "-1", '""',
    "\n  ", "日本", "😀",
)  # fmt: skip
_STRUCTURAL = b'{}[]",:0123456789.-+eE\\'
_MAX_PREFIX = 16
_CLOSERS = ("}", "]")
# An escape that is complete, or a quote.
_QUOTES = re.compile(rb'\\.|"')
_FILLERS = ("null", "0", '""', "[]", "{}", "true", "false", "1", '"a"', "-1")


def walk_vocabulary() -> TokenizerInfo:
    """Return the vocabulary of the walks: all bytes, some longer tokens, one that stops."""
    tokens = [bytes((byte,)) for byte in range(256)] + [token.encode() for token in _TOKENS]
    return TokenizerInfo([*tokens, b""], stop_token_ids=len(tokens))


class WalkTokens:
    """A vocabulary as walks look at it.

    Attributes:
        texts: The bytes of each token.
        stops: The tokens that end the text.
        ids: A token with these bytes, for all bytes that a token has.
    """

    def __init__(self, info: TokenizerInfo) -> None:
        self.texts = info.decoded_vocab
        self.stops = frozenset(info.stop_token_ids)
        special = {*self.stops, *info.special_token_ids}
        self.ids = {text: i for i, text in enumerate(self.texts) if i not in special}
        self.structural = np.array([not text.strip(_STRUCTURAL) for text in self.texts])

    def prefixes(self, data: bytes) -> list[int]:
        """The tokens that a text may begin with, the longest left out."""
        ends = range(1, min(len(data), _MAX_PREFIX) + 1)
        return [self.ids[data[:end]] for end in ends if data[:end] in self.ids]


class Hints:
    """What a walk tries when it goes for the end: the keys and constants of the schema.

    Keys that are required somewhere come first.
    """

    def __init__(self, schema: Any) -> None:
        required: dict[str, None] = {}
        keys: dict[str, None] = {}
        constants: dict[str, None] = {}
        patterns: dict[str, None] = {}
        stack = [schema]
        while stack:
            value = stack.pop()
            if isinstance(value, dict):
                stack += value.values()
                if isinstance(value.get("required"), list):
                    required |= dict.fromkeys(map(_key, value["required"]))
                if isinstance(value.get("properties"), dict):
                    keys |= dict.fromkeys(map(_key, value["properties"]))
                members = value.get("enum")
                candidates = members[:20] if isinstance(members, list) else []
                candidates += [value[k] for k in ("const", "minimum", "maximum") if k in value]
                constants |= dict.fromkeys(json.dumps(c, default=str) for c in candidates)
                if isinstance(value.get("pattern"), str):
                    patterns[value["pattern"]] = None
            elif isinstance(value, list):
                stack += value
        self.keys = [*required, *(key for key in keys if key not in required)]
        self.constants = list(constants)
        found = [example for pattern in patterns for example in examples_of(pattern)]
        self.examples = [json.dumps(example)[1:] for example in found]


def examples_of(pattern: str) -> list[str]:
    """Return short texts that a pattern matches, one per alternative; none where it is hard."""
    builder = Builder()
    root = builder.rule("root")
    try:
        builder.define(root, lower(builder, pattern, search=False))
        program = read(builder.finish(root))
        top = program.rules[program.root].expr
        node = program.exprs[top]
        options = node.items if isinstance(node, nodes.Choice) else (top,)
        return [_example(program, option) for option in options[:20]]
    except (MaskwrightError, NotImplementedError, UnicodeDecodeError):
        return []


def _example(program: nodes.Program, expr: int) -> str:
    node = program.exprs[expr]
    if isinstance(node, nodes.Literal):
        return node.data.decode()
    if isinstance(node, nodes.Sequence):
        return "".join(_example(program, item) for item in node.items)
    if isinstance(node, nodes.Repeat):
        return _example(program, node.body) * node.minimum if node.minimum else ""
    if isinstance(node, nodes.Choice):
        return _example(program, node.items[0])
    if isinstance(node, nodes.Empty):
        return ""
    if isinstance(node, nodes.CharClass) and node.ranges:
        low, high = next((r for r in node.ranges if r[1] >= 0x30), node.ranges[0])
        return chr(max(low, min(high, 0x30)))
    raise NotImplementedError


def _key(name: Any) -> str:
    return json.dumps(name) + ":"


class Walk:
    """One walk.

    Attributes:
        text: Where the walk has come.
        problem: What went wrong, or None.
        unfinished: It was given up.
        steps: How many were made.
    """

    def __init__(
        self,
        compiled: CompiledGrammar,
        tokens: WalkTokens,
        rng: Random,
        hints: Hints,
        *,
        ascii_only: bool = False,
    ) -> None:
        self.rng = rng
        self.hints = hints
        self.ascii_only = ascii_only
        self.info = compiled.tokenizer_info
        self.tokens = tokens
        self.matcher = GrammarMatcher(compiled)
        self.mask = np.zeros((1, (self.info.vocab_size + 31) // 32), dtype=np.int32)
        self.text = b""
        self.problem: str | None = None
        self.unfinished = False
        self.steps = 0
        self.inside = False
        self.read = 0
        self.check_at = rng.randrange(40)

    def run(self) -> None:
        """Walk to the end, or until something is wrong."""
        free = self.rng.choice((0, 5, 20, 80))
        for step in range(MAX_STEPS):
            self.steps = step
            if self.problem is not None or self.matcher.is_terminated():
                return
            if step == self.check_at:
                self._compare_mask()
            if step >= free and self._head_for_the_end():
                return
            if step < free:
                token = self._choose()
                if token is not None:
                    self._take(token)
        self.unfinished = True

    def spell(self, text: bytes) -> bool:
        """Read a text in tokens, which must all be in the masks; False if it is refused.

        Every token that the rest of the text begins with must be; any of them is taken.
        """
        if not self.matcher.fork().accept_string(text):
            return False
        while text and self.problem is None:
            self.matcher.fill_next_token_bitmask(self.mask)
            prefixes = self.tokens.prefixes(text)
            for token in prefixes:
                if not self._is_allowed(token):
                    self.problem = f"{text!r} is accepted, its token {token} is not in the mask"
            token = prefixes[-1] if self.rng.random() < 0.5 else self.rng.choice(prefixes)
            self._take(token)
            text = text[len(self.tokens.texts[token]) :]
        return True

    def _is_allowed(self, token: int) -> bool:
        """Whether the mask that was filled last has a token."""
        return bool(self.mask[0, token >> 5] >> (token & 31) & 1)

    def _allowed(self) -> np.ndarray:
        self.matcher.fill_next_token_bitmask(self.mask)
        bits = np.unpackbits(self.mask.view(np.uint8), bitorder="little")
        found = bits[: self.info.vocab_size].nonzero()[0]
        if not len(found):
            self.problem = "the mask is empty"
        return found

    def _choose(self) -> int | None:
        """Return any allowed token, often one of JSON's structure, rather no escape.

        With ``ascii_only`` one of ASCII if there is one.
        """
        allowed = self._allowed()
        rng = self.rng
        if not len(allowed):
            return None
        texts = self.tokens.texts
        if len(allowed) > _MANY and rng.random() < 0.3:
            structural = allowed[self.tokens.structural[allowed]]
            allowed = structural if len(structural) else allowed
        token = int(rng.choice(allowed))
        for _ in range(8):
            data = texts[token]
            odd = b"\\" in data or (data and not 0x20 <= data[0] < 0x80)
            if not odd or (not self.ascii_only and rng.random() < 0.1):
                return token
            token = int(rng.choice(allowed))
        if self.ascii_only:
            usual = [t for t in allowed if texts[t][:1].isascii() and t not in self.tokens.stops]
            usual = [t for t in usual if b"\\" not in texts[t]] or list(allowed)
            token = int(rng.choice(usual))
        return token

    def _take(self, token: int) -> None:
        data = b"" if token in self.tokens.stops else self.tokens.texts[token]
        if not self.matcher.accept_token(token):
            self.problem = f"token {token} ({data!r}) is in the mask and refused"
        self.text += data

    def _head_for_the_end(self) -> bool:
        """Make one step that shortens the way; True at the end."""
        if self.matcher.is_completed():
            return True
        inside = self._inside_string()
        hints = self.hints
        groups: tuple[Iterable[str], ...] = (
            _CLOSERS, hints.keys, hints.constants, _FILLERS, ":,"
        )  # fmt: skip
        if inside:
            groups = ('"', hints.examples)
        elif self.text[-1:].isalnum():
            groups = (_CLOSERS, ",")  # in a number, which could go on for ever
        for group in groups:
            for text in group:
                if self.spell(text.encode()):
                    return False
        token = self._choose()
        if token is not None:
            self._take(token)
        return False

    def _inside_string(self) -> bool:
        """Whether the text ends within a string; reads what has come since the last call."""
        for quote in _QUOTES.finditer(self.text, self.read):
            self.inside = self.inside != (quote.group() == b'"')
            self.read = quote.end()
        return self.inside

    def _compare_mask(self) -> None:
        """Compare some bits of the mask with what the matcher accepts."""
        allowed = self._allowed()
        some = [int(token) for token in self.rng.choices(allowed, k=8)] if len(allowed) else []
        for token in (*some, *self.rng.sample(range(self.info.vocab_size), 8)):
            if self.matcher.fork().accept_token(token) != self._is_allowed(token):
                self.problem = f"the bit of token {token} is wrong"
