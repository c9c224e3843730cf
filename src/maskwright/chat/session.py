"""The high-level entry: load a model, generate text that has a given format.

Idea: a session is the chat engine for one caller at a time, who wants a parsed value and may want
to see tokens as they come.

Example:
    >>> session = load()  # doctest: +SKIP
    >>> session.generate("A city, please.", {"type": "string"}).parsed  # doctest: +SKIP
    'Paris'
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any

from maskwright.chat.chat_engine import ChatEngine
from maskwright.chat.llama_cpp_model import LlamaCppModel
from maskwright.chat.parsing import parse_answer
from maskwright.chat.request import ChatRequest
from maskwright.chat.response_format import SchemaFormat, format_of
from maskwright.chat.result import Result
from maskwright.chat.transformers_model import TransformersModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Self

    from maskwright.chat.completion import Delta, Ending
    from maskwright.chat.model import LanguageModel, Message
    from maskwright.chat.response_format import ResponseFormat

OnText = Callable[[str], object]
"""Called with each new piece of text, never with a part of a code point."""
OnToken = Callable[[int, bytes], object]
"""Called with each new token and the bytes it contributes to the text."""


def load(
    path_or_model: str | PathLike[str] | LanguageModel | Any = None,
    *,
    engine_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Session:
    """Load a model for structured generation.

    Args:
        path_or_model: A GGUF file, a `llama_cpp.Llama`, a causal language model of transformers, or
            any object that is a `LanguageModel`. None takes the small embedded model of the extra
            ``demo``.
        engine_options: Options of the session's `ChatEngine` by name: ``json_options``,
            ``disk_cache`` and so on; None: its defaults.
        **options: For a file, the options of `LlamaCppModel` (``context_size``, ``threads``,
            ``max_sequences``, ``gpu_layers``); for a model of transformers those of
            `TransformersModel`, of which ``tokenizer`` must be there.

    Returns:
        A session with the model.

    Raises:
        MissingDependencyError: An optional package is not installed; the message says which.
        TokenizerError: The file is no GGUF file, or its vocabulary is not supported.
        ModelError: The file cannot be loaded.
        TypeError: The model is none of these, options were given for a loaded one, or
            ``engine_options`` has one that there is not.
        ValueError: An option is out of its range.
        GrammarError: One of ``json_options`` has no meaning.
    """
    model = _loaded(path_or_model, options)
    return Session(model, ChatEngine(model, **engine_options) if engine_options else None)


def _loaded(path_or_model: Any, options: dict[str, Any]) -> LanguageModel:
    if path_or_model is None or isinstance(path_or_model, str | PathLike):
        return LlamaCppModel(path_or_model, **options)
    if hasattr(path_or_model, "get_output_embeddings"):  # of transformers
        return TransformersModel(path_or_model, **options)
    if options:
        raise TypeError(f"options {sorted(options)} are for loading a file; the model is loaded")
    if hasattr(path_or_model, "render_chat"):
        model: LanguageModel = path_or_model
        return model
    if not hasattr(path_or_model, "model_path"):
        raise TypeError(
            f"path_or_model is a {type(path_or_model).__name__}; expected the path of a GGUF "
            "file, a llama_cpp.Llama, a model of transformers or a LanguageModel"
        )
    return LlamaCppModel.from_llama(path_or_model)


class Session:
    """A model with the engine that holds its output to a format.

    Each call of `generate` is a conversation of its own.

    Args:
        model: The model. From the first answer on it belongs to the engine, until `close`.
        engine: An engine of that model; None makes one for the first answer.
    """

    def __init__(self, model: LanguageModel, engine: ChatEngine | None = None) -> None:
        self.model = model
        self._engine = engine

    @property
    def engine(self) -> ChatEngine:
        """The engine: for several requests at a time, several choices, streams."""
        if self._engine is None:
            self._engine = ChatEngine(self.model)
        return self._engine

    def generate(
        self,
        prompt: str | Sequence[Message],
        format: Any = None,  # noqa: A002  the name that the field uses for it
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        top_p: float = 1.0,
        top_k: int = 0,
        min_p: float = 0.0,
        seed: int | None = None,
        on_text: OnText | None = None,
        on_token: OnToken | None = None,
    ) -> Result:
        r"""Generate text, held to a format if one is given.

        The prompt is sent as it is: a format restricts what the model can answer, it does not tell
        the model what is expected. Say so in the prompt.

        Under a schema the text has no whitespace but that after ``,`` and ``:``, strings have no
        ``\u`` escape where anything else can come, and numbers no exponent.

        Args:
            prompt: What the user says, or a whole list of chat messages.
            format: A JSON Schema (object, Boolean or JSON text), a pydantic model class or another
                type with a schema, a `Grammar`, or None for free text.
            max_tokens: The most tokens to generate. Text that is held to a format is complete
                within them; free text may be cut off, and the result says so.
            temperature: 0 takes the most likely token at each step, so that the same call gives the
                same answer; a request to the engine has 1 where it says nothing, as OpenAI's API.
            top_p: Sample from the most likely tokens that together reach this probability.
            top_k: Sample from this many of the most likely tokens; 0 for all.
            min_p: Sample from tokens with at least this share of the best one's probability.
            seed: Makes sampling repeatable.
            on_text: Called with new text as it comes, in whole code points.
            on_token: Called with each token id and its bytes.

        Returns:
            The text, its parsed value (schemas only), counts, times and the certificate.

        Raises:
            GrammarError: The format cannot be used; the message says why and where.
            LimitExceededError: The format is beyond a limit.
            MatcherError: The format takes more tokens than `max_tokens`; the message says how many.
            ModelError: The prompt does not fit, or the model fails.
            RequestError: A message or a sampling parameter cannot be used; also a ValueError.
            AnswerError: A validator of the type refuses the text, or Python cannot hold the
                value; with the ``text``, and pydantic's error as its cause.
        """
        response_format = format_of(format)
        request = ChatRequest.read(
            messages=[{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt,
            response_format=response_format,
            max_tokens=max_tokens,
            temperature=temperature,
            top_p=top_p,
            top_k=top_k,
            min_p=min_p,
            seed=seed,
        )
        deltas: list[Delta] = []
        with self.engine.deltas(request) as stream:
            for delta in stream:
                deltas.append(delta)
                if on_token is not None and delta.token is not None:
                    on_token(delta.token.token_id, delta.token.data)
                if on_text is not None and delta.text:
                    on_text(delta.text)
        assert stream.ending is not None, "the request has not ended"
        return _result(deltas, stream.ending, response_format)

    def close(self) -> None:
        """Close the engine; the model is left as it is."""
        if self._engine is not None:
            self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def _result(deltas: list[Delta], ending: Ending, response_format: ResponseFormat) -> Result:
    text = "".join(delta.text for delta in deltas)
    finish_reason = deltas[-1].finish_reason or "stop"
    parsed = None
    if isinstance(response_format, SchemaFormat) and finish_reason == "stop":
        parsed = parse_answer(text, response_format.schema)
    return Result(
        text=text,
        parsed=parsed,
        usage=ending.usage,
        finish_reason=finish_reason,
        token_ids=tuple(d.token.token_id for d in deltas if d.token is not None),
        certificate=ending.certificate,
        at_token_limit=bool(ending.at_token_limit),
    )
