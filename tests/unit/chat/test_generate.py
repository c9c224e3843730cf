"""The generate loop, driven by a scripted model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from maskwright.chat.constraint import FreeText, GrammarConstraint
from maskwright.chat.errors import ModelError
from maskwright.chat.generate import Generation, generate
from maskwright.chat.sampling import Sampler, SamplingParameters
from maskwright.errors import MatcherError
from scripted_model import STOP, ScriptedModel, TextsMatcher, apply_mask

if TYPE_CHECKING:
    from collections.abc import Iterable


def _free(model: ScriptedModel, prompt: bytes = b"hi", **options: Any) -> Generation:
    options.setdefault("max_tokens", 50)
    constraint = FreeText(model.vocabulary.stop_token_ids)
    return generate(model, list(prompt), constraint, Sampler(SamplingParameters()), **options)


def _held(model: ScriptedModel, texts: Iterable[bytes], **options: Any) -> Generation:
    options.setdefault("max_tokens", 50)
    matcher = TextsMatcher(texts, model.vocabulary)
    constraint = GrammarConstraint(matcher, model.vocabulary.vocab_size, apply_mask)
    return generate(model, list(b"hi"), constraint, Sampler(SamplingParameters()), **options)


def test_free_text_ends_at_the_stop_token() -> None:
    model = ScriptedModel([b"abc", b" ", b"ab"])
    generation = _free(model)
    assert generation.text == "abc ab"
    assert generation.finish_reason == "stop"
    assert generation.token_ids[-1] in model.vocabulary.stop_token_ids
    # The prompt in one go, then each token but the last, which nothing follows.
    assert model.evaluated == [list(b"hi"), *([token] for token in generation.token_ids[:-1])]


def test_max_tokens_cuts_off() -> None:
    generation = _free(ScriptedModel([b"a"] * 10), max_tokens=3)
    assert generation.text == "aaa"
    assert generation.finish_reason == "length"
    assert generation.usage.completion_tokens == 3


def test_context_cuts_off() -> None:
    model = ScriptedModel([b"a"] * 10, context_size=5)
    generation = _free(model, b"four")
    assert generation.text == "aa"  # the second one is not evaluated any more
    assert sum(map(len, model.evaluated)) == 5


def test_prompt_must_fit() -> None:
    with pytest.raises(ModelError, match="place for 3") as caught:
        _free(ScriptedModel(context_size=3), b"four")
    assert caught.value.code == "prompt-too-long"
    with pytest.raises(ModelError) as caught:
        _free(ScriptedModel(), b"")
    assert caught.value.code == "prompt-empty"
    with pytest.raises(ValueError, match="max_tokens is 0"):
        _free(ScriptedModel(), max_tokens=0)


def test_text_comes_in_whole_code_points() -> None:
    # A code point over three tokens, and a token that ends one and begins a letter.
    euro = [bytes((byte,)) for byte in "\u20ac".encode()]
    model = ScriptedModel([b"a", *euro, b"\xc3", b"\xa9", b"\xc3\xa9x"])
    pieces: list[str] = []
    generation = _free(model, on_text=pieces.append)
    assert pieces == ["a", "\u20ac", "\u00e9", "\u00e9x"]
    assert generation.text == "".join(pieces)


def test_broken_utf_8_becomes_the_replacement_character() -> None:
    pieces: list[str] = []
    generation = _free(ScriptedModel([b"\xff", b"a", b"\xe2"]), on_text=pieces.append)
    assert generation.text == "\ufffda\ufffd" == "".join(pieces)


def test_tokens_are_reported_with_their_bytes() -> None:
    seen: list[tuple[int, bytes]] = []
    generation = _free(ScriptedModel([b"abc"]), on_token=lambda i, data: seen.append((i, data)))
    assert [i for i, _ in seen] == list(generation.token_ids)
    assert [data for _, data in seen] == [b"abc", b""]


def test_a_matcher_overrules_the_model() -> None:
    generation = _held(ScriptedModel([b"x", b"abc", b"q"]), [b"yabc", b"z"])
    assert generation.text == "yabc"
    assert generation.finish_reason == "stop"


def test_text_may_go_on_where_it_could_end() -> None:
    assert _held(ScriptedModel([b"ab"]), [b"ab", b"abc"]).text == "ab"
    assert _held(ScriptedModel([b"ab", b"c"]), [b"ab", b"abc"]).text == "abc"


def test_allowed_logits_of_minus_infinity_still_give_an_allowed_token() -> None:
    model = ScriptedModel([b"ab", b"c"])
    real = model.evaluate

    def hopeless(inputs: Any) -> Any:
        logits = real(inputs)
        logits[0, ord("y")] = -np.inf
        return logits

    model.evaluate = hopeless  # type: ignore[method-assign]
    assert _held(model, [b"y"]).text == "y"


@pytest.mark.parametrize("token_id", [0, 31, 32, 63, 64, 262])
def test_any_allowed_finds_the_bit(token_id: int) -> None:
    class Only:
        def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> bool:
            bitmask[index] = 0
            bitmask[index, token_id // 32] = np.uint32(1 << token_id % 32).astype(np.int32)
            return True

        def accept_token(self, token_id: int) -> bool:
            return token_id >= 0

        def is_terminated(self) -> bool:
            return False

    constraint = GrammarConstraint(Only(), 263, apply_mask)
    logits = np.zeros(263, dtype=np.float32)
    constraint.mask(logits)
    assert constraint.any_allowed() == token_id
    assert np.flatnonzero(logits == 0).tolist() == [token_id]


def test_mask_that_allows_nothing_is_an_error() -> None:
    with pytest.raises(MatcherError, match="no token") as caught:
        _held(ScriptedModel(), [])
    assert caught.value.code == "matcher-empty-mask"


def test_mask_that_allows_everything_is_not_applied() -> None:
    class Everything(TextsMatcher):
        def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> bool:
            bitmask[index] = 0
            return False

    model = ScriptedModel()
    constraint = GrammarConstraint(Everything([], model.vocabulary), 263, apply_mask)
    logits = np.ones(263, dtype=np.float32)
    constraint.mask(logits)
    assert logits.min() == 1
    assert constraint.any_allowed() == 0


def test_disagreement_of_mask_and_matcher_is_an_error() -> None:
    class Stubborn(TextsMatcher):
        def accept_token(self, token_id: int) -> bool:
            return token_id < 0

    model = ScriptedModel()
    constraint = GrammarConstraint(Stubborn([b"a"], model.vocabulary), 263, apply_mask)
    with pytest.raises(MatcherError, match="refused token") as caught:
        generate(model, [1], constraint, Sampler(SamplingParameters()), max_tokens=1)
    assert caught.value.code == "matcher-mask-disagrees"


def test_usage_adds_up() -> None:
    usage = _held(ScriptedModel([b"abc"]), [b"abc"], compile_seconds=2.5).usage
    parts = usage.prompt_seconds + usage.model_seconds + usage.mask_seconds + usage.sample_seconds
    assert 0 < parts <= usage.total_seconds
    assert 0 < usage.mask_share < 1
    assert usage.prompt_tokens == 2
    assert usage.completion_tokens == 2
    assert usage.compile_seconds == 2.5
    assert usage.as_dict()["tokens_per_second"] == usage.tokens_per_second > 0


def test_interruption_reaches_the_caller() -> None:
    def interrupt(step: int) -> None:
        if step == 2:
            raise KeyboardInterrupt

    pieces: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        _free(ScriptedModel([b"a"] * 9, before=interrupt), on_text=pieces.append)
    assert pieces == ["a", "a"]


def test_the_stop_token_is_no_text() -> None:
    assert STOP not in _free(ScriptedModel([b"a"])).text
