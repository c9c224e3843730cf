"""What a caller holds while its request runs: events that arrive, and a way to cancel.

Idea: the scheduler's thread puts events into a queue of the caller, an asyncio queue for callers
in an event loop. Closing, or forgetting, what reads from the queue cancels the request.
Of several readers one waits for the queue, the others for that one; so all of them see the end.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from typing import TYPE_CHECKING

from maskwright.chat.completion import Delta, Ending
from maskwright.chat.errors import own_failure

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
        self._failure: BaseException | None = None
        self._told: set[int] = set()
        self._cancel: Cancel | None = None

    def _is_over(self) -> bool:
        """Whether there is nothing more to wait for.

        Raises:
            BaseException: A copy of what has ended the request, once for each reader; what it
                reads after that is the end.
        """
        if self._failure is not None and self._reader() not in self._told:
            self._told.add(self._reader())
            raise own_failure(self._failure)
        return self._cancel is None

    def _reader(self) -> int:
        """Who reads: the thread, or the task."""
        raise NotImplementedError

    def _take(self, event: Event | None) -> Delta | None:
        """The delta of an event; None at the end of the stream, which closing it puts there.

        Raises:
            BaseException: What has ended the request.
        """
        if isinstance(event, Delta):
            return event
        if isinstance(event, Ending):
            self.ending = event
        self._cancel = None
        if isinstance(event, BaseException):
            self._failure = event
            self._told.add(self._reader())
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
        self._reading = threading.Lock()  # held by the one reader that waits for an event
        self._cancel = start(self._events.put)

    def _reader(self) -> int:
        return threading.get_ident()

    def __iter__(self) -> Iterator[Delta]:
        return self

    def __next__(self) -> Delta:
        with self._reading:
            delta = None if self._is_over() else self._take(self._events.get())
        if delta is None:
            raise StopIteration
        return delta

    def close(self) -> None:
        """Cancel the request, if it still runs; threads that wait for a delta wait no more."""
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
        self._reading = asyncio.Lock()  # held by the one reader that waits for an event
        self._cancel = start(lambda event: call(events.put_nowait, event))

    def _reader(self) -> int:
        return id(asyncio.current_task())

    def __aiter__(self) -> AsyncIterator[Delta]:
        return self

    async def __anext__(self) -> Delta:
        async with self._reading:
            delta = None if self._is_over() else self._take(await self._events.get())
        if delta is None:
            raise StopAsyncIteration
        return delta

    async def aclose(self) -> None:
        """Cancel the request, if it still runs; tasks that wait for a delta wait no more."""
        self._stop()
        self._events.put_nowait(None)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()


class ChatStream:
    """An answer that arrives in chunks. An iterator; close it to cancel the request.

    Several threads may read from it; each chunk goes to one of them, and the end to all.

    Example:
        >>> with engine.stream(messages=messages) as stream:  # doctest: +SKIP
        ...     for chunk in stream:
        ...         print(chunk.text, end="")
    """

    def __init__(self, deltas: DeltaStream, chunks: ChunkMaker) -> None:
        self._deltas = deltas
        self._chunks = chunks
        self._reading = threading.Lock()  # held from the first delta of a chunk to its last

    def __iter__(self) -> Iterator[ChatChunk]:
        return self

    def __next__(self) -> ChatChunk:
        with self._reading:
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
    """An answer that arrives in chunks. An asynchronous iterator; close it to cancel.

    Several tasks may read from it; each chunk goes to one of them, and the end to all.
    """

    def __init__(self, deltas: AsyncDeltaStream, chunks: ChunkMaker) -> None:
        self._deltas = deltas
        self._chunks = chunks
        self._reading = asyncio.Lock()  # held from the first delta of a chunk to its last

    def __aiter__(self) -> AsyncIterator[ChatChunk]:
        return self

    async def __anext__(self) -> ChatChunk:
        async with self._reading:
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
