"""A model of transformers, on the CPU or the device that it has been loaded to.

What it does: keeps a cache per sequence, and evaluates new tokens with the model's own `forward`.
Idea: sequences are evaluated one after the other, each with its own cache, as the model made it.
That is right for every kind of cache (sliding windows, hybrid layers) and needs no padding, whose
masks and positions models treat differently.
Cost: a step of n sequences takes n times the time of one, since the weights are read n times. For
throughput with many sequences use a serving engine. Per row of logits one copy to the CPU.
"""

from __future__ import annotations

import copy
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from maskwright.chat.chat_templates import plain_prompt, template_failed
from maskwright.chat.errors import MissingDependencyError, ModelError
from maskwright.chat.sequence_lengths import SequenceLengths
from maskwright.tokenizers.objects import read_object

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from numpy.typing import NDArray

    from maskwright.chat.model import Message, SequenceInput
    from maskwright.tokenizers import VocabularyData


class TransformersModel:
    """A causal language model of transformers. Not for use by several threads at a time.

    Args:
        model: The loaded model; it is set to evaluation mode and stays where it is.
        tokenizer: Its tokenizer: a fast one, or one around SentencePiece or tiktoken.
        context_size: The most tokens of one sequence; None takes what the model's configuration
            says, which is the limit anyway.
        max_sequences: How many sequences may be in use at the same time. A cache grows with its
            sequence, so unused ones cost nothing.

    Raises:
        MissingDependencyError: torch is not installed.
        ModelError: The model gives no logits of a vocabulary, or says no context size and none is
            given (``model-unusable``).
        TokenizerError: The vocabulary is not supported, or larger than the model's.
        ValueError: `context_size` or `max_sequences` is below 1.

    Example:
        >>> from transformers import AutoModelForCausalLM, AutoTokenizer  # doctest: +SKIP
        >>> name = "HuggingFaceTB/SmolLM2-135M-Instruct"
        >>> model = AutoModelForCausalLM.from_pretrained(name)  # doctest: +SKIP
        >>> TransformersModel(model, AutoTokenizer.from_pretrained(name))  # doctest: +SKIP
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        context_size: int | None = None,
        max_sequences: int = 8,
    ) -> None:
        for name, value in (("context_size", context_size), ("max_sequences", max_sequences)):
            if value is not None and value < 1:
                raise ValueError(f"{name} is {value}; expected at least 1")
        self._torch = _import_torch()
        self._model = model.eval()
        self._tokenizer = tokenizer
        found = read_object(tokenizer, "the tokenizer of a model of transformers")
        found.end_ids |= _end_ids(model)
        self._vocabulary = found.build(vocab_size=_vocab_size(model))
        size = self._vocabulary.vocab_size
        self._lengths = SequenceLengths(max_sequences, _context_size(model, context_size), size)
        self._caches: list[Any] = [None] * max_sequences
        self._logits = np.empty((max_sequences, size), dtype=np.float32)
        parameters = inspect.signature(model.forward).parameters
        # The former from version 5 of transformers on.
        self._cache_name = "cache" if "cache" in parameters else "past_key_values"
        self._only_last = _only_last(parameters)

    @property
    def vocabulary(self) -> VocabularyData:
        """The vocabulary of the tokenizer, padded to the model's."""
        return self._vocabulary

    @property
    def context_size(self) -> int:
        """The most tokens of one sequence, prompt included."""
        return self._lengths.context_size

    @property
    def max_sequences(self) -> int:
        """How many sequences may be in use at the same time."""
        return self._lengths.max_sequences

    def render_chat(self, messages: Sequence[Message]) -> str:
        """Lay out messages with the chat template of the tokenizer.

        Without a template it is a base model: the contents are joined by blank lines.

        Raises:
            ModelError: The template refuses the messages (``chat-template-failed``).
        """
        if not self._has_template():
            return plain_prompt(messages)
        copies = [dict(message) for message in messages]
        try:
            text = self._tokenizer.apply_chat_template(
                copies, tokenize=False, add_generation_prompt=True
            )
        except Exception as error:  # templates are programs: they raise what they like
            raise template_failed(error) from error
        return str(text)

    def tokenize(self, text: str) -> list[int]:
        """Encode a rendered prompt.

        A template spells all special tokens itself; only a base model's prompt gets those that the
        tokenizer adds.
        """
        ids = self._tokenizer.encode(text, add_special_tokens=not self._has_template())
        return [int(token_id) for token_id in ids]

    def _has_template(self) -> bool:
        return getattr(self._tokenizer, "chat_template", None) is not None

    def evaluate(self, inputs: Sequence[SequenceInput]) -> NDArray[np.float32]:
        """Append tokens to sequences, each named once, and return logits of their last positions.

        Returns:
            float32, shape (len(inputs), vocab_size): free to be overwritten, valid until the next
            call.

        Raises:
            ModelError: The model fails (``model-failed``): the sequences named are empty then. Or
                an input can't be evaluated as it is (``sequence-invalid``), or its sequence has no
                room for it (``context-full``): nothing has changed then.
        """
        self._lengths.check(inputs)
        try:
            with self._torch.inference_mode():
                # All are started before the first is waited for, which matters on a GPU.
                rows = [self._forward(new.sequence, new.token_ids) for new in inputs]
                for target, row in zip(self._logits, rows, strict=False):
                    self._torch.from_numpy(target).copy_(row)
            self._lengths.append(inputs)
        except BaseException as error:  # an interruption from the keyboard as well
            for new in inputs:
                self.clear_sequence(new.sequence)
            if isinstance(error, Exception) and not isinstance(error, ModelError):
                raise ModelError(f"the model failed: {error}", code="model-failed") from error
            raise
        return self._logits[: len(inputs)]

    def _forward(self, sequence: int, token_ids: Sequence[int]) -> Any:
        """Evaluate tokens of one sequence; the logits of the last position, on the device."""
        output = self._model(
            input_ids=self._torch.tensor([list(token_ids)], device=self._model.device),
            use_cache=True,
            **{self._cache_name: self._caches[sequence]},
            **self._only_last,
        )
        self._caches[sequence] = getattr(output, self._cache_name, None)
        if self._caches[sequence] is None:
            raise ModelError(
                f"{type(self._model).__name__} keeps no cache of keys and values; expected a "
                "causal language model that does",
                code="model-unusable",
            )
        return output.logits[0, -1]

    def copy_sequence(self, source: int, target: int) -> None:
        """Make an empty sequence continue from what another one has seen; copies its cache.

        Raises:
            ModelError: There is no such sequence, or the target is not empty
                (``sequence-invalid``).
        """
        self._lengths.check_copy(source, target)
        with self._torch.inference_mode():
            self._caches[target] = copy.deepcopy(self._caches[source])
        self._lengths.copy(source, target)

    def clear_sequence(self, sequence: int) -> None:
        """Forget what a sequence has seen, and free its cache.

        Raises:
            ModelError: There is no such sequence (``sequence-invalid``).
        """
        self._lengths.check_number(sequence)
        self._caches[sequence] = None
        self._lengths.clear(sequence)


