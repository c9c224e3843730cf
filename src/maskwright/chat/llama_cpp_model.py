"""A GGUF model run by llama.cpp, several sequences at a time.

What it does: loads the file quietly, lays out chats with the file's own template, and hands out the
logits of the last positions.
Idea: `llama_cpp.Llama` loads and tokenizes; it drives one sequence, so the model is run in a
context of its own (`llama_cpp_context`). The engine's sampling is not used.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maskwright.chat.chat_templates import plain_prompt, template_failed
from maskwright.chat.embedded import INSTALL_HINT, embedded_model_path
from maskwright.chat.errors import MissingDependencyError, ModelError
from maskwright.chat.llama_cpp_context import LlamaCppContext, create_context
from maskwright.tokenizers import VocabularyData, read_gguf
from maskwright.tokenizers.llama_cpp import read_llama_cpp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    import numpy as np
    from numpy.typing import NDArray

    from maskwright.chat.model import Message, SequenceInput


class LlamaCppModel:
    """A language model in a GGUF file, on the CPU or on a GPU that llama.cpp was built for.

    Not for use by several threads at a time.

    Args:
        path: The GGUF file; None takes the small embedded model.
        context_size: The most tokens of one sequence, prompt included; the size that the model was
            trained for, if that is less.
        max_sequences: How many sequences may be in use at the same time. The cache of each is
            allocated at once: for the embedded model 23 KB per token, 90 MB per sequence of 4,096.
        threads: CPU threads; None takes half of the available ones (waiting threads spin, so a
            thread too many on a busy machine costs more than it gives).
        gpu_layers: Layers to put on a GPU; -1 for all.

    Raises:
        MissingDependencyError: llama-cpp-python or the embedded model is not installed.
        TokenizerError: The file is no GGUF file, or its vocabulary is not supported.
        ModelError: llama.cpp cannot load the file, or has not enough memory.
        ValueError: `context_size` or `max_sequences` is out of range.
    """

    def __init__(
        self,
        path: str | PathLike[str] | None = None,
        *,
        context_size: int = 4096,
        max_sequences: int = 4,
        threads: int | None = None,
        gpu_layers: int = 0,
    ) -> None:
        engine = _import_engine()
        if context_size < 1:
            raise ValueError(f"context_size is {context_size}; expected at least 1")
        if not 1 <= max_sequences <= engine.llama_max_parallel_sequences():
            raise ValueError(
                f"max_sequences is {max_sequences}; expected 1 to "
                f"{engine.llama_max_parallel_sequences()}"
            )
        path = embedded_model_path() if path is None else Path(path)
        vocabulary = read_gguf(path)  # a bad file is told before the engine sees it
        try:
            # Its own context is not used: the smallest will do.
            options = {"n_ctx": 1, "n_batch": 1, "n_gpu_layers": gpu_layers, "verbose": False}
            llama = engine.Llama(str(path), **options)
        except (ValueError, RuntimeError, OSError) as error:
            raise ModelError(
                f"llama.cpp cannot load {path}: {error}; expected a model of an architecture that "
                "the installed llama-cpp-python knows",
                code="model-unusable",
            ) from error
        try:
            context_size = min(context_size, engine.llama_model_n_ctx_train(llama.model))
            handle = create_context(
                engine,
                llama.model,
                context_size=context_size,
                max_sequences=max_sequences,
                threads=threads or _default_threads(),
                on_gpu=gpu_layers != 0,
            )
            self._attach(llama, vocabulary, handle, context_size, max_sequences)
        except BaseException:
            llama.close()
            raise

    @classmethod
    def from_llama(cls, llama: Any) -> LlamaCppModel:
        """Wrap a `llama_cpp.Llama` that is loaded already: one sequence, in its own context.

        What the object has evaluated is forgotten, and it is not for other use in the meantime.
        """
        model = cls.__new__(cls)
        llama.reset()
        vocabulary = read_llama_cpp(llama).build()
        model._attach(llama, vocabulary, llama.ctx, llama.n_ctx(), max_sequences=1)  # noqa: SLF001  its own
        return model

    def _attach(
        self,
        llama: Any,
        vocabulary: VocabularyData,
        handle: Any,
        context_size: int,
        max_sequences: int,
    ) -> None:
        self._llama = llama
        self._vocabulary = vocabulary
        self._context_size = context_size
        self._max_sequences = max_sequences
        self._context = LlamaCppContext(
            _import_engine(),
            llama,
            handle,
            vocab_size=vocabulary.vocab_size,
            context_size=context_size,
            max_sequences=max_sequences,
        )
        if llama.n_vocab() != vocabulary.vocab_size:
            self._context.close()
            raise ModelError(
                f"llama.cpp gives {llama.n_vocab()} logits for a vocabulary of "
                f"{vocabulary.vocab_size} tokens; the file is damaged",
                code="model-unusable",
            )

    @property
    def vocabulary(self) -> VocabularyData:
        """The vocabulary of the file."""
        return self._vocabulary

    @property
    def context_size(self) -> int:
        """The most tokens of one sequence, prompt included."""
        return self._context_size

    @property
    def max_sequences(self) -> int:
        """How many sequences may be in use at the same time."""
        return self._max_sequences

    def render_chat(self, messages: Sequence[Message]) -> str:
        """Lay out messages with the chat template of the file.

        A file without a template is a base model: the contents are joined by blank lines.

        Raises:
            ModelError: The template refuses the messages.
        """
        if self._vocabulary.chat_template is None:
            return plain_prompt(messages)
        from llama_cpp.llama_chat_format import Jinja2ChatFormatter

        copies: Any = [dict(message) for message in messages]
        try:
            formatter = Jinja2ChatFormatter(
                template=self._vocabulary.chat_template,
                eos_token=self._spelling(self._llama.token_eos()),
                bos_token=self._spelling(self._llama.token_bos()),
            )
            return str(formatter(messages=copies).prompt)
        except Exception as error:  # templates are programs: they raise what they like
            raise template_failed(error) from error

    def tokenize(self, text: str) -> list[int]:
        """Encode a rendered prompt, with the start token in front if the model wants one."""
        start = self._spelling(self._llama.token_bos())
        has_start = bool(start) and text.startswith(start)
        ids = self._llama.tokenize(text.encode(), add_bos=not has_start, special=True)
        return [int(token_id) for token_id in ids]

    def evaluate(self, inputs: Sequence[SequenceInput]) -> NDArray[np.float32]:
        """Append tokens to sequences, each named once, and return logits of their last positions.

        Returns:
            float32, shape (len(inputs), vocab_size): free to be overwritten, valid until the next
            call.

        Raises:
            ModelError: llama.cpp fails (``model-failed``): the sequences named are empty then. Or
                an input can't be evaluated as it is (``sequence-invalid``), or its sequence has no
                room for it (``context-full``): nothing has changed then.
        """
        return self._context.evaluate(inputs)

    def copy_sequence(self, source: int, target: int) -> None:
        """Make an empty sequence continue from what another one has seen.

        Copies the cache.

        Raises:
            ModelError: There is no such sequence, or the target is not empty
                (``sequence-invalid``).
        """
        self._context.copy_sequence(source, target)

    def clear_sequence(self, sequence: int) -> None:
        """Forget what a sequence has seen.

        Raises:
            ModelError: There is no such sequence (``sequence-invalid``).
        """
        self._context.clear_sequence(sequence)

    def close(self) -> None:
        """Free the model's memory; sequences can't be used any more (``model-closed``)."""
        self._context.close()
        self._llama.close()

    def _spelling(self, token_id: int) -> str:
        """The spelling of a token; nothing for -1, which stands for none."""
        return self._vocabulary.tokens[token_id].decode(errors="replace") if token_id >= 0 else ""


def _import_engine() -> Any:
    try:
        import llama_cpp
    except ImportError as error:
        raise MissingDependencyError(
            f"running a GGUF model needs the package llama-cpp-python: run {INSTALL_HINT}",
            code="missing-dependency",
        ) from error
    if not hasattr(llama_cpp, "LLAMA_FLASH_ATTN_TYPE_DISABLED"):
        raise MissingDependencyError(
            f"llama-cpp-python is {getattr(llama_cpp, '__version__', 'of an unknown version')}, "
            f"and several sequences need 0.3.17 or later: run {INSTALL_HINT}",
            code="missing-dependency",
        )
    return llama_cpp


def _default_threads() -> int:
    if hasattr(os, "sched_getaffinity"):
        available = len(os.sched_getaffinity(0))
    else:
        available = os.cpu_count() or 1
    return max(1, available // 2)
