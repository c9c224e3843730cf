"""Whether the core takes a grammar, whatever the vocabulary.

Idea: compile it for all bytes, at a tenth of what a grammar may cost: that is for messages, which
can say less where it costs more.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from . import _core
from .errors import MaskwrightError

__all__ = ["refusal_of"]

_MAX_STATES: Final = 100_000
_MAX_TARGETS: Final = 20_000
_MAX_CLAUSES: Final = 1_000
_MAX_LANGUAGE_STATES: Final = 5_000


def refusal_of(ir: bytes) -> MaskwrightError | None:
    """Return why the core refuses a grammar; None: it takes it."""
    try:
        _core.compile(
            ir,
            _every_byte(),
            max_states=_MAX_STATES,
            max_targets=_MAX_TARGETS,
            max_clauses=_MAX_CLAUSES,
            max_lang_states=_MAX_LANGUAGE_STATES,
        )
    except MaskwrightError as error:
        return error
    return None


@cache
def _every_byte() -> _core.Vocabulary:
    tokens = [bytes((byte,)) for byte in range(256)]
    return _core.Vocabulary(tokens, vocab_size=256, special_token_ids=[], stop_token_ids=[])
