"""The threads of a compiler: a bounded number, for all that it does beside its callers.

Idea: what somebody waits for goes before what is done ahead. A thread is started where there is a
task and may be one more, and ends when no task is left, so none has to be told that its compiler,
or the program, has ended. They are no daemons: a thread must not be cut off inside the engine.
Cost: starting a thread, tens of microseconds, where none is at work.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import TYPE_CHECKING

from .forks import renew_in_children

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["WorkPool", "program_ends"]

_logger = logging.getLogger(__name__)


class WorkPool:
    """Runs tasks on threads. Safe to use from several threads.

    Args:
        max_threads: How many at most.
    """

    def __init__(self, max_threads: int) -> None:
        self._max_threads = max_threads
        self.renew()
        renew_in_children(self)

    def renew(self) -> None:
        """Begin without threads and tasks, as a forked child does."""
        self._lock = threading.Lock()  # guards what follows
        self._num_threads = 0
        self._urgent: deque[Callable[[], None]] = deque()
        self._background: deque[Callable[[], None]] = deque()

    def submit(self, task: Callable[[], None], *, urgent: bool = True) -> None:
        """Have a thread run a task; returns at once. An exception of the task is logged.

        Args:
            task: What to run.
            urgent: It goes before all tasks that are not.

        Raises:
            RuntimeError: No thread can be started; the program ends, for instance.
        """
        tasks = self._urgent if urgent else self._background
        with self._lock:
            if self._num_threads < self._max_threads:
                _Worker(target=self._work, name="maskwright", daemon=False).start()
                self._num_threads += 1
            tasks.append(task)

    @property
    def has_urgent(self) -> bool:
        """Whether an urgent task waits for a thread."""
        return bool(self._urgent)

    def forget_background(self) -> None:
        """Drop the tasks that wait and are not urgent."""
        self._background.clear()

    def _work(self) -> None:
        while True:
            with self._lock:
                tasks = self._urgent or self._background
                if not tasks:
                    self._num_threads -= 1
                    return
                task = tasks.popleft()
            try:
                task()
            except Exception:
                _logger.exception("a task of a compiler failed")
            del task  # refers to what it was for


class _Worker(threading.Thread):
    """A thread of a pool, which no program goes on for: it has tasks of others only."""


def program_ends() -> bool:
    """Whether no thread of the program is left but daemons: what can be left undone should be."""
    if threading.main_thread().is_alive():
        return False
    return not any(
        thread.is_alive() and not thread.daemon and not isinstance(thread, _Worker)
        for thread in threading.enumerate()
    )
