"""What a compiler says of itself: `GrammarCompiler.stats`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .compile_cache import CacheStats
    from .disk_cache import DiskCacheStats

__all__ = ["CompilerStats"]


@dataclass(frozen=True)
class CompilerStats:
    """Figures of a compiler at one moment.

    Attributes:
        grammars: The cache of compiled grammars.
        shared_masks: Masks that they share, since the last `clear_cache`; a mask that the grammar
            itself has is no hit. Those that all compilers of the vocabulary have in common are hits
            too, but no entries. Nobody waits for one: ``in_flight`` is 0.
        tokenizer_bytes: Memory of the vocabulary and of the masks that its compilers have in
            common, which no limit counts.
        frames: Rules of all cached grammars, and JSON values that their schemas tell apart.
        states: States of all cached grammars.
        masks: Masks that they keep or refer to.
        cold_walks: Walks over the token trie that were needed for those.
        visited_nodes: Trie nodes that those walks visited.
        detached_bytes: Memory of grammars from before `clear_cache` that are still in use, and of
            what these share. A grammar that grows and finds no room within the cache's limit
            drops the masks that it computed on demand, if they take more than an eighth
            of what it keeps in any case. So these bytes may exceed the limit: rules and states
            stay, and grammars that do not grow keep their masks.
        precomputing: Grammars whose masks are being computed ahead, or wait for it.
        hits_by_meaning: Hits of ``grammars`` for which the front-end ran: another source had
            come to the same grammar.
        disk_cache: The disk cache, None without one. What it answers is a miss of ``grammars``.
    """

    grammars: CacheStats
    shared_masks: CacheStats
    tokenizer_bytes: int
    frames: int
    states: int
    masks: int
    cold_walks: int
    visited_nodes: int
    detached_bytes: int
    precomputing: int
    hits_by_meaning: int
    disk_cache: DiskCacheStats | None
