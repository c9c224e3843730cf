"""The llama.cpp model against a stand-in for the engine: faults that a real one rarely shows."""

from __future__ import annotations

import ctypes
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gguf_writer import ARRAY, I32, STRING, U32, gguf_bytes
from maskwright.chat import LlamaCppModel, ModelError

if TYPE_CHECKING:
    from pathlib import Path


class FakeLlama:
    """Has four logits, in a buffer that moves on every third evaluation."""

    fault: Exception | None = None
    size = 4
    ctx = "context"

    def __init__(self, model_path: str, **options: Any) -> None:
        if self.fault is not None:
            raise self.fault
        self.model_path = model_path
        self.options = options
        self.evaluated: list[list[int]] = []
        self.buffer = (ctypes.c_float * 4)()
        self.closed = False

    def n_vocab(self) -> int:
        return self.size

    def n_ctx(self) -> int:
        return int(self.options["n_ctx"])

    def token_bos(self) -> int:
        return 2

    def token_eos(self) -> int:
        return 3

    def tokenize(self, text: bytes, *, add_bos: bool, special: bool) -> list[int]:
        assert special
        return [2, *text] if add_bos else [*text]

    def reset(self) -> None:
        self.evaluated.clear()

    def eval(self, token_ids: Any) -> None:
        if 1 in token_ids:
            raise RuntimeError("llama_decode returned 1")
        self.evaluated.append(list(token_ids))
        if len(self.evaluated) % 3 == 0:
            self.buffer = (ctypes.c_float * 4)()
        self.buffer[:] = [float(len(self.evaluated) + i) for i in range(4)]

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> type[FakeLlama]:
    """A fresh engine class behind the module `llama_cpp`."""

    class Engine(FakeLlama):
        current: Any = None

        def __init__(self, model_path: str, **options: Any) -> None:
            super().__init__(model_path, **options)
            type(self).current = self

    def get_logits(context: str, index: int) -> Any:
        assert (context, index) == ("context", -1)
        return ctypes.cast(Engine.current.buffer, ctypes.POINTER(ctypes.c_float))

    module = ModuleType("llama_cpp")
    module.Llama = Engine  # type: ignore[attr-defined]
    module.llama_get_logits_ith = get_logits  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "llama_cpp", module)
    return Engine


def _file(tmp_path: Path, template: str | None = None) -> Path:
    pairs: list[Any] = [
        ("tokenizer.ggml.model", STRING, "gpt2"),
        ("tokenizer.ggml.tokens", (ARRAY, STRING), ["a", "b", "<s>", "</s>"]),
        ("tokenizer.ggml.token_type", (ARRAY, I32), [1, 1, 3, 3]),
        ("tokenizer.ggml.eos_token_id", U32, 3),
    ]
    if template is not None:
        pairs.append(("tokenizer.chat_template", STRING, template))
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf_bytes(pairs))
    return path


def test_logits_follow_the_engine_when_its_buffer_moves(
    tmp_path: Path, engine: type[FakeLlama]
) -> None:
    model = LlamaCppModel(_file(tmp_path))
    for step in range(1, 8):
        logits = model.evaluate([0])
        assert logits.tolist() == [step, step + 1, step + 2, step + 3]
        assert logits.dtype == np.float32
        logits[:] = -1
    assert engine.current.buffer[0] == -1  # type: ignore[attr-defined]


def test_options_reach_the_engine(tmp_path: Path, engine: type[FakeLlama]) -> None:
    model = LlamaCppModel(_file(tmp_path), context_size=64, threads=3, gpu_layers=2)
    options = engine.current.options  # type: ignore[attr-defined]
    assert model.context_size == options["n_ctx"] == 64
    assert options["n_threads"] == options["n_threads_batch"] == 3
    assert options["n_gpu_layers"] == 2
    assert options["verbose"] is False


def test_a_start_token_is_not_doubled(tmp_path: Path, engine: type[FakeLlama]) -> None:
    del engine
    model = LlamaCppModel(_file(tmp_path))
    assert model.tokenize("a")[0] == 2
    assert model.tokenize("<s>a") == list(b"<s>a")


def test_a_base_model_gets_the_bare_text(tmp_path: Path, engine: type[FakeLlama]) -> None:
    del engine
    model = LlamaCppModel(_file(tmp_path))
    messages = [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]
    assert model.render_chat(messages) == "S\n\nU"


@pytest.mark.parametrize("fault", [ValueError("unknown architecture"), RuntimeError("no memory")])
def test_a_file_that_the_engine_cannot_load(
    tmp_path: Path, engine: type[FakeLlama], fault: Exception
) -> None:
    engine.fault = fault
    with pytest.raises(ModelError, match=str(fault)) as caught:
        LlamaCppModel(_file(tmp_path))
    assert caught.value.code == "model-unusable"


def test_logits_that_do_not_fit_the_vocabulary(tmp_path: Path, engine: type[FakeLlama]) -> None:
    engine.size = 5
    with pytest.raises(ModelError, match="5 logits for a vocabulary of 4") as caught:
        LlamaCppModel(_file(tmp_path))
    assert caught.value.code == "model-unusable"


def test_an_engine_that_fails(tmp_path: Path, engine: type[FakeLlama]) -> None:
    del engine
    model = LlamaCppModel(_file(tmp_path))
    with pytest.raises(ModelError, match="llama_decode returned 1") as caught:
        model.evaluate([1])
    assert caught.value.code == "model-failed"


def test_close_frees_the_engine(tmp_path: Path, engine: type[FakeLlama]) -> None:
    model = LlamaCppModel(_file(tmp_path))
    model.evaluate([0])
    model.close()
    assert engine.current.closed  # type: ignore[attr-defined]
