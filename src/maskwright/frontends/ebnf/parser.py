"""Parser of the EBNF front-end: tokens to IR, without recursion.

Idea: one loop over the tokens with an explicit stack of open groups writes each expression through
the builder as soon as it is complete. A rule ends where the next ``name ::=`` begins, or at the
end of the text. Left recursion is fine, the core deals with it. Cost: linear in the text.

Decisions: alternatives may be empty (``a ::= | "x"``, ``()``), a rule without any body may not;
quantifiers may follow white space and may be stacked; a name of dots only is "any character" per
dot unless a rule has that name; a macro name before ``(`` is a macro unless a rule has that name.
A choice of many plain, non-empty strings becomes one literal set.
"""

from __future__ import annotations

import re
from typing import Final

from ...errors import (
    GrammarSyntaxError,
    LimitExceededError,
    UnsupportedFeatureError,
    how_to_read,
    locate,
)
from ...ir import Builder
from ...ir.macros import BYTES_MACRO, MACRO_NAMES
from . import faults
from . import lexer as t
from .escapes import decode_class, decode_string

__all__ = ["compile_ebnf"]

MAX_REPETITION: Final = 2**31 - 2
MAX_NESTING_DEPTH: Final = 5_000
MAX_SOURCE_LENGTH: Final = 64 * 2**20

_MIN_LITERAL_SET: Final = 16
_ANY_CHARACTER: Final = ((0, 0x10FFFF),)


def compile_ebnf(
    text: str,
    *,
    root_rule_name: str = "root",
    max_nesting_depth: int = MAX_NESTING_DEPTH,
    max_repetition: int = MAX_REPETITION,
    max_source_length: int = MAX_SOURCE_LENGTH,
) -> bytes:
    """Compile a grammar text to IR.

    Args:
        text: Rules ``name ::= expression``.
        root_rule_name: The rule that the whole output must match.
        max_nesting_depth: Limit on open groups and on quantifiers stacked on one item.
        max_repetition: Limit on the bounds of a repetition, 2**31-2 at most.
        max_source_length: Limit on the length of the text in code points.

    Returns:
        The IR buffer.

    Raises:
        GrammarSyntaxError: The text is no grammar; the error shows line, column and a caret.
        UnsupportedFeatureError: A macro, a rule option or a lookahead, by name.
        LimitExceededError: One of the limits above.

    Example:
        >>> compile_ebnf('root ::= "a" | "b" root')[:4]
        b'MWIR'
    """
    if not isinstance(text, str):
        raise TypeError(f"a grammar is given as str, not {type(text).__name__}{how_to_read(text)}")
    if len(text) > max_source_length:
        raise LimitExceededError(
            f"the grammar text has {len(text)} characters, more than max_source_length = "
            f"{max_source_length}; raise the limit if the text is meant to be this long",
            code="ebnf-source-too-long",
            limit="max_source_length",
            value=max_source_length,
        )
    parser = _Parser(text, max_nesting_depth, min(max_repetition, MAX_REPETITION))
    return parser.parse(root_rule_name)


class _Group:
    """An open group, or a rule's body: the alternatives so far and the items of the last one."""

    __slots__ = ("alternatives", "items", "offset")

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.alternatives: list[int] = []
        self.items: list[int] = []


