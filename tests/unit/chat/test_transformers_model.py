"""Models of transformers: tiny ones with random weights, made here."""

from __future__ import annotations

import inspect
import json
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from maskwright.chat import ChatEngine, load
from maskwright.chat.errors import MissingDependencyError, ModelError
from maskwright.chat.model import SequenceInput
from maskwright.chat.transformers_model import TransformersModel
from maskwright.errors import TokenizerError

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

_VOCAB_SIZE = 300  # the tokenizer has 259
_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def _tokenizer(template: str | None = _TEMPLATE) -> Any:
    """A byte-level tokenizer without merges, with three special tokens."""
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    core = tokenizers.Tokenizer(
        tokenizers.models.BPE(vocab={letter: i for i, letter in enumerate(letters)}, merges=[])
    )
    core.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = tokenizers.decoders.ByteLevel()
    core.add_special_tokens(["<s>", "</s>", "<|assistant|>"])
    core.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", core.token_to_id("<s>"))]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=core, bos_token="<s>", eos_token="</s>", chat_template=template
    )


def _model(kind: str = "Llama", **options: Any) -> Any:
    """A model of a kind with random weights."""
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=_VOCAB_SIZE,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        bos_token_id=256,
        eos_token_id=[257, 258],
        pad_token_id=0,
        **{"max_position_embeddings": 64, **options},
    )
    torch.manual_seed(3)
    return getattr(transformers, f"{kind}ForCausalLM")(config)


@pytest.fixture(
    params=[("Llama", {}), ("Mistral", {"sliding_window": 5}), ("Gemma2", {"sliding_window": 4})],
    ids=["full attention", "sliding window", "alternating"],
)
def hf_model(request: Any) -> Any:
    kind, options = request.param
    return _model(kind, **options)


def _reference(hf_model: Any, ids: list[int]) -> np.ndarray:
    """The logits after a text, evaluated at once and without a cache."""
    with torch.inference_mode():
        output = hf_model(input_ids=torch.tensor([ids]), use_cache=False)
    return output.logits[0, -1].float().numpy()


def _evaluate(model: TransformersModel, *inputs: tuple[int, list[int]]) -> np.ndarray:
    logits = model.evaluate([SequenceInput(*pair) for pair in inputs])
    assert logits.shape == (len(inputs), _VOCAB_SIZE)
    assert logits.dtype == np.float32
    assert logits.flags.c_contiguous
    assert logits.flags.writeable
    return logits.copy()


def test_each_sequence_is_as_alone(hf_model: Any) -> None:
    model = TransformersModel(hf_model, _tokenizer(), max_sequences=3)
    random = np.random.default_rng(0)
    texts: dict[int, list[int]] = {0: [], 1: [], 2: []}
    for present in ([0], [1, 0], [2, 1, 0], [0, 2], [1], [2, 0, 1]):
        new = {i: random.integers(256, size=random.integers(1, 9)).tolist() for i in present}
        logits = _evaluate(model, *new.items())
        for row, i in zip(logits, present, strict=True):
            texts[i] += new[i]
            np.testing.assert_allclose(row, _reference(hf_model, texts[i]), atol=1e-4)


def test_a_copy_goes_its_own_way(hf_model: Any) -> None:
    model = TransformersModel(hf_model, _tokenizer())
    ids = list(b"some text to begin")
    _evaluate(model, (0, ids))
    model.copy_sequence(0, 5)
    first, second = _evaluate(model, (0, [1, 2]), (5, [3]))
    np.testing.assert_allclose(first, _reference(hf_model, [*ids, 1, 2]), atol=1e-4)
    np.testing.assert_allclose(second, _reference(hf_model, [*ids, 3]), atol=1e-4)
    (third,) = _evaluate(model, (5, [4]))
    np.testing.assert_allclose(third, _reference(hf_model, [*ids, 3, 4]), atol=1e-4)


def test_an_empty_sequence_may_be_copied() -> None:
    hf_model = _model()
    model = TransformersModel(hf_model, _tokenizer())
    model.copy_sequence(0, 1)
    (row,) = _evaluate(model, (1, [7]))
    np.testing.assert_allclose(row, _reference(hf_model, [7]), atol=1e-4)


