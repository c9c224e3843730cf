"""The result of a compilation that runs on a compiler's threads.

Idea: a future can be done in three ways that may come at the same time: by the computation, by
`cancel`, and by its time limit. Each first claims it; whoever does so decides. Those that claim it
without a result say that they have left, so that the computation can be stopped when nobody is
left. Time limits are kept by one thread for all compilers, which ends when there are none.
Cost: a lock per future, and a look at all futures with a limit whenever one of them is over.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from .forks import renew_in_children
from .work_pool import program_ends

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from .work_pool import WorkPool

__all__ = ["CompileFuture", "end_after", "submit_twice"]

_Value = TypeVar("_Value")


class CompileFuture(Future[_Value]):
    """A `concurrent.futures.Future` that can also be awaited, in any event loop of asyncio.

    `cancel` succeeds at any time before it is done, also while the computation runs; cancelling
    the task that awaits it cancels it. In a forked child what the parent's threads compute is
    cancelled.

    Args:
        leave: Called once when it is done without the computation's result. Let go when it is
            done, since it refers to what the computation needs.
    """

    def __init__(self, leave: Callable[[CompileFuture[_Value]], None] | None = None) -> None:
        super().__init__()
        self.leave = leave
        self._claim = threading.Lock()
        self._is_settled = False
        if leave is not None:
            renew_in_children(self)

    def cancel(self) -> bool:
        """Give up the result. False: it is done already, by something else."""
        if not self._claim.acquire(blocking=False):
            return self.cancelled()
        self._set_cancelled()
        self._left()
        return True

    def deliver(self, value: _Value) -> None:
        """Be done with a value, unless it is done already."""
        if self._claim.acquire(blocking=False):
            self.set_running_or_notify_cancel()
            self.set_result(value)
            self._is_settled = True
            self.leave = None

    def fail(self, error: BaseException) -> None:
        """Be done with the computation's exception, unless it is done already."""
        if self._claim.acquire(blocking=False):
            self._set_error(error)
            self.leave = None

    def expire(self, error: Exception) -> None:
        """Be done with an exception of another origin, unless it is done already."""
        if self._claim.acquire(blocking=False):
            self._set_error(error)
            self._left()

    def renew(self) -> None:
        """Be cancelled in a forked child, which lacks the thread that would deliver.

        It begins anew, since such a thread may have held its locks; its callbacks, which are for
        the parent, are not called.
        """
        if not self._is_settled:
            super().__init__()
            self._claim = threading.Lock()
            self._claim.acquire()
            self._set_cancelled()

    def __await__(self) -> Generator[Any, None, _Value]:
        from asyncio import wrap_future

        return wrap_future(self).__await__()

    def _set_error(self, error: BaseException) -> None:
        self.set_running_or_notify_cancel()
        self.set_exception(error)
        self._is_settled = True

    def _set_cancelled(self) -> None:
        super().cancel()
        self.set_running_or_notify_cancel()  # wakes `concurrent.futures.wait`
        self._is_settled = True

    def _left(self) -> None:
        if self.leave is not None:
            self.leave(self)
            self.leave = None


def submit_twice(
    pool: WorkPool, submit: Callable[[], CompileFuture[_Value]]
) -> CompileFuture[_Value]:
    """Return a future of what another one comes to, which a thread of the pool submits first.

    No thread waits for it. When this one is left, so is that one.

    Args:
        pool: The pool.
        submit: Returns the other future; what it raises is the result.

    Raises:
        RuntimeError: The program ends.
    """
    submitted: list[CompileFuture[_Value]] = []

    def leave(_: object) -> None:
        for inner in submitted:
            inner.cancel()

    outer: CompileFuture[_Value] = CompileFuture(leave)

    def begin() -> None:
        if program_ends():
            outer.cancel()
        if outer.done():
            return
        try:
            inner = submit()
        except BaseException as error:  # noqa: BLE001  whoever waits has it
            outer.fail(error)
            return
        submitted.append(inner)
        if outer.done():  # since, perhaps before it was in the list
            inner.cancel()
        inner.add_done_callback(hand_over)

    def hand_over(inner: Future[_Value]) -> None:
        if inner.cancelled():
            outer.cancel()
        elif (error := inner.exception()) is not None:
            outer.fail(error)
        else:
            outer.deliver(inner.result())

    pool.submit(begin)
    return outer


def end_after(
    future: CompileFuture[Any], seconds: float, make_error: Callable[[], Exception]
) -> None:
    """Have a future raise an error, if it is not done after some time."""
    _limits.add(future, seconds, make_error)


class _TimeLimits:
    """A thread that ends futures whose time is over, while there are any."""

    def __init__(self) -> None:
        self.renew()
        renew_in_children(self)

    def renew(self) -> None:
        """Begin without futures and a thread, as a forked child is."""
        self._changed = threading.Condition()  # guards what follows
        self._ends: dict[CompileFuture[Any], tuple[float, Callable[[], Exception]]] = {}
        self._is_watched = False

    def add(
        self, future: CompileFuture[Any], seconds: float, make_error: Callable[[], Exception]
    ) -> None:
        with self._changed:
            self._ends[future] = time.monotonic() + seconds, make_error
            if self._is_watched:
                self._changed.notify()
            else:
                # It must not keep a program from ending, which may be hours before a limit.
                threading.Thread(target=self._watch, name="maskwright-limits", daemon=True).start()
                self._is_watched = True
        future.add_done_callback(self._forget)

    def _forget(self, future: Future[Any]) -> None:
        with self._changed:
            self._ends.pop(future, None)  # type: ignore[call-overload]  # it is one of those
            if not self._ends:
                self._changed.notify()

    def _watch(self) -> None:
        while True:
            with self._changed:
                if not self._ends:
                    self._is_watched = False
                    return
                now = time.monotonic()
                over = [(future, end[1]) for future, end in self._ends.items() if end[0] <= now]
                for future, _ in over:
                    del self._ends[future]
                if not over:
                    first = min(end for end, _ in self._ends.values())
                    self._changed.wait(min(first - now, threading.TIMEOUT_MAX))
            for future, make_error in over:
                future.expire(make_error())


_limits = _TimeLimits()
