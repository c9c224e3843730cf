"""Reader for models that llama.cpp has loaded.

Idea: llama.cpp knows of a vocabulary what the GGUF file says, so both give the same facts to the
same decoder. Its API hands out spellings that end at a zero byte, and no list of end ids; a
`Llama` object knows its file, which is preferred for that.
Source: the C API of llama.cpp, as llama-cpp-python has it.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from maskwright.errors import TokenizerError
from maskwright.tokenizers.encoding import LlamaCppEncoder, import_library
from maskwright.tokenizers.gguf import END_KEYS, GgufVocabulary, read_gguf_vocabulary
from maskwright.tokenizers.piece_types import (
    BYTE,
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
)

if TYPE_CHECKING:
    from maskwright.tokenizers.vocabulary import FoundVocabulary

# The library's bits for a token, the telling ones first.
_TYPES: Final = (
    (1 << 0, UNKNOWN),
    (1 << 1, UNUSED),
    (1 << 3, CONTROL),
    (1 << 4, USER_DEFINED),
    (1 << 5, BYTE),
)
_MAX_TEXT_BYTES: Final = 16 << 20


def read_llama_cpp(llama: Any) -> FoundVocabulary:
    """Read the vocabulary of a loaded model.

    Args:
        llama: A `llama_cpp.Llama`, or the handle of a model
            (`llama_cpp.llama_model_load_from_file`), which must live as long as the result.

    Returns:
        The vocabulary. It encodes with the model.

    Raises:
        TokenizerError: It is neither, or its vocabulary is of an unsupported kind.
    """
    handle = getattr(llama, "model", llama)
    if isinstance(handle, ctypes.c_void_p):
        handle = handle.value
    if not isinstance(handle, int) or isinstance(handle, bool) or handle == 0:
        raise TokenizerError(
            f"the model is a {type(llama).__name__}; expected a llama_cpp.Llama or the handle of "
            "a loaded model: pass one, or the path of the GGUF file to from_file",
            code="tokenizer-unsupported-object",
        )
    path = getattr(llama, "model_path", None)
    if isinstance(path, str) and Path(path).is_file():
        found = read_gguf_vocabulary(Path(path)).decode(Path(path).name)
    else:
        found = _ask(handle).decode("the llama.cpp model")
    found.encode = LlamaCppEncoder(llama)
    return found


def _ask(model: int) -> GgufVocabulary:
    """What the API says of the vocabulary of a model."""
    library = import_library("llama_cpp")
    vocabulary = library.llama_model_get_vocab(model)
    ids = range(library.llama_vocab_n_tokens(vocabulary))
    texts = [library.llama_vocab_get_text(vocabulary, i) or b"" for i in ids]
    ends = [_text(library, model, f"tokenizer.ggml.{name}_token_id") for name in END_KEYS]
    ends += [str(library.llama_vocab_eos(vocabulary)), str(library.llama_vocab_eot(vocabulary))]
    prefix = _text(library, model, "tokenizer.ggml.add_space_prefix")
    return GgufVocabulary(
        kind=_text(library, model, "tokenizer.ggml.model") or "none",
        tokens=[_decoded(text) for text in texts],
        types=[_type(library.llama_vocab_get_attr(vocabulary, i)) for i in ids],
        end_ids={int(end) for end in ends if end is not None and end.isdecimal()},
        add_space_prefix=None if prefix is None else prefix == "true",
        chat_template=_text(library, model, "tokenizer.chat_template"),
    )


def _text(library: Any, model: int, key: str) -> str | None:
    """A value of the metadata as text, or None."""
    name = key.encode()
    size = library.llama_model_meta_val_str(model, name, None, 0)
    if not 0 <= size <= _MAX_TEXT_BYTES:
        return None
    buffer = ctypes.create_string_buffer(size + 1)
    library.llama_model_meta_val_str(model, name, buffer, size + 1)
    return buffer.value.decode(errors="replace")


def _decoded(text: bytes) -> str | bytes:
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text


def _type(attributes: int) -> int:
    return next((kind for bit, kind in _TYPES if attributes & bit), NORMAL)
