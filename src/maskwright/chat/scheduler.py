"""The one thread that owns the model: requests in, events out.

Idea: everything that happens to the scheduler is a message in its inbox, a function that its thread
calls: a request comes, is cancelled, or its matchers are ready. So all state belongs to one thread
and needs no lock, but for where each request is, which the roster says to all. Between messages it
makes one call of the model after the other, each with the next token of every running choice and a
chunk of the prompts that wait (continuous batching).
Requests are admitted in the order in which they came, once there is a sequence for each choice.

An error, whatever it is, ends the requests that it is of and no others (`_ending`).
A request is queued; admitted, its prompt is evaluated while its format is compiled (`set_up`);
begun, when both are there; and over, when all choices have ended, one has failed, or nobody
waits any more. Whatever ends it frees its sequences and matchers at once.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np

from maskwright.chat.errors import (
    EngineThreadError,
    ModelError,
    RequestTimeoutError,
    as_failure,
    own_failure,
)
from maskwright.chat.job import Event, Job, check_length, prompt_tokens, token_limit
from maskwright.chat.model_call import Part, advance, check_logits, has_work, plan
from maskwright.chat.roster import Roster, closed
from maskwright.chat.sequence_pool import SequencePool
from maskwright.chat.set_up import Outcome, SetUp
from maskwright.forks import renew_in_children
from maskwright.work_pool import program_ends

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from maskwright.chat.choice import Choice
    from maskwright.chat.decoder import Decoder
    from maskwright.chat.grammar_pool import GrammarPool
    from maskwright.chat.model import LanguageModel

_LOOK_SECONDS: Final = 0.1
"""How often the thread looks whether the program ends, while it waits for grammars only."""

BeginChoices = Callable[[Job], "list[Choice]"]
"""Makes the choices of a request whose prompt was evaluated and whose matchers are there."""


class Scheduler:
    """Runs requests on a model.

    Args:
        model: The model; nobody else may use it until `close` has returned.
        grammars: Where matchers come from.
        decoder: Chooses tokens.
        begin_choices: Makes the choices of a request.
        prefill_chunk: The most tokens of prompts in one call of the model.
        request_timeout_seconds: How long a request may take, waiting included; None: any time.
        max_waiting: How many requests may wait for sequences; None: any number.

    Attributes:
        roster: Where each request is.
    """

    def __init__(
        self,
        model: LanguageModel,
        grammars: GrammarPool,
        decoder: Decoder,
        begin_choices: BeginChoices,
        *,
        prefill_chunk: int,
        request_timeout_seconds: float | None = None,
        max_waiting: int | None = None,
    ) -> None:
        self._model = model
        self._grammars = grammars
        self._decoder = decoder
        self._begin_choices = begin_choices
        self._chunk = prefill_chunk
        self._request_timeout = request_timeout_seconds
        self._sequences = SequencePool(model)
        self.roster = Roster(self._sequences, max_waiting=max_waiting)
        self._longest_token = max(map(len, model.vocabulary.tokens), default=0)
        self._inbox: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self._stops = False
        self._thread = threading.Thread(target=self._run, name="maskwright-chat", daemon=True)
        self._thread.start()
        renew_in_children(self)

    # --- any thread -----------------------------------------------------------------------------

    def submit(self, job: Job) -> None:
        """Queue a request; its sink is told all that comes of it, an error included.

        Raises:
            EngineClosedError: `close` was called.
            EngineBusyError: Too many requests wait.
            EngineThreadError: The calling thread is that of the engine.
        """
        if threading.current_thread() is self._thread:
            raise EngineThreadError(
                "the engine is asked by its own thread, from a logit processor or the model, and "
                "would wait for itself; ask another engine, or ask from another thread and do not "
                "wait for it here",
                code="engine-thread",
            )
        self.roster.enter(job)
        self._inbox.put(lambda: None)  # wakes the thread

    def cancel(self, job: Job, *, at_once: bool) -> None:
        """Forget a request, wherever it is; its sink is told nothing more. Waits for nothing.

        Args:
            job: The request.
            at_once: Also before the model's current call ends. Not from a destructor: this very
                thread may hold a lock that is needed for it; the inbox takes messages even then.
        """
        if at_once:
            self.roster.withdraw(job)
            if (set_up := job.set_up) is not None:
                set_up.cancel()
        self._inbox.put(partial(self._end, job))  # also has those that waited behind it looked at

    def close(self) -> None:
        """End all requests with an `EngineClosedError` and wait for the thread."""
        self.roster.close()
        self._inbox.put(partial(setattr, self, "_stops", True))
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def renew(self) -> None:
        """End all requests in a forked child, which has no thread to run them."""
        self.roster.renew()
        self._stops = True
        for job in self.roster.all():
            job.emit(closed())

    # --- the thread -----------------------------------------------------------------------------

    def _run(self) -> None:
        cause: BaseException | None = None
        try:
            while not self._stops:
                self._take_messages()
                self._end_overdue()
                if self._sets_up and program_ends():
                    break  # it would wait for what is compiled
                self._admit()
                self._step()
                self._sweep()
                self._admit()
        except BaseException as error:  # noqa: BLE001  a fault of ours: nobody may wait for ever
            cause = error
        self._shut_down(cause)

    def _shut_down(self, cause: BaseException | None) -> None:
        self.roster.close()
        self._stops = True
        while not self._inbox.empty():
            self._inbox.get()()
        for job in self.roster.all():
            error = closed()
            error.__cause__ = cause
            self._end(job, error)

    def _take_messages(self) -> None:
        """Do what messages say; waits for one if there is nothing else to do."""
        waits = not has_work(self.roster.running)
        while True:
            try:
                message = self._inbox.get(waits, self._patience() if waits else None)
            except queue.Empty:
                return
            message()
            waits = False

    def _patience(self) -> float | None:
        """How long to wait for a message; None: any time."""
        seconds = self.roster.next_deadline() - perf_counter()
        if self._sets_up:
            seconds = min(seconds, _LOOK_SECONDS)
        return max(seconds, 0.0) if seconds <= threading.TIMEOUT_MAX else None

    def _end_overdue(self) -> None:
        if self._request_timeout is not None:
            for job in self.roster.overdue(perf_counter()):
                self._end(job, RequestTimeoutError(self._request_timeout))

    @property
    def _sets_up(self) -> bool:
        """Whether the grammar of some request is being compiled."""
        return any(job.set_up is not None for job in self.roster.running)

    def _admit(self) -> None:
        while (job := self.roster.admit()) is not None:
            with self._ending([job]):
                self._start(job)

    def _start(self, job: Job) -> None:
        """Render the prompt, and set the grammar up beside its evaluation."""
        if not job.sequences:
            raise _no_sequences(job.request.n, self._sequences.usable)
        text = self._model.render_chat(job.request.messages)
        check_length(text, self._longest_token, self._model.context_size)
        vocab_size = self._model.vocabulary.vocab_size
        prompt_ids = prompt_tokens(self._model.tokenize(text), vocab_size)
        count = job.meter.prompt_tokens = len(prompt_ids)
        job.limit = token_limit(self._model.context_size, count, job.request.max_tokens)
        job.prompt_ids = prompt_ids
        if job.request.response_format.is_text:
            job.matchers = []
        else:
            job.set_up = SetUp(
                self._grammars,
                job.request.response_format,
                job.request.n,
                job.limit,
                lambda outcome: self._inbox.put(partial(self._set_up_done, job, outcome)),
            )

    def _set_up_done(self, job: Job, outcome: Outcome) -> None:
        job.set_up = None
        job.meter.grammar_init_seconds += outcome.seconds
        if job.is_over or self._stops:
            self._grammars.give_back(outcome.matchers)
        elif outcome.error is not None:
            self._end(job, outcome.error)
        else:
            job.matchers = outcome.matchers
            with self._ending([job]):
                self._begin(job)

    def _step(self) -> None:
        """One call of the model for everybody, and what follows from it."""
        parts = plan(self.roster.running, self._chunk)
        if not parts:
            return
        jobs = list({part.job: None for part in parts})
        with self._ending(jobs):
            start = perf_counter()
            logits = np.asarray(self._model.evaluate([part.input for part in parts]))
            check_logits(logits, len(parts), self._model.vocabulary.vocab_size)
            seconds = perf_counter() - start
            self._use(parts, logits)
            for job in jobs:
                if job.choices:
                    job.meter.model_seconds += seconds
                else:
                    job.meter.prompt_seconds += seconds
                    with self._ending([job]):
                        self._begin(job)

    def _use(self, parts: Sequence[Part], logits: NDArray[np.float32]) -> None:
        """Give logits to those that have asked for them."""
        ready = [row for row, part in enumerate(parts) if advance(part, logits[row])]
        choices = [choice for row in ready if (choice := parts[row].choice) is not None]
        self._decoder.step(choices, ready, logits)

    def _begin(self, job: Job) -> None:
        """Begin the choices, once the prompt was evaluated and the matchers are there."""
        if job.first_row is None or job.matchers is None or job.is_over:
            return
        for target in job.sequences[1:]:
            self._model.copy_sequence(job.sequences[0], target)
        job.choices = self._begin_choices(job)
        for choice in job.choices:
            choice.begin()
        self._decoder.prepare(job.choices)
        waiting = [choice for choice in job.choices if choice.is_running and not choice.pending]
        if waiting:
            logits = np.repeat(job.first_row[None], len(waiting), axis=0)
            self._decoder.step(waiting, range(len(waiting)), logits)
        job.first_row = None

    @contextmanager
    def _ending(self, jobs: Sequence[Job]) -> Iterator[None]:
        """An error within the block, whatever it is, ends these requests and no others."""
        try:
            yield
        except BaseException as error:  # noqa: BLE001  it is told to the callers
            for job in jobs:
                self._fail(job, error)

    def _sweep(self) -> None:
        """End what is over, and free the sequences of choices that are."""
        for job in list(self.roster.running):
            with self._ending([job]):
                self._sweep_job(job)

    def _sweep_job(self, job: Job) -> None:
        if job.error is not None:
            self._fail(job, job.error)
        elif job.sink_failed:
            self._end(job)
        elif job.choices and not any(choice.is_running for choice in job.choices):
            self._end(job, job.ending)
        else:
            self._free([choice.sequence for choice in job.choices if not choice.is_running], job)

    def _free(self, sequences: Sequence[int], job: Job) -> None:
        for sequence in sequences:
            if sequence in job.sequences:
                job.sequences.remove(sequence)
                self._sequences.release(sequence)

    def _fail(self, job: Job, error: BaseException) -> None:
        """End a request with an error; others may have the same object, of the user's code."""
        self._end(job, own_failure(error))

    def _end(self, job: Job, last: Event | None = None) -> None:
        """Take a request out, wherever it is, and free what it has; then tell its last event."""
        if not self.roster.end(job, last):
            return
        if job.set_up is not None:
            job.set_up.cancel()
        self._free(list(job.sequences), job)
        self._grammars.give_back(job.matchers or [])
        job.matchers, job.first_row, job.choices = None, None, []
        if last is not None:
            job.emit(as_failure(last) if isinstance(last, BaseException) else last)


def _no_sequences(wanted: int, usable: int) -> ModelError:
    return ModelError(
        f"the request needs {wanted} sequences, and only {usable} of the model still work; load "
        "the model again",
        code="model-sequences-lost",
    )
