"""Whether a text is, or can become, a JSON value that is valid under a schema node.

Idea: read the text into a value with an open end (``json_text``), then decide top-down: a value can
be completed under a conjunction iff it can under one of its cases (``json_schema_graph``), and
under a case each part of a value is judged by itself: complete parts must be valid, the open part
must be completable, and what is still owed (required members, minimum counts) must be possible.
Values that have not begun ask whether anything is valid at all, by least fixpoint over recursion.

Cost: linear in the text times the cases, for every byte; strings search their automata.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum

from .alphabet import Alphabet
from .flat import Expression, FlatIr
from .intervals import SCALARS, Ranges, contains, members
from .json_number import NumberSet, can_become, is_valid
from .json_schema_graph import Case, Conjunction, Graph
from .json_text import (
    HOLE,
    Array,
    Hole,
    Layout,
    NotJsonError,
    Number,
    Object,
    Phase,
    String,
    Value,
    Word,
    read,
)
from .regular import (
    ReferenceLimitError,
    Term,
    both,
    char_class,
    derive,
    derive_word,
    is_empty,
    matches,
    repeat,
    representatives,
)

ANY_POINT = char_class(SCALARS)


Judgement = Callable[[Value, Case, Conjunction], bool]


class DuplicateKeys(Enum):
    """Which keys must not come twice."""

    ALL = "all"
    DECLARED = "declared"


class JsonJudge:
    """Judges beginnings of the JSON text of one JSON expression."""

    def __init__(
        self,
        ir: FlatIr,
        json: Expression,
        usable: frozenset[int],
        duplicates: DuplicateKeys = DuplicateKeys.ALL,
    ) -> None:
        self._layout = Layout(
            json.any_whitespace, json.max_whitespace, json.item_separator, json.key_separator
        )
        self._root: Conjunction = (json.node,)
        self._any_order = json.any_order
        self._plain_numbers = json.plain_numbers
        self._decimal_numbers = json.decimal_numbers
        self._duplicates = duplicates
        self._graph = Graph(ir, strict=json.strict)
        self._alphabet = Alphabet(usable)
        self._proven: set[Conjunction] = set()
        self._refuted: set[Conjunction] = set()
        self._asked: dict[Conjunction, None] | None = None
        self._viable: dict[bytes, bool] = {}

    # The states of the machine are the texts themselves.

    def start(self) -> bytes:
        """The empty text."""
        return b""

    def step(self, state: bytes, byte: int) -> bytes:
        """The text with one byte more."""
        return state + bytes([byte])

    def viable(self, state: bytes) -> bool:
        """Whether some completion of the text is valid."""
        if state not in self._viable:
            self._viable[state] = self._judged(state, self._can_become)
        return self._viable[state]

    def complete(self, state: bytes) -> bool:
        """Whether the text is valid as it is."""
        return self._judged(state, self._is_valid)

    def _judged(self, text: bytes, judge: Judgement) -> bool:
        try:
            return self._some_case(read(text, self._layout), self._root, judge)
        except NotJsonError:
            return False
        except RecursionError:
            raise ReferenceLimitError("nested too deeply") from None

    def _some_case(self, value: Value, applies: Conjunction, judge: Judgement) -> bool:
        return any(judge(value, case, applies) for case in self._graph.cases(applies))

    def _valid(self, value: Value, applies: Conjunction) -> bool:
        return self._some_case(value, applies, self._is_valid)

    def _completable(self, value: Value, applies: Conjunction) -> bool:
        if isinstance(value, Hole):
            return self._is_satisfiable(applies)
        return self._some_case(value, applies, self._can_become)

    # Complete values.

    def _is_valid(self, value: Value, case: Case, applies: Conjunction) -> bool:
        if isinstance(value, Word):
            return value.closed and case.allows_word(value.name)
        if isinstance(value, Number):
            return case.allows_type("number") and is_valid(value.text, self._numbers(case))
        if isinstance(value, String):
            return value.closed and case.allows_type("string") and _string_valid(value, case)
        if isinstance(value, Array):
            return value.closed and case.allows_type("array") and self._items_valid(value, case)
        if isinstance(value, Object):
            return (
                value.closed
                and case.allows_type("object")
                and self._members_valid(value, case, applies)
            )
        return False

    def _numbers(self, case: Case) -> NumberSet:
        numbers = case.numbers()
        plain = self._plain_numbers or (self._decimal_numbers and numbers.only_integers)
        return replace(numbers, plain=plain, decimal=self._decimal_numbers and not plain)

    def _items_valid(self, array: Array, case: Case) -> bool:
        low, high = case.item_counts()
        return _within(len(array.items), low, high) and all(
            (conjunction := case.item(i)) is not None and self._valid(item, conjunction)
            for i, item in enumerate(array.items)
        )

    def _members_valid(self, value: Object, case: Case, applies: Conjunction) -> bool:
        keys = [key.text for key, _ in value.members]
        low, high = case.member_counts()
        return (
            _within(len(keys), low, high)
            and self._keys_in_order(keys, case, applies)
            and all(key in keys for key in case.required())
            and all(self._member_valid(k.text, v, case) for k, v in value.members)
        )

    def _member_valid(self, key: str, value: Value, case: Case) -> bool:
        conjunction = case.member(key)
        return conjunction is not None and self._valid(value, conjunction)

    def _keys_in_order(self, keys: list[str], case: Case, applies: Conjunction) -> bool:
        """No key that must not come twice does, and declared keys come in order, before others."""
        watched = keys
        if self._duplicates is DuplicateKeys.DECLARED:
            named = self._graph.named_keys(applies)
            watched = [k for k in keys if k in named]
        if len(set(watched)) < len(watched):
            return False
        ranks = [self._rank(k, case) for k in keys]
        return ranks == sorted(ranks)

    def _rank(self, key: str, case: Case) -> int:
        declared = case.declared()
        if self._any_order:
            return 0
        return declared.index(key) if key in declared else len(declared)

    # Values that may go on.

    def _can_become(self, value: Value, case: Case, applies: Conjunction) -> bool:
        if isinstance(value, Hole):
            return self._is_satisfiable(applies)
        if isinstance(value, Word):
            rest = value.name.encode()[len(value.text) :]
            return case.allows_word(value.name) and self._alphabet.spells(rest)
        if isinstance(value, Number):
            if value.closed:
                return self._is_valid(value, case, applies)
            return case.allows_type("number") and can_become(
                value.text, self._numbers(case), self._alphabet.usable
            )
        if value.closed:
            return self._is_valid(value, case, applies)
        if isinstance(value, String):
            return case.allows_type("string") and self._string_completable(value, case)
        if isinstance(value, Array):
            return case.allows_type("array") and self._array_completable(value, case)
        return case.allows_type("object") and self._object_completable(value, case, applies)

    def _string_completable(self, string: String, case: Case) -> bool:
        if not self._alphabet.spells(b'"'):
            return False
        choices = case.string_choices()
        if choices is not None:
            return any(
                _string_valid(String(tuple(map(ord, s)), b"", closed=True), case)
                and self._spells_rest(s, string)
                for s in choices
            )
        low, high = case.string_bounds()
        parts = case.string_terms()
        if low > 0 or high is not None or not parts:
            parts = [*parts, repeat(ANY_POINT, low, high)]
        return self._continues(both(parts), string)

    def _continues(self, term: Term, string: String) -> bool:
        """Whether some string in a language starts like an open string."""
        rest = derive_word(term, string.points)
        characters = self._alphabet.characters
        if not string.pending:
            return not is_empty(rest, characters)
        next_ones = self._alphabet.after(string.pending)
        return any(
            not is_empty(derive(rest, point), characters)
            for point in representatives(rest, next_ones)
        )

    def _spells_rest(self, text: str, string: String) -> bool:
        """Whether an open string can become exactly ``text``."""
        points = tuple(map(ord, text))
        n_read = len(string.points)
        if points[:n_read] != string.points:
            return False
        rest = points[n_read:]
        if string.pending:
            if not rest or not contains(self._alphabet.after(string.pending), rest[0]):
                return False
            rest = rest[1:]
        return all(contains(self._alphabet.characters, p) for p in rest)

    def _array_completable(self, array: Array, case: Case) -> bool:
        n_done = len(array.items) - (array.phase is Phase.INSIDE)
        for i, item in enumerate(array.items[:n_done]):
            conjunction = case.item(i)
            if conjunction is None or not self._valid(item, conjunction):
                return False
        n_begun = n_done
        if array.phase in (Phase.INSIDE, Phase.NEXT):
            conjunction = case.item(n_done)
            item = array.items[n_done] if array.phase is Phase.INSIDE else HOLE
            if conjunction is None or not self._completable(item, conjunction):
                return False
            n_begun += 1
        return self._array_finishes(n_begun, case)

    def _array_finishes(self, n_begun: int, case: Case) -> bool:
        """Whether an array can end after so many items, or after the fewest that are wanted."""
        low, high = case.item_counts()
        n_items = max(n_begun, low)
        if not self._alphabet.spells(b"]") or (high is not None and n_items > high):
            return False
        if n_items > max(n_begun, 1) and not self._alphabet.spells(self._item_separator):
            return False
        alike_from = max(case.longest_prefix(), n_begun)
        wanted = [*range(n_begun, min(n_items, alike_from)), alike_from]
        for index in wanted:
            if index < n_items:
                conjunction = case.item(index)
                if conjunction is None or not self._is_satisfiable(conjunction):
                    return False
        return True

    @property
    def _item_separator(self) -> bytes:
        return b"," if self._layout.any_whitespace else self._layout.item_separator

    @property
    def _key_separator(self) -> bytes:
        return b":" if self._layout.any_whitespace else self._layout.key_separator

    def _object_completable(self, value: Object, case: Case, applies: Conjunction) -> bool:
        open_phases = (Phase.KEY, Phase.COLON, Phase.INSIDE)
        n_done = len(value.members) - (value.phase in open_phases)
        done = [key.text for key, _ in value.members[:n_done]]
        if not all(self._member_valid(k.text, v, case) for k, v in value.members[:n_done]):
            return False
        if value.phase in (Phase.OPENED, Phase.AFTER):
            return self._object_finishes(done, case, applies)
        if value.phase in (Phase.COLON, Phase.INSIDE):
            key, member = value.members[-1]
            if isinstance(member, Hole) and not self._alphabet.spells(self._key_separator):
                return False
            conjunction = case.member(key.text)
            return (
                conjunction is not None
                and self._completable(member, conjunction)
                and self._object_finishes([*done, key.text], case, applies)
            )
        key = value.members[-1][0] if value.phase is Phase.KEY else String((), b"", closed=False)
        return any(
            self._addable(k, case) and self._object_finishes([*done, k], case, applies)
            for k in self._candidates(key, done, applies)
        )

    def _candidates(self, key: String, done: list[str], applies: Conjunction) -> list[str]:
        """The keys that an open key can become: all named ones, and one that has no name."""
        named = self._graph.named_keys(applies)
        found = [k for k in named if self._spells_rest(k, key)]
        unnamed = self._unnamed_key(key, named | set(done))
        return found if unnamed is None else [*found, unnamed]

    def _unnamed_key(self, key: String, taken: set[str]) -> str | None:
        """A key that is not taken and that an open key can become."""
        starts = [key.text]
        if key.pending:
            first = self._alphabet.after(key.pending)
            starts = [key.text + chr(p) for p in _first_members(first, len(taken) + 1)]
        more = _first_members(self._alphabet.characters, 1)
        for start in starts:
            text = start
            while text in taken and more:
                text += chr(more[0])
            if text not in taken:
                return text
        return None

    def _addable(self, key: str, case: Case) -> bool:
        """Whether a member of this key can be valid, whatever stands beside it."""
        conjunction = case.member(key)
        return (
            conjunction is not None
            and self._alphabet.spells(b'"' + self._key_separator)
            and all(contains(self._alphabet.characters, ord(c)) for c in key)
            and self._is_satisfiable(conjunction)
        )

    def _object_finishes(self, keys: list[str], case: Case, applies: Conjunction) -> bool:
        """Whether members can be added to those of ``keys`` so that the object is valid."""
        low, high = case.member_counts()
        if not self._alphabet.spells(b"}") or not self._keys_in_order(keys, case, applies):
            return False
        missing = [k for k in case.required() if k not in keys]
        n_members = len(keys) + len(missing)
        n_more = max(low - n_members, 0)
        if high is not None and n_members + n_more > high:
            return False
        n_added = len(missing) + n_more
        if n_added > (0 if keys else 1) and not self._alphabet.spells(self._item_separator):
            return False
        last = max((self._rank(k, case) for k in keys), default=0)
        if not all(self._addable(k, case) and self._rank(k, case) >= last for k in missing):
            return False
        return n_more <= self._n_optional([*keys, *missing], last, n_more, case, applies)

    def _n_optional(
        self, taken: list[str], last: int, n_wanted: int, case: Case, applies: Conjunction
    ) -> int:
        """How many members of other keys can be added, counted up to what is wanted."""
        if n_wanted == 0:
            return 0
        known = dict.fromkeys([*case.declared(), *sorted(self._graph.named_keys(applies))])
        found = 0
        for key in known:
            if key not in taken and self._rank(key, case) >= last and self._addable(key, case):
                found += 1
        unnamed = self._unnamed_key(String((), b"", closed=False), {*known, *taken})
        if unnamed is not None and self._addable(unnamed, case):
            endless = bool(self._alphabet.characters)
            return n_wanted if endless or self._duplicates is DuplicateKeys.DECLARED else found + 1
        return found

    # Values that have not begun.

    def _is_satisfiable(self, applies: Conjunction) -> bool:
        """Whether any value is valid: least fixpoint over all conjunctions that are asked about.

        What is not proven yet counts as not satisfiable; rounds are repeated while they prove
        something, because the least value of a conjunction does not need another one of it.
        """
        if applies in self._proven or applies in self._refuted:
            return applies in self._proven
        if self._asked is not None:
            self._asked.setdefault(applies)
            return False
        self._asked = {applies: None}
        try:
            n_before = (-1, -1)
            while n_before != (len(self._proven), len(self._asked)):
                n_before = (len(self._proven), len(self._asked))
                for conjunction in list(self._asked):
                    if conjunction not in self._proven and self._has_value(conjunction):
                        self._proven.add(conjunction)
            self._refuted.update(c for c in self._asked if c not in self._proven)
        finally:
            self._asked = None
        return applies in self._proven

    def _has_value(self, applies: Conjunction) -> bool:
        return any(
            self._alphabet.spells(first) and self._some_case(value, applies, self._can_become)
            for first, value in _BEGINNINGS
        )


_BEGINNINGS: list[tuple[bytes, Value]] = [
    (b"", Word(b"", "null")),
    (b"", Word(b"", "true")),
    (b"", Word(b"", "false")),
    (b"", Number("", closed=False)),
    (b'"', String((), b"", closed=False)),
    (b"[", Array((), Phase.OPENED)),
    (b"{", Object((), Phase.OPENED)),
]


def _first_members(ranges: Ranges, count: int) -> list[int]:
    found: list[int] = []
    for point in members(ranges):
        if len(found) == count:
            break
        found.append(point)
    return found


def _within(count: int, low: int, high: int | None) -> bool:
    return low <= count and (high is None or count <= high)


def _string_valid(string: String, case: Case) -> bool:
    choices = case.string_choices()
    if choices is not None and string.text not in choices:
        return False
    return _within(len(string.points), *case.string_bounds()) and all(
        matches(term, string.points) for term in case.string_terms()
    )
