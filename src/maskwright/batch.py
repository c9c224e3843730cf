"""Calls for many matchers at once: what an engine does at every step for all its requests.

Idea: the core does all the work, and checks all arguments before any of it (cpp: batch/batch.h).
Matchers of one grammar are worked on by one thread, those of different grammars by several where
that is worth waking them.
"""

from __future__ import annotations

import logging
import operator
import os
from typing import TYPE_CHECKING, Any, Literal

from . import _core
from .errors import BatchError
from .forks import renew_in_children

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .compiler import MaskTable
    from .matcher import GrammarMatcher

__all__ = ["BatchGrammarMatcher"]

# More threads than grammars are no use, and an engine has other work for its processors.
_MOST_AUTO_THREADS = 8
_logger = logging.getLogger("maskwright.matcher")


class BatchGrammarMatcher:
    """Fills, accepts, takes back and looks ahead for many matchers in one call.

    Every call checks all its arguments first: one that raises has changed no bitmask and no
    matcher. A matcher may be named only once in a call; forks are matchers of their own. Python's
    global lock is released during the work, so nobody else may use the matchers meanwhile. One
    object may be used from several threads.

    Args:
        max_threads: How many threads work on a call, the calling one included; they are started
            when there is work for them and stay. ``"auto"``: as many as the process may use
            processors, 8 at most.

    Raises:
        BatchError: ``max_threads`` is less than 1 or another text (``batch-max-threads``).

    Example:
        >>> import numpy as np
        >>> from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo
        >>> info = TokenizerInfo(["a", "b", "</s>"], stop_token_ids=2)
        >>> compiler = GrammarCompiler(info)
        >>> matchers = [GrammarMatcher(compiler.compile_regex(regex)) for regex in ("ab", "b*")]
        >>> bitmask = np.zeros((2, 1), dtype=np.int32)
        >>> BatchGrammarMatcher().batch_fill_next_token_bitmask(matchers, bitmask)
        >>> bitmask.tolist()
        [[1], [6]]
        >>> BatchGrammarMatcher.batch_accept_token(matchers, [0, 0])
        [True, False]
    """

    def __init__(self, max_threads: int | Literal["auto"] = "auto") -> None:
        self._core = _core.Batch(_number_of_threads(max_threads))
        renew_in_children(self)

    @property
    def max_threads(self) -> int:
        """How many threads work on a call at most."""
        return self._core.max_threads

    def renew(self) -> None:
        """Begin without threads, as a forked child is."""
        self._core.renew()

    def batch_fill_next_token_bitmask(
        self,
        matchers: Iterable[GrammarMatcher],
        bitmask: Any,
        indices: Iterable[int] | None = None,
        debug_print: bool = False,
    ) -> None:
        """Write for each matcher which tokens may come next.

        As `GrammarMatcher.fill_next_token_bitmask` does. Matchers that are in the same place of the
        same grammar get copies of one row.

        Args:
            matchers: None of them terminated.
            bitmask: int32 array on the CPU, of shape (rows, words), with rows that do not overlap;
                numpy, torch, or any object with DLPack or a buffer. Rows of nobody stay untouched.
            indices: The row of each matcher; None: 0, 1, 2, ...
            debug_print: Log the number of matchers.

        Raises:
            BatchError: Something among them is no matcher (``batch-not-a-matcher``), a matcher or
                an index is there twice (``batch-same-matcher``, ``batch-index-twice``), there is no
                such row (``batch-index``) or too few of them (``batch-rows``), or the numbers of
                matchers and indices differ (``batch-lengths``).
            BitmaskError: The bitmask has the wrong dtype, shape, strides or device.
            MatcherError: One of the matchers is terminated (``matcher-terminated``).
        """
        self._core.fill(matchers, bitmask, indices)
        if debug_print:
            _logger.debug("batch_fill_next_token_bitmask(indices=%s)", indices)

    def batch_next_mask_id(
        self,
        matchers: Iterable[GrammarMatcher],
        mask_ids: Any,
        indices: Iterable[int] | None = None,
        *,
        mask_table: MaskTable | None = None,
    ) -> int:
        """Write for each matcher the id of the mask that a fill would write.

        As `GrammarMatcher.next_mask_id` does.

        Args:
            matchers: None of them terminated.
            mask_ids: int32 or int64 array of one dimension on the CPU, with an element for each
                row; numpy, torch, or any object with DLPack or a buffer. Written in place; elements
                of nobody stay untouched.
            indices: The element of each matcher; None: 0, 1, 2, ...
            mask_table: The table that the ids are to be of. Matchers whose grammar has another
                one, as after `GrammarCompiler.clear_cache`, get -1. None: all must have the same.

        Returns:
            How many of the matchers got -1: their rows are to be filled.

        Raises:
            BatchError: As for `batch_fill_next_token_bitmask`; or they have several tables and
                ``mask_table`` is None (``batch-mask-tables``).
            BitmaskError: The array has the wrong dtype, shape, strides or device
                (``mask-ids-dtype``, ``mask-ids-shape``, ``mask-ids-strides``, ...).
            MatcherError: One of the matchers is terminated (``matcher-terminated``).
            TypeError: ``mask_table`` is no `MaskTable`.

        Example:
            >>> import numpy as np
            >>> from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo
            >>> info = TokenizerInfo(["a", "b", "</s>"], stop_token_ids=2)
            >>> compiler = GrammarCompiler(info)
            >>> matchers = [GrammarMatcher(compiler.compile_regex(regex)) for regex in ("a", "ab")]
            >>> ids = np.full(3, -1, dtype=np.int32)
            >>> BatchGrammarMatcher().batch_next_mask_id(matchers, ids, indices=[2, 0])
            0
            >>> ids.tolist()
            [0, -1, 0]
        """
        if mask_table is not None and not isinstance(mask_table, _core.MaskTable):
            raise TypeError(
                f"mask_table is a {type(mask_table).__name__}; expected a MaskTable, as "
                "GrammarCompiler.mask_table is"
            )
        return self._core.mask_ids(matchers, mask_ids, indices, mask_table)

    @staticmethod
    def batch_accept_token(
        matchers: Iterable[GrammarMatcher],
        tokens: Iterable[int],
        debug_print: bool = False,
    ) -> list[bool]:
        """Append a token to each matcher.

        Args:
            matchers: Terminated ones accept nothing.
            tokens: One for each, any integers.
            debug_print: Log the result.

        Returns:
            For each matcher what `GrammarMatcher.accept_token` returns.

        Raises:
            BatchError: Something is no matcher, a matcher is there twice, or the numbers differ
                (``batch-not-a-matcher``, ``batch-same-matcher``, ``batch-lengths``).
            TypeError: A token is no integer.
        """
        accepted = _core.accept_tokens(matchers, tokens)
        if debug_print:
            _logger.debug("batch_accept_token(%s) -> %s", tokens, accepted)
        return accepted

    @staticmethod
    def batch_accept_string(
        matchers: Iterable[GrammarMatcher],
        strings: Iterable[str | bytes],
        debug_print: bool = False,
    ) -> list[bool]:
        """Append a text to each matcher; one step for `batch_rollback`.

        Args:
            matchers: Terminated ones accept nothing.
            strings: One for each.
            debug_print: Log the result.

        Returns:
            For each matcher what `GrammarMatcher.accept_string` returns.

        Raises:
            BatchError: As for `batch_accept_token`.
            TypeError: A text is neither str nor bytes.
        """
        accepted = _core.accept_strings(matchers, strings)
        if debug_print:
            _logger.debug("batch_accept_string(%r) -> %s", strings, accepted)
        return accepted

    @staticmethod
    def batch_rollback(
        matchers: Iterable[GrammarMatcher], num_tokens: int | Iterable[int] = 1
    ) -> None:
        """Take back the last steps of each matcher, stop tokens included.

        Args:
            matchers: Any.
            num_tokens: How many, one number for all or one for each.

        Raises:
            BatchError: As for `batch_accept_token`.
            MatcherError: One of them has taken fewer steps (``matcher-rollback-too-far``), or a
                number is negative (``matcher-rollback-negative``); all are as before.
        """
        _core.roll_back(matchers, num_tokens)

    @staticmethod
    def batch_fill_temperature(
        matchers: Iterable[GrammarMatcher],
        temperatures: Any,
        indices: Iterable[int] | None = None,
    ) -> None:
        """Write the temperature of each matcher, -1 where it is None.

        Args:
            matchers: Any.
            temperatures: float32 array of one dimension on the CPU. Elements of nobody stay
                untouched.
            indices: The element of each matcher; None: 0, 1, 2, ...

        Raises:
            BatchError: As for `batch_fill_next_token_bitmask`.
            BitmaskError: The array has the wrong dtype or shape (``temperatures-dtype``,
                ``temperatures-shape``).
        """
        _core.fill_temperature(matchers, temperatures, indices)

    def batch_traverse_draft_tree(
        self,
        matchers: Iterable[GrammarMatcher],
        retrieve_next_token: Any,
        retrieve_next_sibling: Any,
        draft_tokens: Any,
        bitmask: Any,
        indices: Iterable[int] | None = None,
        root_positions: Iterable[int] | None = None,
    ) -> list[bool]:
        """Write the masks of all nodes of a draft tree for each matcher; all stay where they are.

        As `GrammarMatcher.traverse_draft_tree` does. With n nodes in a tree, node j of the matcher
        with index i has row ``i * n + j`` of the bitmask; rows of nobody stay untouched.

        Args:
            matchers: None of them terminated.
            retrieve_next_token: First children, -1 for none: of shape (n,) if all share one tree,
                else (rows, n). Contiguous, integers of any size, on the CPU.
            retrieve_next_sibling: Next siblings, -1 for none; of the same shape.
            draft_tokens: Token ids, of shape (rows, n).
            bitmask: int32 array of shape (rows * n, words), or as many rows as are needed.
            indices: For each matcher its row in the arrays; None: 0, 1, 2, ...
            root_positions: The node where each matcher begins; None: 0 for all.

        Returns:
            For each matcher whether all its nodes were visited, which is so.

        Raises:
            BatchError: As for `batch_fill_next_token_bitmask`.
            DraftTreeError: As for `GrammarMatcher.traverse_draft_tree`.
            BitmaskError: The bitmask has the wrong dtype, shape or strides, or too few rows.
            MatcherError: One of the matchers is terminated (``matcher-terminated``).
        """
        return self._core.traverse(
            matchers,
            retrieve_next_token,
            retrieve_next_sibling,
            draft_tokens,
            bitmask,
            indices,
            root_positions,
        )


def _number_of_threads(max_threads: Any) -> int:
    if max_threads == "auto":
        return min(_usable_processors(), _MOST_AUTO_THREADS)
    number = 0 if isinstance(max_threads, str) else operator.index(max_threads)
    if not 1 <= number < 2**16:
        raise BatchError(
            f'max_threads is {max_threads!r}; expected a number of threads, 1 or more, or "auto"',
            code="batch-max-threads",
        )
    return number


def _usable_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
