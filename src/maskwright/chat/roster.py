"""All requests of an engine: those that wait, those that run, and how those that are over ended.

Idea: one lock guards where each request is, so that figures are those of one moment and a request
ends once, whoever ends it. Any thread has requests enter and withdraws them; only the scheduler's
admits them, so it reads `running` without the lock. The lock is held for no call of the model.
All have the same time, so those that wait are over in the order in which they entered.
Cost: a lock for each of these; entering looks at those that wait if their number is limited.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from maskwright.chat.completion import Ending
from maskwright.chat.engine_stats import RequestStats
from maskwright.chat.errors import EngineBusyError, EngineClosedError

if TYPE_CHECKING:
    from maskwright.chat.job import Event, Job
    from maskwright.chat.sequence_pool import SequencePool


class Roster:
    """Who waits and who runs; requests are admitted in the order in which they entered.

    Args:
        sequences: What requests wait for.
        max_waiting: How many may wait for sequences; None: any number. One for which there are
            sequences, and which only the thread has not admitted yet, does not count.

    Attributes:
        running: The requests that were admitted and are not over, the oldest first; for the
            scheduler's thread.
    """

    def __init__(self, sequences: SequencePool, *, max_waiting: int | None = None) -> None:
        self._sequences = sequences
        self._max_waiting = max_waiting
        # Guards what follows; `close` may come from a destructor in a thread that holds it.
        self._lock = threading.RLock()
        self._is_closed = False
        self._waiting: deque[Job] = deque()
        self.running: list[Job] = []
        self._finished = self._failed = self._cancelled = self._refused = 0
        self._prompt_tokens = self._completion_tokens = 0

    # --- any thread -----------------------------------------------------------------------------

    def enter(self, job: Job) -> None:
        """Have a request wait for its turn.

        Raises:
            EngineClosedError: `close` was called.
            EngineBusyError: Too many wait.
        """
        with self._lock:
            if self._is_closed:
                raise closed()
            self._waiting.append(job)
            if self._max_waiting is not None and self._without_place() > self._max_waiting:
                self._waiting.pop()
                self._refused += 1
                raise EngineBusyError(
                    f"as many requests wait for their turn as max_waiting = {self._max_waiting} "
                    "allows; ask again later",
                    code="engine-busy",
                )

    def withdraw(self, job: Job) -> None:
        """Cancel a request if it waits; one that runs the scheduler has to end."""
        with self._lock:
            if job in self._waiting:
                self._take_out(job, None)

    def close(self) -> None:
        """Let no request enter any more."""
        with self._lock:
            self._is_closed = True

    def stats(self) -> RequestStats:
        """The figures of this moment."""
        with self._lock:
            meters = [job.meter for job in self.running]
            return RequestStats(
                running=len(self.running),
                waiting=len(self._waiting),
                finished=self._finished,
                failed=self._failed,
                cancelled=self._cancelled,
                refused=self._refused,
                prompt_tokens=self._prompt_tokens + sum(m.prompt_tokens for m in meters),
                completion_tokens=self._completion_tokens
                + sum(m.completion_tokens for m in meters),
            )

    # --- the scheduler's thread -----------------------------------------------------------------

    def admit(self) -> Job | None:
        """Take the next request in with its sequences, if there are enough.

        One that needs more than still work comes without any.
        """
        with self._lock:
            if not self._waiting:
                return None
            job = self._waiting[0]
            if self._sequences.free < job.request.n <= self._sequences.usable:
                return None
            if job.request.n <= self._sequences.usable:
                job.sequences = self._sequences.allocate(job.request.n)
            self.running.append(self._waiting.popleft())
            return job

    def end(self, job: Job, last: Event | None) -> bool:
        """Take a request out, wherever it is; False: it is over already.

        Args:
            job: The request.
            last: What it ends with: its ending, an error, or nothing, as nobody waits for it.
        """
        with self._lock:
            if job.is_over:
                return False
            self._take_out(job, last)
            return True

    def overdue(self, now: float) -> list[Job]:
        """The requests whose time is over."""
        with self._lock:
            waiting = takewhile(lambda job: job.deadline <= now, self._waiting)
            return [*waiting, *(job for job in self.running if job.deadline <= now)]

    def next_deadline(self) -> float:
        """When the time of the first request is over; infinite if none has a limit."""
        with self._lock:
            first = islice(self._waiting, 1)
            return min((job.deadline for job in (*self.running, *first)), default=math.inf)

    def all(self) -> list[Job]:
        """The requests that wait or run."""
        with self._lock:
            return [*self.running, *self._waiting]

    def renew(self) -> None:
        """Be closed in a forked child; another thread may have held the lock."""
        self._lock = threading.RLock()
        self._is_closed = True

    # --- under the lock -------------------------------------------------------------------------

    def _without_place(self) -> int:
        """How many wait for sequences, and not only for the scheduler's thread."""
        free = self._sequences.free
        for place, job in enumerate(self._waiting):
            free -= job.request.n
            if free < 0:
                return len(self._waiting) - place
        return 0

    def _take_out(self, job: Job, last: Event | None) -> None:
        job.is_over = True
        (self.running if job in self.running else self._waiting).remove(job)
        self._finished += isinstance(last, Ending)
        self._failed += isinstance(last, BaseException)
        self._cancelled += last is None
        self._prompt_tokens += job.meter.prompt_tokens
        self._completion_tokens += job.meter.completion_tokens


def closed() -> EngineClosedError:
    """What ends the requests of an engine that is closed."""
    return EngineClosedError(
        "the chat engine is closed; make another ChatEngine", code="engine-closed"
    )