def test_a_cleared_sequence_begins_anew(hf_model: Any) -> None:
    model = TransformersModel(hf_model, _tokenizer())
    _evaluate(model, (0, [1, 2, 3]))
    model.clear_sequence(0)
    (row,) = _evaluate(model, (0, [5, 6]))
    np.testing.assert_allclose(row, _reference(hf_model, [5, 6]), atol=1e-4)


def test_logits_are_the_callers_to_overwrite() -> None:
    model = TransformersModel(_model(), _tokenizer())
    first = model.evaluate([SequenceInput(0, [1])])
    first[:] = -1
    second = model.evaluate([SequenceInput(0, [1])])
    assert np.shares_memory(first, second)  # nothing of the vocabulary's size is allocated
    assert (second != -1).any()


def test_half_precision_gives_float32() -> None:
    hf_model = _model().to(torch.bfloat16)
    (row,) = _evaluate(TransformersModel(hf_model, _tokenizer()), (0, [1, 2]))
    np.testing.assert_allclose(row, _reference(hf_model, [1, 2]), atol=1e-2)


def test_the_vocabulary_is_padded_to_the_logits() -> None:
    model = TransformersModel(_model(), _tokenizer())
    vocabulary = model.vocabulary
    assert vocabulary.vocab_size == _VOCAB_SIZE
    assert len(vocabulary.tokens) == 259
    assert vocabulary.stop_token_ids == (257, 258)  # of the tokenizer, and of the model
    text = "a \u00e9"
    ids = vocabulary.encode(text)  # type: ignore[misc]  # there is one
    assert b"".join(vocabulary.tokens[i] for i in ids) == text.encode()


def test_a_vocabulary_larger_than_the_logits_is_refused() -> None:
    hf_model = _model()
    hf_model.resize_token_embeddings(200)
    with pytest.raises(TokenizerError) as caught:
        TransformersModel(hf_model, _tokenizer())
    assert caught.value.code == "tokenizer-vocab-size"


def test_chats_are_laid_out_by_the_template() -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    model = TransformersModel(_model(), _tokenizer())
    rendered = model.render_chat([{"role": "user", "content": "Hi"}])
    assert rendered == "<|user|>Hi<|assistant|>"
    ids = model.tokenize(rendered)
    assert ids[-1] == 258  # the special token; and no start token, which is the template's matter
    assert ids[0] != 256


def test_a_template_that_refuses() -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    template = "{{ raise_exception('no system message, please') }}"
    model = TransformersModel(_model(), _tokenizer(template))
    with pytest.raises(ModelError, match="refuses these messages: no system message") as caught:
        model.render_chat([{"role": "system", "content": "S"}])
    assert caught.value.code == "chat-template-failed"


def test_a_base_model_gets_the_bare_text_and_a_start_token() -> None:
    model = TransformersModel(_model(), _tokenizer(None))
    messages = [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]
    assert model.render_chat(messages) == "S\n\nU"
    assert model.tokenize("a")[0] == 256


def test_sizes() -> None:
    model = TransformersModel(_model(), _tokenizer(), context_size=10, max_sequences=2)
    assert (model.context_size, model.max_sequences) == (10, 2)
    assert TransformersModel(_model(), _tokenizer(), context_size=99).context_size == 64
    _evaluate(model, (0, [1] * 9))
    with pytest.raises(ModelError) as caught:
        _evaluate(model, (1, [1]), (0, [1, 1]))
    assert caught.value.code == "context-full"
    with pytest.raises(ModelError, match="there is no sequence 2; expected 0 to 1"):
        model.clear_sequence(2)
    with pytest.raises(ModelError, match="sequence 0 is not empty"):
        model.copy_sequence(1, 0)
    with pytest.raises(ValueError, match="context_size is 0; expected at least 1"):
        TransformersModel(_model(), _tokenizer(), context_size=0)


def test_a_model_that_says_no_context_size() -> None:
    config = transformers.BloomConfig(vocab_size=_VOCAB_SIZE, hidden_size=32, n_layer=1, n_head=2)
    hf_model = transformers.BloomForCausalLM(config)
    with pytest.raises(ModelError) as caught:
        TransformersModel(hf_model, _tokenizer())
    assert str(caught.value) == (
        "the configuration of BloomForCausalLM has no max_position_embeddings; pass context_size"
    )
    model = TransformersModel(hf_model, _tokenizer(), context_size=9)
    assert model.context_size == 9
    _evaluate(model, (0, [1, 2]))
    (row,) = _evaluate(model, (0, [3]))
    np.testing.assert_allclose(row, _reference(hf_model, [1, 2, 3]), atol=1e-4)


