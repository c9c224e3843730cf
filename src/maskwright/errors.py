"""The error tree: every error the package raises on purpose, each with a stable ``code``.

Idea: a caller branches on ``error.code`` (kebab-case, never reworded) or on the class, and a person
reads ``str(error)``: what is wrong, where, what was expected and what to do. Errors about a text
show the line, the column, the source line and a caret; errors about a schema carry a JSON pointer.
All classes pickle with every attribute, so they cross process borders unchanged.
Cost: the position is computed once, when the error is made, by one scan of the source.
"""

from __future__ import annotations

from io import IOBase
from os import PathLike
from typing import Any

from .shown import printable

__all__ = [
    "BatchError",
    "BitmaskError",
    "CompileTimeoutError",
    "DeserializeFormatError",
    "DeserializeVersionError",
    "DiskCacheError",
    "DraftTreeError",
    "GrammarError",
    "GrammarSyntaxError",
    "InvalidJSONError",
    "InvalidSchemaError",
    "LimitExceededError",
    "MalformedIRError",
    "MaskwrightError",
    "MatcherError",
    "MissingDependencyError",
    "TokenizerError",
    "UnsatisfiableGrammarError",
    "UnsupportedFeatureError",
]

_MAX_EXCERPT_WIDTH = 100


def _rebuild(cls: type[MaskwrightError], text: str, state: dict[str, Any]) -> MaskwrightError:
    error = cls.__new__(cls, text)
    error.args = (text,)
    error.__dict__.update(state)
    return error


def locate(source: str, offset: int) -> tuple[int, int]:
    r"""Return the 1-based line and column (in code points) of ``offset`` in ``source``.

    A line ends at ``\n``, ``\r\n`` or a lone ``\r``.
    """
    offset = max(0, min(offset, len(source)))
    line_start = max(source.rfind("\n", 0, offset), source.rfind("\r", 0, offset)) + 1
    if 0 < offset < len(source) and source[offset] == "\n" and source[offset - 1] == "\r":
        # Between the two halves of "\r\n": still on the line that they end.
        before = offset - 1
        line_start = max(source.rfind("\n", 0, before), source.rfind("\r", 0, before)) + 1
    ends = (
        source.count("\n", 0, line_start)
        + source.count("\r", 0, line_start)
        - source.count("\r\n", 0, line_start)
    )
    return ends + 1, offset - line_start + 1


def excerpt(source: str, line: int, column: int) -> str:
    """Return the source line with a caret under ``column``, clipped around it when it is long."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    caret = max(0, min(column - 1, len(text)))
    prefix, suffix = "", ""
    if len(text) > _MAX_EXCERPT_WIDTH:
        start = max(0, min(caret - _MAX_EXCERPT_WIDTH // 2, len(text) - _MAX_EXCERPT_WIDTH))
        end = start + _MAX_EXCERPT_WIDTH
        prefix, suffix = "..." if start else "", "..." if end < len(text) else ""
        text, caret = text[start:end], caret - start
    shown = "".join(
        c if c == "\t" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text
    )
    # Tabs are repeated before the caret, so that it stays under its character at any tab width.
    padding = "".join("\t" if c == "\t" else " " for c in shown[:caret])
    return f"  {prefix}{shown}{suffix}\n  {' ' * len(prefix)}{padding}^"


def how_to_read(value: object, what: str = "its text") -> str:
    """Say how a file, a path or bytes become text, as the end of a message; else nothing.

    Args:
        value: What was given where text was expected.
        what: What else than a file would do.

    Example:
        >>> from pathlib import Path
        >>> how_to_read(Path("a.json"))
        '; read the file: pass its text'
    """
    if isinstance(value, type) or hasattr(value, "__origin__"):  # ``Box[int]`` has what Box has
        return ""
    if isinstance(value, PathLike):
        return f"; read the file: pass {what}"
    if isinstance(value, IOBase) or callable(getattr(value, "read", None)):
        return f"; read it: pass {what}"
    if isinstance(value, bytes | bytearray | memoryview):
        return f"; decode it: pass {what}"
    return ""


class MaskwrightError(Exception):
    """Root of the tree.

    Attributes:
        code: Stable kebab-case name of the fault, such as ``"ebnf-undefined-rule"``.
        message: What is wrong, without the position.
    """

    code: str
    message: str

    def __init__(self, message: str, *, code: str) -> None:
        message = printable(message)
        super().__init__(message)
        self.message = message
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), str(self), self.__dict__)


class _LocatedError(MaskwrightError):
    """Shared by the errors that can point into a source text.

    Attributes:
        source: The whole text, or None.
        offset: 0-based code point offset into ``source``, or None.
        line: 1-based line, or None.
        column: 1-based column in code points, or None.
    """

    source: str | None
    offset: int | None
    line: int | None
    column: int | None

    def _set_position(
        self,
        source: str | None,
        offset: int | None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        if source is not None and offset is not None and line is None:
            line, column = locate(source, offset)
        self.source, self.offset, self.line, self.column = source, offset, line, column
        if line is None:
            return
        column = 1 if column is None else column
        self.column = column
        text = f"{self.message} at line {line}, column {column}"
        if source is not None:
            text += "\n" + excerpt(source, line, column)
        self.args = (text,)


class GrammarError(MaskwrightError, ValueError, RuntimeError):
    """A grammar, pattern, schema or IR buffer that cannot be used."""


class GrammarSyntaxError(_LocatedError, GrammarError):
    """A grammar text or pattern that does not parse.

    Args:
        message: What is wrong, what was expected and what to do.
        code: Stable name of the fault.
        source: The whole text.
        offset: 0-based code point offset of the fault in ``source``.
        line: 1-based line; computed from ``source`` and ``offset`` when absent.
        column: 1-based column in code points; computed when absent.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        source: str | None = None,
        offset: int | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message, code=code)
        self._set_position(source, offset, line, column)


