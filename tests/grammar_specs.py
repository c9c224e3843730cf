"""Small grammars as nested tuples: to IR, to a readable form, and to their short words.

A spec is one of
``"a"``, ``"b"``, ... (one literal), ``""``, ``("ref", i)``, ``("class", "ab")``, ``("seq", x, y)``,
``("alt", x, y)``, ``("rep", x, low, high)``, and with regular operands ``("and", x, y)``,
``("not", x)``, ``("until", stops, excludes)``.
A grammar is a tuple of specs, one for each rule; rule 0 is the root.

``short_words`` is a second oracle, for the reference itself: the words up to a length, as the least
fixpoint of the obvious set equations.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from maskwright.ir import Builder

Spec = Any
Grammar = tuple[Spec, ...]

_REPEATS: tuple[tuple[int, int | None], ...] = ((0, None), (1, 2), (2, None))


def to_ir(grammar: Grammar) -> bytes:
    """The IR of a grammar."""
    builder = Builder()
    rules = [builder.rule("root" if i == 0 else f"r{i}") for i in range(len(grammar))]
    for rule, spec in zip(rules, grammar, strict=True):
        builder.define(rule, _expression(builder, rules, spec))
    return builder.finish(rules[0])


def _expression(builder: Builder, rules: list[int], spec: Spec) -> int:
    if spec == "":
        return builder.empty()
    if isinstance(spec, str):
        return builder.literal(spec.encode())
    kind, *args = spec
    if kind == "ref":
        return builder.ref(rules[args[0]])
    if kind == "class":
        return builder.char_class([(ord(c), ord(c)) for c in args[0]])
    if kind == "rep":
        return builder.repeat(_expression(builder, rules, args[0]), args[1], args[2])
    if kind == "until":
        return builder.text_until(*([t.encode() for t in texts] for texts in args))
    parts = [_expression(builder, rules, x) for x in args]
    if kind == "not":
        return builder.complement(parts[0])
    make = {"seq": builder.sequence, "alt": builder.choice, "and": builder.intersect}[kind]
    return make(parts)


def to_text(grammar: Grammar) -> str:
    """A readable form."""
    rules = (f"{'root' if i == 0 else f'r{i}'} ::= {_text(s)}" for i, s in enumerate(grammar))
    return "; ".join(rules)


def _text(spec: Spec) -> str:
    if isinstance(spec, str):
        return f'"{spec}"'
    kind, *args = spec
    if kind == "ref":
        return "root" if args[0] == 0 else f"r{args[0]}"
    if kind == "class":
        return f"[{args[0]}]"
    if kind == "rep":
        high = "" if args[2] is None else args[2]
        return f"{_text(args[0])}{{{args[1]},{high}}}"
    if kind == "until":
        return f"Until({args[0]}, excludes={args[1]})"
    if kind == "not":
        return f"Not({_text(args[0])})"
    sign = {"seq": " ", "alt": " | ", "and": " & "}[kind]
    return "(" + sign.join(map(_text, args)) + ")"


def all_specs(size: int, leaves: tuple[Spec, ...]) -> Iterator[Spec]:
    """All specs of exactly a size: leaves count 1, operators 1 plus their operands."""
    if size == 1:
        yield from leaves
        return
    for body in all_specs(size - 1, leaves):
        for low, high in _REPEATS:
            yield ("rep", body, low, high)
    for left_size in range(1, size - 1):
        for left in all_specs(left_size, leaves):
            for right in all_specs(size - 1 - left_size, leaves):
                yield ("seq", left, right)
                yield ("alt", left, right)


def all_words(letters: str, max_length: int) -> list[bytes]:
    """All words over some letters, short ones first."""
    return [
        "".join(word).encode()
        for length in range(max_length + 1)
        for word in itertools.product(letters, repeat=length)
    ]


def short_words(grammar: Grammar, letters: str, max_length: int) -> set[bytes]:
    """The words of a grammar over some letters, up to a length."""
    known: list[set[bytes]] = [set() for _ in grammar]
    universe = all_words(letters, max_length)
    while True:
        found = [_words(spec, known, universe, max_length) for spec in grammar]
        if found == known:
            return known[0]
        known = found


def _words(
    spec: Spec, known: list[set[bytes]], universe: list[bytes], max_length: int
) -> set[bytes]:
    if isinstance(spec, str):
        return {spec.encode()} if len(spec) <= max_length else set()
    kind, *args = spec
    if kind == "ref":
        return known[args[0]]
    if kind == "class":
        return {c.encode() for c in args[0]}
    if kind == "until":
        stops, excludes = ([t.encode() for t in texts] for texts in args)
        return {w for w in universe if _is_until(w, stops, excludes)}
    parts = [_words(x, known, universe, max_length) for x in args if not isinstance(x, (int, type(None)))]
    if kind == "not":
        return set(universe) - parts[0]
    if kind == "and":
        return set.intersection(*parts)
    if kind == "alt":
        return set.union(*parts)
    if kind == "seq":
        return _joined(parts[0], parts[1], max_length)
    return _repeated(parts[0], args[1], args[2], max_length)


def _joined(left: set[bytes], right: set[bytes], max_length: int) -> set[bytes]:
    return {x + y for x in left for y in right if len(x) + len(y) <= max_length}


def _repeated(body: set[bytes], low: int, high: int | None, max_length: int) -> set[bytes]:
    now = {b""}
    for _ in range(low):
        now = _joined(now, body, max_length)
    found = set(now)
    rounds = low
    while high is None or rounds < high:
        now = _joined(now, body, max_length)
        if now <= found:
            break
        found |= now
        rounds += 1
    return found


def _is_until(word: bytes, stops: list[bytes], excludes: list[bytes]) -> bool:
    return (
        any(word.endswith(s) for s in stops)
        and not any(s in word[:-1] for s in stops)
        and not any(x in word for x in excludes)
    )