def test_a_model_without_logits() -> None:
    with pytest.raises(ModelError) as caught:
        TransformersModel(_model().model, _tokenizer())
    assert str(caught.value) == (
        "LlamaModel gives no logits of a vocabulary; expected a causal language model: load it "
        "with AutoModelForCausalLM"
    )
    assert caught.value.code == "model-unusable"


def test_a_model_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    hf_model = _model()
    model = TransformersModel(hf_model, _tokenizer())
    _evaluate(model, (0, [1]), (1, [2]))
    forward, calls = hf_model.forward, []

    def fails(**options: Any) -> Any:
        calls.append(options)
        if len(calls) == 2:
            raise RuntimeError("out of memory")
        return forward(**options)

    monkeypatch.setattr(hf_model, "forward", fails)
    with pytest.raises(ModelError) as caught:
        _evaluate(model, (1, [1]), (2, [1]))
    assert str(caught.value) == "the model failed: out of memory"
    assert caught.value.code == "model-failed"
    # Those named are empty, others untouched.
    rows = _evaluate(model, (0, [3]), (1, [4]), (2, [5]))
    for row, ids in zip(rows, ([1, 3], [4], [5]), strict=True):
        np.testing.assert_allclose(row, _reference(hf_model, ids), atol=1e-4)


def test_a_model_without_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    hf_model = _model()
    model = TransformersModel(hf_model, _tokenizer())
    forward = hf_model.forward
    monkeypatch.setattr(
        hf_model, "forward", lambda **options: forward(**{**options, "use_cache": False})
    )
    with pytest.raises(ModelError) as caught:
        _evaluate(model, (0, [1]))
    assert "LlamaForCausalLM keeps no cache of keys and values" in str(caught.value)


def test_models_that_call_their_cache_by_its_older_name(monkeypatch: pytest.MonkeyPatch) -> None:
    hf_model = _model()
    forward = hf_model.forward
    newer = "cache" if "cache" in inspect.signature(forward).parameters else "past_key_values"

    def older(past_key_values: Any = None, **options: Any) -> Any:
        output = forward(**{newer: past_key_values}, **options)
        return SimpleNamespace(logits=output.logits, past_key_values=getattr(output, newer))

    expected = _reference(hf_model, [1, 2, 3])
    monkeypatch.setattr(hf_model, "forward", older)
    model = TransformersModel(hf_model, _tokenizer())
    _evaluate(model, (0, [1, 2]))
    (row,) = _evaluate(model, (0, [3]))
    np.testing.assert_allclose(row, expected, atol=1e-4)


def test_torch_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    hf_model, tokenizer = _model(), _tokenizer()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependencyError, match=r"maskwright\[huggingface,torch\]"):
        TransformersModel(hf_model, tokenizer)


def test_answers_are_held_to_a_schema() -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    model = TransformersModel(_model(max_position_embeddings=200), _tokenizer(), max_sequences=3)
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "maxLength": 5}, "b": {"enum": [1, 23, None]}},
        "required": ["a", "b"],
        "additionalProperties": False,
    }
    with ChatEngine(model) as engine:
        completion = engine.complete(
            messages=[{"role": "user", "content": "Hi"}],
            response_format={"type": "json_schema", "json_schema": {"schema": schema}},
            max_tokens=60,
            n=3,
            seed=1,
        )
    for choice in completion.choices:
        answer = json.loads(choice.text)
        assert set(answer) == {"a", "b"}
        assert len(answer["a"]) <= 5
        assert answer["b"] in (1, 23, None)
    assert len({choice.text for choice in completion.choices}) > 1


def test_load_takes_a_model_with_its_tokenizer() -> None:
    with load(_model(), tokenizer=_tokenizer(None), context_size=30) as session:
        assert session.model.context_size == 30
        assert session.generate("Hi", {"enum": [12]}, max_tokens=5).parsed == 12
    with pytest.raises(TypeError, match="tokenizer"):
        load(_model())
