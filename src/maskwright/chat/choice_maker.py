"""Makes the choices of a request, each with a sampler, a text and a matcher of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from maskwright.chat.choice import Choice
from maskwright.chat.complete_texts import CompleteTexts
from maskwright.chat.plain_spelling import PlainSpeller
from maskwright.chat.sampling import Sampler
from maskwright.chat.text_stream import TextStream

if TYPE_CHECKING:
    from maskwright.chat.choice import ModelTokens
    from maskwright.chat.job import Job
    from maskwright.chat.plain_spelling import PlainSpelling
    from maskwright.chat.sampling import SamplingParameters

_SEED_STEP: Final = 0x9E3779B97F4A7C15
"""From the seed of a choice to that of the next; odd, so that all of them differ."""


class ChoiceMaker:
    """Makes the choices of a request.

    Args:
        tokens: What the model's tokens are.
        spelling: Which tokens JSON should do without; None: all are alike.
    """

    def __init__(self, tokens: ModelTokens, spelling: PlainSpelling | None) -> None:
        self._tokens = tokens
        self._spelling = spelling

    def __call__(self, job: Job) -> list[Choice]:
        """The choices of a request whose matchers are there."""
        return [self._choice(job, index) for index in range(job.request.n)]

    def _choice(self, job: Job, index: int) -> Choice:
        request = job.request
        matcher = job.matchers[index] if job.matchers else None
        may_end = speller = None
        if matcher is not None:
            may_end = CompleteTexts(matcher.compiled_grammar) if request.stop else None
            if self._spelling is not None and request.response_format.is_json:
                speller = PlainSpeller(self._spelling, matcher)
        return Choice(
            index=index,
            sequence=job.sequences[index],
            prompt_ids=job.prompt_ids,
            sampler=Sampler(_with_seed_of(request.sampling, index)),
            processing=job.processing[index],
            text=TextStream(request.stop, may_end),
            tokens=self._tokens,
            limit=job.limit,
            meter=job.meter,
            on_delta=job.emit,
            top_logprobs=request.top_logprobs if request.logprobs else None,
            keeps_raw=job.keeps_raw,
            matcher=matcher,
            speller=speller,
        )


def _with_seed_of(sampling: SamplingParameters, index: int) -> SamplingParameters:
    """The parameters of a choice: the first has the seed as given, each other one of its own."""
    if sampling.seed is None or index == 0:
        return sampling
    return replace(sampling, seed=(sampling.seed + index * _SEED_STEP) % 2**64)
