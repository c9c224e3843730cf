"""What the engine answers with, in the shape of OpenAI's chat completions.

Idea: while a choice is written it says so in `Delta`s; a `ChatCompletion` gathers all of them, and
a `ChatChunk` has one. Objects are for Python, ``to_dict`` is for JSON.
"""

from __future__ import annotations

import math
import time
import uuid
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from maskwright.certificate import Certificate
    from maskwright.chat.result import FinishReason
    from maskwright.chat.usage import ChatUsage

_NO_PROBABILITY: Final = -9999.0
"""What stands for minus infinity, which JSON does not have."""


@dataclass(frozen=True)
class TokenEntry:
    """A token of an answer.

    Attributes:
        token_id: Its id.
        data: What it adds to the text; nothing for stop tokens.
        logprob: The logarithm of its probability among the allowed tokens, 0 for forced ones; None
            if it was not asked for.
        top: The most likely tokens there: id, bytes and logarithm of each.
    """

    token_id: int
    data: bytes
    logprob: float | None = None
    top: tuple[tuple[int, bytes, float], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The entry of ``logprobs.content``."""
        top = [_entry(data, logprob) for _, data, logprob in self.top]
        return {**_entry(self.data, self.logprob), "top_logprobs": top}


def _entry(data: bytes, logprob: float | None) -> dict[str, Any]:
    usable = logprob is not None and math.isfinite(logprob)
    return {
        "token": data.decode(errors="replace"),
        "logprob": logprob if usable else _NO_PROBABILITY,
        "bytes": list(data),
    }


@dataclass(frozen=True)
class Delta:
    """What one token adds to one choice.

    Attributes:
        index: The choice.
        text: New text in whole code points; often empty.
        token: The token; None in the only delta of a choice that ends without any.
        finish_reason: Why the choice ends here; None if it goes on.
    """

    index: int
    text: str
    token: TokenEntry | None
    finish_reason: FinishReason | None = None


@dataclass(frozen=True)
class Ending:
    """What a request that was answered ends with.

    Attributes:
        usage: Counts and times.
        certificate: How the format compares with what it was made of; None for free text.
        at_token_limit: The choices of a format that are complete and took every token they were
            allowed: without the limit they might have gone on.
    """

    usage: ChatUsage
    certificate: Certificate | None = None
    at_token_limit: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The last fields of an answer: ``usage``, and ``maskwright`` if there is something to say.

        That has what is ``loosened``, the ``ignored`` keywords that are no annotations, and the
        choices ``at_token_limit``.
        """
        notes = self._notes()
        return {"usage": self.usage.to_dict(), **({"maskwright": notes} if notes else {})}

    def _notes(self) -> dict[str, Any]:
        notes: dict[str, list[Any]] = {"at_token_limit": list(self.at_token_limit)}
        if self.certificate is not None:
            notes["loosened"] = [asdict(entry) for entry in self.certificate.loosened]
            notes["ignored"] = list(self.certificate.unknown)
        return {name: entries for name, entries in notes.items() if entries}


@dataclass(frozen=True)
class Header:
    """What all objects of one answer have in common."""

    model: str
    id: str = field(default_factory=lambda: f"chatcmpl-{uuid.uuid4().hex}")
    created: int = field(default_factory=lambda: int(time.time()))

    def to_dict(self, kind: str) -> dict[str, Any]:
        """The first fields of each object."""
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


@dataclass(frozen=True)
class CompletionChoice:
    """A finished choice.

    Attributes:
        index: Its number, 0 to ``n - 1``.
        text: The answer.
        finish_reason: ``"stop"`` for an answer that has ended by itself, by a stop token or a stop
            string; ``"length"`` for one that was cut off.
        tokens: All its tokens, those of a stop string and a stop token included.
        has_logprobs: Whether log-probabilities were asked for.
    """

    index: int
    text: str
    finish_reason: FinishReason
    tokens: tuple[TokenEntry, ...]
    has_logprobs: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The entry of ``choices``."""
        return {
            "index": self.index,
            "message": {"role": "assistant", "content": self.text},
            "finish_reason": self.finish_reason,
            "logprobs": _logprobs(self.tokens) if self.has_logprobs else None,
        }


@dataclass(frozen=True)
class ChatCompletion:
    """A whole answer.

    Attributes:
        header: Id, time and model.
        choices: The choices, by index.
        ending: Counts and times, and what became of the format.
    """

    header: Header
    choices: tuple[CompletionChoice, ...]
    ending: Ending

    @property
    def usage(self) -> ChatUsage:
        """Counts and times."""
        return self.ending.usage

    @property
    def certificate(self) -> Certificate | None:
        """How the format compares with what the schema or grammar says; None for free text."""
        return self.ending.certificate

    @property
    def at_token_limit(self) -> tuple[int, ...]:
        """The choices that took every token they were allowed; see `Ending`."""
        return self.ending.at_token_limit

    @property
    def text(self) -> str:
        """The text of the first choice."""
        return self.choices[0].text

    def to_dict(self) -> dict[str, Any]:
        """OpenAI's ``chat.completion``."""
        return {
            **self.header.to_dict("chat.completion"),
            "choices": [choice.to_dict() for choice in self.choices],
            **self.ending.to_dict(),
        }


@dataclass(frozen=True)
class ChatChunk:
    """A piece of a streamed answer: of one choice, or at the end the usage alone.

    Attributes:
        header: Id, time and model, the same in all chunks.
        index: The choice; None in the chunk with the usage.
        text: New text in whole code points.
        tokens: The tokens since the last chunk of the choice.
        finish_reason: Why the choice ends here; None if it goes on.
        is_first: Whether it is the first chunk of the choice.
        ending: Counts and times, and what became of the format, in the last chunk.
        has_logprobs: Whether log-probabilities were asked for.
        has_usage: Whether a chunk with the usage will follow, or this is it.
    """

    header: Header
    index: int | None
    text: str = ""
    tokens: tuple[TokenEntry, ...] = ()
    finish_reason: FinishReason | None = None
    is_first: bool = False
    ending: Ending | None = None
    has_logprobs: bool = False
    has_usage: bool = False

    @property
    def usage(self) -> ChatUsage | None:
        """Counts and times, in the last chunk."""
        return None if self.ending is None else self.ending.usage

    def to_dict(self) -> dict[str, Any]:
        """OpenAI's ``chat.completion.chunk``."""
        chunk = self.header.to_dict("chat.completion.chunk")
        chunk["choices"] = [] if self.index is None else [self._choice()]
        if self.has_usage:
            chunk.update({"usage": None} if self.ending is None else self.ending.to_dict())
        return chunk

    def _choice(self) -> dict[str, Any]:
        delta: dict[str, str] = {"role": "assistant"} if self.is_first else {}
        if self.text or self.is_first:
            delta["content"] = self.text
        return {
            "index": self.index,
            "delta": delta,
            "finish_reason": self.finish_reason,
            "logprobs": _logprobs(self.tokens) if self.has_logprobs else None,
        }


def _logprobs(tokens: tuple[TokenEntry, ...]) -> dict[str, Any]:
    """Log-probabilities of the tokens that are text."""
    return {"content": [token.to_dict() for token in tokens if token.data]}
