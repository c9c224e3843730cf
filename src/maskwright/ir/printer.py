"""Prints IR as EBNF that the EBNF front-end reads back to the same language.

Idea: one post-order walk with an explicit stack gives each expression its text. An expression that
is shared and long, or nested deep, becomes a rule of its own, so that the text stays linear in the
IR and within the parser's nesting limit. The root rule is printed first, under the name ``root``;
names that EBNF does not allow are changed, all names are unique. What has no EBNF form prints as a
macro: ``JsonSchema``, ``Intersect``, ``Not``, ``TextUntil``, ``Token``, ``ExcludeToken``, and
``Bytes("hex")`` for bytes that are no UTF-8 text. A literal set prints as a choice of strings.
Cost: linear in the IR.
"""

from __future__ import annotations

from typing import Final

from . import nodes as n
from ._schema_text import schema_text, walk
from ._text import Names, arguments, class_text, quote, quote_bytes
from .reader import read

__all__ = ["to_ebnf"]

_MAX_HEIGHT: Final = 40
_MAX_SHARED_LENGTH: Final = 60
_MAX_SHARED_LEAF_LENGTH: Final = 1_000

# What a text is at its top level; a context that binds tighter puts it in parentheses.
_CHOICE: Final = 0
_SEQUENCE: Final = 1
_REPEAT: Final = 2
_ATOM: Final = 3

_QUANTIFIERS: Final = {(0, 1): "?", (0, None): "*", (1, None): "+"}


def to_ebnf(ir: bytes) -> str:
    r"""Return the IR as EBNF text, one rule a line, the root rule first as ``root``.

    Args:
        ir: An IR buffer.

    Raises:
        MalformedIRError: The buffer is malformed.

    Example:
        >>> from maskwright.ir import Builder
        >>> builder = Builder()
        >>> root = builder.rule("start")
        >>> builder.define(root, builder.repeat(builder.char_class([(97, 122)]), 1, None))
        >>> to_ebnf(builder.finish(root))
        'root ::= [a-z]+\n'
    """
    return _Printer(read(ir)).print()


