"""A stand-in for llama-cpp-python: its C API over a model that only remembers what it was given."""

from __future__ import annotations

import ctypes
from types import ModuleType, SimpleNamespace
from typing import Any

VOCAB_SIZE = 4
N_BATCH = 512


class Batch(ctypes.Structure):
    """The struct of llama.h."""

    _fields_ = (
        ("n_tokens", ctypes.c_int32),
        ("token", ctypes.POINTER(ctypes.c_int32)),
        ("embd", ctypes.POINTER(ctypes.c_float)),
        ("pos", ctypes.POINTER(ctypes.c_int32)),
        ("n_seq_id", ctypes.POINTER(ctypes.c_int32)),
        ("seq_id", ctypes.POINTER(ctypes.POINTER(ctypes.c_int32))),
        ("logits", ctypes.POINTER(ctypes.c_int8)),
    )


class FakeContext:
    """Sequences as lists of ids; as the real one, it wants each token at the end of its sequence.

    The logits after a token: how many tokens the sequence has, their sum, the last one, the number
    of the sequence.
    """

    def __init__(self, params: Any = None) -> None:
        self.params = params
        self.sequences: dict[int, list[int]] = {}
        self.calls: list[int] = []
        self.results: list[int] = []  # of the next calls
        self.rows: dict[int, Any] = {}
        self.freed = 0
        self.interrupts = False

    def decode(self, batch: Batch) -> int:
        self.calls.append(batch.n_tokens)
        if self.results and (result := self.results.pop(0)):
            return result
        assert batch.n_tokens <= N_BATCH
        self.rows = {}  # the buffers of the last call are gone
        for i in range(batch.n_tokens):
            assert batch.n_seq_id[i] == 1
            number = batch.seq_id[i][0]
            sequence = self.sequences.setdefault(number, [])
            assert batch.pos[i] == len(sequence)
            sequence.append(batch.token[i])
            if batch.logits[i]:
                values = (len(sequence), sum(sequence), sequence[-1], number)
                self.rows[i] = (ctypes.c_float * VOCAB_SIZE)(*map(float, values))
        if self.interrupts:
            raise KeyboardInterrupt
        return 0

    def row(self, place: int) -> Any:
        return ctypes.cast(self.rows.get(place), ctypes.POINTER(ctypes.c_float))


class FakeLlama:
    """`llama_cpp.Llama`: its own context, and a tokenizer that has bytes for ids."""

    fault: Exception | None = None
    size = VOCAB_SIZE
    last: Any = None

    def __init__(self, model_path: str, **options: Any) -> None:
        if self.fault is not None:
            raise self.fault
        type(self).last = self
        self.model_path = model_path
        self.options = options
        self.model = 1  # the handle
        self.contexts: list[FakeContext] = []
        self.ctx = FakeContext()
        self.closed = False
        self.resets = 0

    def n_vocab(self) -> int:
        return self.size

    def n_ctx(self) -> int:
        return 256

    def reset(self) -> None:
        self.resets += 1

    def token_bos(self) -> int:
        return 2

    def token_eos(self) -> int:
        return 3

    def tokenize(self, text: bytes, *, add_bos: bool, special: bool) -> list[int]:
        assert special
        return [2, *text] if add_bos else [*text]

    def close(self) -> None:
        self.closed = True


def fake_llama_cpp() -> ModuleType:
    """A fresh module ``llama_cpp``; ``Llama.last`` is the object made last."""

    class Llama(FakeLlama):
        cannot_make = False

    def init_from_model(model: int, params: Any) -> FakeContext | None:
        assert model == Llama.last.model
        if Llama.cannot_make:
            return None
        context = FakeContext(params)
        Llama.last.contexts.append(context)
        return context

    def free(context: FakeContext) -> None:
        context.freed += 1

    def clear(memory: FakeContext, data: bool) -> None:
        del data
        memory.sequences.clear()

    def remove(memory: FakeContext, sequence: int, start: int, end: int) -> bool:
        assert start == end == -1
        memory.sequences.pop(sequence, None)
        return True

    def copy(memory: FakeContext, source: int, target: int, start: int, end: int) -> None:
        assert start == end == -1
        memory.sequences[target] = list(memory.sequences.get(source, ()))

    module: Any = ModuleType("llama_cpp")
    module.Llama = Llama
    module.llama_batch = Batch
    module.LLAMA_FLASH_ATTN_TYPE_DISABLED = 0
    module.llama_max_parallel_sequences = lambda: 64
    module.llama_model_n_ctx_train = lambda _model: 2048
    module.llama_context_default_params = lambda: SimpleNamespace(flash_attn_type=-1)
    module.llama_init_from_model = init_from_model
    module.llama_free = free
    module.llama_n_batch = lambda _context: N_BATCH
    module.llama_get_memory = lambda context: context
    module.llama_memory_clear = clear
    module.llama_memory_seq_rm = remove
    module.llama_memory_seq_cp = copy
    module.llama_decode = lambda context, batch: context.decode(batch)
    module.llama_get_logits_ith = lambda context, place: context.row(place)
    return module  # type: ignore[no-any-return]  # Any, so that it takes attributes
