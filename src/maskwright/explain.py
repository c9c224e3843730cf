"""What `GrammarMatcher.explain` tells: the place, what may come next, why a token was refused.

Idea: the core names the rules and the bytes; forks without a budget read on from there, byte by
byte while few are allowed, which spells out literals (``look_ahead``). Why a token was refused is
found out by trying it again: without the budget, and then its bytes one by one.
Cost: linear in the text, for the JSON pointer, and what reading ahead costs. Nothing of the
vocabulary is walked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .errors import MatcherError
from .json_prefix import ends_in_string, pointer_of
from .look_ahead import alternatives

if TYPE_CHECKING:
    from . import _core
    from .tokenizer_info import TokenizerInfo

__all__ = ["Explanation", "Refusal", "explain"]

_MAX_TEXT = 60
_MAX_POINTER_TEXT = 1 << 20


@dataclass(frozen=True)
class Refusal:
    """Why `accept_token` refused a token.

    Attributes:
        token_id: The token.
        text: Its bytes; empty if it has none.
        reason: ``"out-of-range"``: no such id; ``"terminated"``: nothing may follow;
            ``"incomplete"``: it is a stop token, and the text is not complete; ``"no-stop"``: the
            text ends without one; ``"special"``: it has no bytes, so no text is it; ``"grammar"``:
            its bytes are not what the grammar asks for; ``"unspellable"``: they are, but no tokens
            could complete the text behind them; ``"budget"``: the grammar allows it, and what would
            be left of the token budget is not known to be enough.
        offset: Bytes of it that the grammar allows; the next one is refused.
        needed: With ``"budget"``: tokens that complete the text behind it for sure, None if none
            are known.
        left: With ``"budget"``: tokens that would be left.
    """

    token_id: int
    text: bytes
    reason: str
    offset: int = 0
    needed: int | None = None
    left: int | None = None

    def __str__(self) -> str:
        shown = f"token {self.token_id}"
        if self.text:
            shown += f" ({self.text.decode('utf-8', 'replace')!r})"
        if self.reason == "budget":
            needed = "no known number of" if self.needed is None else f"{self.needed}"
            return (
                f"{shown} was refused by the token budget: {needed} tokens complete the text "
                f"behind it, and {self.left} would be left"
            )
        why = {
            "out-of-range": "no token of the vocabulary has that id",
            "terminated": "the text has ended",
            "incomplete": "it ends the text, which is not complete",
            "no-stop": "the text ends without a stop token here",
            "special": "it stands for no text",
            "unspellable": "no tokens of the vocabulary complete the text behind it",
            "grammar": f"its byte {self.offset} is not what the grammar asks for",
        }
        return f"{shown} was refused: {why[self.reason]}"


@dataclass(frozen=True)
class Explanation:
    """Where a matcher is.

    Attributes:
        position: Steps taken: tokens and texts that were accepted.
        text: The end of the text, from the last token that is no text on.
        pointer: Where all of the text is JSON, the JSON pointer of the value that it is in.
        rules: What the text is in, the innermost first: names of grammar rules, and kinds of JSON
            values such as ``"JSON string"``. Small rules that were merged into others don't show.
        byte_classes: Ranges of bytes that may come next, first and last; of a token budget and of
            what the tokens can spell nothing is said.
        literals: Some texts that may come next; "..." stands for more that may follow.
        is_completed: The text so far is a whole text of the grammar.
        is_terminated: No token may follow.
        remaining_tokens: What is left of the token budget; None without one.
        refusal: Why the last token was refused; None if none was, since the last step.
    """

    position: int
    text: str
    pointer: str | None
    rules: tuple[str, ...]
    byte_classes: tuple[tuple[int, int], ...]
    literals: tuple[str, ...]
    is_completed: bool
    is_terminated: bool
    remaining_tokens: int | None
    refusal: Refusal | None

    def __str__(self) -> str:
        lines = [f"after {self.position} steps, at the end of {self.text!r}"]
        if self.pointer is not None:
            lines.append(f"at {self.pointer}")
        lines.append("in " + (" of ".join(self.rules) or "no rule"))
        if self.is_terminated:
            lines.append("the text has ended")
        else:
            lines.append("expected: " + " | ".join(self.literals))
        if self.remaining_tokens is not None:
            lines.append(f"{self.remaining_tokens} tokens are left of the budget")
        if self.refusal is not None:
            lines.append(str(self.refusal))
        return "\n".join(lines)


def explain(core: _core.Matcher, info: TokenizerInfo) -> Explanation:
    """Return what `GrammarMatcher.explain` does."""
    free = core.fork()
    free.remaining_tokens = None
    following = bytes(b for b in free.next_bytes() if free.num_readable(bytes((b,))))
    text = core.recent_text(_MAX_POINTER_TEXT).decode("utf-8", "replace")
    rules = tuple(core.surroundings())
    is_json = all(rule.startswith("JSON ") for rule in rules[:-1]) and len(text) < _MAX_POINTER_TEXT
    # Where the root rule is a JSON value it is the only rule; its value may have ended.
    pointer = pointer_of(text) if is_json and rules[:1] and rules[0].startswith("JSON ") else None
    ended = core.is_terminated() and not following and not free.may_read_symbol()
    refused = core.refused_token
    return Explanation(
        core.num_steps,
        text[-_MAX_TEXT:],
        pointer,
        rules,
        _ranges(following),
        () if ended else _literals(free, text),
        core.is_completed(),
        ended,
        core.remaining_tokens,
        None if refused is None else _refusal(core, free, info, refused, ended=ended),
    )


def _literals(free: _core.Matcher, text: str) -> tuple[str, ...]:
    found = alternatives(free, inside=ends_in_string(text))
    if found:
        return found
    # Not every byte is a token, so texts can't be read on byte by byte.
    forced = free.forced_bytes(_MAX_TEXT)
    return (forced.decode("utf-8", "replace"),) if forced else ("...",)


def _ranges(following: bytes) -> tuple[tuple[int, int], ...]:
    ranges: list[tuple[int, int]] = []
    for byte in following:
        if ranges and ranges[-1][1] == byte - 1:
            ranges[-1] = ranges[-1][0], byte
        else:
            ranges.append((byte, byte))
    return tuple(ranges)


def _refusal(
    core: _core.Matcher, free: _core.Matcher, info: TokenizerInfo, token: int, *, ended: bool
) -> Refusal:
    if not 0 <= token < info.vocab_size:
        return Refusal(token, b"", "out-of-range")
    text = info.decode([token], skip_special_tokens=False)
    if ended:
        return Refusal(token, text, "terminated")
    if token in core.stop_token_ids:
        return Refusal(token, text, "no-stop" if core.is_completed() else "incomplete")
    left = core.remaining_tokens
    attempt = free.fork()
    if left is not None and attempt.accept_token(token):
        return Refusal(token, text, "budget", len(text), _needed(attempt), max(left - 1, 0))
    # The vocabulary's own stop tokens are special to a matcher that has others.
    if not text or token in info.special_token_ids or token in info.stop_token_ids:
        return Refusal(token, text, "special")
    offset = attempt.num_readable(text)
    return Refusal(token, text, "grammar" if offset < len(text) else "unspellable", offset)


def _needed(attempt: _core.Matcher) -> int | None:
    try:
        return attempt.min_tokens_to_finish()
    except MatcherError:
        return None
