"""Errors of the parts that run a language model."""

from __future__ import annotations

from asyncio import CancelledError
from typing import Any, Final

from maskwright.computation import copied
from maskwright.errors import (
    GrammarError,
    InvalidSchemaError,
    LimitExceededError,
    MaskwrightError,
    MissingDependencyError,
)
from maskwright.shown import cut, printable, shown

__all__ = [
    "AnswerError",
    "EngineBusyError",
    "EngineClosedError",
    "EngineThreadError",
    "MissingDependencyError",
    "ModelError",
    "RequestError",
    "RequestTimeoutError",
    "SamplingError",
    "as_failure",
    "error_body",
    "field_error",
    "is_invalid_request",
    "not_supported",
    "own_failure",
    "shown",
    "unknown_field",
]

_BLAMED_FIELDS: Final = {
    "compile-timeout": "response_format",
    "matcher-budget-too-small": "max_tokens",
    "prompt-empty": "messages",
    "prompt-too-long": "messages",
    "chat-template-failed": "messages",
}
"""The fields of a request that errors of these codes are about."""


class ModelError(MaskwrightError, RuntimeError):
    """A model that cannot be loaded or does not run."""


class AnswerError(ModelError, ValueError):
    """An answer that is of its format and still cannot be returned as a value.

    Attributes:
        text: The answer.
    """

    text: str

    def __init__(self, message: str, *, code: str, text: str) -> None:
        super().__init__(message, code=code)
        self.text = text


class SamplingError(MaskwrightError, ValueError):
    """A sampling parameter out of range, or a logit processor that gives no row of logits."""


class EngineClosedError(MaskwrightError, RuntimeError):
    """The engine was closed, or its thread has failed."""


class EngineBusyError(MaskwrightError, RuntimeError):
    """So many requests wait that the engine takes no more; the same one may do later."""


class RequestTimeoutError(MaskwrightError, TimeoutError):
    """A request that took longer than the engine allows.

    Args:
        timeout_seconds: What is allowed.
    """

    timeout_seconds: float

    def __init__(self, timeout_seconds: float) -> None:
        super().__init__(
            f"the request took longer than request_timeout_seconds = {timeout_seconds}, waiting "
            "included; ask for fewer tokens, ask again when fewer requests run, or allow more",
            code="request-timeout",
        )
        self.timeout_seconds = timeout_seconds


class EngineThreadError(MaskwrightError, RuntimeError):
    """The engine was asked by its own thread, which would wait for itself."""


class RequestError(MaskwrightError, ValueError):
    """A request that cannot be run as it is.

    Attributes:
        param: The field at fault, ``"messages[0].role"`` for example.
    """

    param: str | None

    def __init__(self, message: str, *, code: str, param: str | None) -> None:
        super().__init__(message, code=code)
        self.param = param


def field_error(name: str, found: str) -> RequestError:
    """What to raise for a field with a value that it cannot have."""
    name = cut(name)
    return RequestError(f"{name} {found}", code="request-field", param=name)


def not_supported(name: str, found: str) -> RequestError:
    """What to raise for a field that asks for something that is not there."""
    name = cut(name)
    return RequestError(f"{name} {found}", code="request-not-supported", param=name)


def unknown_field(name: str) -> RequestError:
    """What to raise for a field that nobody reads."""
    return RequestError(
        f"the field {shown(name)} is not supported; leave it out",
        code="request-unknown-field",
        param=cut(name),
    )


_ENDINGS: Final = (StopIteration, StopAsyncIteration, GeneratorExit, CancelledError)


def as_failure(error: BaseException) -> BaseException:
    """Return the error itself, or one that no loop takes for the regular end of a stream."""
    if not isinstance(error, _ENDINGS):
        return error
    failure = ModelError(
        f"the model, its tokenizer or a logit processor raised {type(error).__name__}, which "
        "callers would take for the end of the answer; have it raise another exception",
        code="model-stop-iteration",
    )
    failure.__cause__ = error
    return failure


def own_failure(error: BaseException) -> BaseException:
    """Return what one caller is told of an error: a copy of its own, with the error as its cause.

    An error that cannot be copied becomes a `ModelError` (``model-call-failed``).
    """
    own = copied(error)
    if own is error or type(own) is not type(error):
        own = ModelError(
            f"the model, its tokenizer or a logit processor failed: {shown(error)}",
            code="model-call-failed",
        )
        own.__cause__ = error
    return own


def error_body(error: BaseException) -> dict[str, Any]:
    """Return an error as OpenAI's API lays it out.

    Beside ``message``, ``type``, ``param`` and ``code`` it has, for a schema or grammar that was
    refused, ``pointer`` (where in it), ``keyword`` (what there) and ``reason``; None where the
    error does not say. ``type`` is ``"invalid_request_error"`` if another request would do,
    ``"rate_limit_error"`` if this one would do later, as with HTTP's status 429, and
    ``"server_error"`` if neither is known. Lone surrogates are written as escapes, so all of it
    can be sent as UTF-8.

    Example:
        >>> body = error_body(RequestError("n is 0", code="request-field", param="n"))["error"]
        >>> body["type"], body["param"], body["code"]
        ('invalid_request_error', 'n', 'request-field')
    """
    code = getattr(error, "code", None) or "internal"
    refused_format = isinstance(error, GrammarError | LimitExceededError)
    body = {
        "message": str(error) or type(error).__name__,
        "type": _type_of(error),
        "param": _param(error),
        "code": code,
    }
    if refused_format:
        pointer = getattr(error, "pointer", None)
        body["pointer"] = pointer
        body["keyword"] = getattr(error, "feature", None) or _last_part(pointer)
        body["reason"] = getattr(error, "message", str(error))
    return {"error": {key: _encodable(value) for key, value in body.items()}}


def _encodable(value: object) -> object:
    return printable(value) if isinstance(value, str) else value


def is_invalid_request(error: BaseException) -> bool:
    """Whether another request would do: the fault is in a field of this one."""
    return _param(error) is not None or isinstance(error, RequestError | SamplingError)


def _param(error: BaseException) -> str | None:
    """The field of a request that an error is about."""
    if isinstance(error, InvalidSchemaError) and not error.pointer.startswith("#"):
        return None  # in a document of the engine's registry, of which no client knows
    if isinstance(error, GrammarError | LimitExceededError):
        return "response_format"
    return getattr(error, "param", None) or _BLAMED_FIELDS.get(getattr(error, "code", ""))


def _type_of(error: BaseException) -> str:
    if isinstance(error, EngineBusyError):
        return "rate_limit_error"
    return "invalid_request_error" if is_invalid_request(error) else "server_error"


def _last_part(pointer: str | None) -> str | None:
    """The keyword that a JSON pointer ends with; None at the root, and for ``line:column``."""
    if pointer is None or not pointer.startswith("#/"):
        return None
    return pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
