"""What a chat engine says of itself: `ChatEngine.stats`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maskwright.compiler import CompilerStats


@dataclass(frozen=True)
class RequestStats:
    """The requests of an engine at one moment; each that was accepted is counted in one place.

    Attributes:
        running: Those that have their sequences.
        waiting: Those that wait for them.
        finished: Those that have answered.
        failed: Those that ended with an error; also those that closing the engine ended.
        cancelled: Those that nobody waited for any more.
        refused: Those that were not accepted, since too many waited.
        prompt_tokens: Tokens of the prompts of all that ran or run.
        completion_tokens: Tokens generated for them, stop tokens and forced ones included.
    """

    running: int
    waiting: int
    finished: int
    failed: int
    cancelled: int
    refused: int
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True)
class EngineStats:
    """Figures of a chat engine.

    Attributes:
        requests: The requests, all at the same moment.
        grammar_set_ups: How often a format was asked for, to be compiled or found again.
        compiler: The engine's compiler, a moment later.
    """

    requests: RequestStats
    grammar_set_ups: int
    compiler: CompilerStats

    @property
    def grammar_cache_hits(self) -> int:
        """Formats for which nothing was compiled: known ones, and those compiled for another."""
        return self.compiler.grammars.hits
