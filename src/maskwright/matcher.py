"""Follows the tokens of one text through a compiled grammar.

Idea: the core does all the work. What a decode loop calls for each token (`accept_token`,
`fill_next_token_bitmask`, `rollback`, ...) are methods of the core's class, so that they cost no
Python frame.
"""

from __future__ import annotations

import logging
import operator
from typing import TYPE_CHECKING, Any

from . import _core
from .compiled_grammar import CompiledGrammar
from .jump_forward import find_jump_forward_string, find_jump_forward_tokens
from .shown import shown
from .token_ids import id_list
from .tokenizers.vocabulary import check_ids

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .explain import Explanation

__all__ = ["GrammarMatcher"]

_logger = logging.getLogger(__name__)
_LARGEST_BUDGET = 2**32 - 2  # what the core counts; more is the same


def _checked_budget(name: str, tokens: int | None) -> int | None:
    """Return a number of tokens as the core takes it."""
    if tokens is None:
        return None
    if isinstance(tokens, bool) or not hasattr(tokens, "__index__"):
        raise TypeError(
            f"{name} is {shown(tokens)}, a {type(tokens).__name__}; expected an int, or None for "
            "no bound"
        )
    number = operator.index(tokens)
    if number < 0:
        raise ValueError(f"{name} is {number}; expected 0 or more tokens, or None for no bound")
    return min(number, _LARGEST_BUDGET)


