"""A naive oracle: all short strings of a grammar, by brute force over its reading form.

Each expression denotes a set of byte strings up to a length, over a small alphabet; rules are
solved by iterating to a fixpoint. Exponential, and obviously right.
"""

from __future__ import annotations

from collections.abc import Iterable

from maskwright.ir import nodes as n
from maskwright.ir.reader import read

ALPHABET = ("a", "b", "-", "\u00e9")


def language(ir: bytes, max_bytes: int = 4) -> frozenset[bytes]:
    """Return the strings of at most ``max_bytes`` bytes over the alphabet (and raw bytes)."""
    program = read(ir)
    rules: list[frozenset[bytes]] = [frozenset() for _ in program.rules]
    while True:
        solved = _exprs(program, rules, max_bytes)
        changed = [solved[rule.expr] for rule in program.rules]
        if changed == rules:
            return rules[program.root]
        rules = changed


def _exprs(program: n.Program, rules: list[frozenset[bytes]], limit: int) -> list[frozenset[bytes]]:
    """Evaluate all expressions; the builder gives children lower ids than their parents."""
    result: list[frozenset[bytes]] = []
    for expr in program.exprs:
        result.append(_evaluate(expr, result, rules, limit))
    return result


def _evaluate(
    expr: n.Expr, done: list[frozenset[bytes]], rules: list[frozenset[bytes]], limit: int
) -> frozenset[bytes]:
    if isinstance(expr, n.Empty):
        return frozenset((b"",))
    if isinstance(expr, n.Literal):
        return _short((expr.data,), limit)
    if isinstance(expr, n.LiteralSet):
        return _short(expr.items, limit)
    if isinstance(expr, n.CharClass):
        members = (c for c in ALPHABET if any(lo <= ord(c) <= hi for lo, hi in expr.ranges))
        return _short((c.encode() for c in members), limit)
    if isinstance(expr, n.Ref):
        return rules[expr.rule]
    if isinstance(expr, n.Choice):
        return frozenset().union(*(done[item] for item in expr.items))
    if isinstance(expr, n.Sequence):
        total = frozenset((b"",))
        for item in expr.items:
            total = _concat(total, done[item], limit)
        return total
    assert isinstance(expr, n.Repeat), expr
    return _repeat(done[expr.body], expr.minimum, expr.maximum, limit)


def _short(items: Iterable[bytes], limit: int) -> frozenset[bytes]:
    return frozenset(item for item in items if len(item) <= limit)


def _concat(left: frozenset[bytes], right: frozenset[bytes], limit: int) -> frozenset[bytes]:
    return frozenset(a + b for a in left for b in right if len(a) + len(b) <= limit)


def _repeat(
    body: frozenset[bytes], minimum: int, maximum: int | None, limit: int
) -> frozenset[bytes]:
    power = frozenset((b"",))
    # Beyond limit + 1 rounds a power only changes by what an empty body string already gave.
    for _ in range(min(minimum, limit + 1)):
        power = _concat(power, body, limit)
    total = power
    rounds = limit + 1 if maximum is None else min(maximum - minimum, limit + 1)
    for _ in range(rounds):
        power = _concat(power, body, limit)
        total |= power
    return total


# Grammar texts and all strings of their languages (of up to a few letters).
LANGUAGES = {
    'root ::= "a"': {"a"},
    'root ::= "a" | "b"': {"a", "b"},
    'root ::= | "a"': {"", "a"},
    'root ::= "a" |': {"", "a"},
    'root ::= "a" || "b"': {"", "a", "b"},
    'root ::= ("a" | )"b"': {"ab", "b"},
    'root ::= "a" () "b"': {"ab"},
    'root ::= ""': {""},
    'root ::= "a"?': {"", "a"},
    'root ::= "a" ?\n': {"", "a"},
    'root ::= "a"{2}': {"aa"},
    'root ::= "a"{2,3}': {"aa", "aaa"},
    'root ::= "a"{ 1 , 2 }': {"a", "aa"},
    'root ::= "a"{3,}': {"aaa", "aaaa"},
    'root ::= "a"{0}': {""},
    'root ::= "a"{0,0} "b"{1,1}': {"b"},
    'root ::= "a"{2}{2}': {"aaaa"},
    'root ::= "aa"+': {"aa", "aaaa"},
    'root ::= "b"*?': {"", "b", "bb", "bbb", "bbbb"},
    "root ::= [ab]": {"a", "b"},
    "root ::= [^a]": {"b", "-", "\u00e9"},
    "root ::= [^]": {"a", "b", "-", "\u00e9"},
    "root ::= .": {"a", "b", "-", "\u00e9"},
    "root ::= []": set(),
    'root ::= [] | "a"': {"a"},
    "root ::= [a-]": {"a", "-"},
    "root ::= [-a]": {"a", "-"},
    "root ::= [^-a]": {"b", "\u00e9"},
    "root ::= [a\\-b]": {"a", "b", "-"},
    "root ::= [a-a-b]": {"a", "b", "-"},
    "root ::= [+--]": {"-"},
    "root ::= [\\x61-\\u0062]": {"a", "b"},
    'root ::= "\\xe9"': {"\u00e9"},
    'root ::= "\\u00e9" "\\U00000061"': {"\u00e9a"},
    'root ::= "\u00e9"': {"\u00e9"},
    'root ::= x # comment "\nx ::= "a" #': {"a"},
    'root ::= x "b"\r\nx ::=\r\n\t"a"\r\n': {"ab"},
    'root ::= "a"\n  "b"\n  | "b"\n': {"ab", "b"},
    '\ufeffroot::="a"': {"a"},
    'root ::= a.b -\na.b ::= "a"\n- ::= "b"': {"ab"},
    'root ::= . b\n. ::= "a"\nb ::= "b"': {"ab"},
    'root ::= Token("a")\nToken ::= "b"': {"ba"},
    'root ::= Bytes("61") Bytes("") Bytes("62")': {"ab"},
    'root ::= root "b" | "a"': {"a", "ab", "abb", "abbb"},
    'root ::= opt root "b" | "a"\nopt ::= "-"?': {"a", "ab", "abb", "abbb", "-ab", "-abb"},
    'root ::= x\nx ::= y\ny ::= x | "b"': {"b"},
    'root ::= "a" root "b" | ""': {"", "ab", "aabb"},
    "root ::= root": set(),
}  # fmt: skip