class _Printer:
    def __init__(self, program: n.Program) -> None:
        self.program = program
        self.names = Names()
        self.rule_names = self._name_rules()
        self.texts: dict[int, str] = {}
        self.levels: dict[int, int] = {}
        self.heights: dict[int, int] = {}
        self.extracted: list[tuple[str, str]] = []

    def _name_rules(self) -> list[str]:
        root = self.program.root
        result = ["" for _ in self.program.rules]
        self.names.claim("root")
        result[root] = "root"
        for index, rule in enumerate(self.program.rules):
            if index != root and self.names.claim(rule.name):
                result[index] = rule.name
        for index, rule in enumerate(self.program.rules):
            result[index] = result[index] or self.names.make(rule.name)
        return result

    def print(self) -> str:
        """Return the whole text."""
        order, uses = self._walk()
        bodies = {rule.expr for rule in self.program.rules}
        for expr in order:
            self._print_expr(expr, uses[expr], is_body=expr in bodies)
        rules = self.program.rules
        root = self.program.root
        indices = [root, *(index for index in range(len(rules)) if index != root)]
        lines = [f"{self.rule_names[i]} ::= {self.texts[rules[i].expr]}\n" for i in indices]
        lines += [f"{name} ::= {text}\n" for name, text in self.extracted]
        return "".join(lines)

    def _children(self, expr: int) -> tuple[int, ...]:
        """Return the expressions whose text this one's text holds."""
        value = self.program.exprs[expr]
        if not isinstance(value, n.Json):
            return n.child_exprs(value)
        nodes = (self.program.nodes[node] for node in walk(self.program, value.node)[0])
        return tuple(expr for node in nodes for expr in n.string_exprs(node))

    def _walk(self) -> tuple[list[int], dict[int, int]]:
        """Return the expressions that rules reach, in post-order, and how often each is used."""
        order: list[int] = []
        uses: dict[int, int] = {}
        for rule in self.program.rules:
            stack = [(rule.expr, iter((rule.expr,)))]
            while stack:
                expr, children = stack[-1]
                child = next(children, None)
                if child is None:
                    stack.pop()
                    if stack:
                        order.append(expr)
                elif child in uses:
                    uses[child] += 1
                else:
                    uses[child] = 1
                    stack.append((child, iter(self._children(child))))
        return order, uses

    def _print_expr(self, expr: int, uses: int, *, is_body: bool) -> None:
        value = self.program.exprs[expr]
        text, level = self._text(value)
        children = n.child_exprs(value)
        height = 1 + max((self.heights[child] for child in children), default=0)
        longest = _MAX_SHARED_LENGTH if children else _MAX_SHARED_LEAF_LENGTH
        if (uses > 1 and len(text) > longest) or (height > _MAX_HEIGHT and not is_body):
            name = self.names.make("part")
            self.extracted.append((name, text))
            text, level, height = name, _ATOM, 0
        self.texts[expr], self.levels[expr], self.heights[expr] = text, level, height

    def _wrapped(self, expr: int, level: int) -> str:
        """Return the text of a child, in parentheses where it binds less than ``level``."""
        text = self.texts[expr]
        return text if self.levels[expr] >= level else f"({text})"

    def _text(self, value: n.Expr) -> tuple[str, int]:
        if isinstance(value, n.Literal):
            return quote_bytes(value.data), _ATOM
        if isinstance(value, n.CharClass):
            return class_text(value.ranges), _ATOM
        if isinstance(value, n.Sequence):
            return " ".join(self._wrapped(item, _REPEAT) for item in value.items), _SEQUENCE
        if isinstance(value, n.Choice):
            return " | ".join(self._wrapped(item, _SEQUENCE) for item in value.items), _CHOICE
        if isinstance(value, n.Repeat):
            bounds = (value.minimum, value.maximum)
            return self._wrapped(value.body, _ATOM) + _quantifier(*bounds), _REPEAT
        if isinstance(value, n.Ref):
            return self.rule_names[value.rule], _ATOM
        if isinstance(value, n.LiteralSet):
            return " | ".join(quote_bytes(item) for item in value.items), _CHOICE
        return self._macro(value), _ATOM

    def _macro(self, value: n.Expr) -> str:
        if isinstance(value, n.Intersect):
            return f"Intersect({', '.join(self.texts[item] for item in value.items)})"
        if isinstance(value, n.Complement):
            return f"Not({self.texts[value.body]})"
        if isinstance(value, n.TextUntil):
            excludes = arguments(value.excludes)
            tail = f", excludes=({excludes},)" if excludes else ""
            return f"TextUntil({arguments(value.stops)}{tail})"
        if isinstance(value, n.TokenSet):
            ids = ", ".join(str(token) for token in value.ids)
            if not ids and not value.exclude:
                return "[]"
            return f"{'ExcludeToken' if value.exclude else 'Token'}({ids})"
        if isinstance(value, n.Json):
            return self._json(value)
        return '""'

    def _json(self, value: n.Json) -> str:
        text = schema_text(self.program, value.node, self.texts.__getitem__)
        options = [f"any_order={_flag(value.any_order)}", f"strict_mode={_flag(value.strict)}"]
        options.append(f"any_whitespace={_flag(value.any_whitespace)}")
        if value.any_whitespace and value.max_whitespace is not None:
            options.append(f"max_whitespace_cnt={value.max_whitespace}")
        if value.number_spelling != "any":
            options.append(f"number_spelling={quote(value.number_spelling)}")
        if not value.any_whitespace:
            separators = arguments((value.item_separator, value.key_separator))
            options.append(f"separators=({separators})")
        return f"JsonSchema({quote(text)}, {', '.join(options)})"


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _quantifier(minimum: int, maximum: int | None) -> str:
    short = _QUANTIFIERS.get((minimum, maximum))
    if short is not None:
        return short
    if minimum == maximum:
        return f"{{{minimum}}}"
    return f"{{{minimum},{'' if maximum is None else maximum}}}"
