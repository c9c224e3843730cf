"""A cache of compiled grammars: one computation per key, least recently used first out.

Idea: one lock guards two dictionaries, finished entries and computations in flight. Nothing is
computed, measured or freed under the lock: the first caller of a key computes, the others wait for
its result, value or exception. `clear` swaps both dictionaries, so whatever was in flight finds
itself forgotten and is delivered to its callers without being kept.
Cost: a lock and a dictionary look-up per hit. With a limit, an insertion measures all entries,
because a compiled grammar grows while masks are computed.
"""

from __future__ import annotations

import copy
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

__all__ = ["CacheStats", "CompileCache"]


class _Sized(Protocol):
    @property
    def memory_size_bytes(self) -> int: ...


_Value = TypeVar("_Value", bound=_Sized)


@dataclass(frozen=True)
class CacheStats:
    """Figures of a cache at one moment.

    Attributes:
        entries: Finished entries that are kept.
        bytes: Memory of those entries.
        hits: Calls that were answered without a computation of their own.
        misses: Computations that were started.
        evictions: Entries that were dropped to keep the limit; `clear` doesn't count.
        in_flight: Computations that run now and will be kept.
    """

    entries: int
    bytes: int
    hits: int
    misses: int
    evictions: int
    in_flight: int


class _Flight(Generic[_Value]):
    """One computation that others may wait for, by the lock that is held while it runs."""

    def __init__(self) -> None:
        self.running = threading.Lock()
        self.running.acquire()
        self.value: _Value | None = None
        self.error: Exception | None = None  # with neither: the computing thread was interrupted


class CompileCache(Generic[_Value]):
    """Maps keys to values that are expensive to make.

    Args:
        limit_bytes: What the entries may take; -1: unlimited, 0: nothing is kept.
    """

    def __init__(self, limit_bytes: int = -1) -> None:
        self.limit_bytes = limit_bytes
        self._lock = threading.Lock()
        self._entries: dict[Hashable, _Value] = {}  # least recently used first
        self._flights: dict[Hashable, _Flight[_Value]] = {}
        self._hits = self._misses = self._evictions = 0

    def get(self, key: Hashable, make: Callable[[], _Value]) -> _Value:
        """Return the entry of a key, made by ``make`` if there is none.

        Raises:
            Exception: What ``make`` raised, in this thread or in the one that this one waited for.
                Nothing is kept then.
        """
        while True:
            with self._lock:
                value = self._entries.pop(key, None)
                if value is not None:
                    self._entries[key] = value
                    self._hits += 1
                    return value
                flight = self._flights.get(key)
                if flight is None:
                    flight = self._flights[key] = _Flight()
                    self._misses += 1
                    break
            with flight.running:  # until it has ended
                pass
            if flight.error is not None:
                raise _copied(flight.error) from flight.error
            if flight.value is not None:
                with self._lock:
                    self._hits += 1
                return flight.value
        return self._compute(key, flight, make)

    def _compute(
        self, key: Hashable, flight: _Flight[_Value], make: Callable[[], _Value]
    ) -> _Value:
        try:
            flight.value = value = make()
        except Exception as error:
            flight.error = error
            raise
        finally:
            with self._lock:
                if self._flights.get(key) is flight:  # not cleared meanwhile
                    del self._flights[key]
                    if flight.value is not None:
                        self._entries[key] = flight.value
            flight.running.release()
        self._trim()
        return value

    def clear(self) -> None:
        """Forget all entries, and keep nothing of what is in flight; waits for nothing."""
        with self._lock:
            entries, self._entries = self._entries, {}
            self._flights = {}
        del entries  # frees compiled grammars, after the lock

    def size_bytes(self) -> int:
        """Return the memory of the entries, measured now."""
        return sum(size for _, _, size in self._measured())

    def values(self) -> list[_Value]:
        """Return the entries, least recently used first."""
        with self._lock:
            return list(self._entries.values())

    def stats(self) -> CacheStats:
        """Return the figures of this moment."""
        size = self.size_bytes()
        with self._lock:
            return CacheStats(
                len(self._entries),
                size,
                self._hits,
                self._misses,
                self._evictions,
                len(self._flights),
            )

    def _measured(self) -> list[tuple[Hashable, _Value, int]]:
        with self._lock:
            items = list(self._entries.items())
        return [(key, value, value.memory_size_bytes) for key, value in items]

    def _trim(self) -> None:
        if self.limit_bytes < 0:
            return
        measured = self._measured()
        excess = sum(size for _, _, size in measured) - self.limit_bytes
        for key, value, size in measured:
            if excess <= 0:
                return
            excess -= size
            with self._lock:
                if self._entries.get(key) is value:
                    del self._entries[key]
                    self._evictions += 1


def _copied(error: Exception) -> Exception:
    """Return a copy for another thread, since raising writes to the exception."""
    try:
        return copy.copy(error)
    except Exception:  # noqa: BLE001  an exception that cannot be copied is shared
        return error
