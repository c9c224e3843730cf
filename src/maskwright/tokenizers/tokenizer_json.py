"""Reader for the ``tokenizer.json`` files of Hugging Face tokenizers.

What it does: finds out how the tokens of the file are spelled, and decodes them.
Idea: the kind is read off what the file says about decoding (its ``decoder``, or its
``pre_tokenizer`` when there is none), never off a model's name. A part that would change the text
in a way that bytes per token cannot express is refused by name.
Cost: dominated by parsing the JSON: 0.1 to 0.2 s for 10 MB, 0.6 s for the 33 MB of a vocabulary
of 262,000 tokens.
Source: the serialised form of the `tokenizers` package.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from maskwright.errors import TokenizerError
from maskwright.tokenizers.decoding import (
    SPACE_MARK,
    byte_fallback_bytes,
    byte_level_bytes,
    literal_bytes,
)
from maskwright.tokenizers.stop_tokens import (
    choose_stop_tokens,
    configured_stop_tokens,
    conventional_stop_tokens,
    read_json_object,
    token_name,
)
from maskwright.tokenizers.vocabulary import (
    BYTE_FALLBACK,
    BYTE_LEVEL,
    MAX_VOCAB_SIZE,
    VocabularyData,
    build_vocabulary,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

_MODEL_TYPES: Final = ("BPE", "Unigram")
_BYTE_LEVEL_STEPS: Final = frozenset({"ByteLevel", "Fuse"})
_TEXT_STEPS: Final = frozenset({"Replace", "ByteFallback", "Fuse", "Strip", "Metaspace"})
_MAX_NESTING: Final = 32


@dataclass(frozen=True)
class _Kind:
    """How tokens of a file turn into bytes."""

    vocab_type: int
    decode: Callable[[str], bytes]


def read_tokenizer_json(
    path: str | PathLike[str],
    *,
    vocab_size: int | None = None,
    stop_token_ids: Iterable[int] | None = None,
) -> VocabularyData:
    """Read a vocabulary from a Hugging Face ``tokenizer.json``.

    Added tokens that the file flags as special contribute nothing to the text; other added tokens
    are ordinary text. Ids without a token are padding.

    Args:
        path: The file. ``tokenizer_config.json`` and ``generation_config.json`` beside it are read
            as evidence of stop tokens and for the chat template.
        vocab_size: Size of a row of the model's logits when it differs from the file's vocabulary.
        stop_token_ids: Ids that end a generation, instead of the ones found.

    Returns:
        The vocabulary.

    Raises:
        TokenizerError: The file cannot be read, is damaged, or is of a kind whose tokens have no
            bytes of their own (the message names the kind).
    """
    path = Path(path)
    root = _load(path)
    model = _object(root.get("model"), "model", path)
    kind = _recognise(root, model, path)
    tokens = [kind.decode(token) if token is not None else b"" for token in _spellings(model, path)]
    unknown = _unknown_id(model)
    if unknown is not None and unknown < len(tokens):
        tokens[unknown] = b""
    added, names = _added_tokens(root, kind, path)
    for token_id, content in added:
        if token_id >= len(tokens):
            tokens.extend([b""] * (token_id + 1 - len(tokens)))
        tokens[token_id] = content

    named = dict(_vocab_ids(model), **names)
    evidence = conventional_stop_tokens(names) | configured_stop_tokens(path.parent, named)
    size = len(tokens) if vocab_size is None else vocab_size
    config = read_json_object(path.parent / "tokenizer_config.json")
    template = config.get("chat_template")
    bos = token_name(config.get("bos_token"))
    return build_vocabulary(
        tokens,
        vocab_size=vocab_size,
        stop_token_ids=choose_stop_tokens(stop_token_ids, evidence, size),
        vocab_type=kind.vocab_type,
        add_prefix_space=_adds_prefix_space(root, path),
        source=path.name,
        special_token_names=names,
        chat_template=template if isinstance(template, str) else None,
        bos_token_id=None if bos is None else named.get(bos),
    )


def _load(path: Path) -> dict[str, object]:
    try:
        root = json.loads(path.read_bytes())
    except OSError as error:
        raise TokenizerError(
            f"cannot read {path}: {error.strerror or error}", code="tokenizer-unreadable"
        ) from error
    except (ValueError, RecursionError) as error:
        raise TokenizerError(
            f"{path} is not valid JSON ({error}); expected a Hugging Face tokenizer.json",
            code="tokenizer-malformed",
        ) from error
    return _object(root, "the file", path)


def _malformed(path: Path, what: str) -> NoReturn:
    raise TokenizerError(
        f"{path} is not a usable tokenizer.json: {what}; get the file again or convert it anew",
        code="tokenizer-malformed",
    )


def _object(value: object, what: str, path: Path) -> dict[str, object]:
    if not isinstance(value, dict):
        _malformed(path, f"{what} must be an object")
    return value


def _steps(component: object, path: Path, depth: int = 0) -> list[dict[str, object]]:
    """The steps of a component that may be null, one step, or a nested sequence of them."""
    if component is None:
        return []
    step = _object(component, "each processing step", path)
    if step.get("type") != "Sequence":
        return [step]
    if depth > _MAX_NESTING:
        _malformed(path, f"steps are nested deeper than {_MAX_NESTING}")
    found = []
    for key in ("decoders", "pretokenizers", "normalizers"):
        children = step.get(key, [])
        if not isinstance(children, list):
            _malformed(path, f"{key} must be an array")
        for child in children:
            found.extend(_steps(child, path, depth + 1))
    return found


def _recognise(root: dict[str, object], model: dict[str, object], path: Path) -> _Kind:
    """Find out from the file how its tokens are spelled, or refuse its kind by name."""
    model_type = model.get("type") or ("BPE" if "merges" in model else None)
    if model_type not in _MODEL_TYPES:
        _refuse(path, f"model type {model_type}")
    for affix in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(affix):
            _refuse(path, f"{affix} {model[affix]!r}")
    steps = _steps(root.get("decoder"), path) or _steps(root.get("pre_tokenizer"), path)
    kinds = [str(step.get("type")) for step in steps]
    has_decoder = root.get("decoder") is not None
    if "ByteLevel" in kinds:
        _check_steps(kinds if has_decoder else [], _BYTE_LEVEL_STEPS, path)
        return _Kind(BYTE_LEVEL, byte_level_bytes)
    if not has_decoder and "Metaspace" not in kinds:
        _refuse(path, "no decoder, which puts spaces between tokens")
    _check_steps(kinds if has_decoder else [], _TEXT_STEPS, path)
    return _Kind(BYTE_FALLBACK, _text_decoder(steps, path, byte_fallback="ByteFallback" in kinds))


def _check_steps(kinds: list[str], known: frozenset[str], path: Path) -> None:
    for kind in kinds:
        if kind not in known:
            _refuse(path, f"decoder {kind}")


def _refuse(path: Path, kind: str) -> NoReturn:
    raise TokenizerError(
        f"{path} has {kind}, which is not supported; expected a byte-level or a "
        "SentencePiece-like (byte fallback, metaspace) BPE or Unigram tokenizer: pass the bytes of "
        "each token yourself",
        code="tokenizer-unsupported-kind",
    )


def _text_decoder(
    steps: list[dict[str, object]], path: Path, *, byte_fallback: bool
) -> Callable[[str], bytes]:
    """Compose the replacements of a SentencePiece-like decoder."""
    replacements: list[tuple[str, str]] = []
    for step in steps:
        if step.get("type") == "Metaspace":
            replacements.append((str(step.get("replacement", SPACE_MARK)), " "))
        elif step.get("type") == "Replace":
            pattern = step.get("pattern")
            text = pattern.get("String") if isinstance(pattern, dict) else None
            content = step.get("content")
            if not isinstance(text, str) or not text or not isinstance(content, str):
                _refuse(path, f"a decoder that replaces {pattern!r}")
            replacements.append((text, content))
    if byte_fallback and replacements == [(SPACE_MARK, " ")]:
        return byte_fallback_bytes

    def decode(token: str) -> bytes:
        if byte_fallback and token.startswith("<0x"):
            return byte_fallback_bytes(token)
        for text, content in replacements:
            token = token.replace(text, content)
        return literal_bytes(token)

    return decode


def _vocab_ids(model: dict[str, object]) -> dict[str, int]:
    """Spelling to id of the model's own tokens; entries of the wrong type are left to the check."""
    vocab = model.get("vocab")
    if isinstance(vocab, dict):
        return vocab
    if isinstance(vocab, list):
        return {entry[0]: i for i, entry in enumerate(vocab) if isinstance(entry, list) and entry}
    return {}


