"""Makes answers of deltas: a chunk of a few, or a completion of all.

Idea: deltas come token by token; a chunk needs some text, so tokens without any wait for the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from maskwright.chat.completion import ChatChunk, ChatCompletion, CompletionChoice

if TYPE_CHECKING:
    from maskwright.chat.completion import Delta, Ending, Header, TokenEntry
    from maskwright.chat.request import ChatRequest


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

    def last(self, ending: Ending | None) -> ChatChunk | None:
        """The chunk with the usage, once, if the request wants it and was not cancelled."""
        if ending is None or self._is_last_sent:
            return None
        self._is_last_sent = True
        return ChatChunk(self._header, None, ending=ending, has_usage=True)


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

    def completion(self, ending: Ending | None) -> ChatCompletion:
        """The whole answer, after the last delta."""
        if ending is None:
            raise AssertionError("the request was cancelled by its own caller")
        choices = tuple(self._choice(index, deltas) for index, deltas in enumerate(self._deltas))
        return ChatCompletion(self._header, choices, ending)

    def _choice(self, index: int, deltas: list[Delta]) -> CompletionChoice:
        return CompletionChoice(
            index=index,
            text="".join(delta.text for delta in deltas),
            finish_reason=deltas[-1].finish_reason or "stop",
            tokens=tuple(delta.token for delta in deltas if delta.token is not None),
            has_logprobs=self._request.logprobs,
        )
