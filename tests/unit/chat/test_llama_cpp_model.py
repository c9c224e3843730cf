"""The llama.cpp model against a stand-in for the engine: what it is given, and faults."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from fake_llama_cpp import N_BATCH, FakeContext, fake_llama_cpp
from gguf_writer import ARRAY, I32, STRING, U32, gguf_bytes
from maskwright.chat import LlamaCppModel, ModelError
from maskwright.chat.model import SequenceInput

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A stand-in as the module `llama_cpp`."""
    module = fake_llama_cpp()
    monkeypatch.setitem(sys.modules, "llama_cpp", module)
    return module


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A model's file, with a vocabulary of four tokens."""
    pairs: list[Any] = [
        ("tokenizer.ggml.model", STRING, "gpt2"),
        ("tokenizer.ggml.tokens", (ARRAY, STRING), ["a", "b", "<s>", "</s>"]),
        ("tokenizer.ggml.token_type", (ARRAY, I32), [1, 1, 3, 3]),
        ("tokenizer.ggml.eos_token_id", U32, 3),
    ]
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf_bytes(pairs))
    return path


def _context(engine: Any) -> FakeContext:
    """The context that was made last."""
    return engine.Llama.last.contexts[-1]  # type: ignore[no-any-return]  # of a made-up module


def _evaluate(model: LlamaCppModel, *inputs: tuple[int, list[int]]) -> list[list[float]]:
    logits = model.evaluate([SequenceInput(*pair) for pair in inputs])
    assert logits.shape == (len(inputs), 4)
    assert logits.dtype == np.float32
    assert logits.flags.c_contiguous
    assert logits.flags.writeable
    return logits.tolist()


def test_sequences_share_a_batch(path: Path, engine: Any) -> None:
    model = LlamaCppModel(path)
    # How many tokens, their sum, the last one, which sequence.
    assert _evaluate(model, (2, [1, 0, 3]), (0, [2])) == [[3, 4, 3, 2], [1, 2, 2, 0]]
    assert _evaluate(model, (0, [1]), (1, [1, 1]), (2, [3])) == [
        [2, 3, 1, 0],
        [2, 2, 1, 1],
        [4, 7, 3, 2],
    ]
    assert _context(engine).calls == [4, 4]


def test_logits_are_the_callers_to_overwrite(path: Path, engine: Any) -> None:
    model = LlamaCppModel(path)
    first = model.evaluate([SequenceInput(0, [1])])
    first[:] = -1
    second = model.evaluate([SequenceInput(0, [1])])
    assert second.tolist() == [[2, 2, 1, 0]]
    assert np.shares_memory(first, second)  # nothing is allocated per step
    assert _context(engine).sequences == {0: [1, 1]}


@pytest.mark.parametrize("length", [N_BATCH - 1, N_BATCH, N_BATCH + 1, 3 * N_BATCH + 5])
def test_long_inputs_are_split(path: Path, engine: Any, length: int) -> None:
    model = LlamaCppModel(path)
    ids = [i % 4 for i in range(length)]
    inputs = ((3, [2, 2]), (1, ids), (0, [1]), (2, ids))
    expected = [[len(tokens), sum(tokens), tokens[-1], sequence] for sequence, tokens in inputs]
    assert _evaluate(model, *inputs) == expected
    total = 2 * length + 3
    full = [N_BATCH] * (total // N_BATCH)
    assert _context(engine).calls == [*full, *([total % N_BATCH] if total % N_BATCH else [])]
    assert _evaluate(model, (1, [3])) == [[length + 1, sum(ids) + 3, 3, 1]]


def test_a_copy_goes_its_own_way(path: Path, engine: Any) -> None:
    del engine
    model = LlamaCppModel(path)
    _evaluate(model, (0, [1, 2]))
    model.copy_sequence(0, 3)
    assert _evaluate(model, (3, [3]), (0, [1])) == [[3, 6, 3, 3], [3, 4, 1, 0]]


def test_a_cleared_sequence_begins_anew(path: Path, engine: Any) -> None:
    del engine
    model = LlamaCppModel(path)
    _evaluate(model, (0, [1, 2]), (1, [3]))
    model.clear_sequence(0)
    assert _evaluate(model, (0, [3]), (1, [3])) == [[1, 3, 3, 0], [2, 6, 3, 1]]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([(4, [1])], "there is no sequence 4; expected 0 to 3"),
        ([(-1, [1])], "there is no sequence -1; expected 0 to 3"),
        ([(1, [1]), (1, [1])], "sequence 1 is named twice; expected one input each"),
        (
            [(0, [1]), (1, [])],
            "the input of sequence 1 has 0 tokens; expected at least one, and ids from 0 to 3",
        ),
        (
            [(0, [1, 4])],
            "the input of sequence 0 has 2 tokens; expected at least one, and ids from 0 to 3",
        ),
    ],
)
def test_inputs_that_are_none(path: Path, engine: Any, inputs: Any, message: str) -> None:
    model = LlamaCppModel(path)
    _evaluate(model, (0, [1]))
    with pytest.raises(ModelError) as caught:
        _evaluate(model, *inputs)
    assert str(caught.value) == message
    assert caught.value.code == "sequence-invalid"
    assert _context(engine).sequences == {0: [1]}


