"""An Earley recogniser over the IR expressions: bytes, token symbols and embedded machines.

Idea: every expression is a nonterminal, every alternative of it a production over

- ``Bytes``    one byte of a set of ranges,
- ``Tokens``   one token of a set, as a symbol of its own,
- ``Machine``  a part that is recognised byte by byte by other means (a regular operator by
               derivatives, a JSON value by ``json_judge``); its state is part of the item,
- nonterminals.

A repetition is the family ``(expression, k)``: k rounds are done, k counted up to what still makes
a difference. Productions with an unproductive symbol are dropped before they are predicted, so
every item can be completed, and a prefix is viable iff the last set is not empty.

A set knows its items; an item knows the set it began in. A set that is closed stays as it is, so an
older one is still a valid state: fork and rollback keep references and nothing else.

Source: J. Earley (1970); nullable nonterminals as in J. Aycock, R. N. Horspool, Practical Earley
parsing (2002).

Cost: cubic in the text, times the grammar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from .flat import FlatIr
from .regular import Lowering, Term, derive, is_empty, nullable
from .utf8 import byte_sequences


class MachineLike(Protocol):
    """A recogniser of a part of the text."""

    def start(self) -> Any:
        """The first state; hashable."""

    def step(self, state: Any, byte: int) -> Any:
        """The state after a byte."""

    def complete(self, state: Any) -> bool:
        """Whether the part may end in this state."""

    def viable(self, state: Any) -> bool:
        """Whether some completion of usable bytes exists."""


class RegularMachine:
    """A regular expression over bytes."""

    def __init__(self, term: Term, usable: frozenset[int]) -> None:
        self._term = term
        self._alphabet = tuple((b, b) for b in sorted(usable))

    def start(self) -> Term:
        return self._term

    def step(self, state: Term, byte: int) -> Term:
        return derive(state, byte)

    def complete(self, state: Term) -> bool:
        return nullable(state)

    def viable(self, state: Term) -> bool:
        return not is_empty(state, self._alphabet)


@dataclass(frozen=True)
class Bytes:
    """One byte."""

    low: int
    high: int


@dataclass(frozen=True)
class Tokens:
    """One token as a symbol."""

    ids: frozenset[int]


@dataclass(frozen=True)
class MachineSymbol:
    """A part that a machine recognises; equal by expression."""

    expression: int


#: (expression, rounds done); rounds are 0 but for repetitions
Nonterminal = tuple[int, int]
Symbol = Any  # Bytes | Tokens | MachineSymbol | Nonterminal
#: The head of the one production that is only the root rule.
START: Nonterminal = (-1, 0)


@dataclass(eq=False)
class Production:
    """An alternative of a nonterminal; compared by identity."""

    head: Nonterminal
    symbols: tuple[Symbol, ...]


class Productions:
    """The productive productions of every nonterminal."""

    def __init__(
        self,
        ir: FlatIr,
        usable: frozenset[int],
        token_ids: Callable[[bool, frozenset[int]], frozenset[int]],
        json_machine: Callable[[Any], MachineLike],
    ) -> None:
        self.ir = ir
        self._usable = usable
        self._token_ids = token_ids
        self._json_machine = json_machine
        self._regular = Lowering(ir, over_bytes=True)
        self._machines: dict[int, MachineLike] = {}
        self._memo: dict[Nonterminal, list[Production]] = {}
        self._reachable = self._reach()
        self._productive = self._least_fixpoint(self._produces)
        self._nullable = self._least_fixpoint(self._vanishes)

    def machine(self, expression: int) -> MachineLike:
        """The machine of a regular operator or a JSON value."""
        if expression not in self._machines:
            e = self.ir.expressions[expression]
            self._machines[expression] = (
                self._json_machine(e)
                if e.kind == "JSON"
                else RegularMachine(self._regular.term(expression), self._usable)
            )
        return self._machines[expression]

    def of(self, nonterminal: Nonterminal) -> list[Production]:
        """The productions without an unproductive symbol."""
        if nonterminal not in self._memo:
            self._memo[nonterminal] = [
                Production(nonterminal, symbols)
                for symbols in self._all(nonterminal)
                if all(self.productive(s) for s in symbols)
            ]
        return self._memo[nonterminal]

    def productive(self, symbol: Symbol) -> bool:
        """Whether a symbol derives some text of usable bytes."""
        if isinstance(symbol, tuple):
            return self._holds(symbol, self._productive)
        return self._terminal_productive(symbol)

    def nullable(self, nonterminal: Nonterminal) -> bool:
        """Whether a nonterminal derives the empty text."""
        return self._holds(nonterminal, self._nullable)

    def _holds(self, nonterminal: Nonterminal, proven: set[int]) -> bool:
        """A property that a repetition has if its body has it or no more rounds are needed."""
        expression, rounds = nonterminal
        e = self.ir.expressions[expression]
        if e.kind == "REPEAT":
            return rounds >= e.min or e.body in proven
        return expression in proven

    def _terminal_productive(self, symbol: Symbol) -> bool:
        if isinstance(symbol, Bytes):
            return any(symbol.low <= b <= symbol.high for b in self._usable)
        if isinstance(symbol, Tokens):
            return bool(symbol.ids)
        machine = self.machine(symbol.expression)
        return machine.viable(machine.start())

    def _terminal_vanishes(self, symbol: Symbol) -> bool:
        if not isinstance(symbol, MachineSymbol):
            return False
        machine = self.machine(symbol.expression)
        return machine.complete(machine.start())

    def _least_fixpoint(self, rule: Callable[[int, set[int]], bool]) -> set[int]:
        proven: set[int] = set()
        while True:
            found = {x for x in self._reachable - proven if rule(x, proven)}
            if not found:
                return proven
            proven |= found

    def _produces(self, expression: int, proven: set[int]) -> bool:
        if self.ir.expressions[expression].kind == "REPEAT":
            return self._holds((expression, 0), proven)
        return any(
            all(
                self._holds(s, proven) if isinstance(s, tuple) else self._terminal_productive(s)
                for s in production
            )
            for production in self._all((expression, 0))
        )

    def _vanishes(self, expression: int, proven: set[int]) -> bool:
        if self.ir.expressions[expression].kind == "REPEAT":
            return self._holds((expression, 0), proven)
        return any(
            all(
                self._holds(s, proven) if isinstance(s, tuple) else self._terminal_vanishes(s)
                for s in production
            )
            for production in self._all((expression, 0))
        )

    def _reach(self) -> set[int]:
        root = self.ir.rules[self.ir.root][1]
        seen = {root}
        work = [root]
        while work:
            expression = work.pop()
            e = self.ir.expressions[expression]
            below = [e.body] if e.kind == "REPEAT" else []
            below += [s[0] for p in self._all((expression, 0)) for s in p if isinstance(s, tuple)]
            for x in below:
                if x not in seen:
                    seen.add(x)
                    work.append(x)
        return seen

    def _all(self, nonterminal: Nonterminal) -> Iterator[tuple[Symbol, ...]]:
        if nonterminal == START:
            yield ((self.ir.rules[self.ir.root][1], 0),)
            return
        expression, rounds = nonterminal
        e = self.ir.expressions[expression]
        if e.kind == "EMPTY":
            yield ()
        elif e.kind == "LITERAL":
            yield tuple(Bytes(b, b) for b in e.value)
        elif e.kind == "LITERAL_SET":
            yield from (tuple(Bytes(b, b) for b in value) for value in e.values)
        elif e.kind == "CLASS":
            for sequence in byte_sequences(e.ranges):
                yield tuple(Bytes(lo, hi) for lo, hi in sequence)
        elif e.kind == "SEQUENCE":
            yield tuple((x, 0) for x in e.items)
        elif e.kind == "CHOICE":
            yield from (((x, 0),) for x in e.items)
        elif e.kind == "REF":
            yield ((self.ir.rules[e.rule][1], 0),)
        elif e.kind == "REPEAT":
            if rounds >= e.min:
                yield ()
            if e.max is None or rounds < e.max:
                following = min(rounds + 1, e.min) if e.max is None else rounds + 1
                yield ((e.body, 0), (expression, following))
        elif e.kind == "TOKEN_SET":
            yield (Tokens(self._token_ids(e.exclude, e.tokens)),)
        else:
            yield (MachineSymbol(expression),)


@dataclass(frozen=True)
class Item:
    """A production that began in ``origin`` and has been read up to ``dot``.

    ``inner`` is the state of the machine before which the dot stands.
    """

    production: Production
    dot: int
    origin: ItemSet
    inner: Any = None

    @property
    def symbol(self) -> Symbol:
        """What comes next; None at the end."""
        symbols = self.production.symbols
        return symbols[self.dot] if self.dot < len(symbols) else None


@dataclass(eq=False)
class ItemSet:
    """One set of the chart; compared by identity."""

    items: dict[Item, None] = field(default_factory=dict)
    waiting: dict[Nonterminal, list[Item]] = field(default_factory=dict)
    complete: bool = False  # the whole text may end here
    successors: dict[int, ItemSet] = field(default_factory=dict)  # by byte, as far as known


class Recogniser:
    """Builds the sets of the chart."""

    def __init__(self, productions: Productions) -> None:
        self._p = productions

    def start(self) -> ItemSet:
        """The set before any input; empty if the language is."""
        first = ItemSet()
        self._predict(first, START)
        return self._close(first)

    def step(self, items: ItemSet, byte: int) -> ItemSet:
        """The set after a byte."""
        return self.close(self.scan_byte(items, byte))

    def scan_byte(self, items: ItemSet, byte: int) -> list[Item]:
        """The items that reading a byte gives, not yet closed."""
        found = []
        for item in items.items:
            symbol = item.symbol
            if isinstance(symbol, Bytes) and symbol.low <= byte <= symbol.high:
                found.append(Item(item.production, item.dot + 1, item.origin))
            elif isinstance(symbol, MachineSymbol):
                machine = self._p.machine(symbol.expression)
                inner = machine.step(item.inner, byte)
                if machine.viable(inner):
                    found.append(Item(item.production, item.dot, item.origin, inner))
        return found

    def scan_token(self, items: ItemSet, token: int) -> list[Item]:
        """The items that reading a token as a symbol gives, not yet closed."""
        return [
            Item(item.production, item.dot + 1, item.origin)
            for item in items.items
            if isinstance(item.symbol, Tokens) and token in item.symbol.ids
        ]

    def close(self, seeds: Iterable[Item]) -> ItemSet:
        """The set that items begin; empty if there are none."""
        items = ItemSet()
        for seed in seeds:
            self._add(items, seed)
        return self._close(items)

    def _add(self, items: ItemSet, item: Item) -> None:
        if isinstance(item.symbol, MachineSymbol) and item.inner is None:
            start = self._p.machine(item.symbol.expression).start()
            item = Item(item.production, item.dot, item.origin, start)
        items.items.setdefault(item)

    def _predict(self, items: ItemSet, head: Nonterminal) -> None:
        for production in self._p.of(head):
            self._add(items, Item(production, 0, items))

    def _close(self, items: ItemSet) -> ItemSet:
        work = list(items.items)
        while work:
            n_known = len(items.items)
            for item in work:
                self._expand(items, item)
            work = list(items.items)[n_known:]
        return items

    def _expand(self, items: ItemSet, item: Item) -> None:
        symbol = item.symbol
        if symbol is None:
            if item.production.head == START:
                items.complete = True
            for waiting in list(item.origin.waiting.get(item.production.head, ())):
                self._advance(items, waiting)
        elif isinstance(symbol, MachineSymbol):
            if self._p.machine(symbol.expression).complete(item.inner):
                self._advance(items, item)
        elif isinstance(symbol, tuple):
            items.waiting.setdefault(symbol, []).append(item)
            self._predict(items, symbol)
            if self._p.nullable(symbol):  # its empty derivation may have been completed already
                self._advance(items, item)

    def _advance(self, items: ItemSet, item: Item) -> None:
        self._add(items, Item(item.production, item.dot + 1, item.origin))
