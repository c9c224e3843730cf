"""Where texts of a grammar have no bound on their length: for `maskwright check`.

Idea: a text is unbounded only through a repetition without an upper bound, or through a rule that
comes back to itself. Cost: linear in the grammar, and rules times references among those that are
left once rules without further references are taken away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from maskwright.ir import nodes as n
from maskwright.ir.reader import read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from maskwright.grammar import Grammar


def unbounded_places(grammar: Grammar, *, is_pattern: bool) -> list[dict[str, str]]:
    """Return where a grammar can go on for ever: ``pointer`` and ``reason`` of each place.

    Args:
        grammar: Of EBNF or a regular expression.
        is_pattern: Whether it is a regular expression, which has no rules to be named.
    """
    program = read(grammar.ir)
    repeats: list[int] = []
    references: dict[int, set[int]] = {}
    waiting = [program.root]
    while waiting:
        rule = waiting.pop()
        if rule in references:
            continue
        found = _reached(program, program.rules[rule].expr)
        references[rule] = {expr.rule for expr in found if isinstance(expr, n.Ref)}
        if any(isinstance(expr, n.Repeat) and expr.maximum is None for expr in found):
            repeats.append(rule)
        waiting += references[rule]
    reasons = [(rule, "a repetition has no upper bound") for rule in repeats]
    reasons += [(rule, "the rule comes back to itself") for rule in _recursive(references)]
    names = [
        ("the pattern" if is_pattern else f"rule {program.rules[rule].name}", reason)
        for rule, reason in sorted(reasons)
    ]
    return [{"pointer": name, "reason": reason} for name, reason in dict.fromkeys(names)]


def _reached(program: n.Program, root: int) -> list[n.Expr]:
    """The expressions of a rule."""
    seen = {root}
    waiting = [root]
    while waiting:
        for child in n.child_exprs(program.exprs[waiting.pop()]):
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    return [program.exprs[expr] for expr in sorted(seen)]


def _recursive(references: Mapping[int, set[int]]) -> list[int]:
    """The rules that lead back to themselves."""
    left = dict(references)
    while leaves := [rule for rule, targets in left.items() if not targets & left.keys()]:
        for rule in leaves:
            del left[rule]
    return [rule for rule in left if _leads_to(left, rule)]


def _leads_to(references: Mapping[int, set[int]], rule: int) -> bool:
    seen: set[int] = set()
    waiting = [rule]
    while waiting:
        for target in references.get(waiting.pop(), ()):
            if target == rule:
                return True
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return False
