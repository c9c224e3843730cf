"""A cache of compiled grammars: one computation per key, least recently used first out.

Idea: one lock guards two dictionaries, finished entries and computations in flight. Nothing is
computed or freed under the lock: the first caller of a key computes, the others wait for its
result, value or exception. `clear` begins a new *generation*: it swaps both dictionaries and the
generation's own object, so whatever was in flight finds itself forgotten and is delivered to its
callers without being kept. A computation gets the generation that it began in; what its entries
share belongs to that one, and lives as long as they do.
Entries grow while masks are computed. Each charges its bytes to the generation from its
insertion to its end here and keeps that up to date itself, so the cache never measures one. What is
more than the limit goes at each insertion, hit and question about the size.
Cost: a lock and a dictionary look-up per hit, whatever the number of entries.
"""

from __future__ import annotations

import copy
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from .forks import renew_in_children

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

__all__ = ["CacheStats", "CompileCache"]


class _Generation(Protocol):
    @property
    def bytes(self) -> int:
        """The sum of what is charged to it, at this moment."""


class _Charged(Protocol):
    @property
    def memory_size_bytes(self) -> int: ...

    def charge_to(self, generation: Any) -> None:
        """Keep the generation informed of the size from now on; None: no generation."""


_Value = TypeVar("_Value", bound=_Charged)
_AnyGeneration = TypeVar("_AnyGeneration", bound=_Generation)


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


class _Flight(Generic[_Value, _AnyGeneration]):
    """One computation that others may wait for, by the lock that is held while it runs."""

    def __init__(self, generation: _AnyGeneration) -> None:
        self.generation = generation
        self.running = threading.Lock()
        self.running.acquire()
        self.value: _Value | None = None
        self.error: Exception | None = None  # with neither: the computing thread was interrupted


class CompileCache(Generic[_Value, _AnyGeneration]):
    """Maps keys to values that are expensive to make.

    Args:
        new_generation: Makes what the entries of a generation charge their bytes to.
        limit_bytes: What the entries may take; -1: unlimited, 0: nothing is kept.
    """

    def __init__(self, new_generation: Callable[[], _AnyGeneration], limit_bytes: int = -1) -> None:
        self.limit_bytes = limit_bytes
        self._new_generation = new_generation
        self._lock = threading.Lock()
        self._entries: dict[Hashable, _Value] = {}  # least recently used first
        self._flights: dict[Hashable, _Flight[_Value, _AnyGeneration]] = {}
        self._generation = new_generation()  # of the entries
        self._size = 0  # as last looked at
        self._hits = self._misses = self._evictions = 0
        renew_in_children(self)

    def renew(self) -> None:
        """Forget what other threads of a parent process compute: they don't in a forked child."""
        self._lock = threading.Lock()
        self._flights = {}

    @property
    def generation(self) -> _AnyGeneration:
        """The present generation."""
        return self._generation

    def get(self, key: Hashable, make: Callable[[_AnyGeneration], _Value]) -> _Value:
        """Return the entry of a key, made by ``make``, for its generation, if there is none.

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
                    dropped = self._drop_excess()  # freed after the lock
                    break
                flight = self._flights.get(key)
                first = flight is None
                if flight is None:
                    flight = self._flights[key] = _Flight(self._generation)
                    self._misses += 1
            if first:
                return self._compute(key, flight, make)
            with flight.running:  # until it has ended
                pass
            if flight.error is not None:
                raise _copied(flight.error) from flight.error
            if flight.value is not None:
                with self._lock:
                    self._hits += 1
                return flight.value
        del dropped
        return value

    def _compute(
        self,
        key: Hashable,
        flight: _Flight[_Value, _AnyGeneration],
        make: Callable[[_AnyGeneration], _Value],
    ) -> _Value:
        dropped: list[_Value] = []  # freed after the lock
        try:
            flight.value = value = make(flight.generation)
        except Exception as error:
            flight.error = error
            raise
        finally:
            with self._lock:
                if self._flights.get(key) is flight:  # not cleared meanwhile
                    del self._flights[key]
                    if flight.value is not None:
                        dropped = self._keep(key, flight.value)
                elif flight.value is not None:
                    flight.value.charge_to(flight.generation)
            flight.running.release()
        del dropped
        return value

    def clear(self) -> _AnyGeneration:
        """Forget all entries, and keep nothing of what is in flight; waits for nothing.

        Returns:
            The generation that has ended. What still lives of it goes on charging it.
        """
        with self._lock:
            entries, self._entries = self._entries, {}
            self._flights = {}
            past, self._generation = self._generation, self._new_generation()
        del entries  # frees compiled grammars, after the lock
        return past

    def size_bytes(self) -> int:
        """Return the memory of the entries; within the limit, since what is more goes first."""
        with self._lock:
            dropped = self._drop_excess()
            size = self._size
        del dropped  # frees compiled grammars, after the lock
        return size

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

    def _keep(self, key: Hashable, value: _Value) -> list[_Value]:
        """Insert an entry, under the lock, and return those that it drives out."""
        if 0 <= self.limit_bytes < value.memory_size_bytes:
            return []
        self._entries[key] = value
        value.charge_to(self._generation)
        return [] if self.limit_bytes < 0 else self._drop_excess()

    def _drop_excess(self) -> list[_Value]:
        """Take entries out, under the lock, until the limit is kept; return them."""
        dropped: list[_Value] = []
        # The size is read once each time: what is answered is what was compared.
        while (size := self._generation.bytes) > self.limit_bytes >= 0 and self._entries:
            value = self._entries.pop(next(iter(self._entries)))
            value.charge_to(None)
            dropped.append(value)
        self._size = size
        self._evictions += len(dropped)
        return dropped


def _copied(error: Exception) -> Exception:
    """Return a copy for another thread, since raising writes to the exception."""
    try:
        return copy.copy(error)
    except Exception:  # noqa: BLE001  an exception that cannot be copied is shared
        return error
