"""The chat engine: requests as OpenAI's API has them, run on a model of this machine.

Idea: the engine checks a request in the calling thread, hands it to the scheduler's thread, which
alone uses the model, and gives the caller something to read events from. Everything else is in the
modules for it: request, response_format, scheduler, decoder, streams.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from maskwright.chat.choice import ModelTokens
from maskwright.chat.choice_maker import ChoiceMaker
from maskwright.chat.completion import ChatCompletion, Header
from maskwright.chat.decoder import Decoder
from maskwright.chat.engine_options import checked_json_options, checked_text
from maskwright.chat.engine_stats import EngineStats
from maskwright.chat.errors import RequestError, SamplingError, shown
from maskwright.chat.gathering import ChunkMaker, Gathering
from maskwright.chat.grammar_pool import GrammarPool
from maskwright.chat.job import Event, Job
from maskwright.chat.logit_processing import LogitProcessing, LogitProcessor, checked_processors
from maskwright.chat.plain_spelling import PlainSpelling
from maskwright.chat.request import ChatRequest
from maskwright.chat.scheduler import Scheduler
from maskwright.chat.streams import AsyncChatStream, AsyncDeltaStream, ChatStream, DeltaStream
from maskwright.option_checks import check_count, check_seconds

if TYPE_CHECKING:
    from os import PathLike

    from typing_extensions import Self

    from maskwright.chat.model import LanguageModel
    from maskwright.chat.sampling import SamplingParameters
    from maskwright.chat.streams import Cancel, Start
    from maskwright.precompute import Mode

Request = ChatRequest | Mapping[str, Any]


class ChatEngine:
    r"""Answers chat requests with a model, many at a time, each held to its format.

    Safe to use from several threads. The model belongs to a thread of the engine until `close`.

    Args:
        model: The model.
        model_name: What answers call it.
        json_options: How JSON Schemas are compiled: options of
            `GrammarCompiler.compile_json_schema` by name. Where it is not given,
            ``any_whitespace`` is False: JSON has one fixed layout, in which a small model cannot
            spend its tokens on whitespace. ``number_spelling`` is what ``plain_spelling`` says.
            Checked and copied here, with the documents of its ``registry``.
        plain_spelling: Whether JSON strings have no ``\\u`` escape where anything else can come,
            and numbers are spelled as decimals (``number_spelling="decimal"``).
        jump_forward: Also append text that every continuation has without asking the model, as the
            tokens that the tokenizer would make of it. Faster; the model could have spelled the
            same text in other tokens. A single allowed token is never asked for, whatever this is.
            Without effect where the vocabulary has no encoder.
        prefill_chunk: The most tokens of prompts in one call of the model: what a long prompt
            keeps the others waiting for.
        compile_timeout_seconds: How long compiling a format may take, for a request that needs it;
            None: any time.
        request_timeout_seconds: How long a request may take from the call on, waiting included;
            None: any time. The engine looks between the calls of the model.
        max_waiting: How many requests may wait for sequences; None: any number.
        cache_limit_bytes: What compiled grammars may take; -1: no limit.
        disk_cache: A folder in which compiled grammars are kept, also for other processes; see
            `GrammarCompiler`.
        precompute: When masks are computed: ``"lazy"``, ``"background"`` or ``"eager"``; see there.

    Raises:
        TokenizerError: The vocabulary cannot be used.
        ValueError: An option is out of its range.
        TypeError: An option is of another type, or ``json_options`` names one that there is not.
        GrammarError: One of ``json_options`` has no meaning or no effect.
        DiskCacheError: The folder cannot be used.
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        model_name: str = "maskwright",
        json_options: Mapping[str, Any] | None = None,
        plain_spelling: bool = True,
        jump_forward: bool = False,
        prefill_chunk: int = 256,
        compile_timeout_seconds: float | None = None,
        request_timeout_seconds: float | None = None,
        max_waiting: int | None = None,
        cache_limit_bytes: int = 512 << 20,
        disk_cache: str | PathLike[str] | None = None,
        precompute: Mode = "lazy",
    ) -> None:
        check_count("prefill_chunk", prefill_chunk, 1)
        if max_waiting is not None:
            check_count("max_waiting", max_waiting, 0)
        if compile_timeout_seconds is not None:
            check_seconds("compile_timeout_seconds", compile_timeout_seconds)
        if request_timeout_seconds is not None:
            check_seconds("request_timeout_seconds", request_timeout_seconds)
        self._request_timeout = request_timeout_seconds
        vocabulary = model.vocabulary
        self._model_name = checked_text("model_name", model_name)
        self._vocab_size = vocabulary.vocab_size
        self._max_sequences = model.max_sequences
        texts = vocabulary.text_bytes()
        self._grammars = GrammarPool(
            vocabulary,
            json_options=checked_json_options(json_options, plain_spelling=plain_spelling),
            compiler_options={
                "cache_limit_bytes": cache_limit_bytes,
                "disk_cache": disk_cache,
                "precompute": precompute,
            },
            compile_timeout_seconds=compile_timeout_seconds,
            max_idle=model.max_sequences,
        )
        begin_choices = ChoiceMaker(
            ModelTokens(texts, frozenset(vocabulary.stop_token_ids)),
            PlainSpelling(texts) if plain_spelling else None,
        )
        self._scheduler = Scheduler(
            model,
            self._grammars,
            Decoder(self._vocab_size, self._max_sequences, jump_forward=jump_forward),
            begin_choices,
            prefill_chunk=prefill_chunk,
            request_timeout_seconds=self._request_timeout,
            max_waiting=max_waiting,
        )
        self._close = weakref.finalize(self, self._scheduler.close)

    def complete(
        self,
        request: Request | None = None,
        *,
        processors: Sequence[LogitProcessor] = (),
        **fields: Any,
    ) -> ChatCompletion:
        """Answer a request, and return when the answer is there.

        Args:
            request: A `ChatRequest`, or an object with the fields of one.
            processors: Functions that may change logits before the mask is applied; called in the
                engine's thread.
            **fields: Fields of the request, instead of an object or beside it.

        Raises:
            RequestError: The request cannot be run as it is; ``param`` says which field.
            GrammarError: The format cannot be used; with the place and the reason.
            LimitExceededError: The format is beyond a limit.
            MatcherError: The format takes more tokens than ``max_tokens``; the message says how
                many (``matcher-budget-too-small``).
            CompileTimeoutError: Compiling the format took too long.
            RequestTimeoutError: The request took too long; an answer that has begun is not told.
            ModelError: The prompt does not fit, or the model failed.
            EngineBusyError: Too many requests wait; told at once.
            EngineClosedError: The engine is closed, or was meanwhile; or this is a forked child.
            EngineThreadError: A processor or the model has called this.
            TypeError: ``processors`` are no functions.
        """
        chat_request = _read(request, fields)
        gathering = Gathering(chat_request, self._header())
        with self.deltas(chat_request, processors=processors) as deltas:
            for delta in deltas:
                gathering.add(delta)
        return gathering.completion(deltas.ending)

    async def acomplete(
        self,
        request: Request | None = None,
        *,
        processors: Sequence[LogitProcessor] = (),
        **fields: Any,
    ) -> ChatCompletion:
        """Answer a request, as `complete` does; cancelling the task cancels the request."""
        chat_request = _read(request, fields)
        gathering = Gathering(chat_request, self._header())
        async with AsyncDeltaStream(self._starter(chat_request, processors)) as deltas:
            async for delta in deltas:
                gathering.add(delta)
        return gathering.completion(deltas.ending)

    def stream(
        self,
        request: Request | None = None,
        *,
        processors: Sequence[LogitProcessor] = (),
        **fields: Any,
    ) -> ChatStream:
        """Answer a request chunk by chunk, as they are written.

        The request begins at once; closing the stream, or forgetting it, cancels it. Arguments and
        errors are those of `complete`; errors of a request that runs are raised by the iterator.
        The field ``stream`` need not be given.
        """
        chat_request = _read_streamed(request, fields)
        chunks = ChunkMaker(chat_request, self._header())
        return ChatStream(self.deltas(chat_request, processors=processors), chunks)

    def astream(
        self,
        request: Request | None = None,
        *,
        processors: Sequence[LogitProcessor] = (),
        **fields: Any,
    ) -> AsyncChatStream:
        """Answer a request chunk by chunk, in the running event loop; see `stream`."""
        chat_request = _read_streamed(request, fields)
        chunks = ChunkMaker(chat_request, self._header())
        deltas = AsyncDeltaStream(self._starter(chat_request, processors))
        return AsyncChatStream(deltas, chunks)

    def deltas(
        self, request: ChatRequest, *, processors: Sequence[LogitProcessor] = ()
    ) -> DeltaStream:
        """Answer a request token by token: what `stream` and `complete` are made of."""
        return DeltaStream(self._starter(request, processors))

    def stats(self) -> EngineStats:
        """Return figures about the requests, what was compiled for them, and the compiler."""
        return EngineStats(
            self._scheduler.roster.stats(), self._grammars.set_ups, self._grammars.compiler.stats()
        )

    def close(self) -> None:
        """End all requests with an `EngineClosedError`; waits for the model's current call.

        The model itself is left as it is. Closing twice does nothing.
        """
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _header(self) -> Header:
        return Header(self._model_name)

    def _starter(self, request: ChatRequest, processors: Sequence[LogitProcessor]) -> Start:
        """What starts a request and returns what cancels it; checks what needs the model."""
        if not isinstance(request, ChatRequest):
            raise TypeError(f"request is {shown(request)}; expected a ChatRequest")
        functions = checked_processors(processors)
        if request.n > self._max_sequences:
            raise RequestError(
                f"n is {request.n}, and the model has {self._max_sequences} sequences; ask for "
                "fewer choices, or load the model with more sequences",
                code="request-too-many-choices",
                param="n",
            )
        try:
            processing = [
                LogitProcessing(request.sampling, functions, vocab_size=self._vocab_size)
                for _ in range(request.n)
            ]
        except SamplingError as error:
            raise RequestError(str(error), code="request-field", param="logit_bias") from error

        def start(sink: Callable[[Event], object]) -> Cancel:
            keeps_raw = bool(functions) or _changes_logits(request.sampling)
            job = Job(request, processing, keeps_raw, sink)
            if self._request_timeout is not None:
                job.deadline = job.meter.submitted + self._request_timeout
            self._scheduler.submit(job)
            return partial(_cancel, self, self._scheduler, job)

        return start


def _cancel(engine: ChatEngine, scheduler: Scheduler, job: Job, at_once: bool) -> None:
    """Cancel a request; the engine is named so that it lives as long as its requests."""
    del engine
    scheduler.cancel(job, at_once=at_once)


def _read(request: Request | None, fields: dict[str, Any]) -> ChatRequest:
    if isinstance(request, ChatRequest) and not fields:
        return request
    if isinstance(request, ChatRequest):
        raise TypeError(f"fields {sorted(fields)} beside a ChatRequest; give one or the other")
    return ChatRequest.read(request, **fields)


def _read_streamed(request: Request | None, fields: dict[str, Any]) -> ChatRequest:
    """As `_read`; who asks for a stream need not say ``stream`` too."""
    is_read = isinstance(request, ChatRequest)
    return _read(request, fields if is_read else {**fields, "stream": True})


def _changes_logits(sampling: SamplingParameters) -> bool:
    penalties = (sampling.presence_penalty, sampling.frequency_penalty)
    return bool(sampling.logit_bias) or any(penalties) or sampling.repetition_penalty != 1
