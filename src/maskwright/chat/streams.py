"""What a caller holds while its request runs: events that arrive, and a way to cancel.

Idea: the scheduler's thread puts events into a queue of the caller, an asyncio queue for callers
in an event loop. Closing, or forgetting, what reads from the queue cancels the request.
"""

from __future__ import annotations

import asyncio
import queue
from typing import TYPE_CHECKING

from maskwright.chat.completion import Delta, Ending

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from typing_extensions import Self

    from maskwright.certificate import Certificate
    from maskwright.chat.completion import ChatChunk
    from maskwright.chat.gathering import ChunkMaker
    from maskwright.chat.job import Event
    from maskwright.chat.usage import ChatUsage

    Cancel = Callable[[bool], object]
    """Cancels a request: at once, or, for a destructor, when the engine comes to it."""
    Start = Callable[[Callable[[Event], object]], Cancel]
    """Starts a request that tells its events to a function."""


class _Ends:
    """What all streams do with events; ``ending`` is there once the last one has come."""

    def __init__(self) -> None:
        self.ending: Ending | None = None
        self._cancel: Cancel | None = None

    def _take(self, event: Event | None) -> Delta | None:
        """The delta of an event; None at the end of the stream, which closing it puts there.

        Raises:
            BaseException: What has ended the request.
        """
        if isinstance(event, Delta):
            return event
        self._cancel = None
        if isinstance(event, Ending):
            self.ending = event
        elif event is not None:
            raise event
        return None

    @property
    def usage(self) -> ChatUsage | None:
        """Counts and times, once the iterator has ended."""
        return None if self.ending is None else self.ending.usage

    def _stop(self, *, at_once: bool = True) -> None:
        cancel, self._cancel = self._cancel, None
        if cancel is not None:
            cancel(at_once)

    def __del__(self) -> None:
        self._stop(at_once=False)


class DeltaStream(_Ends):
    """The deltas of a request, as an iterator; see `ChatEngine.deltas`.

    Attributes:
        ending: What the request ended with, once the iterator has.
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
        last = self._chunks.last(self._deltas.ending)
        if last is None:
            raise StopIteration
        return last

    @property
    def usage(self) -> ChatUsage | None:
        """Counts and times, once the answer has ended."""
        return self._deltas.usage

    @property
    def certificate(self) -> Certificate | None:
        """As `ChatCompletion.certificate`, once the answer has ended."""
        ending = self._deltas.ending
        return None if ending is None else ending.certificate

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
        last = self._chunks.last(self._deltas.ending)
        if last is None:
            raise StopAsyncIteration
        return last

    @property
    def usage(self) -> ChatUsage | None:
        """Counts and times, once the answer has ended."""
        return self._deltas.usage

    @property
    def certificate(self) -> Certificate | None:
        """As `ChatCompletion.certificate`, once the answer has ended."""
        ending = self._deltas.ending
        return None if ending is None else ending.certificate

    async def aclose(self) -> None:
        """Cancel the request, if it still runs."""
        await self._deltas.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()
