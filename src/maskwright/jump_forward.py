"""Which text, and which tokens, a model need not be asked for.

Idea: the core knows the *bytes* that every completion continues with. As tokens they must be the
ones that the model would have been given had the whole text been there from the start, or it goes
on in a spelling it has never seen. So the tokenizer itself encodes what was accepted together with
what is forced, and only tokens that no continuation could change are returned.

Which could it change? In the encoding of a whole text some token begins at or before the end of the
forced bytes and reaches beyond them (or none does). What stands before that token is encoded as if
the text ended there: merges do not cross a token boundary, and the splitting before them reads from
left to right. (Where splitting looks ahead it does not: at white space, contractions and digits; so
tokens of these at such an end are not certain.)

The core finds all offsets at which such a token may begin: the rest of the forced bytes is a proper
prefix of a token, and the grammar allows what the token adds. The text is encoded up to each of
them, and the tokens that all these encodings begin with are certain. An encoding that has no
boundary where the accepted tokens end contradicts them, and is left out. If all do, the accepted
tokens are not the tokenizer's own, and the forced bytes are encoded alone, as a continuation.

Cost: a handful of encodings of some hundred bytes plus the forced ones, whatever the length of the
text. Where a window of the accepted text begins, its encoding differs from that of the whole text,
but soon falls into step with it. That it has done so is taken from a second, longer window that
gives the same tokens for the end of the text; if not, all of the text is encoded.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from . import _core
    from .tokenizer_info import TokenizerInfo

__all__ = ["find_jump_forward_string", "find_jump_forward_tokens"]

MAX_FORCED_BYTES = 1 << 16
# Of the accepted text: what is encoded, what that is compared with, and where they must agree.
SHORT_WINDOW = 256
LONG_WINDOW = 512
AGREEMENT = 128
_EVERYTHING = 1 << 62
_DIGITS = "0123456789"
_CONTRACTION = re.compile(r"['\u2019]\w{0,2}\Z")
# What a continuation is encoded behind: the first that does not join with it.
_SENTINELS = (b"\x02", b"\n", b"a", b"0", b".")


def find_jump_forward_string(core: _core.Matcher) -> str:
    """Return the text that every completion continues with; see `GrammarMatcher`."""
    if _open_code_point(core.recent_text(3)):
        return ""
    return _whole_text(core.forced_bytes(MAX_FORCED_BYTES))


def find_jump_forward_tokens(core: _core.Matcher, info: TokenizerInfo) -> list[int]:
    """Return the tokens that every completion continues with; see `GrammarMatcher`."""
    pending = _open_code_point(core.recent_text(3))
    forced = _whole_code_points(pending, core.forced_bytes(MAX_FORCED_BYTES))
    if not forced:
        return []
    openings = core.open_tokens(forced)
    if 0 in openings:
        return []
    if info.has_encoder:
        ids = _Canonical(core, info, forced, openings).tokens()
    else:
        ids = _longest(core, info, forced, openings)
    return ids[: core.validate_tokens(ids)]


def _longest(
    core: _core.Matcher, info: TokenizerInfo, forced: bytes, openings: Iterable[int]
) -> list[int]:
    """The longest token at each place, up to one that could be longer."""
    ids: list[int] = []
    begin, unsure = 0, set(openings)
    for token_id in core.longest_tokens(forced):
        if begin in unsure:
            break
        ids.append(token_id)
        begin += len(_token_bytes(info, token_id))
    return ids


class _Canonical:
    """The tokens of forced bytes as the tokenizer gives them behind the accepted text.

    Args:
        core: The matcher.
        info: A vocabulary with an encoder.
        forced: Bytes that are forced; whole code points, with those that are pending.
        openings: Offsets in them, above 0, at which a token may begin that reaches beyond them.
    """

    def __init__(
        self, core: _core.Matcher, info: TokenizerInfo, forced: bytes, openings: Iterable[int]
    ) -> None:
        self._core = core
        self._info = info
        self._forced = forced
        # An encoder takes text: where a token begins inside a code point, the core names the
        # beginnings of the tokens before it, too.
        ends = {end for end in openings if end == len(forced) or not _continues(forced[end])}
        self._ends = sorted({*ends, len(forced)}, reverse=True)

    def tokens(self) -> list[int]:
        """The tokens that are the same for all continuations; none where that can't be said."""
        for context in (self._context(), *_SENTINELS):
            certain = self._certain(context)
            if certain is not None:
                return certain
        return []

    def _context(self) -> bytes:
        """The end of the accepted text, from where on the encoding is that of the whole text."""
        text = self._core.recent_text(LONG_WINDOW)
        if len(text) < LONG_WINDOW:
            return text
        short = _cut_begin(text[-SHORT_WINDOW:])
        one = self._encode(short, self._forced)
        other = self._encode(_cut_begin(text), self._forced)
        if one and other and _tail(one) == _tail(other):
            return short
        return self._core.recent_text(_EVERYTHING)

    def _certain(self, context: bytes) -> list[int] | None:
        """The tokens that all encodings begin with; None if none has a boundary there."""
        certain: list[int] | None = None
        for end in self._ends:
            found = self._tokens_behind(context, self._forced[:end])
            if found is not None:
                certain = found if certain is None else _common_prefix(certain, found)
                if not certain:
                    break
        return certain

    def _tokens_behind(self, context: bytes, ahead: bytes) -> list[int] | None:
        """The tokens of `ahead`; None if none begins or ends where the context does."""
        encoded = self._encode(context, ahead)
        if encoded is None or all(begin != 0 for begin, _ in encoded):
            return None
        end = len(ahead) - self._unsure_bytes((context + ahead).decode(), len(ahead))
        begins = [begin for begin, _ in encoded] + [len(ahead)]
        return [
            token_id
            for (begin, token_id), token_end in zip(encoded, begins[1:], strict=True)
            if begin >= 0 and token_end <= end
        ]

    def _unsure_bytes(self, text: str, end: int) -> int:
        """How many bytes at the end of a text may be split otherwise when it goes on.

        Args:
            text: The context and the forced bytes up to `end`.
            end: Where what follows begins.
        """
        certain = text.rstrip()
        if len(text) - len(certain) < 2:  # of one there is only one way to split it
            certain = text
        if self._digit_follows(end):
            certain = certain.rstrip(_DIGITS)
        contraction = _CONTRACTION.search(certain)
        if contraction is not None:
            certain = certain[: contraction.start()]
            while certain[-1:].isalpha():
                certain = certain[:-1]
        return len(text[len(certain) :].encode())

    def _digit_follows(self, end: int) -> bool:
        if end < len(self._forced):
            return chr(self._forced[end]) in _DIGITS
        twin = self._core.fork()
        twin.remaining_tokens = None
        twin.accept_bytes(self._forced)
        return any(twin.accept_bytes(digit.encode()) for digit in _DIGITS)

    def _encode(self, context: bytes, ahead: bytes) -> list[tuple[int, int]] | None:
        """Where each token begins, counted from the end of the context, and its id.

        None if the tokens don't spell the text, but for a space before it.
        """
        text = context + ahead
        try:
            ids = self._info.encode(text.decode())
        except UnicodeDecodeError:
            return None
        tokens = [_token_bytes(self._info, token_id) for token_id in ids]
        joined = b"".join(tokens)
        if joined not in (text, b" " + text):
            return None
        begins = itertools.accumulate(map(len, tokens), initial=len(ahead) - len(joined))
        return list(zip(begins, ids, strict=False))


