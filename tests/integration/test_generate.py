"""Generation with the embedded model: real tokens, real logits, real text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from maskwright import Grammar
from maskwright.chat import (
    ChatEngine,
    LlamaCppModel,
    ModelError,
    Session,
    load,
)
from maskwright.errors import TokenizerError
from maskwright.tokenizers import read_gguf

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def model(embedded_model: Path) -> Iterator[LlamaCppModel]:
    del embedded_model  # which the model finds by itself
    loaded = LlamaCppModel(context_size=512)
    yield loaded
    loaded.close()


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Ada", "n": [1, 2.5e3, null]}',
        "Stra\u00dfe \u65e5\u672c\u8a9e \U0001f469\u200d\U0001f680 \u0628\u062d\u0631",
        "  two  spaces\n\n\ttab \x00\x7f",
    ],
)
def test_token_bytes_spell_the_text(model: LlamaCppModel, text: str) -> None:
    token_bytes = model.vocabulary.tokens
    assert b"".join(token_bytes[i] for i in model.tokenize(text)) == text.encode()


def test_token_bytes_agree_with_the_engine(model: LlamaCppModel) -> None:
    llama = model._llama
    for token_id, data in enumerate(model.vocabulary.text_bytes()):
        if len(data) <= 30:  # the binding's own buffer ends there
            assert llama.detokenize([token_id]) == data


def test_vocabulary_of_the_file(model: LlamaCppModel, embedded_model: Path) -> None:
    vocabulary = read_gguf(embedded_model)
    assert vocabulary == model.vocabulary
    ends = {vocabulary.tokens[i] for i in vocabulary.stop_token_ids}
    assert ends == {b"<|im_end|>", b"<|endoftext|>"}


def test_chat_template(model: LlamaCppModel) -> None:
    rendered = model.render_chat([{"role": "user", "content": "Hello"}])
    assert rendered.endswith("<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n")
    ids = model.tokenize(rendered)
    assert ids.count(model.vocabulary.tokens.index(b"<|im_start|>")) == 3
    with pytest.raises(ModelError, match="chat template") as caught:
        model.render_chat([{"role": "user", "content": 5}])  # type: ignore[dict-item]  # the fault
    assert caught.value.code == "chat-template-failed"


@pytest.fixture
def session(model: LlamaCppModel) -> Iterator[Session]:
    with Session(model) as session:
        yield session


def test_free_text(session: Session) -> None:
    pieces: list[str] = []
    result = session.generate(
        "Write one sentence about the sea.", max_tokens=40, on_text=pieces.append
    )
    assert "sea" in result.text
    assert "".join(pieces) == result.text
    assert "<|" not in result.text


def test_seed_repeats(session: Session) -> None:
    options: dict[str, Any] = {"temperature": 1.5, "max_tokens": 12}
    runs = [session.generate("Tell a story.", seed=s, **options) for s in (1, 1, 2)]
    assert runs[0].token_ids == runs[1].token_ids != runs[2].token_ids


def test_held_to_a_few_texts(session: Session) -> None:
    cities = Grammar.from_regex("Madrid|Paris|Rome")
    result = session.generate("What is the capital of France? One word.", cities)
    assert (result.text, result.finish_reason) == ("Paris", "stop")
    odd = Grammar.from_regex("xyzzy \U0001f986")
    assert session.generate("What is 1 + 1?", odd).text == "xyzzy \U0001f986"


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 20}, "n": {"type": "integer"}},
    "required": ["city", "n"],
    "additionalProperties": False,
}


def test_held_to_a_schema(session: Session) -> None:
    for seed in range(3):
        result = session.generate(
            "Name a city and a number as JSON.", SCHEMA, temperature=1.0, seed=seed
        )
        assert result.finish_reason == "stop"
        assert result.parsed == json.loads(result.text)
        assert set(result.parsed) == {"city", "n"}
        assert len(result.parsed["city"]) <= 20


def test_several_requests_and_choices_at_a_time(session: Session) -> None:
    messages = [{"role": "user", "content": "Name a city and a number as JSON."}]
    response_format = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}
    fields = {"messages": messages, "response_format": response_format, "max_tokens": 40}
    streams = [session.engine.stream(fields, n=n, seed=n, logprobs=True) for n in (1, 2, 3)]
    for n, stream in zip((1, 2, 3), streams, strict=True):
        texts = [""] * n
        for chunk in stream:
            assert chunk.index is not None
            texts[chunk.index] += chunk.text
        for text in texts:
            assert set(json.loads(text)) == {"city", "n"}
        assert stream.usage is not None
        assert stream.usage.prompt_tokens > 10


def test_forced_text_is_not_asked_for(model: LlamaCppModel) -> None:
    pattern = "The capital of France is (Madrid|Paris|Rome)\\."
    with ChatEngine(model, jump_forward=True) as engine:
        completion = engine.complete(
            messages=[{"role": "user", "content": "What is the capital of France?"}],
            response_format={"type": "grammar", "syntax": "regex", "grammar": pattern},
            logprobs=True,
            temperature=0,
        )
    assert completion.text == "The capital of France is Paris."
    forced = [entry for entry in completion.choices[0].tokens if entry.logprob == 0.0]
    assert b"".join(entry.data for entry in forced).startswith(b"The capital of France is")


def test_a_loaded_engine_can_be_wrapped(model: LlamaCppModel) -> None:
    session = load(model._llama)
    assert session.model.vocabulary == model.vocabulary


def test_long_prompt_is_refused(session: Session) -> None:
    with pytest.raises(ModelError, match="place for 512") as caught:
        session.generate("word " * 600)
    assert caught.value.code == "prompt-too-long"


def test_files_that_are_no_models(tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed (extra demo)")
    path = tmp_path / "x.gguf"
    with pytest.raises(TokenizerError, match="cannot read"):
        load(path)
    path.write_bytes(b"not a model")
    with pytest.raises(TokenizerError, match="GGUF"):
        load(path)