class UnsupportedFeatureError(_LocatedError, GrammarError):
    """A feature that is understood, or at least recognised, but not supported.

    Args:
        message: What is not supported and what to do instead.
        code: Stable name of the fault.
        feature: Name of the feature: a schema keyword, a macro, a regex construct.
        pointer: JSON pointer (``"#/properties/a"``) in a schema, ``"line:column"`` in a text.
        source: The whole grammar text; with ``offset`` it gives ``pointer`` and the caret.
        offset: 0-based code point offset in ``source``.
        node: The schema node of the IR that has it.
    """

    feature: str
    pointer: str | None
    node: int | None

    def __init__(
        self,
        message: str,
        *,
        code: str,
        feature: str,
        pointer: str | None = None,
        source: str | None = None,
        offset: int | None = None,
        node: int | None = None,
    ) -> None:
        super().__init__(message, code=code)
        self._set_position(source, offset)
        self.node = node
        if pointer is None and self.line is not None:
            pointer = f"{self.line}:{self.column}"
        self.feature = feature
        self.pointer = pointer


class InvalidSchemaError(GrammarError):
    """A JSON Schema that is malformed (``{"type": 5}``); ``pointer`` says where."""

    pointer: str

    def __init__(self, message: str, *, code: str, pointer: str) -> None:
        super().__init__(message, code=code)
        self.pointer = pointer


class UnsatisfiableGrammarError(GrammarError):
    """A grammar that no text, or no sequence of tokens, can complete.

    Args:
        message: What has no text, and what to do.
        code: Stable name of the fault.
        pointer: JSON pointer of the smallest part of a schema without a value, where it is known.
        node: The schema node of the IR for it.
    """

    pointer: str | None
    node: int | None

    def __init__(
        self, message: str, *, code: str, pointer: str | None = None, node: int | None = None
    ) -> None:
        super().__init__(message, code=code)
        self.pointer = pointer
        self.node = node


class MalformedIRError(GrammarError):
    """An IR buffer that breaks its format; ``offset`` is the byte offset of the fault."""

    offset: int

    def __init__(self, message: str, *, code: str = "ir-malformed", offset: int) -> None:
        super().__init__(f"{message} at byte {offset} of the IR buffer", code=code)
        self.offset = offset


class LimitExceededError(_LocatedError, MaskwrightError, ValueError, RuntimeError):
    """A named limit that the input is beyond.

    Args:
        message: What is too large, the limit and how to raise it.
        code: Stable name of the fault.
        limit: Name of the limit, as the argument that sets it is called.
        value: The value of the limit.
        source: The whole grammar text; with ``offset`` it gives line, column and caret.
        offset: 0-based code point offset in ``source``.
    """

    limit: str
    value: int

    def __init__(
        self,
        message: str,
        *,
        code: str,
        limit: str,
        value: int,
        source: str | None = None,
        offset: int | None = None,
    ) -> None:
        super().__init__(message, code=code)
        self._set_position(source, offset)
        self.limit = limit
        self.value = value


class CompileTimeoutError(MaskwrightError, TimeoutError):
    """A compilation that took longer than its caller allowed.

    Args:
        kind: What was compiled, as `GrammarCompiler.submit` calls it.
        timeout_seconds: What was allowed.
    """

    kind: str
    timeout_seconds: float

    def __init__(self, kind: str, timeout_seconds: float) -> None:
        super().__init__(
            f'compiling a grammar of kind "{kind}" took longer than timeout_seconds = '
            f"{timeout_seconds}, waiting for a thread included; allow more, or simplify it",
            code="compile-timeout",
        )
        self.kind = kind
        self.timeout_seconds = timeout_seconds


class TokenizerError(MaskwrightError, ValueError, RuntimeError):
    """A vocabulary or tokenizer file that cannot be used."""


class InvalidJSONError(MaskwrightError, ValueError, RuntimeError):
    """A stored form that is no JSON."""


class DeserializeFormatError(MaskwrightError, ValueError, RuntimeError):
    """A stored form that breaks its format."""


class DeserializeVersionError(MaskwrightError, ValueError, RuntimeError):
    """A stored form of another format version."""


class DiskCacheError(MaskwrightError, RuntimeError):
    """A folder or file that cannot be a disk cache, or cannot be cleared."""


class BitmaskError(MaskwrightError, ValueError, RuntimeError):
    """A bitmask or logits array with a wrong dtype, shape, strides or device."""


class BatchError(MaskwrightError, ValueError, RuntimeError):
    """Arguments of a call for many matchers that do not fit together; nothing has changed."""


class DraftTreeError(MaskwrightError, ValueError, RuntimeError):
    """A draft tree whose links are no tree, or that its other arrays do not fit."""


class MatcherError(MaskwrightError, RuntimeError):
    """A matcher call that its state does not allow, such as a mask after termination."""


class MissingDependencyError(MaskwrightError, ImportError):
    """An optional package that a feature needs is not installed; the message names it."""
