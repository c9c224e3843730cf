"""The one thread that owns the model: requests in, events out.

Idea: everything that happens to the scheduler is a message in its inbox, a function that its thread
calls: a request comes, is cancelled, or its matchers are ready. So all state belongs to one thread
and needs no lock. Between messages it makes one call of the model after the other, each with the
next token of every running choice and a chunk of the prompts that wait (continuous batching).
Requests are admitted in the order in which they came, once there is a sequence for each choice.

An error, whatever it is, ends the requests that it is of and no others (`_ending`).
A request is queued; admitted, its prompt is evaluated while a thread of its own compiles its
format; begun, when both are there; and over, when all choices have ended, one has failed, or nobody
waits any more. Whatever ends it frees its sequences and matchers at once.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np

from maskwright.chat.errors import (
    EngineClosedError,
    EngineThreadError,
    ModelError,
    as_failure,
    own_failure,
)
from maskwright.chat.job import (
    Event,
    Job,
    Part,
    check_length,
    has_work,
    plan,
    prompt_tokens,
    token_limit,
)
from maskwright.chat.sequence_pool import SequencePool
from maskwright.forks import renew_in_children
from maskwright.work_pool import WorkPool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from maskwright.chat.choice import Choice
    from maskwright.chat.decoder import Decoder
    from maskwright.chat.grammar_pool import GrammarPool
    from maskwright.chat.model import LanguageModel
    from maskwright.matcher import GrammarMatcher

_SET_UP_THREADS: Final = 32
"""So many that requests that were cancelled while they are set up keep no others waiting."""

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
    """

    def __init__(
        self,
        model: LanguageModel,
        grammars: GrammarPool,
        decoder: Decoder,
        begin_choices: BeginChoices,
        *,
        prefill_chunk: int,
    ) -> None:
        self._model = model
        self._grammars = grammars
        self._decoder = decoder
        self._begin_choices = begin_choices
        self._chunk = prefill_chunk
        self._sequences = SequencePool(model)
        self._longest_token = max(map(len, model.vocabulary.tokens), default=0)
        self._queue: deque[Job] = deque()
        self._active: list[Job] = []
        self._inbox: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self._lock = threading.Lock()  # guards _is_closed against the message of the last request
        self._is_closed = False
        self._stops = False
        self._set_up_threads = WorkPool(_SET_UP_THREADS)
        self._thread = threading.Thread(target=self._run, name="maskwright-chat", daemon=True)
        self._thread.start()
        renew_in_children(self)

    # --- any thread -----------------------------------------------------------------------------

    def submit(self, job: Job) -> None:
        """Queue a request; its sink is told all that comes of it, an error included.

        Raises:
            EngineClosedError: `close` was called.
            EngineThreadError: The calling thread is that of the engine.
        """
        if threading.current_thread() is self._thread:
            raise EngineThreadError(
                "the engine is asked by its own thread, from a logit processor or the model, and "
                "would wait for itself; ask another engine, or ask from another thread and do not "
                "wait for it here",
                code="engine-thread",
            )
        with self._lock:
            if self._is_closed:
                raise _closed()
            self._inbox.put(partial(self._queue.append, job))

    def cancel(self, job: Job) -> None:
        """Forget a request, wherever it is; its sink is told nothing more. Returns at once."""
        self._inbox.put(partial(self._end, job))

    def close(self) -> None:
        """End all requests with an `EngineClosedError` and wait for the thread."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._inbox.put(partial(setattr, self, "_stops", True))
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def renew(self) -> None:
        """End all requests in a forked child, which has no thread to run them."""
        self._lock = threading.Lock()
        self._is_closed = self._stops = True
        for job in [*self._active, *self._queue]:
            job.emit(_closed())

    # --- the thread -----------------------------------------------------------------------------

    def _run(self) -> None:
        cause: BaseException | None = None
        try:
            while not self._stops:
                self._take_messages()
                self._admit()
                self._step()
                self._sweep()
                self._admit()
        except BaseException as error:  # noqa: BLE001  a fault of ours: nobody may wait for ever
            cause = error
        self._shut_down(cause)

    def _shut_down(self, cause: BaseException | None) -> None:
        with self._lock:
            self._is_closed = True
        self._stops = True
        while not self._inbox.empty():
            self._inbox.get()()
        for job in [*self._active, *self._queue]:
            error = _closed()
            error.__cause__ = cause
            self._end(job, error)

    def _take_messages(self) -> None:
        """Do what messages say; waits for one if there is nothing else to do."""
        waits = not has_work(self._active)
        while True:
            try:
                message = self._inbox.get(block=waits)
            except queue.Empty:
                return
            message()
            waits = False

    def _admit(self) -> None:
        while self._queue:
            job = self._queue[0]
            if job.is_over:
                self._queue.popleft()
            elif job.request.n > self._sequences.usable:
                self._queue.popleft()
                self._end(job, _no_sequences(job.request.n, self._sequences.usable))
            elif job.request.n > self._sequences.free:
                return
            else:
                self._queue.popleft()
                job.sequences = self._sequences.allocate(job.request.n)
                self._active.append(job)
                with self._ending([job]):
                    self._start(job)

    def _start(self, job: Job) -> None:
        """Render the prompt, and set the grammar up beside its evaluation."""
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
            self._set_up_threads.submit(partial(self._set_up, job))

    def _set_up(self, job: Job) -> None:
        """Make the matchers of a request; in a thread of its own."""
        if job.is_over or self._stops:  # nobody waits for it
            return
        matchers: list[GrammarMatcher] = []
        error: BaseException | None = None
        start = perf_counter()
        try:
            request = job.request
            matchers = self._grammars.acquire(request.response_format, request.n, job.limit)
        except BaseException as raised:  # noqa: BLE001  it is told to the caller
            error = raised
        seconds = perf_counter() - start
        self._inbox.put(partial(self._set_up_done, job, matchers, error, seconds))

    def _set_up_done(
        self, job: Job, matchers: list[GrammarMatcher], error: BaseException | None, seconds: float
    ) -> None:
        job.meter.grammar_init_seconds += seconds
        if job.is_over or self._stops:
            self._grammars.give_back(matchers)
        elif error is not None:
            self._end(job, error)
        else:
            job.matchers = matchers
            with self._ending([job]):
                self._begin(job)

    def _step(self) -> None:
        """One call of the model for everybody, and what follows from it."""
        parts = plan(self._active, self._chunk)
        if not parts:
            return
        jobs = list({part.job: None for part in parts})
        with self._ending(jobs):
            start = perf_counter()
            logits = np.asarray(self._model.evaluate([part.input for part in parts]))
            _check_logits(logits, len(parts), self._model.vocabulary.vocab_size)
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
        ready = [row for row, part in enumerate(parts) if _advance(part, logits[row])]
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
                self._end(job, own_failure(error) if len(jobs) > 1 else error)

    def _sweep(self) -> None:
        """End what is over, and free the sequences of choices that are."""
        for job in list(self._active):
            with self._ending([job]):
                self._sweep_job(job)

    def _sweep_job(self, job: Job) -> None:
        if job.error is not None or job.sink_failed:
            self._end(job, job.error)
        elif job.choices and not any(choice.is_running for choice in job.choices):
            has_grammar = not job.request.response_format.is_text
            self._end(job, job.meter.usage(has_grammar=has_grammar))
        else:
            self._free([choice.sequence for choice in job.choices if not choice.is_running], job)

    def _free(self, sequences: Sequence[int], job: Job) -> None:
        for sequence in sequences:
            if sequence in job.sequences:
                job.sequences.remove(sequence)
                self._sequences.release(sequence)

    def _end(self, job: Job, last: Event | None = None) -> None:
        """Take a request out, wherever it is, and free what it has; then tell its last event."""
        if job.is_over:
            return
        job.is_over = True
        if job in self._active:
            self._active.remove(job)
        self._free(list(job.sequences), job)
        self._grammars.give_back(job.matchers or [])
        job.matchers, job.first_row, job.choices = None, None, []
        if last is not None:
            job.emit(as_failure(last) if isinstance(last, BaseException) else last)


def _advance(part: Part, row: NDArray[np.float32]) -> bool:
    """Note what the model has seen; whether a choice waits for its next token now."""
    job, choice, seen = part.job, part.choice, part.input.token_ids
    if choice is not None:
        del choice.pending[: len(seen)]
        return not choice.pending
    job.evaluated += len(seen)
    if job.evaluated == len(job.prompt_ids):
        job.first_row = row.copy()
    return False


def _check_logits(logits: NDArray[np.float32], rows: int, vocab_size: int) -> None:
    if logits.shape != (rows, vocab_size) or logits.dtype != np.float32:
        raise ModelError(
            f"the model gave logits of {logits.dtype} with shape {logits.shape}; expected float32 "
            f"with shape {(rows, vocab_size)}: a row for each sequence, as long as the vocabulary",
            code="model-logits",
        )
    if not (logits.flags.c_contiguous and logits.flags.writeable):
        raise ModelError(
            f"the model gave logits with strides {logits.strides} that are "
            f"{'' if logits.flags.writeable else 'not '}writable; expected a contiguous array that "
            "may be written: np.array(logits, order='C') makes one",
            code="model-logits",
        )


def _closed() -> EngineClosedError:
    return EngineClosedError(
        "the chat engine is closed; make another ChatEngine", code="engine-closed"
    )


def _no_sequences(wanted: int, usable: int) -> ModelError:
    return ModelError(
        f"the request needs {wanted} sequences, and only {usable} of the model still work; load "
        "the model again",
        code="model-sequences-lost",
    )