def test_copies_into_a_used_sequence_are_refused(path: Path, engine: Any) -> None:
    del engine
    model = LlamaCppModel(path)
    _evaluate(model, (0, [1]), (1, [1]))
    with pytest.raises(ModelError) as caught:
        model.copy_sequence(0, 1)
    assert str(caught.value) == "sequence 1 is not empty; expected one that is, clear it first"
    with pytest.raises(ModelError, match="there is no sequence 9"):
        model.copy_sequence(9, 1)
    with pytest.raises(ModelError, match="there is no sequence 9"):
        model.clear_sequence(9)


def test_a_full_context_is_told_before_anything_happens(path: Path, engine: Any) -> None:
    model = LlamaCppModel(path, context_size=5)
    _evaluate(model, (0, [1] * 4), (1, [1]))
    with pytest.raises(ModelError) as caught:
        _evaluate(model, (1, [1]), (0, [1, 1]))
    assert str(caught.value) == (
        "sequence 0 has 4 tokens, and 2 more do not fit its context of 5; shorten it or load the "
        "model with a larger context"
    )
    assert caught.value.code == "context-full"
    assert _context(engine).sequences == {0: [1] * 4, 1: [1]}
    _evaluate(model, (0, [1]))


@pytest.mark.parametrize(
    ("result", "fault"),
    [
        (1, "it found no place in its cache for the tokens; load the model with a larger context"),
        (2, "the evaluation was aborted"),
        (-1, "it refused the batch as invalid"),
        (-3, "it ran into a fatal error"),
    ],
)
def test_an_engine_that_fails(path: Path, engine: Any, result: int, fault: str) -> None:
    model = LlamaCppModel(path)
    _evaluate(model, (0, [1]), (1, [2]))
    _context(engine).results = [0, result]
    with pytest.raises(ModelError) as caught:
        _evaluate(model, (2, [1]), (1, [1] * N_BATCH))  # the second of two batches
    assert str(caught.value) == f"llama.cpp failed: llama_decode returned {result}: {fault}"
    assert caught.value.code == "model-failed"
    # Those named are empty, others untouched.
    assert _evaluate(model, (0, [1]), (1, [3]), (2, [2])) == [
        [2, 2, 1, 0],
        [1, 3, 3, 1],
        [1, 2, 2, 2],
    ]


def test_an_interruption_leaves_no_sequence_half_done(path: Path, engine: Any) -> None:
    model = LlamaCppModel(path)
    _context(engine).interrupts = True
    with pytest.raises(KeyboardInterrupt):
        _evaluate(model, (0, [1]))
    _context(engine).interrupts = False
    assert _evaluate(model, (0, [2])) == [[1, 2, 2, 0]]


def test_a_model_without_logits(path: Path, engine: Any) -> None:
    model = LlamaCppModel(path)
    _context(engine).row = lambda _place: None  # type: ignore[method-assign]  # of one test
    with pytest.raises(ModelError, match="gives no logits; expected a model that generates text"):
        _evaluate(model, (0, [1]))


