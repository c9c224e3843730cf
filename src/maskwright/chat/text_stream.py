"""Turns the bytes of tokens into text that may be handed on, and finds stop strings in it.

Idea: text is handed on in whole code points, and its end is held back as long as it could be the
beginning of a stop string. What is held is the longest such end, so a stop string that is found
begins in it or behind it, and everything before can be forgotten.
Cost: per token one search for each stop string, over the new text and what is held.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MayEnd = Callable[[str], bool]
"""Whether an answer may end with this text."""


class TextStream:
    r"""The text of one answer.

    Args:
        stops: Texts that end the answer; what is before them is returned, they are not.
        may_end: Asked when a stop string is found, with all text before it; where it says no, the
            stop string is text like any other. None: every text may end.

    Example:
        >>> stream = TextStream(["END"])
        >>> stream.feed(b"one E"), stream.feed(b"N"), stream.feed(b"D two"), stream.stopped
        ('one ', '', '', True)
    """

    def __init__(self, stops: Sequence[str] = (), may_end: MayEnd | None = None) -> None:
        self._stops = stops
        self._may_end = may_end
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._pieces: list[str] = []
        self.stopped = False
        """Whether a stop string has ended the text."""

    @property
    def text(self) -> str:
        """All text that was handed on."""
        return "".join(self._pieces)

    def feed(self, data: bytes) -> str:
        """Append bytes; nothing after a stop string.

        Returns:
            The text that is certain now.
        """
        return self._append(self._decoder.decode(data))

    def finish(self) -> str:
        """End the text; an unfinished code point becomes U+FFFD.

        Returns:
            What was held back.
        """
        last = self._append(self._decoder.decode(b"", final=True))
        held, self._held = self._held, ""
        return last + self._hand_on(held)

    def _append(self, piece: str) -> str:
        if not piece or self.stopped:
            return ""
        text = self._held + piece
        for begin in self._found(text):
            if self._may_end is None or self._may_end(self.text + text[:begin]):
                self.stopped = True
                self._held = ""
                return self._hand_on(text[:begin])
        keep = self._could_begin(text)
        self._held = text[len(text) - keep :]
        return self._hand_on(text[: len(text) - keep])

    def _found(self, text: str) -> Iterator[int]:
        """Where stop strings begin that end in the new part of a text, the first to end first."""
        found: set[tuple[int, int]] = set()
        for stop in self._stops:
            begin = text.find(stop, max(0, len(self._held) - len(stop) + 1))
            while begin >= 0:
                found.add((begin + len(stop), begin))
                begin = text.find(stop, begin + 1)
        return (begin for _, begin in sorted(found))

    def _could_begin(self, text: str) -> int:
        """How many characters at the end of a text begin a stop string."""
        longest = max(map(len, self._stops), default=1) - 1
        for size in range(min(longest, len(text)), 0, -1):
            if any(stop.startswith(text[-size:]) for stop in self._stops if len(stop) > size):
                return size
        return 0

    def _hand_on(self, text: str) -> str:
        if text:
            self._pieces.append(text)
        return text
