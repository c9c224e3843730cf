"""A GGUF model run by llama.cpp, evaluated step by step.

What it does: loads the file quietly, lays out chats with the file's own template, and hands out the
logits of the last position as a view of llama.cpp's own buffer.
Idea: the engine's sampling is not used. `Llama.eval` keeps the KV cache; after it the logits of the
last token are at `llama_get_logits_ith(ctx, -1)`. The address rarely changes, so the array over it
is made once and kept until it does.
Cost: per step about 0.1 ms beside the model's own time (measured with llama-cpp-python 0.3.36).
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from maskwright.chat.embedded import INSTALL_HINT, embedded_model_path
from maskwright.chat.errors import MissingDependencyError, ModelError
from maskwright.tokenizers import VocabularyData, read_gguf
from maskwright.tokenizers.llama_cpp import read_llama_cpp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from maskwright.chat.model import Message


class LlamaCppModel:
    """A language model in a GGUF file, on the CPU or on a GPU that llama.cpp was built for.

    Not for use by several threads at a time.

    Args:
        path: The GGUF file; None takes the small embedded model.
        context_size: The most tokens of one sequence, prompt included; never more than the model
            was trained for.
        threads: CPU threads; None takes half of the available ones (waiting threads spin, so a
            thread too many on a busy machine costs more than it gives).
        gpu_layers: Layers to put on a GPU; -1 for all.

    Raises:
        MissingDependencyError: llama-cpp-python or the embedded model is not installed.
        TokenizerError: The file is no GGUF file, or its vocabulary is not supported.
        ModelError: llama.cpp cannot load the file.
    """

    def __init__(
        self,
        path: str | PathLike[str] | None = None,
        *,
        context_size: int = 4096,
        threads: int | None = None,
        gpu_layers: int = 0,
    ) -> None:
        engine = _import_engine()
        path = embedded_model_path() if path is None else Path(path)
        vocabulary = read_gguf(path)  # a bad file is told before the engine sees it
        threads = threads or _default_threads()
        try:
            llama = engine.Llama(
                str(path),
                n_ctx=context_size,
                n_threads=threads,
                n_threads_batch=threads,
                n_gpu_layers=gpu_layers,
                verbose=False,
            )
        except (ValueError, RuntimeError, OSError) as error:
            raise ModelError(
                f"llama.cpp cannot load {path}: {error}; expected a model of an architecture that "
                "the installed llama-cpp-python knows",
                code="model-unusable",
            ) from error
        self._attach(llama, vocabulary)

    @classmethod
    def from_llama(cls, llama: Any) -> LlamaCppModel:
        """Wrap a `llama_cpp.Llama` that is loaded already; its sequence is reset on use."""
        model = cls.__new__(cls)
        cls._attach(model, llama, read_llama_cpp(llama).build())
        return model

    def _attach(self, llama: Any, vocabulary: VocabularyData) -> None:
        engine = _import_engine()
        self._llama = llama
        self._vocabulary = vocabulary
        self._get_logits = engine.llama_get_logits_ith
        self._address = 0
        self._logits: NDArray[np.float32] = np.empty(0, dtype=np.float32)
        if llama.n_vocab() != vocabulary.vocab_size:
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
        return int(self._llama.n_ctx())

    def render_chat(self, messages: Sequence[Message]) -> str:
        """Lay out messages with the chat template of the file.

        A file without a template is a base model: the contents are joined by blank lines.

        Raises:
            ModelError: The template refuses the messages.
        """
        if self._vocabulary.chat_template is None:
            return "\n\n".join(message["content"] for message in messages)
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
            raise ModelError(
                f"the chat template of the model refuses these messages: {error}",
                code="chat-template-failed",
            ) from error

    def tokenize(self, text: str) -> list[int]:
        """Encode a rendered prompt, with the start token in front if the model wants one."""
        start = self._spelling(self._llama.token_bos())
        has_start = bool(start) and text.startswith(start)
        ids = self._llama.tokenize(text.encode(), add_bos=not has_start, special=True)
        return [int(token_id) for token_id in ids]

    def reset(self) -> None:
        """Forget the sequence evaluated so far."""
        self._llama.reset()

    def evaluate(self, token_ids: Sequence[int]) -> NDArray[np.float32]:
        """Append tokens and return the logits of the last position.

        Returns:
            float32, shape (vocab_size,): a view of the engine's own buffer, free to be overwritten,
            valid until the next call.

        Raises:
            ModelError: The engine fails, for want of memory for example.
        """
        try:
            self._llama.eval(token_ids)
        except RuntimeError as error:
            raise ModelError(f"llama.cpp failed: {error}", code="model-failed") from error
        pointer = self._get_logits(self._llama.ctx, -1)
        address = ctypes.addressof(pointer.contents)
        if address != self._address:
            shape = (self._vocabulary.vocab_size,)
            self._logits = np.ctypeslib.as_array(pointer, shape=shape)
            self._address = address
        return self._logits

    def close(self) -> None:
        """Free the model's memory; logits handed out before must not be used any more."""
        self._logits, self._address = np.empty(0, dtype=np.float32), 0
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
    return llama_cpp


def _default_threads() -> int:
    if hasattr(os, "sched_getaffinity"):
        available = len(os.sched_getaffinity(0))
    else:
        available = os.cpu_count() or 1
    return max(1, available // 2)
