"""A chat request in the shape of OpenAI's chat completions, checked before anything starts.

Idea: reading a request takes each known field out of a copy of it, and checks it on the way; what
is left at the end is unknown, and refused by name. A field that is null is a field that is absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any, Final

from maskwright.chat.errors import RequestError, SamplingError, shown, unknown_field
from maskwright.chat.response_format import TEXT, ResponseFormat, read_response_format
from maskwright.chat.sampling import SamplingParameters

if TYPE_CHECKING:
    from maskwright.chat.model import Message

IGNORED_FIELDS: Final = frozenset(
    {
        "metadata",
        "model",
        "prompt_cache_key",
        "prompt_cache_retention",
        "safety_identifier",
        "service_tier",
        "store",
        "user",
    }
)
"""Fields that are accepted and change nothing: they are about accounts, storage or prices, and the
engine has one model."""

MOST_STOPS: Final = 16
MOST_CHOICES: Final = 128
MOST_TOP_LOGPROBS: Final = 20
_SEEDS: Final = 1 << 64
_MOST_DIGITS: Final = 10
"""Of a token id: more than any vocabulary takes."""
_SAMPLING_FIELDS: Final = (
    "top_p",
    "top_k",
    "min_p",
    "presence_penalty",
    "frequency_penalty",
    "repetition_penalty",
)


@dataclass(frozen=True)
class ChatRequest:
    """What is asked of the engine; made by `ChatRequest.read`, which checks every field.

    Attributes:
        messages: The conversation so far.
        response_format: What the answer must be.
        sampling: How tokens are chosen.
        max_tokens: The most tokens of each choice; None: what the context has place for.
        n: How many answers.
        stop: Texts that end an answer.
        logprobs: Whether log-probabilities of tokens are wanted.
        top_logprobs: How many of the most likely tokens at each place.
        stream: What the client asked for; the engine leaves it to its caller.
        include_usage: Whether a stream ends with a chunk that has the usage.
    """

    messages: tuple[Message, ...]
    response_format: ResponseFormat = TEXT
    sampling: SamplingParameters = field(default_factory=lambda: SamplingParameters(1.0))
    max_tokens: int | None = None
    n: int = 1
    stop: tuple[str, ...] = ()
    logprobs: bool = False
    top_logprobs: int = 0
    stream: bool = False
    include_usage: bool = False

    def __post_init__(self) -> None:
        """Check again what `dataclasses.replace` may have changed."""
        _messages(self.messages)
        _stops(self.stop)
        if not isinstance(self.response_format, ResponseFormat):
            raise _error("response_format", "is no ResponseFormat; expected one")
        if not isinstance(self.sampling, SamplingParameters):
            raise _error("sampling", "is no SamplingParameters; expected one")
        reader = _Reader({"n": self.n, "max_tokens": self.max_tokens})
        if reader.integer("n", 1, MOST_CHOICES) is None:
            raise _error("n", f"is None; expected an integer from 1 to {MOST_CHOICES}")
        reader.integer("max_tokens", 1)
        _Reader({"top_logprobs": self.top_logprobs}).integer("top_logprobs", 0, MOST_TOP_LOGPROBS)

    @classmethod
    def read(cls, body: Mapping[str, Any] | None = None, /, **fields: Any) -> ChatRequest:
        """Read and check a request.

        Args:
            body: The fields as an object, as parsed from JSON.
            **fields: More fields, or all of them; they come before those of `body`.

        Raises:
            RequestError: A field is unknown (``request-unknown-field``), of a wrong type or out of
                range (``request-field``), or not supported (``request-not-supported``); ``param``
                says which.

        Example:
            >>> request = ChatRequest.read(messages=[{"role": "user", "content": "Hi"}], n=2)
            >>> request.n, request.sampling.temperature
            (2, 1.0)
        """
        if not isinstance(body, Mapping | None):
            raise _error("the request", f"is a {type(body).__name__}; expected an object")
        reader = _Reader({**(body or {}), **fields})
        options = reader.take("stream_options")
        stream = reader.boolean("stream")
        request = cls(
            messages=_messages(reader.take("messages")),
            response_format=read_response_format(reader.take("response_format")),
            sampling=_sampling(reader),
            max_tokens=_max_tokens(reader),
            n=reader.integer("n", 1, MOST_CHOICES) or 1,
            stop=_stops(reader.take("stop")),
            logprobs=reader.boolean("logprobs"),
            top_logprobs=reader.integer("top_logprobs", 0, MOST_TOP_LOGPROBS) or 0,
            stream=stream,
            include_usage=_include_usage(options, stream),
        )
        if request.top_logprobs and not request.logprobs:
            raise _error("top_logprobs", "is given without logprobs; set logprobs to true")
        reader.finish(IGNORED_FIELDS)
        return request


class _Reader:
    """Takes fields out of an object, whose own name in the request, with a dot, is ``within``."""

    def __init__(self, fields: dict[str, Any], within: str = "") -> None:
        self._fields = {name: value for name, value in fields.items() if value is not None}
        self._within = within

    def take(self, name: str) -> Any:
        """The value of a field, None if it is not there."""
        return self._fields.pop(name, None)

    def boolean(self, name: str) -> bool:
        value = self.take(name)
        if value is not None and not isinstance(value, bool):
            raise _error(self._within + name, f"is {shown(value)}; expected true or false")
        return bool(value)

    def integer(self, name: str, low: int, high: int | None = None) -> int | None:
        value = self.take(name)
        if value is None:
            return None
        is_bool = isinstance(value, bool)
        if is_bool or not isinstance(value, int) or value < low or (high and value > high):
            bounds = f"at least {low}" if high is None else f"from {low} to {high}"
            raise _error(self._within + name, f"is {shown(value)}; expected an integer {bounds}")
        return value

    def finish(self, ignored: frozenset[str] = frozenset()) -> None:
        """Refuse what is left, but for what is ignored on purpose."""
        for name in self._fields:
            if name not in ignored:
                raise unknown_field(f"{self._within}{name}")


def _messages(value: Any) -> tuple[Message, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise _error("messages", "is not there or empty; expected a list of messages")
    return tuple(_message(message, f"messages[{i}]") for i, message in enumerate(value))


def _message(value: Any, place: str) -> Message:
    if not isinstance(value, Mapping):
        raise _error(place, f"is a {type(value).__name__}; expected an object")
    message = {name: entry for name, entry in value.items() if entry is not None}
    if not isinstance(message.get("role"), str) or not message["role"]:
        raise _error(f"{place}.role", "is not there or no text; expected a role such as 'user'")
    message["content"] = _content(message.get("content"), f"{place}.content")
    for name, entry in message.items():
        if not isinstance(entry, str):
            raise _error(f"{place}.{name}", f"is a {type(entry).__name__}; expected text")
        _refuse_surrogates(entry, f"{place}.{name}")
    return message


def _refuse_surrogates(text: str, place: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _error(
            place,
            f"is no Unicode text: it has a lone surrogate at character {error.start + 1}; decode "
            "it from the right encoding",
        ) from error


def _content(value: Any, place: str) -> Any:
    """The text of a message; a list of text parts is one text."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list | tuple):
        raise _error(place, "is not there or no text; expected text or a list of text parts")
    texts: list[str] = []
    for i, part in enumerate(value):
        text = part.get("text") if isinstance(part, Mapping) else None
        if not isinstance(text, str) or part.get("type") != "text":
            raise _error(f"{place}[{i}]", 'is no text; expected {"type": "text", "text": "..."}')
        texts.append(text)
    return "".join(texts)


