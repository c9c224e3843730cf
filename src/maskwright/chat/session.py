"""The high-level entry: load a model, generate text that has a given format.

Example:
    >>> session = load()  # doctest: +SKIP
    >>> session.generate("A city, please.", {"type": "string"}).parsed  # doctest: +SKIP
    'Paris'
"""

from __future__ import annotations

import json
from os import PathLike
from time import perf_counter
from typing import TYPE_CHECKING, Any

from maskwright.chat.constraint import Constraint, FreeText
from maskwright.chat.engine import GrammarEngine, MaskwrightEngine
from maskwright.chat.generate import OnText, OnToken, generate, token_limit
from maskwright.chat.llama_cpp_model import LlamaCppModel
from maskwright.chat.result import Result
from maskwright.chat.sampling import Sampler, SamplingParameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from maskwright.chat.model import LanguageModel, Message


def load(
    path_or_model: str | PathLike[str] | LanguageModel | Any = None, **options: Any
) -> Session:
    """Load a model for structured generation.

    Args:
        path_or_model: A GGUF file, a `llama_cpp.Llama`, or any object that is a `LanguageModel`.
            None takes the small embedded model of the extra ``demo``.
        **options: For a file, the options of `LlamaCppModel` (``context_size``, ``threads``,
            ``gpu_layers``).

    Returns:
        A session with the model.

    Raises:
        MissingDependencyError: An optional package is not installed; the message says which.
        TokenizerError: The file is no GGUF file, or its vocabulary is not supported.
        ModelError: The file cannot be loaded.
        TypeError: The model is none of these, or options were given for a loaded one.
    """
    if path_or_model is None or isinstance(path_or_model, str | PathLike):
        return Session(LlamaCppModel(path_or_model, **options))
    if options:
        raise TypeError(f"options {sorted(options)} are for loading a file; the model is loaded")
    if hasattr(path_or_model, "render_chat"):
        return Session(path_or_model)
    if not hasattr(path_or_model, "model_path"):
        raise TypeError(
            f"path_or_model is a {type(path_or_model).__name__}; expected the path of a GGUF "
            "file, a llama_cpp.Llama or a LanguageModel"
        )
    return Session(LlamaCppModel.from_llama(path_or_model))


class Session:
    """A model with the machinery that holds its output to a format.

    Each call of `generate` is a conversation of its own. Not for use by several threads at a time.

    Args:
        model: The model.
        engine: Compiles formats; None takes the real machinery over the model's vocabulary.
    """

    def __init__(self, model: LanguageModel, engine: GrammarEngine | None = None) -> None:
        self.model = model
        self._engine = engine

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

        Under a schema the text has no whitespace but that after ``,`` and ``:``, and strings have
        no ``\u`` escape where anything else can come.

        Args:
            prompt: What the user says, or a whole list of chat messages.
            format: A JSON Schema (object, Boolean or JSON text), a pydantic model class or another
                type with a schema, a `Grammar`, or None for free text.
            max_tokens: The most tokens to generate. Text that is held to a format is complete
                within them; free text may be cut off, and the result says so.
            temperature: 0 takes the most likely token at each step.
            top_p: Sample from the most likely tokens that together reach this probability.
            top_k: Sample from this many of the most likely tokens; 0 for all.
            min_p: Sample from tokens with at least this share of the best one's probability.
            seed: Makes sampling repeatable.
            on_text: Called with new text as it comes, in whole code points.
            on_token: Called with each token id and its bytes.

        Returns:
            The text, its parsed value (schemas only), counts and times.

        Raises:
            GrammarError: The format cannot be used; the message says why and where.
            LimitExceededError: The format is beyond a limit.
            MatcherError: The format takes more tokens than `max_tokens`; the message says how many.
            ModelError: The prompt does not fit, or the model fails.
            ValueError: A sampling parameter is out of range.
            pydantic.ValidationError: A validator of the model class refuses the text.
        """
        sampler = Sampler(SamplingParameters(temperature, top_p, top_k, min_p, seed))
        compiled, compile_seconds = self._compile(format)
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        prompt_ids = self.model.tokenize(self.model.render_chat(messages))
        constraint = self._constraint(compiled, token_limit(self.model, prompt_ids, max_tokens))
        generation = generate(
            self.model,
            prompt_ids,
            constraint,
            sampler,
            max_tokens=max_tokens,
            on_text=on_text,
            on_token=on_token,
            compile_seconds=compile_seconds,
        )
        complete = generation.finish_reason == "stop"
        return Result(
            text=generation.text,
            parsed=self._parse(generation.text, format) if complete else None,
            usage=generation.usage,
            finish_reason=generation.finish_reason,
            token_ids=generation.token_ids,
        )

    def _machinery(self) -> GrammarEngine:
        if self._engine is None:
            self._engine = MaskwrightEngine(self.model.vocabulary)
        return self._engine

    def _compile(self, output_format: Any) -> tuple[Any, float]:
        """The compiled format, None for free text, and the seconds that took."""
        if output_format is None:
            return None, 0.0
        engine = self._machinery()
        start = perf_counter()
        return engine.compile(output_format), perf_counter() - start

    def _constraint(self, compiled: Any, max_tokens: int) -> Constraint:
        """The rules of one generation."""
        if compiled is None:
            return FreeText(self.model.vocabulary.stop_token_ids)
        return self._machinery().constraint(compiled, max_tokens)

    def _parse(self, text: str, output_format: Any) -> Any:
        if output_format is None or self._machinery().is_grammar(output_format):
            return None
        for validate in ("model_validate_json", "validate_json"):  # model class, TypeAdapter
            if hasattr(output_format, validate):
                return getattr(output_format, validate)(text)
        return json.loads(text)
