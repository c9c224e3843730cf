"""A chat request in the shape of OpenAI's chat completions, checked before anything starts.

Idea: reading a request takes each known field out of a copy of it, and checks it on the way; what
is left at the end is unknown, and refused by name. A field that is null is a field that is absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from maskwright.chat.errors import RequestError, SamplingError, field_error, shown
from maskwright.chat.fields import FieldReader, plain_integer
from maskwright.chat.idle_fields import IGNORED_FIELDS, take_idle_fields
from maskwright.chat.messages import read_messages
from maskwright.chat.response_format import TEXT, ResponseFormat, read_response_format
from maskwright.chat.sampling import SamplingParameters

if TYPE_CHECKING:
    from maskwright.chat.model import Message

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
        """Check what has a form of its own here, whoever makes or changes the request."""
        if not isinstance(self.response_format, ResponseFormat):
            raise field_error("response_format", "is no ResponseFormat; expected one")
        if not isinstance(self.sampling, SamplingParameters):
            raise field_error("sampling", "is no SamplingParameters; expected one")
        names = ("n", "max_tokens", "top_logprobs")
        reader = FieldReader({name: getattr(self, name) for name in names})
        n = reader.integer("n", 1, MOST_CHOICES)
        if n is None:
            raise field_error("n", f"is None; expected an integer from 1 to {MOST_CHOICES}")
        checked = {
            "messages": read_messages(self.messages),
            "stop": _stops(self.stop),
            "n": n,
            "max_tokens": reader.integer("max_tokens", 1),
            "top_logprobs": reader.integer("top_logprobs", 0, MOST_TOP_LOGPROBS) or 0,
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

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
            raise field_error("the request", f"is a {type(body).__name__}; expected an object")
        reader = FieldReader({**(body or {}), **fields})
        options = reader.take("stream_options")
        stream = reader.boolean("stream")
        request = cls(
            messages=reader.take("messages"),
            response_format=read_response_format(reader.take("response_format")),
            sampling=_sampling(reader),
            max_tokens=_max_tokens(reader),
            n=_or(reader.take("n"), 1),
            stop=reader.take("stop"),
            logprobs=reader.boolean("logprobs"),
            top_logprobs=_or(reader.take("top_logprobs"), 0),
            stream=stream,
            include_usage=_include_usage(options, stream),
        )
        if request.top_logprobs and not request.logprobs:
            raise field_error("top_logprobs", "is given without logprobs; set logprobs to true")
        take_idle_fields(reader)
        reader.finish(IGNORED_FIELDS)
        return request


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _sampling(reader: FieldReader) -> SamplingParameters:
    given = {name: value for name in _SAMPLING_FIELDS if (value := reader.take(name)) is not None}
    if plain_integer(given.get("top_k")) == -1:  # how some clients spell "all"
        given["top_k"] = 0
    seed = reader.integer("seed", -(_SEEDS >> 1), _SEEDS - 1)
    try:
        return SamplingParameters(
            temperature=_or(reader.take("temperature"), 1.0),
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
        raise field_error("logit_bias", f"is a {type(value).__name__}; expected an object")
    bias: dict[int, Any] = {}
    for key, entry in value.items():
        token_id = _token_id(key)
        if token_id is None:
            raise field_error(
                "logit_bias",
                f"has the key {shown(key)}; expected token ids: integers at least 0, or their "
                "decimal digits",
            )
        if token_id in bias:
            raise field_error(
                "logit_bias", f"has the key {token_id} twice; give each token one bias"
            )
        bias[token_id] = entry
    return bias or None


def _token_id(key: object) -> int | None:
    """The token id that a key of the bias names; None: it names none."""
    if isinstance(key, str):
        is_number = key.isascii() and key.isdecimal() and len(key) <= _MOST_DIGITS
        return int(key) if is_number else None
    number = plain_integer(key)
    return number if number is not None and 0 <= number < 10**_MOST_DIGITS else None


def _max_tokens(reader: FieldReader) -> int | None:
    old = reader.integer("max_tokens", 1)
    new = reader.integer("max_completion_tokens", 1)
    if old is not None and new is not None and old != new:
        raise field_error(
            "max_tokens",
            f"is {shown(old)} and max_completion_tokens {shown(new)}; give one, or the same number",
        )
    return old if new is None else new


def _stops(value: Any) -> tuple[str, ...]:
    stops = (value,) if isinstance(value, str) else value
    if stops is None:
        return ()
    if not isinstance(stops, list | tuple) or len(stops) > MOST_STOPS:
        raise field_error(
            "stop", f"is {shown(value)}; expected text, or a list of at most {MOST_STOPS}"
        )
    for stop in stops:
        if not isinstance(stop, str) or not stop:
            raise field_error("stop", f"has {shown(stop)}; expected texts that are not empty")
    return tuple(stops)


def _include_usage(options: Any, stream: bool) -> bool:
    if options is None:
        return False
    if not isinstance(options, Mapping):
        raise field_error("stream_options", f"is a {type(options).__name__}; expected an object")
    if not stream:
        raise field_error("stream_options", "is given without stream; set stream to true")
    reader = FieldReader(dict(options), "stream_options.")
    include = reader.boolean("include_usage")
    reader.boolean("include_obfuscation")  # about the lengths of network packets
    reader.finish()
    return include
