"""The reference matcher: tokens on top of the recogniser.

A state is the last set of the chart and whether a stop token has been read; history is a list of
states, so rollback, fork and reset are what they say. Cost: every question walks the vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .earley import ItemSet, Productions, Recogniser
from .flat import decode
from .json_judge import DuplicateKeys, JsonJudge
from .regular import ReferenceLimitError

MAX_SEARCH = 2_000


@dataclass(frozen=True)
class _State:
    items: ItemSet
    stopped: bool = False


class ReferenceMatcher:
    """Matches tokens and bytes against IR; slow, and right by being plain.

    Args:
        ir_bytes: the IR buffer.
        token_bytes: the bytes of each token id.
        special_ids: tokens that never match by their bytes.
        stop_ids: tokens that end a complete text.
        vocab_size: number of ids, if there are more than ``token_bytes``.
        duplicates: which duplicate keys of JSON objects are refused.
    """

    def __init__(
        self,
        ir_bytes: bytes,
        token_bytes: list[bytes],
        special_ids: Iterable[int] = (),
        stop_ids: Iterable[int] = (),
        *,
        vocab_size: int | None = None,
        duplicates: DuplicateKeys = DuplicateKeys.ALL,
    ) -> None:
        self._stop_ids = frozenset(stop_ids)
        n_ids = len(token_bytes) if vocab_size is None else vocab_size
        never_text = self._stop_ids | frozenset(special_ids)
        self._texts = {
            i: text for i, text in enumerate(token_bytes) if text and i not in never_text
        }
        all_ids = frozenset(range(n_ids))
        usable = frozenset(byte for text in self._texts.values() for byte in text)
        singles = {text[0] for text in self._texts.values() if len(text) == 1}
        self._byte_closed = usable <= singles  # then what bytes can finish, tokens can
        ir = decode(ir_bytes)
        self._recogniser = Recogniser(
            Productions(
                ir,
                usable,
                lambda exclude, ids: all_ids - ids - self._stop_ids if exclude else all_ids & ids,
                lambda json: JsonJudge(ir, json, usable, duplicates),
            )
        )
        self._tokens = sorted(all_ids)
        self._states = [_State(self._recogniser.start())]

    @property
    def is_empty_language(self) -> bool:
        """Whether no text that the tokens spell is in the language."""
        first = self._states[0]
        return not first.items.items or not self._can_finish(first.items)

    @property
    def num_steps(self) -> int:
        """The number of steps that can be rolled back."""
        return len(self._states) - 1

    def is_completed(self) -> bool:
        """Whether the text so far is in the language."""
        return self._states[-1].items.complete

    def is_terminated(self) -> bool:
        """Whether a stop token has been accepted."""
        return self._states[-1].stopped

    def allowed_tokens(self) -> set[int]:
        """The tokens after which some completion exists, and the stop tokens if complete."""
        states = ((t, self._after_token(t)) for t in self._tokens)
        return {t for t, state in states if state is not None and self._can_finish(state.items)}

    def accept_token(self, token: int) -> bool:
        """Reads a token; False, and nothing changed, if it is not allowed."""
        state = self._after_token(token)
        return self._push(state if state and self._can_finish(state.items) else None)

    def accept_bytes(self, text: bytes) -> bool:
        """Reads bytes as one step; all or nothing."""
        if self.is_terminated():
            return False
        items = self._after_bytes(self._states[-1].items, text)
        return self._push(_State(items) if items.items and self._can_finish(items) else None)

    def rollback(self, n_steps: int) -> None:
        """Undoes steps."""
        if not 0 <= n_steps <= self.num_steps:
            raise ValueError(f"cannot roll back {n_steps} of {self.num_steps} steps")
        del self._states[len(self._states) - n_steps :]

    def reset(self) -> None:
        """Undoes everything."""
        self.rollback(self.num_steps)

    def fork(self) -> ReferenceMatcher:
        """A matcher in the same state that goes its own way."""
        twin = object.__new__(ReferenceMatcher)
        twin.__dict__.update(self.__dict__)
        twin._states = list(self._states)
        return twin

    def _can_finish(self, items: ItemSet) -> bool:
        """Whether tokens (not only their bytes) spell some completion: breadth first search."""
        if self._byte_closed or items.complete:
            return True
        work = [_State(items)]
        for state in work:
            for token in self._tokens:
                following = self._after_token_of(state, token)
                if following is not None and following.items.complete:
                    return True
                if following is not None:
                    work.append(following)
            if len(work) > MAX_SEARCH:
                raise ReferenceLimitError("too many token sequences")
        return False

    def _push(self, state: _State | None) -> bool:
        if state is None:
            return False
        self._states.append(state)
        return True

    def _after_token(self, token: int) -> _State | None:
        return self._after_token_of(self._states[-1], token)

    def _after_token_of(self, state: _State, token: int) -> _State | None:
        if state.stopped:
            return None
        if token in self._stop_ids and state.items.complete:
            return _State(state.items, stopped=True)
        seeds = self._recogniser.scan_token(state.items, token)
        if token not in self._texts:
            items = self._recogniser.close(seeds)
        elif not seeds:
            items = self._after_bytes(state.items, self._texts[token])
        else:
            text = self._texts[token]
            before = self._after_bytes(state.items, text[:-1])
            items = self._recogniser.close([*self._recogniser.scan_byte(before, text[-1]), *seeds])
        return _State(items) if items.items else None

    def _after_bytes(self, items: ItemSet, text: bytes) -> ItemSet:
        for byte in text:
            if not items.items:
                break
            items = self._after_byte(items, byte)
        return items

    def _after_byte(self, items: ItemSet, byte: int) -> ItemSet:
        if byte not in items.successors:
            items.successors[byte] = self._recogniser.step(items, byte)
        return items.successors[byte]