class GrammarMatcher(_core.MatcherBase):
    """One text that grows token by token, and the tokens that may come next.

    Use from one thread at a time. Matchers of one compiled grammar, forks included, may be used
    from different threads; their calls take turns. Python's global lock is released while a mask is
    computed that was not needed before, and while looking ahead, and kept for everything else.

    Each accepted token or string is a step, which `rollback` takes back; the history is kept in
    full and costs a few words per step. Steps that were taken back cost nothing once no fork is
    alive. Calls with ``debug_print=True`` log to the logger
    ``maskwright.matcher`` at level DEBUG.

    Args:
        compiled_grammar: What the text must match.
        override_stop_tokens: Ids that end the text; an int or several. They replace the
            vocabulary's own, which count as special then. Text never matches either.
        terminate_without_stop_token: The text ends by itself: no stop token is ever allowed,
            `is_terminated` is True whenever the text is complete, and more may follow as long as
            the grammar allows it.
        max_rollback_tokens: Accepted for compatibility, without effect: rollback has no bound.
        default_temperature: What `temperature` returns; for the caller's sampler.
        token_budget: The most tokens that may be accepted, the stop token included where there is
            one. A token is then allowed only if the text can still be completed with what is left
            behind it (`min_tokens_to_finish`), so the text is always complete within the budget.
            None: no bound.

    Raises:
        MatcherError: There is no stop token and ``terminate_without_stop_token`` is False
            (``matcher-no-stop-token``); or the budget is less than the text takes, and the message
            says how much that is (``matcher-budget-too-small``), or that is not known
            (``matcher-no-known-end``).
        ValueError: ``token_budget`` is negative.
        TokenizerError: A stop token is outside the vocabulary (``tokenizer-id-out-of-range``).
        TypeError: ``compiled_grammar`` is no `CompiledGrammar`, a stop token no int, or the budget
            no int, which a bool is not here.

    Example:
        >>> from maskwright import GrammarCompiler, TokenizerInfo
        >>> info = TokenizerInfo(["a", "b", "</s>"], stop_token_ids=2)
        >>> matcher = GrammarMatcher(GrammarCompiler(info).compile_regex("ab?"))
        >>> matcher.accept_token(1), matcher.accept_token(0), matcher.is_completed()
        (False, True, True)
        >>> matcher.accept_token(2), matcher.is_terminated()
        (True, True)

        Under a budget the last tokens are those that complete the text:

        >>> info = TokenizerInfo(["[", "]", "</s>"], stop_token_ids=2)
        >>> compiled = GrammarCompiler(info).compile_grammar('root ::= "[" root? "]"')
        >>> matcher = GrammarMatcher(compiled, token_budget=5)
        >>> matcher.validate_tokens([0, 0, 0]), matcher.validate_tokens([0, 0, 1, 1, 2])
        (2, 5)
    """

    __slots__ = (
        "__weakref__",
        "_compiled_grammar",
    )

    def __init__(
        self,
        compiled_grammar: CompiledGrammar,
        *,
        override_stop_tokens: int | Iterable[int] | None = None,
        terminate_without_stop_token: bool = False,
        max_rollback_tokens: int = -1,
        default_temperature: float | None = None,
        token_budget: int | None = None,
    ) -> None:
        if not isinstance(compiled_grammar, CompiledGrammar):
            raise TypeError(
                f"compiled_grammar is a {type(compiled_grammar).__name__}; expected a "
                "CompiledGrammar, which GrammarCompiler makes"
            )
        del max_rollback_tokens
        stops = None
        if override_stop_tokens is not None:
            stops = id_list(override_stop_tokens)
            size = compiled_grammar.tokenizer_info.vocab_size
            check_ids("stop token id", stops, size, "the compiled grammar's tokenizer")
        core = compiled_grammar._core  # noqa: SLF001  of this package
        ends_by_itself = bool(terminate_without_stop_token)
        budget = _checked_budget("token_budget", token_budget)
        _core.MatcherBase.__init__(self, core, stops, ends_by_itself, default_temperature, budget)
        self._compiled_grammar = compiled_grammar

    @property
    def _core(self) -> _core.Matcher:
        return _core.matcher_of(self)

    @property
    def compiled_grammar(self) -> CompiledGrammar:
        """What the text must match."""
        return self._compiled_grammar

    @property
    def stop_token_ids(self) -> list[int]:
        """The ids that end the text, ascending."""
        return self._core.stop_token_ids

    @property
    def max_rollback_tokens(self) -> int:
        """Always -1: rollback has no bound."""
        return -1

    def min_tokens_to_finish(self) -> int:
        """Return how many more tokens complete the text for sure, a stop token included.

        There are so many tokens that do. It is the least number where a search over all that tokens
        may spell comes to its end: always in vocabularies of some thousand tokens, but for texts of
        dozens of tokens with much choice; in larger ones for up to 8 tokens of literals and
        punctuation. Beyond that it is the least for the texts that the grammar spells out, of
        alternatives, `enum` and `const`, without whitespace, escapes and members that need not be,
        or for a shortest text; a longer one of fewer tokens may then be missed. Of an array with
        many items to come the fewest tokens for an item are looked for, and repeated. 0 after a
        stop token. While a matcher has a budget, the number is at most `remaining_tokens`.

        Cost: a millisecond or so for the first place of a grammar, and microseconds for places that
        any matcher of the grammar has asked about; the first call reads the text so far once more.

        Raises:
            MatcherError: No such tokens are known (``matcher-no-known-end``). It takes a vocabulary
                in which not every byte is a token, a shortest text of many thousand bytes, or
                dozens of items that must differ (``uniqueItems``) and of which there are few.

        Example:
            >>> from maskwright import GrammarCompiler, TokenizerInfo
            >>> info = TokenizerInfo(["a", "b", "ab", "</s>"], stop_token_ids=3)
            >>> GrammarMatcher(GrammarCompiler(info).compile_regex("abb+")).min_tokens_to_finish()
            3
        """
        return self._core.min_tokens_to_finish()

    @property
    def remaining_tokens(self) -> int | None:
        """What is left of the token budget; None without one.

        Each accepted token takes one off, a stop token too. `accept_string` takes none off, since
        it is not known which tokens the text is; it refuses text behind which what is left would
        not do. `rollback` gives back what was left before, `reset` the whole budget, and a fork
        has what its origin has.

        It can be set, to None as well, and holds from this step on: what was left at earlier steps
        comes back with `rollback`.

        Raises:
            MatcherError: It is set to less than `min_tokens_to_finish`
                (``matcher-budget-too-small``); nothing changed.
            ValueError: It is set to a negative number.
            TypeError: It is set to something else than an int or None; to a bool, for example.
        """
        return self._core.remaining_tokens

    @remaining_tokens.setter
    def remaining_tokens(self, tokens: int | None) -> None:
        self._core.remaining_tokens = _checked_budget("remaining_tokens", tokens)

    def accept_string(self, input_str: str | bytes, *, debug_print: bool = False) -> bool:
        """Append text, whatever tokens it could be; one step for `rollback`.

        Args:
            input_str: The text. Bytes need not end at a code point.
            debug_print: Log the result.

        Returns:
            True if the grammar allows the text here. False, with nothing changed, if not.

        Raises:
            TypeError: The text is neither str nor bytes.
        """
        if isinstance(input_str, str):
            try:
                data = input_str.encode()
            except UnicodeEncodeError:  # a lone surrogate is in no text
                return False
        elif isinstance(input_str, bytes):
            data = input_str
        else:
            raise TypeError(f"input_str is a {type(input_str).__name__}; expected a str or bytes")
        accepted = self._core.accept_bytes(data)
        if debug_print:
            _logger.debug("accept_string(%r) -> %s", input_str, accepted)
        return accepted

    def traverse_draft_tree(
        self,
        retrieve_next_token: Any,
        retrieve_next_sibling: Any,
        draft_tokens: Any,
        token_bitmask: Any,
        time_threshold: float = -1.0,
        temperatures: Any = None,
        *,
        root_position: int = 0,
    ) -> bool:
        """Write the mask behind every node of a draft tree; the matcher stays where it is.

        Row j of the bitmask is the mask after the tokens on the way from the root to node j. The
        root's own token is not among them: it is the last one that the matcher has accepted. Rows
        behind a refused token or after a stop token are all zero, and so are the rows of nodes that
        the root does not lead to. Everything is checked before anything is written. Python's
        global lock is released meanwhile.

        Args:
            retrieve_next_token: Index of the first child of each node, -1 for none; 1-D and
                contiguous, integers of any size, on the CPU; numpy, torch, or any object with
                DLPack or a buffer.
            retrieve_next_sibling: Index of the next sibling of each node, -1 for none; likewise.
                That of the root is not followed.
            draft_tokens: Token id of each node; likewise. Ids outside the vocabulary are refused
                tokens.
            token_bitmask: int32 array as for `fill_next_token_bitmask`, with a row for each node;
                further rows stay untouched.
            time_threshold: Seconds after which the rest is left: its rows are all zero. The root's
                row is always written. 0 or less: no limit.
            temperatures: float32 array with an element for each node, or None. Written in place:
                `temperature` for nodes with a mask, -1 for the others and where that is None.
            root_position: Where to begin.

        Returns:
            True if all nodes were visited, False if the time ran out.

        Raises:
            DraftTreeError: The links are no tree, or the arrays do not fit together; the code says
                which (``draft-tree-link``, ``draft-tree-loop``, ``draft-tree-shared-node``,
                ``draft-tree-root``, ``draft-tree-sizes``, ``draft-tree-dtype``,
                ``draft-tree-shape``, ``draft-tree-strides``).
            BitmaskError: The bitmask has the wrong dtype, shape or strides or too few rows
                (``bitmask-rows``), ``temperatures`` likewise, or something is no array of the CPU.
            MatcherError: The matcher is terminated (``matcher-terminated``).

        Example:
            >>> import numpy as np
            >>> from maskwright import GrammarCompiler, TokenizerInfo
            >>> info = TokenizerInfo(["a", "b", "c", "</s>"], stop_token_ids=3)
            >>> matcher = GrammarMatcher(GrammarCompiler(info).compile_regex("a(b|c)c"))
            >>> matcher.accept_token(0)
            True
            >>> children, siblings = np.array([1, -1, -1]), np.array([-1, 2, -1])
            >>> bitmask = np.zeros((3, 1), dtype=np.int32)
            >>> matcher.traverse_draft_tree(children, siblings, np.array([0, 1, 0]), bitmask)
            True
            >>> bitmask.tolist()  # b or c; after b only c; a is refused
            [[6], [4], [0]]
        """
        return _core.traverse_draft_tree(
            self,
            retrieve_next_token,
            retrieve_next_sibling,
            draft_tokens,
            token_bitmask,
            time_threshold,
            temperatures,
            root_position,
        )

    def validate_tokens(self, token_ids: Iterable[int]) -> int:
        """Return how many of the tokens `accept_token` would accept one after the other.

        Nothing changes. A stop token counts where the text may end, and nothing counts behind it.

        Args:
            token_ids: Any integers.

        Raises:
            TypeError: One of them is no integer; found before any is tried.

        Example:
            >>> from maskwright import GrammarCompiler, TokenizerInfo
            >>> info = TokenizerInfo(["a", "b", "</s>"], stop_token_ids=2)
            >>> matcher = GrammarMatcher(GrammarCompiler(info).compile_regex("ab?"))
            >>> matcher.validate_tokens([0, 1, 2, 2]), matcher.validate_tokens([0, 0])
            (3, 1)
        """
        return self._core.validate_tokens(token_ids)

    def find_jump_forward_string(self) -> str:
        """Return the text that every completion continues with; nothing changes.

        It is the longest one, up to 64 KiB, in whole code points: empty if the text may end here, a
        token that is no text may come next, or the position is inside a code point. Where not every
        byte is a token of its own, a search over the tokens decides what they can spell; if it
        gives up, the string is shorter than it could be, never longer. A token budget, which may
        force more, is not looked at.

        Example:
            >>> from maskwright.testing import _get_matcher_from_grammar
            >>> matcher = _get_matcher_from_grammar('root ::= "name: " ("Ada" | "Alan")')
            >>> matcher.find_jump_forward_string()
            'name: A'
        """
        return find_jump_forward_string(self._core)

    def find_jump_forward_tokens(self) -> list[int]:
        """Return tokens that may be appended without asking the model; nothing changes.

        They spell a beginning of what `find_jump_forward_string` returns, as the tokenizer would
        encode it behind the text so far. Tokens that something the grammar allows to follow could
        join with are left out, so that the model is never held to an odd spelling. `accept_token`
        accepts each of them in turn.

        If the vocabulary has no encoder (`TokenizerInfo.has_encoder`), they are the longest tokens
        that fit, from left to right, which is not always the tokenizer's choice. Under a token
        budget those are left out for which it would not do.

        Raises:
            TokenizerError: The tokenizer needs a package that is not installed.
        """
        core = self._core
        token_ids = find_jump_forward_tokens(core, self._compiled_grammar.tokenizer_info)
        if core.remaining_tokens is None:
            return token_ids
        return token_ids[: core.validate_tokens(token_ids)]

    def explain(self) -> Explanation:
        """Return where the text is, what may come next, and why the last token was refused.

        For people: logs, error messages, debugging. Nothing changes. ``str()`` of it is some lines
        of text. Takes more than a mask does where many literals may follow: some 10 to 20 ms of
        CPU time among hundreds of keys or thousands of values, and more for long texts.

        Example:
            >>> from maskwright import GrammarCompiler, TokenizerInfo
            >>> info = TokenizerInfo(["yes", "no", "y", "</s>"], stop_token_ids=3)
            >>> matcher = GrammarMatcher(GrammarCompiler(info).compile_regex("yes|nono"))
            >>> matcher.accept_token(1), matcher.accept_token(0)
            (True, False)
            >>> print(matcher.explain())
            after 1 steps, at the end of 'no'
            in root
            expected: no
            token 0 ('yes') was refused: its byte 0 is not what the grammar asks for
        """
        from .explain import explain

        return explain(self._core, self._compiled_grammar.tokenizer_info)

    def reset(self) -> None:
        """Go back to the empty text; the history is forgotten, in forks it is not."""
        self._core.reset()

    def fork(self) -> GrammarMatcher:
        """Return a matcher with the same text and history, independent from now on.

        Costs a few words, whatever the length of the text.
        """
        other = type(self).__new__(type(self))
        _core.MatcherBase.__init__(other, self)
        other._compiled_grammar = self._compiled_grammar  # noqa: SLF001  the same class
        return other