def _tail(encoded: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(begin, token_id) for begin, token_id in encoded if begin >= -AGREEMENT]


def _token_bytes(info: TokenizerInfo, token_id: int) -> bytes:
    tokens = info._data.tokens  # noqa: SLF001 - the property copies them
    return tokens[token_id] if token_id < len(tokens) else b""


def _common_prefix(left: list[int], right: list[int]) -> list[int]:
    for index, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return left[:index]
    return left[: len(right)]


def _continues(byte: int) -> bool:
    """Whether the byte is inside a code point."""
    return byte & 0xC0 == 0x80


def _cut_begin(text: bytes) -> bytes:
    """The text from its first whole code point on."""
    begin = next((i for i, byte in enumerate(text[:4]) if not _continues(byte)), 0)
    return text[begin:]


def _open_code_point(text: bytes) -> bytes:
    """The bytes at the end of a text that begin a code point and don't end it."""
    for length in (1, 2, 3):
        byte = text[-length] if length <= len(text) else 0
        if not _continues(byte):
            size = 1 + (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)
            return text[-length:] if length < size else b""
    return b""


def _whole_text(data: bytes) -> str:
    """The text of the bytes up to the first that are no whole code point."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return data[: error.start].decode()


def _whole_code_points(pending: bytes, data: bytes) -> bytes:
    """The bytes of the code points that the pending bytes and the data end."""
    return _whole_text(pending + data).encode()[len(pending) :]