def test_options_reach_the_engine(path: Path, engine: Any) -> None:
    model = LlamaCppModel(path, context_size=300, max_sequences=3, threads=5, gpu_layers=2)
    assert (model.context_size, model.max_sequences) == (300, 3)
    options = engine.Llama.last.options
    assert options["n_gpu_layers"] == 2
    assert options["verbose"] is False
    params = _context(engine).params
    assert params.n_ctx == 3 * 512  # whole parts of 256 per sequence
    assert params.n_seq_max == 3
    assert params.kv_unified is False
    assert params.n_threads == params.n_threads_batch == 5
    assert params.flash_attn_type == -1
    LlamaCppModel(path)
    assert _context(engine).params.flash_attn_type == 0  # on a CPU


def test_the_context_is_not_larger_than_the_model_was_trained_for(path: Path, engine: Any) -> None:
    del engine
    assert LlamaCppModel(path, context_size=9999).context_size == 2048


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"context_size": 0}, "context_size is 0; expected at least 1"),
        ({"max_sequences": 0}, "max_sequences is 0; expected 1 to 64"),
        ({"max_sequences": 65}, "max_sequences is 65; expected 1 to 64"),
    ],
)
def test_options_out_of_range(path: Path, engine: Any, options: Any, message: str) -> None:
    del engine
    with pytest.raises(ValueError, match=message):
        LlamaCppModel(path, **options)


def test_a_start_token_is_not_doubled(path: Path, engine: Any) -> None:
    del engine
    model = LlamaCppModel(path)
    assert model.tokenize("a")[0] == 2
    assert model.tokenize("<s>a") == list(b"<s>a")


def test_a_base_model_gets_the_bare_text(path: Path, engine: Any) -> None:
    del engine
    model = LlamaCppModel(path)
    messages = [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]
    assert model.render_chat(messages) == "S\n\nU"


@pytest.mark.parametrize("fault", [ValueError("unknown architecture"), RuntimeError("no memory")])
def test_a_file_that_the_engine_cannot_load(path: Path, engine: Any, fault: Exception) -> None:
    engine.Llama.fault = fault
    with pytest.raises(ModelError, match=str(fault)) as caught:
        LlamaCppModel(path)
    assert caught.value.code == "model-unusable"


def test_a_context_that_does_not_fit_the_memory(path: Path, engine: Any) -> None:
    engine.Llama.cannot_make = True
    with pytest.raises(ModelError) as caught:
        LlamaCppModel(path, context_size=100, max_sequences=2)
    assert str(caught.value) == (
        "llama.cpp cannot make a context of 2 sequences with 100 tokens each; reduce max_sequences "
        "or context_size"
    )
    assert caught.value.code == "model-unusable"
    assert engine.Llama.last.closed


def test_logits_that_do_not_fit_the_vocabulary(path: Path, engine: Any) -> None:
    engine.Llama.size = 5
    with pytest.raises(ModelError, match="5 logits for a vocabulary of 4") as caught:
        LlamaCppModel(path)
    assert caught.value.code == "model-unusable"
    assert engine.Llama.last.closed
    assert _context(engine).freed == 1


def test_close_frees_the_engine_once(path: Path, engine: Any) -> None:
    model = LlamaCppModel(path)
    _evaluate(model, (0, [1]))
    model.close()
    model.close()
    assert engine.Llama.last.closed
    assert _context(engine).freed == 1
    for call in (
        lambda: _evaluate(model, (0, [1])),
        lambda: model.clear_sequence(0),
        lambda: model.copy_sequence(0, 1),
    ):
        with pytest.raises(ModelError, match="the model is closed; load it again") as caught:
            call()
        assert caught.value.code == "model-closed"


def test_a_forgotten_model_frees_its_context(path: Path, engine: Any) -> None:
    LlamaCppModel(path)
    gc.collect()
    assert _context(engine).freed == 1


def test_a_loaded_engine_keeps_its_context(path: Path, engine: Any) -> None:
    llama = engine.Llama(str(path))
    llama.ctx.sequences[0] = [1, 1]
    model = LlamaCppModel.from_llama(llama)
    assert llama.resets == 1
    assert (model.context_size, model.max_sequences) == (256, 1)
    assert _evaluate(model, (0, [3])) == [[1, 3, 3, 0]]
    del model
    gc.collect()
    assert llama.ctx.freed == 0