def _import_torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingDependencyError(
            "running a model of transformers needs the package torch: run "
            'pip install "maskwright[huggingface,torch]"',
            code="missing-dependency",
        ) from error
    return torch


def _text_config(model: Any) -> Any:
    """The part of a configuration about text, where a model has others."""
    config = model.config
    return config.get_text_config() if hasattr(config, "get_text_config") else config


def _vocab_size(model: Any) -> int:
    """How many logits the model gives: that of its last layer, padding included."""
    head = model.get_output_embeddings()
    if head is None:
        raise ModelError(
            f"{type(model).__name__} gives no logits of a vocabulary; expected a causal language "
            "model: load it with AutoModelForCausalLM",
            code="model-unusable",
        )
    return int(head.weight.shape[0])


def _context_size(model: Any, wanted: int | None) -> int:
    trained = getattr(_text_config(model), "max_position_embeddings", None)
    sizes = [size for size in (wanted, trained) if size is not None]
    if not sizes:
        raise ModelError(
            f"the configuration of {type(model).__name__} has no max_position_embeddings; pass "
            "context_size",
            code="model-unusable",
        )
    return int(min(sizes))


def _end_ids(model: Any) -> set[int]:
    """The tokens that end a generation according to the model."""
    configuration = getattr(model, "generation_config", None)
    end_ids = getattr(configuration, "eos_token_id", None)
    if end_ids is None:
        return set()
    return {end_ids} if isinstance(end_ids, int) else {int(end_id) for end_id in end_ids}


def _only_last(parameters: Container[str]) -> dict[str, int]:
    """The argument that spares logits of all positions but the last, as the model names it."""
    for name in ("logits_to_keep", "num_logits_to_keep"):
        if name in parameters:
            return {name: 1}
    return {}
