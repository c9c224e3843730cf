"""What a caller holds while its request runs: events that arrive, and a way to cancel.

Idea: the scheduler's thread puts events into a queue of the caller, an asyncio queue for callers
in an event loop. Closing, or forgetting, what reads from the queue cancels the request.
"""

from __future__ import annotations

import asyncio
import queue
from typing import TYPE_CHECKING

from maskwright.chat.completion import (
    ChatChunk,
    ChatCompletion,
    CompletionChoice,
    Delta,
    Header,
    TokenEntry,
)
from maskwright.chat.usage import ChatUsage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from typing_extensions import Self

    from maskwright.chat.job import Event
    from maskwright.chat.request import ChatRequest

    Start = Callable[[Callable[[Event], object]], Callable[[], object]]
    """Starts a request that tells its events to a function; returns what cancels it."""


class _Ends:
    """What all streams do with events; ``usage`` is there once the last one has come."""

    def __init__(self) -> None:
        self.usage: ChatUsage | None = None
        self._cancel: Callable[[], object] | None = None

    def _take(self, event: Event | None) -> Delta | None:
        """The delta of an event; None at the end of the stream, which closing it puts there.

        Raises:
            BaseException: What has ended the request.
        """
        if isinstance(event, Delta):
            return event
        self._cancel = None
        if isinstance(event, ChatUsage):
            self.usage = event
        elif event is not None:
            raise event
        return None

    def _stop(self) -> None:
        cancel, self._cancel = self._cancel, None
        if cancel is not None:
            cancel()

    def __del__(self) -> None:
        self._stop()


class DeltaStream(_Ends):
    """The deltas of a request, as an iterator; see `ChatEngine.deltas`.

    Attributes:
        usage: Counts and times, once the iterator has ended.
    """

    def __init__(self, start: Start) -> None:
        super().__init__()
        self._events: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._cancel = start(self._events.put)

    def __iter__(self) -> Iterator[Delta]:
        return self

    def __next__(self) -> Delta:
        if self._cancel is None:
            raise StopIteration
        delta = self._take(self._events.get())
        if delta is None:
            raise StopIteration
        return delta

    def close(self) -> None:
        """Cancel the request, if it still runs; a thread that waits for a delta waits no more."""
        self._stop()
        self._events.put(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class AsyncDeltaStream(_Ends):
    """The deltas of a request, as an asynchronous iterator of the running event loop."""

    def __init__(self, start: Start) -> None:
        super().__init__()
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        call = asyncio.get_running_loop().call_soon_threadsafe
        self._events = events
        self._cancel = start(lambda event: call(events.put_nowait, event))

    def __aiter__(self) -> AsyncIterator[Delta]:
        return self

    async def __anext__(self) -> Delta:
        if self._cancel is None:
            raise StopAsyncIteration
        delta = self._take(await self._events.get())
        if delta is None:
            raise StopAsyncIteration
        return delta

    async def aclose(self) -> None:
        """Cancel the request, if it still runs; a task that waits for a delta waits no more."""
        self._stop()
        self._events.put_nowait(None)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()


class ChatStream:
    """An answer that arrives in chunks. An iterator; close it to cancel the request.

    Example:
        >>> with engine.stream(messages=messages) as stream:  # doctest: +SKIP
        ...     for chunk in stream:
        ...         print(chunk.text, end="")
    """

    def __init__(self, deltas: DeltaStream, chunks: ChunkMaker) -> None:
        self._deltas = deltas
        self._chunks = chunks

    def __iter__(self) -> Iterator[ChatChunk]:
        return self

    def __next__(self) -> ChatChunk:
        for delta in self._deltas:
            chunk = self._chunks.of(delta)
            if chunk is not None:
                return chunk
        last = self._chunks.last(self._deltas.usage)
        if last is None:
            raise StopIteration
        return last

    @property
    def usage(self) -> ChatUsage | None:
        """Counts and times, once the answer has ended."""
        return self._deltas.usage

    def close(self) -> None:
        """Cancel the request, if it still runs."""
        self._deltas.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class AsyncChatStream:
    """An answer that arrives in chunks. An asynchronous iterator; close it to cancel."""

    def __init__(self, deltas: AsyncDeltaStream, chunks: ChunkMaker) -> None:
        self._deltas = deltas
        self._chunks = chunks

    def __aiter__(self) -> AsyncIterator[ChatChunk]:
        return self

    async def __anext__(self) -> ChatChunk:
        async for delta in self._deltas:
            chunk = self._chunks.of(delta)
            if chunk is not None:
                return chunk
        last = self._chunks.last(self._deltas.usage)
        if last is None:
            raise StopAsyncIteration
        return last

    @property
    def usage(self) -> ChatUsage | None:
        """Counts and times, once the answer has ended."""
        return self._deltas.usage

    async def aclose(self) -> None:
        """Cancel the request, if it still runs."""
        await self._deltas.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()


class ChunkMaker:
    """Makes chunks of deltas; one that adds no text waits for the next with some.

    Args:
        request: The request.
        header: What the chunks have in common.
    """

    def __init__(self, request: ChatRequest, header: Header) -> None:
        self._request = request
        self._header = header
        self._tokens: dict[int, list[TokenEntry]] = {}
        self._begun: set[int] = set()
        self._is_last_sent = not request.include_usage

    def of(self, delta: Delta) -> ChatChunk | None:
        """The chunk for a delta, None if there is nothing to tell yet."""
        waiting = self._tokens.setdefault(delta.index, [])
        if delta.token is not None:
            waiting.append(delta.token)
        if not delta.text and delta.finish_reason is None:
            return None
        is_first = delta.index not in self._begun
        self._begun.add(delta.index)
        del self._tokens[delta.index]
        return ChatChunk(
            header=self._header,
            index=delta.index,
            text=delta.text,
            tokens=tuple(waiting),
            finish_reason=delta.finish_reason,
            is_first=is_first,
            has_logprobs=self._request.logprobs,
            has_usage=self._request.include_usage,
        )

    def last(self, usage: ChatUsage | None) -> ChatChunk | None:
        """The chunk with the usage, once, if the request wants it and was not cancelled."""
        if usage is None or self._is_last_sent:
            return None
        self._is_last_sent = True
        return ChatChunk(self._header, None, usage=usage, has_usage=True)


class Gathering:
    """Gathers deltas into a completion.

    Args:
        request: The request.
        header: What completions begin with.
    """

    def __init__(self, request: ChatRequest, header: Header) -> None:
        self._request = request
        self._header = header
        self._deltas: list[list[Delta]] = [[] for _ in range(request.n)]

    def add(self, delta: Delta) -> None:
        """Take the next delta of any choice."""
        self._deltas[delta.index].append(delta)

    def completion(self, usage: ChatUsage | None) -> ChatCompletion:
        """The whole answer, after the last delta."""
        if usage is None:
            raise AssertionError("the request was cancelled by its own caller")
        choices = tuple(self._choice(index, deltas) for index, deltas in enumerate(self._deltas))
        return ChatCompletion(self._header, choices, usage)

    def _choice(self, index: int, deltas: list[Delta]) -> CompletionChoice:
        return CompletionChoice(
            index=index,
            text="".join(delta.text for delta in deltas),
            finish_reason=deltas[-1].finish_reason or "stop",
            tokens=tuple(delta.token for delta in deltas if delta.token is not None),
            has_logprobs=self._request.logprobs,
        )