def _spellings(model: dict[str, object], path: Path) -> list[str | None]:
    """The model's own tokens by id, None in gaps."""
    vocab = model.get("vocab")
    if not isinstance(vocab, dict | list):
        _malformed(path, "model.vocab must be an object or an array")
    ids = _vocab_ids(model)
    if isinstance(vocab, list) and not all(
        isinstance(entry, list) and entry and isinstance(entry[0], str) for entry in vocab
    ):
        _malformed(path, "model.vocab must hold pairs of token and score")
    if isinstance(vocab, list):
        return [entry[0] for entry in vocab]
    top = max((_token_id(token_id, path) for token_id in ids.values()), default=-1)
    found: list[str | None] = [None] * (top + 1)
    for token, token_id in ids.items():
        if found[token_id] is not None:
            _malformed(path, f"{found[token_id]!r} and {token!r} have the same id {token_id}")
        found[token_id] = token
    return found


def _token_id(value: object, path: Path) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < MAX_VOCAB_SIZE:
        _malformed(path, f"token id {value!r} must be an integer from 0 to {MAX_VOCAB_SIZE - 1}")
    return value


def _unknown_id(model: dict[str, object]) -> int | None:
    """The id of the token for unknown text, which contributes no text of its own."""
    unknown = model.get("unk_id")
    if unknown is None and isinstance(model.get("unk_token"), str):
        unknown = _vocab_ids(model).get(str(model["unk_token"]))
    return unknown if isinstance(unknown, int) and unknown >= 0 else None


