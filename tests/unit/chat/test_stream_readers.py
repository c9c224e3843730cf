"""Streams that several threads or tasks read: each delta goes to one, the end to all."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from maskwright.chat import ChatEngine, ChatRequest
from scripted_model import ScriptedModel

WAIT = 20
READERS = 4
FIELDS: dict[str, Any] = {
    "messages": [{"role": "user", "content": "hi"}],
    "temperature": 0,
    "max_tokens": 3,
}

Make = Callable[..., ChatEngine]


class Held:
    """A model that begins when it is told to, and then answers or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        self.open = threading.Event()
        self._error = error
        self.model = ScriptedModel([b"a"] * 99, before=self._before)

    def _before(self, _call: int) -> None:
        assert self.open.wait(WAIT)
        if self._error is not None:
            raise self._error


class Readers:
    """Threads that read a stream to its end."""

    def __init__(self, stream: Any) -> None:
        self.texts: list[str] = []
        self.errors: list[BaseException] = []
        begun = threading.Barrier(READERS + 1)

        def read() -> None:
            begun.wait(WAIT)
            try:
                self.texts += [one.text for one in stream]
            except ZeroDivisionError as error:
                self.errors.append(error)

        self._threads = [threading.Thread(target=read, daemon=True) for _ in range(READERS)]
        for thread in self._threads:
            thread.start()
        begun.wait(WAIT)

    def join(self) -> None:
        for thread in self._threads:
            thread.join(WAIT)
        assert not any(thread.is_alive() for thread in self._threads)


def _open(engine: ChatEngine, kind: str) -> Any:
    if kind == "deltas":
        return engine.deltas(ChatRequest.read(FIELDS))
    return engine.stream(FIELDS, stream_options={"include_usage": True})


@pytest.mark.parametrize("kind", ["stream", "deltas"])
def test_all_threads_see_the_end(engine_of: Make, kind: str) -> None:
    held = Held()
    stream = _open(engine_of(held.model), kind)
    readers = Readers(stream)
    held.open.set()
    readers.join()
    assert "".join(readers.texts) == "aaa"
    assert stream.usage.completion_tokens == 3


@pytest.mark.parametrize("kind", ["stream", "deltas"])
def test_all_threads_see_that_a_stream_is_closed(engine_of: Make, kind: str) -> None:
    held = Held()
    stream = _open(engine_of(held.model), kind)
    readers = Readers(stream)
    stream.close()
    readers.join()
    held.open.set()
    assert readers.texts == []


@pytest.mark.parametrize("kind", ["stream", "deltas"])
def test_each_thread_has_an_error_of_its_own(engine_of: Make, kind: str) -> None:
    held = Held(ZeroDivisionError("model"))
    readers = Readers(_open(engine_of(held.model), kind))
    held.open.set()
    readers.join()
    assert [str(error) for error in readers.errors] == ["model"] * READERS
    assert len(set(map(id, readers.errors))) == READERS


async def _read(stream: Any) -> list[str]:
    return [one.text async for one in stream]


def test_all_tasks_see_the_end(engine_of: Make) -> None:
    held = Held()
    engine = engine_of(held.model)

    async def run() -> list[list[str]]:
        stream = engine.astream(FIELDS)
        tasks = [asyncio.create_task(_read(stream)) for _ in range(READERS)]
        await asyncio.sleep(0)
        held.open.set()
        return await asyncio.wait_for(asyncio.gather(*tasks), WAIT)

    assert "".join(text for texts in asyncio.run(run()) for text in texts) == "aaa"


def test_all_tasks_see_that_a_stream_is_closed(engine_of: Make) -> None:
    held = Held()
    engine = engine_of(held.model)

    async def run() -> list[list[str]]:
        stream = engine.astream(FIELDS)
        tasks = [asyncio.create_task(_read(stream)) for _ in range(READERS)]
        await asyncio.sleep(0)
        await stream.aclose()
        return await asyncio.wait_for(asyncio.gather(*tasks), WAIT)

    assert asyncio.run(run()) == [[]] * READERS
    held.open.set()


def test_a_task_that_is_cancelled_leaves_the_stream_to_the_others(engine_of: Make) -> None:
    held = Held()
    engine = engine_of(held.model)

    async def run() -> list[str]:
        stream = engine.astream(FIELDS)
        first, second = (asyncio.create_task(_read(stream)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        held.open.set()
        return await asyncio.wait_for(second, WAIT)

    assert "".join(asyncio.run(run())) == "aaa"


def test_an_error_that_a_processor_raises_again_and_again(engine_of: Make) -> None:
    shared = ZeroDivisionError("processor")

    def fail(*_: object) -> None:
        raise shared

    engine = engine_of(ScriptedModel([b"a"] * 9))
    caught: list[BaseException] = []
    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match="processor") as one:
            engine.complete(FIELDS, processors=[fail])
        caught.append(one.value)
    assert caught[0] is not caught[1]
    assert [error.__cause__ for error in caught] == [shared, shared]
