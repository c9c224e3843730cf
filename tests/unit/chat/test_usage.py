"""Figures of a request."""

from __future__ import annotations

import pytest

from maskwright.chat.usage import Meter


def test_rates_and_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([10.0, 11.5, 15.5])  # submitted, first token, end
    monkeypatch.setattr("maskwright.chat.usage.perf_counter", lambda: next(times))
    meter = Meter(submitted=next(times), prompt_tokens=6, prompt_seconds=0.5)
    for _ in range(9):
        meter.count_token()
    meter.grammar_seconds, meter.grammar_init_seconds = 0.9, 0.25
    extra = meter.usage(has_grammar=True).to_dict()["extra"]
    assert extra == {
        "e2e_latency_s": 5.5,
        "time_to_first_token_s": 1.5,
        "prefill_tokens_per_s": 12.0,
        "decode_tokens_per_s": 2.0,
        "grammar_init_s": 0.25,
        "grammar_per_token_s": pytest.approx(0.1),
    }


def test_the_share_of_masks(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([2.0, 10.0])  # first token, end
    monkeypatch.setattr("maskwright.chat.usage.perf_counter", lambda: next(times))
    meter = Meter(submitted=0.0, prompt_seconds=4.0, grammar_seconds=2.5)
    meter.count_token()
    meter.completion_tokens = 3
    usage = meter.usage(has_grammar=True)
    assert usage.mask_seconds == pytest.approx(2.5)
    assert usage.mask_share == pytest.approx(0.25)
    assert usage.tokens_per_second == 0.5


def test_nothing_was_generated() -> None:
    usage = Meter().usage(has_grammar=False)
    assert usage.total_tokens == 0
    assert usage.decode_tokens_per_s == usage.prefill_tokens_per_s == 0
    assert usage.grammar_per_token_s is None
    assert usage.mask_seconds == usage.mask_share == usage.tokens_per_second == 0
