"""A language model that follows a script, to drive the chat engine without any real model."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from maskwright.tokenizers import VocabularyData, from_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from maskwright.chat.model import SequenceInput

STOP = "<|im_end|>"
_WAIT = 60
"""Seconds after which a test that waits has failed."""
_LETTERS = [bytes((byte,)) for byte in range(256)]
_WORDS = [b"", b"ab", b"abc", '"\u00e9'.encode(), b"true", b'"}', b"\xc3\xa9x"]


def scripted_vocabulary() -> VocabularyData:
    """All bytes, a few words, and a stop token; more than one word of a bitmask."""
    tokens = [*_LETTERS, *_WORDS, STOP]
    return from_tokens(tokens, stop_token_ids=[len(tokens) - 1])


class Gate:
    """Holds the model at one of its calls until it is opened; for `ScriptedModel(before=...)`."""

    def __init__(self, call: int = 0) -> None:
        self._call = call
        self.reached = threading.Event()
        self.open = threading.Event()

    def __call__(self, call: int) -> None:
        if call == self._call:
            self.reached.set()
            assert self.open.wait(_WAIT)


class ScriptedModel:
    """Prefers the tokens of a script, one per step, whatever it is asked.

    It checks that it is used as the protocol says: tokens for a sequence at a time, within the
    context, targets of copies empty, logits only until the next call.

    Args:
        script: Tokens: ids, or the bytes of a token. After its end the stop token is preferred.
        scripts: Other scripts for prompts that contain a text.
        context_size: The most tokens of a sequence.
        max_sequences: How many sequences there are.
        vocabulary: Another vocabulary than `scripted_vocabulary()`.
        before: Called with the number of the call before each evaluation.
        edit: Called with the tokens behind the prompt and the row of logits, which it may change.

    Attributes:
        calls: For each call what it was given: sequence and tokens.
        seen: For each sequence the tokens that it has.
    """

    def __init__(
        self,
        script: Iterable[int | bytes] = (),
        *,
        scripts: Mapping[str, Iterable[int | bytes]] | None = None,
        context_size: int = 1000,
        max_sequences: int = 1,
        vocabulary: VocabularyData | None = None,
        before: Callable[[int], object] = lambda call: call,
        edit: Callable[[list[int], NDArray[np.float32]], object] = lambda *_: None,
    ) -> None:
        self.vocabulary = vocabulary or scripted_vocabulary()
        self.context_size = context_size
        self.max_sequences = max_sequences
        self.calls: list[list[tuple[int, list[int]]]] = []
        self.seen: list[list[int]] = [[] for _ in range(max_sequences)]
        self._before = before
        self._edit = edit
        self._last = np.empty(0, dtype=np.float32)
        self._prompts: list[str] = []
        self._script = [self._id(entry) for entry in script]
        self._scripts = {
            name: [self._id(entry) for entry in entries]
            for name, entries in (scripts or {}).items()
        }

    @property
    def evaluated(self) -> list[list[int]]:
        """The tokens of each part of each call."""
        return [token_ids for call in self.calls for _, token_ids in call]

    def _id(self, entry: int | bytes) -> int:
        return entry if isinstance(entry, int) else self.vocabulary.tokens.index(entry)

    def render_chat(self, messages: Sequence[Any]) -> str:
        return "".join(f"<{message['role']}>{message['content']}" for message in messages)

    def tokenize(self, text: str) -> list[int]:
        self._prompts.append(text)
        return list(text.encode())

    def clear_sequence(self, sequence: int) -> None:
        self.seen[sequence] = []

    def copy_sequence(self, source: int, target: int) -> None:
        assert self.seen[source], "there is nothing to copy"
        assert not self.seen[target], "the target is not empty"
        self.seen[target] = list(self.seen[source])

    def evaluate(self, inputs: Sequence[SequenceInput]) -> NDArray[np.float32]:
        self.calls.append([(part.sequence, list(part.token_ids)) for part in inputs])
        self._before(len(self.calls) - 1)
        assert len({part.sequence for part in inputs}) == len(inputs)
        self._last[:] = np.nan  # this call invalidates what the last one gave
        logits = np.empty((len(inputs), self.vocabulary.vocab_size), dtype=np.float32)
        self._last = logits
        logits[:] = np.linspace(1, 0, self.vocabulary.vocab_size)
        for part, row in zip(inputs, logits, strict=True):
            seen = self.seen[part.sequence]
            assert part.token_ids, "a sequence without tokens"
            seen += part.token_ids
            assert len(seen) <= self.context_size, "more than the context holds"
            prompt, behind = self._split(seen)
            row[self._next(prompt, len(behind))] = 40  # at temperature 1 no other is drawn
            self._edit(behind, row)
        return logits

    def _split(self, seen: list[int]) -> tuple[str, list[int]]:
        """The prompt of a sequence, and the tokens behind it."""
        for prompt in sorted(self._prompts, key=len, reverse=True):
            ids = list(prompt.encode())
            if seen[: len(ids)] == ids:
                return prompt, seen[len(ids) :]
        return "", []  # a prompt that has come in part

    def _next(self, prompt: str, step: int) -> int:
        script = next((s for name, s in self._scripts.items() if name in prompt), self._script)
        return script[step] if step < len(script) else self.vocabulary.stop_token_ids[0]
