"""What an engine is to the benchmarks: a source in, a session with mask, accept and reset out.

An adapter imports its library when it is made, which happens only in that engine's own subprocess
(worker.py). The callables of a session are the cheapest public ones the library has, bound once:
what is timed is the library's own call and nothing of ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from benchmarks.data import JSON_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class RefusedError(Exception):
    """The engine said that it does not support the source."""


@dataclass
class Session:
    """A matcher at the start of a text.

    Attributes:
        fill: Computes the mask into the worker's row; False: every token is allowed.
        accept: Takes a token id; False: refused.
        reset: Goes back to the start, keeping what was computed; may replace `fill` and `accept`.
        problem: Returns a message if the engine has given up on this text, else "".
    """

    fill: Callable[[], Any]
    accept: Callable[[int], bool]
    reset: Callable[[], Any]
    problem: Callable[[], str] = str


class Engine(Protocol):
    """A library with a vocabulary loaded."""

    version: str
    row: Any  # numpy int32 view of the row that sessions fill

    def forget(self) -> None:
        """Forget what sources before have left in the process, unless that is to be shared."""

    def open(self, source: str, kind: str = JSON_SCHEMA) -> Session:
        """Compile a source and make a matcher; raise if it is refused.

        With a new compiler, unless the engine was made to share one over all sources.
        """


class EngineFactory(Protocol):
    """Loads a library and a vocabulary; `shared`: one compiler over all sources."""

    def __call__(
        self, path: Path, vocab_size: int, stop_token_id: int, *, shared: bool
    ) -> Engine: ...


@dataclass(frozen=True)
class EngineSpec:
    """How to make an engine, and the kinds of sources it reads."""

    load: EngineFactory
    kinds: frozenset[str] = frozenset({JSON_SCHEMA})
