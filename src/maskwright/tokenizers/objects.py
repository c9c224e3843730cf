"""Readers for the tokenizer objects of other libraries.

Idea: a serving engine hands over whatever it has loaded: a tokenizer of transformers, of
mistral-common or tiktoken, or a wrapper of its own around one. The core of each is of one of four
classes; it is found by looking through the attributes that wrappers keep it in, and read by the
reader of its kind. Classes are told by name and package, so no library is imported here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from maskwright.errors import TokenizerError
from maskwright.shown import shown
from maskwright.tokenizers.encoding import (
    Encode,
    LazyEncoder,
    encode_with_sentencepiece,
    encode_with_tekken,
    encode_with_tiktoken,
    encode_with_tokenizers,
)
from maskwright.tokenizers.model_folder import ModelFolder, default_template
from maskwright.tokenizers.sentencepiece_model import read_sentencepiece, read_wrapped_model
from maskwright.tokenizers.tekken import read_tekkenizer
from maskwright.tokenizers.tiktoken_ranks import read_encoding
from maskwright.tokenizers.tokenizer_json import read_tokenizer_json

if TYPE_CHECKING:
    from maskwright.tokenizers.vocabulary import FoundVocabulary

FAST: Final = ("tokenizers", "Tokenizer")
ENCODING: Final = ("tiktoken", "Encoding")
PROCESSOR: Final = ("sentencepiece", "SentencePieceProcessor")
TEKKEN: Final = ("mistral_common", "Tekkenizer")
_CORES: Final = (FAST, ENCODING, PROCESSOR, TEKKEN)
"""Package and name of the classes that have a reader."""

_ATTRIBUTES: Final = (
    "backend_tokenizer",
    "instruct_tokenizer",
    "mistral",
    "sp_model",
    "transformers_tokenizer",
    "tokenizer",
    "_tokenizer",
    "_model",
    "model",
    "tokenizer_object",
)
"""Where wrappers keep what they wrap."""

_MAX_NESTING: Final = 5


def read_object(
    tokenizer: Any, expected: str, kinds: tuple[tuple[str, str], ...] = _CORES
) -> FoundVocabulary:
    """Read the vocabulary of a tokenizer object.

    Args:
        tokenizer: The object, or a wrapper around it.
        expected: What kinds of objects are expected, for the message.
        kinds: The classes that the core may have.

    Returns:
        The vocabulary, with the end tokens and the chat template that the wrapper names.

    Raises:
        TokenizerError: No core of these kinds is in the object, or its vocabulary is of an
            unsupported kind.
    """
    path = _path_to_core(tokenizer, kinds, 0)
    if not path and isinstance(tokenizer, str | Path):
        raise TokenizerError(
            f"the tokenizer is the text {shown(tokenizer)}; expected {expected}: pass one, such as "
            "transformers.AutoTokenizer.from_pretrained(...), or read a file by "
            "TokenizerInfo.from_file",
            code="tokenizer-unsupported-object",
        )
    if not path:
        raise TokenizerError(
            f"the tokenizer is a {type(tokenizer).__module__}.{type(tokenizer).__qualname__}, "
            f"whose token bytes are not known; expected {expected}: pass one, or the bytes of "
            "each token to TokenizerInfo",
            code="tokenizer-unsupported-object",
        )
    found = _read(path)
    for wrapper in path[:-1]:
        end_id = getattr(wrapper, "eos_token_id", None)
        if isinstance(end_id, int):
            found.end_ids.add(end_id)
        folder = getattr(wrapper, "name_or_path", None)
        if isinstance(folder, str) and folder and Path(folder).is_dir():
            found.end_ids |= ModelFolder(Path(folder)).generation_end_ids()
        template = default_template(getattr(wrapper, "chat_template", None))
        found.chat_template = found.chat_template or template
    return found


def is_a(value: object, kind: tuple[str, str]) -> bool:
    """Whether a value is of a class, given by the name of its top package and its own."""
    package, name = kind
    return any(
        base.__name__ == name and base.__module__.partition(".")[0] == package
        for base in type(value).__mro__
    )


def _path_to_core(value: Any, kinds: tuple[tuple[str, str], ...], depth: int) -> list[Any]:
    """The objects from a wrapper to the core in it, or an empty list."""
    if any(is_a(value, kind) for kind in kinds):
        return [value]
    if depth == _MAX_NESTING or value is None or isinstance(value, str | bytes | int | type):
        return []
    for name in _ATTRIBUTES:
        try:
            inner = getattr(value, name, None)
        except Exception:  # noqa: BLE001, S112  a property of a stranger: then it is not there
            continue
        path = _path_to_core(inner, kinds, depth + 1)
        if path:
            return [value, *path]
    return []


def _read(path: list[Any]) -> FoundVocabulary:
    core = path[-1]
    if is_a(core, FAST):
        return _read_fast(core)
    if is_a(core, TEKKEN):
        found = read_tekkenizer(core)
        found.encode = encode_with_tekken(core)
    elif is_a(core, ENCODING):
        found = read_encoding(core)
        found.encode = encode_with_tiktoken(core)
    else:
        data, source = core.serialized_model_proto(), "the SentencePiece model"
        wrapper = path[0]
        if getattr(wrapper, "sp_model", None) is core and hasattr(wrapper, "get_vocab"):
            found = read_wrapped_model(data, source, wrapper)
            found.encode = _encode_with_wrapper(wrapper)
        else:
            found = read_sentencepiece(data, source)
            found.encode = encode_with_sentencepiece(core)
    return found


def _read_fast(core: Any) -> FoundVocabulary:
    """Read a `tokenizers.Tokenizer`; the encoder works on a copy, made when it is needed."""
    found = read_tokenizer_json(json.loads(core.to_str()), "the tokenizer")
    cls = type(core)
    found.encode = LazyEncoder(
        lambda: encode_with_tokenizers(cls.from_str(core.to_str())), found.source
    )
    return found


def _encode_with_wrapper(tokenizer: Any) -> Encode:
    def encode(text: str) -> list[int]:
        ids: list[int] = tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
        return ids

    return encode
