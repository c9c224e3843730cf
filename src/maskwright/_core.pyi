"""
The compiled engine of maskwright. Private: use the names of the package maskwright.
"""

from collections.abc import Iterable, Sequence
from typing import Any, overload


def engine_version() -> str:
    """Return the release of the compiled engine, for example ``0.1.0``."""

IR_VERSION: int = 2

class Vocabulary:
    """
    Token bytes as a trie; see maskwright.TokenizerInfo for the public form.
    """

    def __init__(self, tokens: list[bytes], *, vocab_size: int, special_token_ids: Sequence[int], stop_token_ids: Sequence[int]) -> None: ...

    @property
    def vocab_size(self) -> int: ...

    @property
    def num_trie_nodes(self) -> int: ...

    @property
    def max_token_length(self) -> int: ...

    @property
    def memory_bytes(self) -> int: ...

class ByteLedger:
    """Memory of the compiled grammars that are charged to it."""

    def __init__(self) -> None: ...

    @property
    def bytes(self) -> int: ...

class CompiledGrammar:
    """A grammar compiled for one vocabulary; immutable, shared by matchers."""

    @property
    def memory_bytes(self) -> int:
        """As of the last call that computed something; waits for nothing."""

    @property
    def around_bytes(self) -> int:
        """The part of it that its owner gave."""

    def charge_to(self, ledger: ByteLedger | None) -> None:
        """Have the ledger count this grammar from now on; None: nobody."""

    def counters(self) -> dict[str, int]:
        """
        Counts of what was built so far: states, rows, positions, searched_places, masks, mask_bytes, cold_walks, visited_nodes.
        """

class Precompute:
    """Computes masks of a grammar that no matcher asked for."""

    def __init__(self, compiled: CompiledGrammar) -> None: ...

    def run(self, seconds: float, max_bytes: int) -> bool:
        """
        Work for so many seconds of processor time, or until the grammar takes max_bytes; False: nothing is left to do. Releases the GIL.
        """

    @property
    def num_places(self) -> int: ...

def compile(ir: bytes, vocabulary: Vocabulary, *, max_states: int = 1000000, max_targets: int = 200000, max_clauses: int = 10000, max_lang_states: int = 50000, around_bytes: int = 0, token_classes: bool = True, clipping: bool = True, sharing: bool = True) -> CompiledGrammar:
    """
    Compile an IR buffer for a vocabulary. Releases the GIL. around_bytes are counted as the grammar's: what its owner needs for it. The last three are shortcuts that change no answer.
    """

class Matcher:
    """Follows tokens; see maskwright.GrammarMatcher."""

    def __init__(self, compiled: CompiledGrammar, *, stop_token_ids: Sequence[int] | None = None, terminate_without_stop_token: bool = False) -> None: ...

    def accept_token(self, token: object) -> bool: ...

    def accept_bytes(self, text: bytes) -> bool: ...

    def validate_tokens(self, tokens: Iterable[int]) -> int: ...

    def fill_bitmask(self, bitmask: object | None, index: object | None = 0) -> bool: ...

    def rollback(self, steps: object | None = 1) -> None: ...

    def reset(self) -> None: ...

    def fork(self) -> Matcher: ...

    def is_terminated(self) -> bool: ...

    def is_completed(self) -> bool: ...

    def forced_bytes(self, limit: int) -> bytes:
        """The bytes that every completion goes on with. Releases the GIL."""

    def open_tokens(self, ahead: bytes) -> list[int]:
        """
        Offsets in the readable bytes at which a token may begin that goes on beyond them; their number among them if more than a stop token may follow. Releases the GIL.
        """

    def longest_tokens(self, ahead: bytes) -> list[int]:
        """The longest token at each place, as far as there is one."""

    def recent_text(self, max_bytes: int) -> bytes:
        """The last bytes accepted, none from before a token that is no text."""

    @property
    def num_steps(self) -> int: ...

    @property
    def memory_bytes(self) -> int:
        """
        Of the steps, stacks and registers that the matcher and its forks hold.
        """

    @property
    def stop_token_ids(self) -> list[int]: ...

class MatcherBase:
    """A matcher's calls in a decode loop."""

    @overload
    def __init__(self, core: Matcher) -> None:
        """Starts as a fork of the matcher."""

    @overload
    def __init__(self, origin: MatcherBase) -> None:
        """Starts as a fork of the other one."""

    def accept_token(self, token_id: int, *, debug_print: bool = False) -> bool:
        """
        Append a token.

        Args:
            token_id: Any integer, of Python or numpy, of any size; bools are integers.
            debug_print: Log the result.

        Returns:
            True if the mask allows the token. False, with nothing changed, if not: ids outside the
            vocabulary, and everything after a stop token, included.

        Raises:
            TypeError: ``token_id`` is no integer.
        """

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0, *, debug_print: bool = False) -> bool:
        """
        Write which tokens may come next.

        Bit ``t % 32`` of word ``t // 32`` is 1 iff `accept_token` would accept ``t``; bits at and above
        the vocabulary size are 0. Nothing but the row is written. Python's global lock is released while
        a mask is computed that was not needed before.

        Args:
            bitmask: int32 array on the CPU, of shape (rows, words) or (words,), with at least
                ``ceil(vocab_size / 32)`` words, contiguous within a row; numpy, torch, or any object with
                DLPack or a buffer. Written in place.
            index: The row.
            debug_print: Log the result.

        Returns:
            True if some token is refused, so that the mask must be applied.

        Raises:
            MatcherError: The matcher is terminated, so no token can follow (``matcher-terminated``).
            BitmaskError: The array has the wrong dtype, shape or strides, there is no such row, or it is
                not a writable array of the CPU (``bitmask-dtype``, ``bitmask-shape``,
                ``bitmask-strides``, ``bitmask-index``, ``bitmask-not-an-array``).
        """

    def rollback(self, num_tokens: int = 1) -> None:
        """
        Take back the last steps, a stop token included.

        Args:
            num_tokens: How many.

        Raises:
            MatcherError: There are fewer (``matcher-rollback-too-far``) or the number is negative
                (``matcher-rollback-negative``); nothing changed.
        """

    def is_terminated(self) -> bool:
        """
        Return whether the text has ended.

        It has after a stop token; with ``terminate_without_stop_token``, whenever it is complete.
        """

    def is_completed(self) -> bool:
        """Return whether the text so far is a whole text of the grammar."""

def matcher_of(base: MatcherBase) -> Matcher:
    """The matcher inside, not a fork of it."""

def apply_bitmask(logits: object | None, bitmask: object | None, *, vocab_size: object | None = None, indices: Iterable[int] | None = None) -> None:
    """Set the logits of masked tokens to -inf, in place, on the CPU."""
