"""The entries of a cache: values by meaning, meanings by key, and what they take.

Idea: a value has a *meaning*, which is what it was built from, and any number of *keys* that turned
out to mean it; each key has its *form* of the value. Entries grow while masks are computed. Each
charges its bytes to its generation from its insertion to its end here and keeps that up to date
itself, so nobody ever measures one; what further keys take is counted here.
Cost: two dictionary look-ups per use, whatever the number of entries. All under the lock of the
cache that has the entries; what is dropped is returned, to be freed after the lock.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

__all__ = ["MAX_KEYS", "Charged", "Entries", "Entry", "GenerationLike"]

MAX_KEYS = 8
"""Keys of one entry, so that a text that changes all the time does not fill the cache."""


class GenerationLike(Protocol):
    """What entries charge their bytes to."""

    @property
    def bytes(self) -> int:
        """The sum of what is charged to it, at this moment."""


class Charged(Protocol):
    """What an entry may hold."""

    @property
    def memory_size_bytes(self) -> int:
        """Its size at this moment, one key included."""

    def charge_to(self, generation: Any) -> None:
        """Keep the generation informed of the size from now on; None: no generation."""


_Value = TypeVar("_Value", bound=Charged)
_Generation = TypeVar("_Generation", bound=GenerationLike)


class Entry(Generic[_Value]):
    """A value, and what each key that means it stands for.

    Attributes:
        value: What was built. It accounts for itself and one key.
        forms: By key, the oldest first: the value, or it in the form that the key asks for.
        bytes: Memory of the other keys and of the forms.
    """

    __slots__ = ("bytes", "forms", "value")

    def __init__(self, value: _Value) -> None:
        self.value = value
        self.forms: dict[Hashable, _Value] = {}
        self.bytes = 0


class Entries(Generic[_Value, _Generation]):
    """The entries of one generation.

    Args:
        generation: What they charge their bytes to.
        limit_bytes: What they may take; -1: unlimited, 0: nothing is kept.
        key_bytes: Returns what a further key and its form take, beside the value of the entry.
    """

    def __init__(
        self,
        generation: _Generation,
        limit_bytes: int,
        key_bytes: Callable[[Hashable, _Value, _Value], int],
    ) -> None:
        self.generation = generation
        self._limit_bytes = limit_bytes
        self._key_bytes = key_bytes
        self._entries: dict[Hashable, Entry[_Value]] = {}  # by meaning, least recently used first
        self._meanings: dict[Hashable, Hashable] = {}  # by key
        self._further_bytes = 0  # of all entries

    def __len__(self) -> int:
        return len(self._entries)

    def values(self) -> list[_Value]:
        """Return the values, least recently used first."""
        return [entry.value for entry in self._entries.values()]

    def use(self, key: Hashable) -> _Value | None:
        """Return what a key stands for, as the most recently used."""
        meaning = self._meanings.get(key)
        if meaning is None:
            return None
        self.use_meaning(meaning)
        return self._entries[meaning].forms[key]

    def use_meaning(self, meaning: Hashable) -> _Value | None:
        """Return the value of a meaning, as the most recently used."""
        entry = self._entries.pop(meaning, None)
        if entry is None:
            return None
        self._entries[meaning] = entry
        return entry.value

    def insert(self, meaning: Hashable, value: _Value) -> None:
        """Keep a value, unless it is too large or there is one."""
        if meaning in self._entries or 0 <= self._limit_bytes < value.memory_size_bytes:
            return
        self._entries[meaning] = Entry(value)
        value.charge_to(self.generation)

    def add_key(
        self, key: Hashable, form: _Value, meaning: Hashable, value: _Value
    ) -> _Value | None:
        """Have a key lead to the value that its form came from, if that is still kept.

        Returns:
            The form of a key that had to go for it, if one had.
        """
        entry = self._entries.get(meaning)
        if entry is None or entry.value is not value:
            return None
        dropped = None
        if entry.forms:
            self._add_bytes(entry, self._key_bytes(key, form, value))
        if len(entry.forms) == MAX_KEYS:
            oldest = tuple(entry.forms)[1]  # the value accounts for the first
            del self._meanings[oldest]
            dropped = entry.forms.pop(oldest)
            self._add_bytes(entry, -self._key_bytes(oldest, dropped, value))
        entry.forms[key] = form
        self._meanings[key] = meaning
        return dropped

    def drop_excess(self) -> tuple[int, list[Entry[_Value]]]:
        """Take entries out, with all their keys, until the limit is kept.

        Returns:
            The memory of the entries, and those that were taken out.
        """
        dropped: list[Entry[_Value]] = []
        while True:
            # Read once each time: what is answered is what was compared.
            size = self.generation.bytes + self._further_bytes
            if not (size > self._limit_bytes >= 0 and self._entries):
                return size, dropped
            entry = self._entries.pop(next(iter(self._entries)))
            for key in entry.forms:
                del self._meanings[key]
            self._further_bytes -= entry.bytes
            entry.value.charge_to(None)
            dropped.append(entry)

    def free(self) -> None:
        """Let go of one entry after the other, with other threads in between."""
        self._meanings.clear()
        while self._entries:
            self._entries.popitem()
            time.sleep(0)  # lets go of the global lock

    def _add_bytes(self, entry: Entry[_Value], count: int) -> None:
        entry.bytes += count
        self._further_bytes += count
