"""Reader for the ``tokenizer.json`` files of Hugging Face tokenizers.

What it does: reads tokens and added tokens, and decodes them as `json_decoder` finds out.
Idea: the kind is read off what the file says about decoding, never off a model's name.
Cost: dominated by parsing the JSON: 0.1 to 0.2 s for 10 MB, 0.6 s for the 33 MB of a vocabulary
of 262,000 tokens.
Source: the serialised form of the `tokenizers` package.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from maskwright.errors import TokenizerError
from maskwright.tokenizers.decoding import SPACE_MARK, literal_bytes
from maskwright.tokenizers.json_decoder import (
    Step,
    flat_steps,
    json_object,
    malformed,
    token_decoder,
)
from maskwright.tokenizers.vocabulary import MAX_VOCAB_SIZE, FoundVocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping


def parse_json(data: bytes | str, source: str) -> Step:
    """Parse a text that must be a JSON object.

    Raises:
        TokenizerError: It is none.
    """
    try:
        root = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise TokenizerError(
            f"{source} is not valid JSON ({error}); expected a tokenizer.json or tekken.json: get "
            "the file again",
            code="tokenizer-malformed",
        ) from error
    return json_object(root, "the file", source)


def read_tokenizer_json(root: Step, source: str) -> FoundVocabulary:
    """Read a vocabulary from the contents of a Hugging Face ``tokenizer.json``.

    Added tokens that the file flags as special, and the token for unknown text, are special; other
    added tokens are ordinary text.

    Args:
        root: The contents.
        source: Where they came from.

    Returns:
        The vocabulary.

    Raises:
        TokenizerError: The contents are damaged, or of a kind whose tokens have no bytes of their
            own (the message names the kind).
    """
    model = json_object(root.get("model"), "model", source)
    decoder = token_decoder(root, model, source)
    ids = _model_tokens(model, source)
    tokens = _by_id(ids, source)
    found = FoundVocabulary(
        [b"" if token is None else decoder.decode(token) for token in tokens],
        decoder.vocab_type,
        source,
        add_prefix_space=_adds_prefix_space(root, source),
    )
    unknown = _unknown_id(model, ids)
    if unknown is not None and unknown < len(tokens):
        found.put(unknown, literal_bytes(tokens[unknown] or ""), is_special=True)
    for token_id, content, is_special in _added_tokens(root.get("added_tokens"), source):
        data = literal_bytes(content) if is_special else decoder.decode_added(content)
        found.put(token_id, data, is_special=is_special)
    return found


def _model_tokens(model: Step, source: str) -> dict[str, int]:
    """Spelling to id of the model's own tokens."""
    vocab = model.get("vocab")
    if isinstance(vocab, list):
        found: dict[str, int] = {}
        for token_id, entry in enumerate(vocab):
            if not isinstance(entry, list) or not entry or not isinstance(entry[0], str):
                malformed(source, "model.vocab must hold pairs of token and score")
            if entry[0] in found:
                malformed(source, f"{entry[0]!r} is token {found[entry[0]]} and token {token_id}")
            found[entry[0]] = token_id
        return found
    if not isinstance(vocab, dict):
        malformed(source, "model.vocab must be an object or an array")
    for token_id in vocab.values():
        _check_id(token_id, source)
    return vocab


def _by_id(names: Mapping[str, int], source: str) -> list[str | None]:
    """The tokens by id, None in gaps."""
    found: list[str | None] = [None] * (max(names.values(), default=-1) + 1)
    for token, token_id in names.items():
        if found[token_id] is not None:
            malformed(source, f"{found[token_id]!r} and {token!r} have the same id {token_id}")
        found[token_id] = token
    return found


def _check_id(value: object, source: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < MAX_VOCAB_SIZE:
        malformed(source, f"token id {value!r} must be an integer from 0 to {MAX_VOCAB_SIZE - 1}")
    return value


def _unknown_id(model: Step, names: Mapping[str, int]) -> int | None:
    """The id of the token for unknown text, which contributes no text of its own."""
    unknown = model.get("unk_id")
    if unknown is None and isinstance(model.get("unk_token"), str):
        unknown = names.get(model["unk_token"])
    return unknown if isinstance(unknown, int) and unknown >= 0 else None


def _added_tokens(entries: object, source: str) -> list[tuple[int, str, bool]]:
    """Id, spelling and whether it is special of each added token."""
    if entries is None:
        return []
    if not isinstance(entries, list):
        malformed(source, "added_tokens must be an array")
    added = []
    for value in entries:
        entry = json_object(value, "each added token", source)
        token_id, content = _check_id(entry.get("id"), source), entry.get("content")
        if not isinstance(content, str):
            malformed(source, f"added token {token_id} must have a content string")
        added.append((token_id, content, entry.get("special") is True))
    return added


def _adds_prefix_space(root: Step, source: str) -> bool:
    """Whether encoding puts a space before the text."""
    for component in ("normalizer", "pre_tokenizer"):
        for step in flat_steps(root.get(component), source):
            kind = step.get("type")
            if kind == "Prepend" and step.get("prepend") in (SPACE_MARK, " "):
                return True
            if kind == "ByteLevel" and step.get("add_prefix_space"):
                return True
            if kind == "Metaspace":
                scheme = step.get("prepend_scheme")
                before = scheme is None and step.get("add_prefix_space")
                if scheme in ("always", "first") or before:
                    return True
    return False
