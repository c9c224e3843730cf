"""Random requests from several threads, some cancelled, while the model fails now and then."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import pytest

from maskwright.chat import ChatEngine, ChatRequest, ModelError
from maskwright.errors import GrammarSyntaxError
from scripted_model import ScriptedModel

WAIT = 60
THREADS = 3
REQUESTS = 12
PATTERNS = ["[a-f]{3,12}", "(ab|cd|true)+", '"[^"]{0,8}"', "x|yy|zzz", None, "("]


def _request(generator: random.Random) -> ChatRequest:
    pattern = generator.choice(PATTERNS)
    response_format = {"type": "grammar", "syntax": "regex", "grammar": pattern}
    if generator.random() < 0.3:
        response_format = {"type": "json_object", "schema": {"type": ["array", "string"]}}
    return ChatRequest.read(
        messages=[{"role": "user", "content": "x" * generator.randrange(60)}],
        response_format=None if pattern is None else response_format,
        seed=generator.randrange(1000),
        temperature=generator.choice([0, 2, 9]),
        max_tokens=generator.randrange(5, 20),
        n=generator.choice([1, 1, 2, 3]),
        stop=generator.choice([None, "b", ["ab", "d"]]),
        presence_penalty=generator.choice([0, 1]),
        logprobs=generator.random() < 0.5,
    )


def _outcome(engine: ChatEngine, request: ChatRequest, chunks: int) -> Any:
    """The texts of the choices; what has ended the request; or None where it was cancelled."""
    texts = [""] * request.n
    with engine.deltas(request) as deltas:
        try:
            for number, delta in enumerate(deltas):
                if number == chunks:
                    return None
                texts[delta.index] += delta.text
        except (ModelError, GrammarSyntaxError) as error:
            return type(error)
    return texts


@pytest.mark.parametrize("seed", range(6))
def test_random_traffic(engine_of: Callable[..., ChatEngine], seed: int) -> None:
    generator = random.Random(seed)
    failing = {generator.randrange(120) for _ in range(4)}

    def before(call: int) -> None:
        if call in failing:
            raise ModelError("now and then", code="model-failed")

    model = ScriptedModel(max_sequences=generator.choice([3, 4, 7]), before=before)
    engine = engine_of(
        model,
        prefill_chunk=generator.choice([1, 7, 256]),
        jump_forward=generator.random() < 0.5,
    )
    requests = [
        (_request(generator), generator.choice([0, 1, 3, 99, 99, 99]))
        for _ in range(THREADS * REQUESTS)
    ]
    outcomes: dict[int, Any] = {}

    def ask(first: int) -> None:
        for number in range(first, len(requests), THREADS):
            outcomes[number] = _outcome(engine, *requests[number])

    threads = [threading.Thread(target=ask, args=(first,)) for first in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    assert len(outcomes) == len(requests)
    failing.clear()
    assert engine.complete(messages=[{"role": "user", "content": "z"}], max_tokens=1, n=3)
    scheduler = engine._scheduler
    assert scheduler._sequences.free == model.max_sequences
    assert model.seen == [[]] * model.max_sequences
    assert not scheduler.roster.all()

    alone = engine_of(ScriptedModel(max_sequences=3))
    finished = [number for number, outcome in outcomes.items() if isinstance(outcome, list)]
    assert len(finished) > 5
    for number in finished:
        assert outcomes[number] == _outcome(alone, requests[number][0], 10**6)
