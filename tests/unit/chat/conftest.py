"""Engines that are closed when a test ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from maskwright.chat import ChatEngine
from scripted_model import ScriptedModel


@pytest.fixture
def engine_of() -> Iterator[Callable[..., ChatEngine]]:
    """Makes engines of scripted models."""
    engines: list[ChatEngine] = []

    def make(model: ScriptedModel, **options: Any) -> ChatEngine:
        engines.append(ChatEngine(model, **options))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()
