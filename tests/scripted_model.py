"""A scripted model and a tiny exact matcher, to drive generation without llama.cpp or the core."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from maskwright.chat.constraint import Constraint, GrammarConstraint
from maskwright.chat.model import SequenceInput
from maskwright.tokenizers import VocabularyData, from_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

STOP = "<|im_end|>"
_LETTERS = [bytes((byte,)) for byte in range(256)]
_WORDS = [b"", b"ab", b"abc", '"\u00e9'.encode(), b"true", b'"}', b"\xc3\xa9x"]


def scripted_vocabulary() -> VocabularyData:
    """All bytes, a few words, and a stop token; more than one word of a bitmask."""
    tokens = [*_LETTERS, *_WORDS, STOP]
    return from_tokens(tokens, stop_token_ids=[len(tokens) - 1])


class ScriptedModel:
    """Prefers the tokens of a script, one per step, whatever it is asked.

    Args:
        script: Tokens: ids, or the bytes of a token. After its end the stop token is preferred.
        context_size: The most tokens of a sequence.
        vocabulary: Another vocabulary than `scripted_vocabulary()`.
        before: Called with the number of the step before each evaluation.
    """

    def __init__(
        self,
        script: Iterable[int | bytes] = (),
        *,
        context_size: int = 1000,
        vocabulary: VocabularyData | None = None,
        before: Callable[[int], object] = lambda step: step,
    ) -> None:
        self.vocabulary = vocabulary or scripted_vocabulary()
        self.context_size = context_size
        self.max_sequences = 1
        self.evaluated: list[list[int]] = []
        self._before = before
        self._script = [self._id(entry) for entry in script]
        self._logits = np.zeros(self.vocabulary.vocab_size, dtype=np.float32)

    def _id(self, entry: int | bytes) -> int:
        return entry if isinstance(entry, int) else self.vocabulary.tokens.index(entry)

    def render_chat(self, messages: Sequence[Any]) -> str:
        return "".join(f"<{message['role']}>{message['content']}" for message in messages)

    def tokenize(self, text: str) -> list[int]:
        return list(text.encode())

    def clear_sequence(self, sequence: int) -> None:
        assert sequence == 0
        self.evaluated.clear()

    def copy_sequence(self, source: int, target: int) -> None:
        raise AssertionError(f"there is one sequence, not {source} and {target}")

    def evaluate(self, inputs: Sequence[SequenceInput]) -> NDArray[np.float32]:
        ((sequence, token_ids),) = ((new.sequence, new.token_ids) for new in inputs)
        assert sequence == 0
        step = len(self.evaluated)
        self._before(step)
        self.evaluated.append(list(token_ids))
        ids = [*self._script, *self.vocabulary.stop_token_ids]
        self._logits[:] = np.linspace(1, 0, self.vocabulary.vocab_size)
        self._logits[ids[min(step, len(ids) - 1)]] = 10
        return self._logits.reshape(1, -1)


class TextsMatcher:
    """Allows exactly a finite set of texts; its mask is computed by the definition."""

    def __init__(self, texts: Iterable[bytes], vocabulary: VocabularyData) -> None:
        self._texts = list(texts)
        self._vocabulary = vocabulary
        self._token_bytes = vocabulary.text_bytes()
        self._prefix = b""
        self._terminated = False

    def _allows(self, token_id: int) -> bool:
        if token_id in self._vocabulary.stop_token_ids:
            return self._prefix in self._texts
        data = self._token_bytes[token_id]
        extended = self._prefix + data
        return bool(data) and any(text.startswith(extended) for text in self._texts)

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> bool:
        bits = [self._allows(token_id) for token_id in range(self._vocabulary.vocab_size)]
        packed = np.packbits(np.array(bits), bitorder="little")
        row = np.zeros(bitmask.shape[1] * 4, dtype=np.uint8)
        row[: len(packed)] = packed
        bitmask[index] = row.view("<i4")
        return True

    def accept_token(self, token_id: int) -> bool:
        if self._terminated or not self._allows(token_id):
            return False
        self._prefix += self._token_bytes[token_id]
        self._terminated = token_id in self._vocabulary.stop_token_ids
        return True

    def is_terminated(self) -> bool:
        return self._terminated


def apply_mask(logits: NDArray[np.float32], bitmask: NDArray[np.int32]) -> None:
    """Set the logits of refused tokens to minus infinity."""
    bits = np.unpackbits(bitmask.view(np.uint8), axis=1, bitorder="little")
    logits[bits[:, : logits.shape[1]] == 0] = -np.inf


@dataclass(frozen=True)
class Texts:
    """A format that is a grammar: one of a few texts."""

    texts: tuple[bytes, ...]


class TextsEngine:
    """Compiles `Texts`, and schemas of the form ``{"enum": [...]}`` or a class that gives one."""

    def __init__(self, vocabulary: VocabularyData) -> None:
        self._vocabulary = vocabulary
        self.compiled: list[Any] = []

    def is_grammar(self, output_format: object) -> bool:
        return isinstance(output_format, Texts)

    def compile(self, output_format: Any) -> tuple[bytes, ...]:
        self.compiled.append(output_format)
        if isinstance(output_format, Texts):
            return output_format.texts
        if isinstance(output_format, str):
            output_format = json.loads(output_format)
        if hasattr(output_format, "model_json_schema"):
            return (b'{"a": true}', b"{}")
        return tuple(
            json.dumps(value, ensure_ascii=False).encode() for value in output_format["enum"]
        )

    def constraint(self, compiled: Any, max_tokens: int) -> Constraint:
        del max_tokens
        matcher = TextsMatcher(compiled, self._vocabulary)
        return GrammarConstraint(matcher, self._vocabulary.vocab_size, apply_mask)
