"""What is computed for a cache, and those who wait for it.

Idea: a key's *computation* finds out what the key means, and asks for that: its *build*. Others may
wait for either. A computation that was submitted waits for a thread; a caller that comes meanwhile
takes it over. When all who waited have left, its stop flag is set.
"""

from __future__ import annotations

import copy
import threading
from types import FunctionType
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from ._core import StopFlag

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from .compile_future import CompileFuture

__all__ = ["Computation", "copied"]

_Value = TypeVar("_Value")
_Generation = TypeVar("_Generation")


class _Cache(Protocol[_Value, _Generation]):
    def value_of(
        self,
        computation: Computation[_Value, _Generation],
        meaning: Hashable,
        build: Callable[[], _Value],
    ) -> _Value: ...


class Computation(Generic[_Value, _Generation]):
    """What is computed for a key. The computing function gets it as its argument.

    Its end is waited for by a lock that is held until then; nobody looks at what it came to
    before. All else the cache reads and writes under its own lock.

    Attributes:
        key: None: nobody else asks for it.
        make: The computing function.
        generation: What its value belongs to; None: it is not kept.
        stop: Set when nobody waits any longer.
        is_begun: Some thread computes it, or nobody needs to.
        callers: Threads that compute it or wait for it.
        futures: Those that wait otherwise, in order.
        value: What it came to.
        error: What it raised. With neither it was stopped, or its thread was interrupted.
        shared: The meaning and the value that it came from, once they are known.
        builds: The meaning that it builds, for others, too.
        build_error: What that raised.
    """

    __slots__ = (
        "_cache",
        "_running",
        "build_error",
        "builds",
        "callers",
        "error",
        "futures",
        "generation",
        "is_begun",
        "key",
        "make",
        "shared",
        "stop",
        "value",
    )

    def __init__(
        self,
        cache: _Cache[_Value, _Generation],
        key: Hashable,
        make: Callable[[Computation[_Value, _Generation]], _Value],
        generation: _Generation | None,
    ) -> None:
        self._cache = cache
        self._running = threading.Lock()
        self._running.acquire()
        self.key = key
        self.make = make
        self.generation = generation
        self.stop = StopFlag()
        self.is_begun = False
        self.callers = 0
        self.futures: dict[CompileFuture[_Value], None] = {}
        self.value: _Value | None = None
        self.error: BaseException | None = None
        self.shared: tuple[Hashable, _Value] | None = None
        self.builds: Hashable = None
        self.build_error: Exception | None = None

    def begin(self) -> bool:
        """Take it over; False: another thread has."""
        is_mine, self.is_begun = not self.is_begun, True
        return is_mine

    def share(self, meaning: Hashable, build: Callable[[], _Value]) -> _Value:
        """Return the value of a meaning: the entry there is, one that is being built, or a new one.

        Once at most.

        Raises:
            Exception: What ``build`` raised, in this thread or in the one that this one waited for.
        """
        return self._cache.value_of(self, meaning, build)

    def end(self) -> None:
        """Let go those who wait."""
        self._running.release()

    def wait(self) -> _Value | None:
        """Wait for the value; None: there is none, and whoever still wants it computes it.

        Raises:
            BaseException: A copy of what it raised.
        """
        with self._running:
            pass
        if self.error is not None:
            raise copied(self.error)
        return self.value

    def wait_for_build(self) -> _Value | None:
        """Wait for what it builds; None: there is nothing, and whoever still wants it builds it.

        Raises:
            Exception: A copy of what the build raised.
        """
        with self._running:
            pass
        if self.build_error is not None:
            raise copied(self.build_error)
        return None if self.shared is None else self.shared[1]


def copied(error: BaseException) -> BaseException:
    """Return a copy for another caller, since raising writes to the exception.

    It has the exception as its cause. Constructors written in Python are not called: they may take
    other arguments than those that the exception has, or make another message of them.
    """
    kind = type(error)
    try:
        if isinstance(kind.__init__, FunctionType):
            copy_of_it = kind.__new__(kind, *error.args)
            copy_of_it.args = error.args
            copy_of_it.__dict__.update(error.__dict__)
        else:
            copy_of_it = copy.copy(error)
    except Exception:  # noqa: BLE001  an exception that cannot be copied is shared
        return error
    copy_of_it.__cause__ = error
    return copy_of_it