class _Parser:
    def __init__(self, source: str, max_nesting_depth: int, max_repetition: int) -> None:
        self.source = source
        self.max_nesting_depth = max_nesting_depth
        self.max_repetition = max_repetition
        self.builder = Builder()
        tokens = t.tokenize(source)
        self.kinds, self.texts, self.offsets = tokens.kinds, tokens.texts, tokens.offsets
        self.index = 0
        self.defined: dict[str, int] = {}  # rule name -> offset of its definition
        self.rules: dict[str, int] = {}
        self.undefined: dict[str, int] = {}  # rule name -> offset of the first use
        self.classes: dict[str, int] = {}
        self.literals: dict[int, bytes] = {}  # expression id -> what the string is
        self.stacked = 0  # quantifiers on the last item
        self._declare_rules()

    def _declare_rules(self) -> None:
        kinds = self.kinds
        for index in range(len(kinds) - 1):
            if kinds[index] == t.NAME and kinds[index + 1] == t.ARROW:
                name = self.texts[index]
                if name not in self.rules:
                    self.rules[name] = self.builder.rule(name)

    def error(self, message: str, code: str, offset: int | None = None) -> GrammarSyntaxError:
        if offset is None:
            offset = self.offsets[self.index]
        return GrammarSyntaxError(message, code=code, source=self.source, offset=offset)

    def unsupported(self, feature: str, code: str, offset: int) -> UnsupportedFeatureError:
        return faults.unsupported(self.source, feature, code, offset)

    # Rules ---------------------------------------------------------------------------------------

    def parse(self, root_rule_name: str) -> bytes:
        """Parse the whole text."""
        while self.kinds[self.index] != t.END:
            self._rule()
        if self.undefined:
            raise self._undefined_rule()
        if root_rule_name not in self.defined:
            names = ", ".join(list(self.defined)[:8]) or "none"
            raise self.error(
                f"root rule {root_rule_name!r} is not defined (defined: {names}); "
                "define it, or name another rule as root_rule_name",
                "ebnf-missing-root",
                0,
            )
        return self.builder.finish(self.rules[root_rule_name])

    def _undefined_rule(self) -> GrammarSyntaxError:
        name, offset = next(iter(self.undefined.items()))
        return faults.undefined_rule(self.source, name, self.defined, offset)

    def _rule(self) -> None:
        index = self.index
        if self.kinds[index] != t.NAME:
            raise self._expected_rule()
        name = self.texts[index]
        if self.kinds[index + 1] != t.ARROW:
            raise self._expected_arrow(name)
        if name in self.defined:
            first, _ = locate(self.source, self.defined[name])
            raise self.error(
                f"rule {name!r} is defined twice, first in line {first}; "
                "join the two with |, or rename one",
                "ebnf-duplicate-rule",
            )
        self.defined[name] = self.offsets[index]
        self.index = index + 2
        if self._at_rule_end():
            raise self.error(
                f'rule {name!r} has no body; write "" for the empty string',
                "ebnf-empty-rule",
                self.offsets[index],
            )
        self.builder.define(self.rules[name], self._expression())

    def _expected_rule(self) -> GrammarSyntaxError | UnsupportedFeatureError:
        kind, text = self.kinds[self.index], self.texts[self.index]
        if kind == t.ERROR:
            return self._bad_character()
        return self.error(
            f"expected a rule, name ::= expression, but found {faults.shown(text)}",
            "ebnf-expected-rule",
        )

    def _expected_arrow(self, name: str) -> GrammarSyntaxError | UnsupportedFeatureError:
        option = self._rule_option(self.index)
        if option is not None:
            return option
        self.index += 1
        kind, text = self.kinds[self.index], self.texts[self.index]
        if kind == t.WRONG_ARROW:
            return self._wrong_arrow()
        found = "the end of the text" if kind == t.END else faults.shown(text)
        return self.error(
            f"expected ::= after the rule name {name!r}, but found {found}", "ebnf-expected-arrow"
        )

    def _rule_option(self, index: int) -> UnsupportedFeatureError | None:
        """Return the error for ``name[option...] ::=`` at the name token ``index``, if it is."""
        if self.kinds[index] != t.NAME:
            return None
        return faults.rule_option(self.source, self.offsets[index] + len(self.texts[index]))

    # Expressions ---------------------------------------------------------------------------------

    def _at_rule_end(self) -> bool:
        kind = self.kinds[self.index]
        return kind == t.END or (kind == t.NAME and self.kinds[self.index + 1] == t.ARROW)

    def _expression(self) -> int:
        """Parse up to the end of the rule and return the expression's id."""
        stack = [_Group(self.offsets[self.index])]
        kinds, handlers = self.kinds, _HANDLERS
        self.stacked = 0
        while not self._at_rule_end():
            kind = kinds[self.index]
            if kind == t.OPEN:
                self._open(stack)
            elif kind == t.CLOSE:
                self._close(stack)
            elif kind == t.BAR:
                group = stack[-1]
                group.alternatives.append(self.builder.sequence(group.items))
                group.items = []
            elif kind in (t.STAR, t.PLUS, t.QUESTION, t.REPEAT):
                self._quantifier(stack[-1].items, kind)
            else:
                handlers[kind](self, stack[-1].items)
                self.stacked = 0
            self.index += 1
        if len(stack) > 1:
            raise self.error(
                "this ( is never closed; add a ) before the end of the rule",
                "ebnf-unbalanced-parenthesis",
                stack[-1].offset,
            )
        return self._finish_group(stack[0])

    def _open(self, stack: list[_Group]) -> None:
        if len(stack) > self.max_nesting_depth:
            raise self._too_deep("groups")
        stack.append(_Group(self.offsets[self.index]))

    def _close(self, stack: list[_Group]) -> None:
        if len(stack) == 1:
            raise self.error(
                "this ) closes nothing; remove it, or add a ( before it",
                "ebnf-unbalanced-parenthesis",
            )
        expr = self._finish_group(stack.pop())
        stack[-1].items.append(expr)
        self.stacked = 0

    def _finish_group(self, group: _Group) -> int:
        builder, literals = self.builder, self.literals
        last = builder.sequence(group.items)
        if not group.alternatives:
            return last
        ids = [*group.alternatives, last]
        if len(ids) >= _MIN_LITERAL_SET and all(literals.get(expr) for expr in ids):
            return builder.literal_set(literals[expr] for expr in ids)
        return builder.choice(ids)

    def _too_deep(self, what: str) -> LimitExceededError:
        return LimitExceededError(
            f"{what} are nested deeper than max_nesting_depth = {self.max_nesting_depth}; "
            "move inner ones into rules of their own, or raise the limit",
            code="ebnf-nesting-too-deep",
            limit="max_nesting_depth",
            value=self.max_nesting_depth,
            source=self.source,
            offset=self.offsets[self.index],
        )

    def _quantifier(self, items: list[int], kind: int) -> None:
        if not items:
            raise self.error(
                f"nothing to repeat: {self.texts[self.index]} must follow a string, class, name "
                "or group",
                "ebnf-nothing-to-repeat",
            )
        self.stacked += 1
        if self.stacked > self.max_nesting_depth:
            raise self._too_deep("quantifiers")
        minimum: int = kind == t.PLUS
        maximum = 1 if kind == t.QUESTION else None
        if kind == t.REPEAT:
            minimum, maximum = self._bounds(self.texts[self.index][1:-1])
        items[-1] = self.builder.repeat(items[-1], minimum, maximum)

    def _bounds(self, text: str) -> tuple[int, int | None]:
        low, comma, high = text.partition(",")
        minimum = self._bound(low)
        if not high.strip():
            return minimum, None if comma else minimum
        maximum = self._bound(high)
        if maximum < minimum:
            raise self.error(
                f"reversed bounds: {minimum} is more than {maximum}; write {{{maximum},{minimum}}}",
                "ebnf-reversed-bounds",
            )
        return minimum, maximum

    def _bound(self, digits: str) -> int:
        digits = digits.strip().lstrip("0") or "0"
        # The length first: int() refuses very long texts.
        value = int(digits) if len(digits) <= len(str(MAX_REPETITION)) else MAX_REPETITION + 1
        if value > self.max_repetition:
            raise LimitExceededError(
                f"repetition bound {digits[:20]} is more than max_repetition = "
                f"{self.max_repetition}; leave the upper bound out for no bound: {{n,}}",
                code="ebnf-repetition-too-large",
                limit="max_repetition",
                value=self.max_repetition,
                source=self.source,
                offset=self.offsets[self.index],
            )
        return value

    # Items ---------------------------------------------------------------------------------------

    def _string(self, items: list[int]) -> None:
        index = self.index
        data = decode_string(self.texts[index], self.source, self.offsets[index]).encode("utf-8")
        self._literal(items, data)

    def _literal(self, items: list[int], data: bytes) -> None:
        expr = self.builder.literal(data)
        self.literals[expr] = data
        items.append(expr)

    def _class(self, items: list[int]) -> None:
        text = self.texts[self.index]
        expr = self.classes.get(text)
        if expr is None:
            option = self._rule_option(self.index - 1)
            if option is not None:
                raise option
            ranges = decode_class(text, self.source, self.offsets[self.index])
            expr = self.classes[text] = self.builder.char_class(ranges)
        items.append(expr)

    def _name(self, items: list[int]) -> None:
        index = self.index
        name, offset = self.texts[index], self.offsets[index]
        rule = self.rules.get(name)
        if rule is None:
            if self.kinds[index + 1] == t.OPEN and name in MACRO_NAMES:
                self._macro(items, name)
                return
            if not name.strip("."):
                items += [self.builder.char_class(_ANY_CHARACTER)] * len(name)
                return
            self.undefined.setdefault(name, offset)
            rule = self.rules[name] = self.builder.rule(name)
        items.append(self.builder.ref(rule))

    def _macro(self, items: list[int], name: str) -> None:
        if name != BYTES_MACRO:
            raise self.unsupported(name, "ebnf-unsupported-macro", self.offsets[self.index])
        argument = self.index + 2
        text = self.texts[argument][1:-1]
        if self.kinds[argument : argument + 2] != [t.STRING, t.CLOSE] or not re.fullmatch(
            r"(?:[0-9A-Fa-f]{2})*", text
        ):
            raise self.error(
                'Bytes takes one string of pairs of hexadecimal digits, such as Bytes("e2ff")',
                "ebnf-bad-bytes",
            )
        self._literal(items, bytes.fromhex(text))
        self.index = argument + 1

    # Faults --------------------------------------------------------------------------------------

    def _lookahead(self, _items: list[int]) -> None:
        raise self.unsupported("lookahead", "ebnf-unsupported-lookahead", self.offsets[self.index])

    def _wrong_arrow(self) -> GrammarSyntaxError:
        return faults.wrong_arrow(self.source, self.texts[self.index], self.offsets[self.index])

    def _unexpected_arrow(self, _items: list[int]) -> None:
        if self.kinds[self.index] == t.WRONG_ARROW:
            raise self._wrong_arrow()
        option = self._rule_option(self.index - 2)
        if option is not None:
            raise option
        raise self.error(
            "unexpected ::=; a rule name must stand before it, made of letters, digits, _ . and -",
            "ebnf-unexpected-arrow",
        )

    def _bad_character(self) -> GrammarSyntaxError:
        return faults.bad_character(self.source, self.texts[self.index], self.offsets[self.index])

    def _fault(self, _items: list[int]) -> None:
        raise self._bad_character()


_HANDLERS: Final = {
    t.STRING: _Parser._string,
    t.CLASS: _Parser._class,
    t.NAME: _Parser._name,
    t.LOOKAHEAD: _Parser._lookahead,
    t.ARROW: _Parser._unexpected_arrow,
    t.WRONG_ARROW: _Parser._unexpected_arrow,
    t.ERROR: _Parser._fault,
}