def _added_tokens(
    root: dict[str, object], kind: _Kind, path: Path
) -> tuple[list[tuple[int, bytes]], dict[str, int]]:
    """Bytes per added token, and the spellings of the special ones."""
    entries = [] if root.get("added_tokens") is None else root["added_tokens"]
    if not isinstance(entries, list):
        _malformed(path, "added_tokens must be an array")
    added = []
    names: dict[str, int] = {}
    for value in entries:
        entry = _object(value, "each added token", path)
        token_id, content = _token_id(entry.get("id"), path), entry.get("content")
        if not isinstance(content, str):
            _malformed(path, f"added token {token_id} must have a content string")
        if entry.get("special") is True:
            names[content] = token_id
            added.append((token_id, b""))
        elif kind.vocab_type == BYTE_LEVEL:
            added.append((token_id, literal_bytes(content)))
        else:
            added.append((token_id, kind.decode(content)))
    return added, names


def _adds_prefix_space(root: dict[str, object], path: Path) -> bool:
    """Whether encoding puts a space before the text."""
    for step in (*_steps(root.get("normalizer"), path), *_steps(root.get("pre_tokenizer"), path)):
        kind = step.get("type")
        if kind == "Prepend" and step.get("prepend") in (SPACE_MARK, " "):
            return True
        if kind == "ByteLevel" and step.get("add_prefix_space"):
            return True
        if kind == "Metaspace":
            scheme = step.get("prepend_scheme")
            if scheme in ("always", "first") or (scheme is None and step.get("add_prefix_space")):
                return True
    return False
