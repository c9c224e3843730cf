"""One answer that is being written: its tokens, its text, and what it is held to.

Idea: a choice knows nothing of models, queues or other choices. Whoever drives it gives it tokens;
it checks them against its matcher, turns them into text, and decides whether it has ended.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from maskwright.chat.completion import Delta, TokenEntry
from maskwright.errors import MatcherError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from maskwright.chat.logit_processing import LogitProcessing
    from maskwright.chat.plain_spelling import PlainSpeller
    from maskwright.chat.result import FinishReason
    from maskwright.chat.sampling import Sampler
    from maskwright.chat.text_stream import TextStream
    from maskwright.chat.usage import Meter
    from maskwright.matcher import GrammarMatcher


@dataclass(frozen=True)
class ModelTokens:
    """What tokens of a model are, shared by all its choices.

    Attributes:
        texts: Per id the bytes that it adds to the text.
        stops: Ids that end free text.
    """

    texts: Sequence[bytes]
    stops: frozenset[int]


@dataclass(eq=False)
class Choice:
    """One of the answers of a request; for the thread that drives it only.

    Attributes:
        index: Its number in the request.
        sequence: The model's sequence that it is written in.
        prompt_ids: The prompt.
        sampler: Chooses tokens.
        processing: What is done to logits before the mask.
        text: Its text.
        tokens: What the model's tokens are.
        limit: The most tokens that it may have.
        meter: Counts for its request.
        on_delta: Called with each token's part of the answer.
        top_logprobs: How many of the most likely tokens are reported; None: no log-probabilities.
        keeps_raw: Whether `processing` may change logits, so that the model's own must be kept.
        matcher: What it is held to; None: free text.
        speller: For JSON: which allowed tokens to leave out.
        token_ids: Its tokens so far.
        pending: Those that the model has not seen.
        finish_reason: Why it has ended; None while it goes on.
        error: What has ended it.
    """

    index: int
    sequence: int
    prompt_ids: Sequence[int]
    sampler: Sampler
    processing: LogitProcessing
    text: TextStream
    tokens: ModelTokens
    limit: int
    meter: Meter
    on_delta: Callable[[Delta], object]
    top_logprobs: int | None = None
    keeps_raw: bool = False
    matcher: GrammarMatcher | None = None
    speller: PlainSpeller | None = None
    token_ids: list[int] = field(default_factory=list)
    pending: list[int] = field(default_factory=list)
    finish_reason: FinishReason | None = None
    error: BaseException | None = None

    @property
    def is_running(self) -> bool:
        """Whether it goes on."""
        return self.finish_reason is None and self.error is None

    @property
    def is_at_limit(self) -> bool:
        """Whether it is a complete text of its format that took every token it was allowed."""
        is_complete = self.matcher is not None and self.finish_reason == "stop"
        return is_complete and len(self.token_ids) >= self.limit

    def begin(self) -> None:
        """End at once, if the only text is the empty one and no stop token can say so."""
        if self.matcher is not None and self.matcher.is_terminated():
            self.finish_reason = "stop"
            self.on_delta(Delta(self.index, "", None, "stop"))

    def accept(self, entry: TokenEntry) -> None:
        """Append a token, and tell what it adds.

        Raises:
            MatcherError: The matcher refuses it (``matcher-mask-disagrees``).
        """
        token_id = entry.token_id
        if self.matcher is not None:
            self._match(self.matcher, entry)
        self.token_ids.append(token_id)
        self.meter.count_token()
        text = self.text.feed(entry.data)
        self.finish_reason = self._reason_to_finish(token_id)
        if self.finish_reason is None:
            self.pending.append(token_id)
        else:
            text += self.text.finish()
            if self.text.stopped:  # by what became of an unfinished code point
                self.finish_reason = "stop"
        self.on_delta(Delta(self.index, text, entry, self.finish_reason))

    def _match(self, matcher: GrammarMatcher, entry: TokenEntry) -> None:
        start = perf_counter()
        if not matcher.accept_token(entry.token_id):
            raise MatcherError(
                f"the matcher refused token {entry.token_id} ({entry.data!r}) at position "
                f"{len(self.token_ids)} of the answer, which its mask allowed; this is a fault of "
                "Maskwright: please report it with the grammar and the text so far",
                code="matcher-mask-disagrees",
            )
        if self.speller is not None:
            self.speller.accept(entry.token_id)
        self.meter.grammar_seconds += perf_counter() - start

    def _reason_to_finish(self, token_id: int) -> FinishReason | None:
        if self.text.stopped:
            return "stop"
        if self.matcher is not None:
            if self.matcher.is_terminated():
                return "stop"
        elif token_id in self.tokens.stops:
            return "stop"
        return "length" if len(self.token_ids) >= self.limit else None
