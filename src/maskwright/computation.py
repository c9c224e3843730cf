"""What is computed for a cache, and those who wait for it.

Idea: a key's *computation* finds out what the key means, and asks for that: its *build*. Others may
wait for either. A computation that was submitted waits for a thread; a caller that comes meanwhile
takes it over. When all who waited have left, its stop flag is set.
"""

from __future__ import annotations

import copy
import threading
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from ._core import StopFlag

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from .compile_future import CompileFuture

__all__ = ["Computation", "Outcome"]

_Value = TypeVar("_Value")
_Generation = TypeVar("_Generation")


class Outcome(Generic[_Value]):
    """What others may wait for, by the lock that is held until it is there."""

    __slots__ = ("_running", "error", "value")

    def __init__(self) -> None:
        self._running = threading.Lock()
        self._running.acquire()
        self.value: _Value | None = None
        self.error: BaseException | None = None  # with neither: stopped, or interrupted

    def end(self) -> None:
        """Let go those who wait."""
        self._running.release()

    def wait(self) -> _Value | None:
        """Wait for the value; None: there is none, and whoever still wants it computes it.

        Raises:
            BaseException: A copy of what the computation raised.
        """
        with self._running:
            pass
        if self.error is not None:
            raise copied(self.error)
        return self.value


class _Cache(Protocol[_Value, _Generation]):
    def value_of(
        self,
        computation: Computation[_Value, _Generation],
        meaning: Hashable,
        build: Callable[[], _Value],
    ) -> _Value: ...


class Computation(Outcome[_Value], Generic[_Value, _Generation]):
    """What is computed for a key. The computing function gets it as its argument.

    What the cache writes here it writes under its lock, but for the outcome.

    Attributes:
        key: None: nobody else asks for it.
        make: The computing function.
        generation: What its value belongs to; None: it is not kept.
        stop: Set when nobody waits any longer.
        is_begun: Some thread computes it, or nobody needs to.
        callers: Threads that compute it or wait for it.
        futures: Those that wait otherwise, in order.
        shared: The meaning and the value that it came from, once they are known.
    """

    __slots__ = (
        "_cache",
        "callers",
        "futures",
        "generation",
        "is_begun",
        "key",
        "make",
        "shared",
        "stop",
    )

    def __init__(
        self,
        cache: _Cache[_Value, _Generation],
        key: Hashable,
        make: Callable[[Computation[_Value, _Generation]], _Value],
        generation: _Generation | None,
    ) -> None:
        super().__init__()
        self._cache = cache
        self.key = key
        self.make = make
        self.generation = generation
        self.stop = StopFlag()
        self.is_begun = False
        self.callers = 0
        self.futures: dict[CompileFuture[_Value], None] = {}
        self.shared: tuple[Hashable, _Value] | None = None

    def begin(self) -> bool:
        """Take it over; False: another thread has."""
        mine, self.is_begun = not self.is_begun, True
        return mine

    def share(self, meaning: Hashable, build: Callable[[], _Value]) -> _Value:
        """Return the value of a meaning: the entry there is, one that is being built, or a new one.

        Raises:
            Exception: What ``build`` raised, in this thread or in the one that this one waited for.
        """
        return self._cache.value_of(self, meaning, build)


def copied(error: BaseException) -> BaseException:
    """Return a copy for another thread, since raising writes to the exception."""
    try:
        copy_of_it = copy.copy(error)
    except Exception:  # noqa: BLE001  an exception that cannot be copied is shared
        return error
    copy_of_it.__cause__ = error
    return copy_of_it