def _sampling(reader: _Reader) -> SamplingParameters:
    given = {name: value for name in _SAMPLING_FIELDS if (value := reader.take(name)) is not None}
    if given.get("top_k") == -1:  # how some clients spell "all"
        given["top_k"] = 0
    temperature = reader.take("temperature")
    seed = reader.integer("seed", -(_SEEDS >> 1), _SEEDS - 1)
    try:
        return SamplingParameters(
            temperature=1.0 if temperature is None else temperature,
            seed=None if seed is None else seed % _SEEDS,
            logit_bias=_logit_bias(reader.take("logit_bias")),
            **given,
        )
    except SamplingError as error:
        name = str(error).split(" ", 1)[0].split("[", 1)[0]
        raise RequestError(str(error), code="request-field", param=name) from error


def _logit_bias(value: Any) -> dict[int, float] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise _error("logit_bias", f"is a {type(value).__name__}; expected an object")
    bias: dict[int, Any] = {}
    for key, entry in value.items():
        token_id = _token_id(key)
        if token_id is None:
            raise _error(
                "logit_bias",
                f"has the key {shown(key)}; expected token ids: integers at least 0, or their "
                "decimal digits",
            )
        if token_id in bias:
            raise _error("logit_bias", f"has the key {token_id} twice; give each token one bias")
        bias[token_id] = entry
    return bias


def _token_id(key: object) -> int | None:
    """The token id that a key of the bias names; None: it names none."""
    if isinstance(key, str):
        is_number = key.isascii() and key.isdecimal() and len(key) <= _MOST_DIGITS
        return int(key) if is_number else None
    is_bool = isinstance(key, bool)
    if is_bool or not isinstance(key, Integral):
        return None
    return int(key) if 0 <= int(key) < 10**_MOST_DIGITS else None


def _max_tokens(reader: _Reader) -> int | None:
    old = reader.integer("max_tokens", 1)
    new = reader.integer("max_completion_tokens", 1)
    if old is not None and new is not None and old != new:
        raise _error(
            "max_tokens", f"is {old} and max_completion_tokens {new}; give one, or the same number"
        )
    return old if new is None else new


def _stops(value: Any) -> tuple[str, ...]:
    stops = (value,) if isinstance(value, str) else value
    if stops is None:
        return ()
    if not isinstance(stops, list | tuple) or len(stops) > MOST_STOPS:
        raise _error("stop", f"is {shown(value)}; expected text, or a list of at most {MOST_STOPS}")
    for stop in stops:
        if not isinstance(stop, str) or not stop:
            raise _error("stop", f"has {shown(stop)}; expected texts that are not empty")
    return tuple(stops)


def _include_usage(options: Any, stream: bool) -> bool:
    if options is None:
        return False
    if not isinstance(options, Mapping):
        raise _error("stream_options", f"is a {type(options).__name__}; expected an object")
    if not stream:
        raise _error("stream_options", "is given without stream; set stream to true")
    reader = _Reader(dict(options), "stream_options.")
    include = reader.boolean("include_usage")
    reader.boolean("include_obfuscation")  # about the lengths of network packets
    reader.finish()
    return include


def _error(name: str, found: str) -> RequestError:
    return RequestError(f"{name} {found}", code="request-field", param=name)
