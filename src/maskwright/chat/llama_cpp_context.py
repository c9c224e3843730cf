"""Several sequences in one context of llama.cpp, through its C API.

What it does: keeps count of what each sequence has, packs new tokens of any of them into batches,
and gathers the logits of their last positions in one array.
Idea: a batch is five arrays with an entry per token; they are made once, over memory of NumPy, and
filled in slices. A step of eight sequences is one call of `llama_decode`, which reads the weights
once for all of them.
Cost: beside the model's own, logits are copied, once, out of the buffer that llama.cpp uses again.
The cache of each sequence is allocated in full when the context is made.
Source: llama.h, as llama-cpp-python 0.3.36 binds it.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from maskwright.chat.errors import ModelError
from maskwright.chat.sequence_lengths import SequenceLengths

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from maskwright.chat.model import SequenceInput

MAX_BATCH_TOKENS: Final = 512
"""Tokens evaluated by one call of llama.cpp; longer inputs are split."""

_CELLS: Final = 256
"""llama.cpp makes the cache of a sequence a multiple of this."""

_FAULTS: Final = {
    1: "it found no place in its cache for the tokens; load the model with a larger context",
    2: "the evaluation was aborted",
    -1: "it refused the batch as invalid",
}


def create_context(
    library: Any, model: Any, *, context_size: int, max_sequences: int, threads: int, on_gpu: bool
) -> Any:
    """Make a context of llama.cpp with a cache of `context_size` tokens for each sequence.

    On a CPU there is no flash attention: it rounds otherwise with other sequences in the batch, and
    without it the logits of a sequence are, to the bit, those that it has alone.

    Returns:
        Its handle, to be freed with `llama_free`.

    Raises:
        ModelError: llama.cpp can't, for want of memory for example (``model-unusable``).
    """
    params = library.llama_context_default_params()
    params.n_ctx = -(-context_size // _CELLS) * _CELLS * max_sequences
    params.n_seq_max = max_sequences
    params.kv_unified = False  # each sequence has its own part, whatever others take
    params.n_batch = params.n_ubatch = MAX_BATCH_TOKENS
    params.n_threads = params.n_threads_batch = threads
    params.no_perf = True
    if not on_gpu:
        params.flash_attn_type = library.LLAMA_FLASH_ATTN_TYPE_DISABLED
    context = library.llama_init_from_model(model, params)
    if not context:
        raise ModelError(
            f"llama.cpp cannot make a context of {max_sequences} sequences with {context_size} "
            "tokens each; reduce max_sequences or context_size",
            code="model-unusable",
        )
    return context


class LlamaCppContext:
    """The sequences of a context. Not for use by several threads at a time.

    Args:
        library: The module ``llama_cpp``.
        llama: The `llama_cpp.Llama` with the model; it lives as long as this object.
        handle: The context, which is freed by `close` or when this object goes, unless it is the
            one of `llama`.
        vocab_size: Length of a row of logits.
        context_size: The most tokens of one sequence.
        max_sequences: How many sequences there are; all are empty at first.
    """

    def __init__(
        self,
        library: Any,
        llama: Any,
        handle: Any,
        *,
        vocab_size: int,
        context_size: int,
        max_sequences: int,
    ) -> None:
        self._library = library
        self._handle = handle
        self._memory = library.llama_get_memory(handle)
        self._vocab_size = vocab_size
        self._lengths = SequenceLengths(max_sequences, context_size, vocab_size)
        self._logits = np.empty((max_sequences, vocab_size), dtype=np.float32)
        size = min(MAX_BATCH_TOKENS, library.llama_n_batch(handle))
        self._batch = _Batch(library, size, max_sequences)
        self._free = weakref.finalize(self, _free, library, llama, handle)
        library.llama_memory_clear(self._memory, False)

    def evaluate(self, inputs: Sequence[SequenceInput]) -> NDArray[np.float32]:
        """Append tokens to sequences and return the logits of their last positions.

        Raises:
            ModelError: An input can't be evaluated as it is (``sequence-invalid``), or a sequence
                has no room for it (``context-full``): nothing has changed then. Or llama.cpp fails
                (``model-failed``): the sequences named are empty then.
        """
        self._check_open()
        self._lengths.check(inputs)
        try:
            for rows in self._batch.fill(inputs, self._lengths):
                self._decode()
                for place, row in rows:
                    self._copy_logits(place, row)
            self._lengths.append(inputs)
        except BaseException:  # an interruption from the keyboard as well
            for new in inputs:
                self.clear_sequence(new.sequence)
            raise
        return self._logits[: len(inputs)]

    def _check_open(self) -> None:
        if not self._free.alive:
            raise ModelError(
                "the model is closed; load it again to go on with it", code="model-closed"
            )

    def _decode(self) -> None:
        result = self._library.llama_decode(self._handle, self._batch.struct)
        if result:
            fault = _FAULTS.get(result, "it ran into a fatal error")
            raise ModelError(
                f"llama.cpp failed: llama_decode returned {result}: {fault}", code="model-failed"
            )

    def _copy_logits(self, place: int, row: int) -> None:
        pointer = self._library.llama_get_logits_ith(self._handle, place)
        if not pointer:
            raise ModelError(
                "llama.cpp gives no logits; expected a model that generates text",
                code="model-failed",
            )
        target = self._logits.ctypes.data + row * self._logits.strides[0]
        ctypes.memmove(target, pointer, self._logits.strides[0])

    def copy_sequence(self, source: int, target: int) -> None:
        """Make an empty sequence continue from what another one has seen.

        Raises:
            ModelError: There is no such sequence, or the target is not empty
                (``sequence-invalid``).
        """
        self._check_open()
        self._lengths.check_copy(source, target)
        self._library.llama_memory_seq_cp(self._memory, source, target, -1, -1)
        self._lengths.copy(source, target)

    def clear_sequence(self, sequence: int) -> None:
        """Forget what a sequence has seen.

        Raises:
            ModelError: There is no such sequence (``sequence-invalid``).
        """
        self._check_open()
        self._lengths.check_number(sequence)
        self._library.llama_memory_seq_rm(self._memory, sequence, -1, -1)
        self._lengths.clear(sequence)

    def close(self) -> None:
        """Free the context; any other call is refused from now on (``model-closed``)."""
        self._free()


class _Batch:
    """Arrays of a `llama_batch`, and the struct that points to them."""

    def __init__(self, library: Any, size: int, max_sequences: int) -> None:
        self._size = size
        self._tokens = np.zeros(size, dtype=np.int32)
        self._positions = np.zeros(size, dtype=np.int32)
        self._counts = np.ones(size, dtype=np.int32)  # each token is of one sequence
        self._wanted = np.zeros(size, dtype=np.int8)
        # Per token a pointer to the number of its sequence; the numbers lie in one array.
        self._numbers = np.arange(max_sequences, dtype=np.int32)
        self._pointers = np.zeros(size, dtype=np.uintp)
        self.struct = library.llama_batch()
        for field, array in (
            ("token", self._tokens),
            ("pos", self._positions),
            ("n_seq_id", self._counts),
            ("seq_id", self._pointers),
            ("logits", self._wanted),
        ):
            kind = type(getattr(self.struct, field))
            setattr(self.struct, field, ctypes.cast(array.ctypes.data, kind))

    def fill(
        self, inputs: Sequence[SequenceInput], lengths: SequenceLengths
    ) -> Iterator[list[tuple[int, int]]]:
        """Fill the batch as many times as it takes; decode it each time that this yields.

        Args:
            inputs: Checked inputs.
            lengths: Per sequence the tokens that it has.

        Yields:
            Pairs of a place in the batch with logits and the number of the input they are of.
        """
        used, rows = 0, []
        for row, new in enumerate(inputs):
            ids, done = new.token_ids, 0
            while done < len(ids):
                count = min(len(ids) - done, self._size - used)
                self._put(
                    used, new.sequence, ids[done : done + count], lengths[new.sequence] + done
                )
                used, done = used + count, done + count
                if done == len(ids):
                    self._wanted[used - 1] = 1
                    rows.append((used - 1, row))
                if used == self._size:
                    self.struct.n_tokens = used
                    yield rows
                    used, rows = 0, []
        if used:
            self.struct.n_tokens = used
            yield rows

    def _put(self, place: int, sequence: int, token_ids: Sequence[int], position: int) -> None:
        count = len(token_ids)
        part = slice(place, place + count)
        self._tokens[part] = token_ids
        self._positions[part] = np.arange(position, position + count)
        self._pointers[part] = self._numbers.ctypes.data + sequence * self._numbers.itemsize
        self._wanted[part] = 0


def _free(library: Any, llama: Any, handle: Any) -> None:
    """Free a context before its model, which `llama` has kept alive up to here."""
    if handle is not llama.ctx:
        library.llama_free(handle)
