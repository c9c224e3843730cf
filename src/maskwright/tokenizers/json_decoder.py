"""How the tokens of a ``tokenizer.json`` are spelled, read off its decoder.

What it does: turns the steps of the ``decoder`` into a function from a token to its bytes.
Idea: a decoder may be any text transformation. Those that treat each token by itself have bytes per
token; of the others only what they do to the start of the text is let pass (the prefix space). Any
other step is refused by name: masks from approximate bytes would be wrong in silence.
Source: the serialised form of the `tokenizers` package and what its decoders do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn

from maskwright.errors import TokenizerError
from maskwright.tokenizers.decoding import (
    SPACE_MARK,
    byte_level_bytes,
    byte_token,
    literal_bytes,
)
from maskwright.tokenizers.vocabulary import VocabType

if TYPE_CHECKING:
    from collections.abc import Callable

_MODEL_TYPES: Final = ("BPE", "Unigram", "WordLevel")
_MAX_NESTING: Final = 32

Step = dict[str, Any]
"""One processing step of the file; its ``type`` names it."""


@dataclass(frozen=True)
class TokenDecoder:
    """How tokens turn into bytes.

    Attributes:
        vocab_type: The spelling.
        decode: The bytes of a token of the model.
        decode_added: The bytes of a token that was added to the model's and is text.
    """

    vocab_type: VocabType
    decode: Callable[[str], bytes]
    decode_added: Callable[[str], bytes]


def malformed(source: str, what: str) -> NoReturn:
    """Refuse a file that breaks the format.

    Raises:
        TokenizerError: Always.
    """
    raise TokenizerError(
        f"{source} is not a usable tokenizer.json: {what}; get the file again or convert it anew",
        code="tokenizer-malformed",
    )


def json_object(value: object, what: str, source: str) -> Step:
    """Return a value that must be an object.

    Raises:
        TokenizerError: It is none.
    """
    if not isinstance(value, dict):
        malformed(source, f"{what} must be an object")
    return value


def flat_steps(component: object, source: str, depth: int = 0) -> list[Step]:
    """The steps of a component that may be null, one step, or a nested sequence of them.

    Raises:
        TokenizerError: The component is malformed.
    """
    if component is None:
        return []
    step = json_object(component, "each processing step", source)
    if step.get("type") != "Sequence":
        return [step]
    if depth > _MAX_NESTING:
        malformed(source, f"steps are nested deeper than {_MAX_NESTING}")
    found = []
    for key in ("decoders", "pretokenizers", "normalizers"):
        children = step.get(key, [])
        if not isinstance(children, list):
            malformed(source, f"{key} must be an array")
        for child in children:
            found.extend(flat_steps(child, source, depth + 1))
    return found


def token_decoder(root: Step, model: Step, source: str) -> TokenDecoder:
    """Find out from the file how its tokens are spelled.

    Args:
        root: The whole file.
        model: Its ``model``.
        source: Where it came from, for messages.

    Raises:
        TokenizerError: The file is malformed, or its decoder gives tokens no bytes of their own.
    """
    model_type = model.get("type") or ("BPE" if "merges" in model else None)
    if model_type not in _MODEL_TYPES:
        _refuse(source, f"model type {model_type}")
    for affix in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(affix):
            _refuse(source, f"{affix} {model[affix]!r}")
    steps = flat_steps(root.get("decoder"), source)
    if root.get("decoder") is None:
        # Then the step that made the spelling tells how to undo it.
        steps = [
            step
            for step in flat_steps(root.get("pre_tokenizer"), source)
            if step.get("type") in ("ByteLevel", "Metaspace")
        ]
        if not steps:
            _refuse(source, "no decoder, which puts spaces between tokens")
    if any(step.get("type") == "ByteLevel" for step in steps):
        for step in steps:
            if step.get("type") not in ("ByteLevel", "Fuse"):
                _refuse(source, f"decoder {step.get('type')} with ByteLevel")
        return TokenDecoder(VocabType.BYTE_LEVEL, byte_level_bytes, literal_bytes)
    return _TextSteps(source).compose(steps)


def _refuse(source: str, kind: str) -> NoReturn:
    raise TokenizerError(
        f"{source} has {kind}, which is not supported; expected a byte-level or a "
        "SentencePiece-like (byte fallback, metaspace) tokenizer: pass the bytes of each token "
        "yourself",
        code="tokenizer-unsupported-kind",
    )


class _TextSteps:
    """Composes the steps of a decoder that works on text."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._changes: list[Callable[[str], str]] = []
        self._has_byte_tokens = False
        self._is_fused = False
        self._has_marks = False

    def compose(self, steps: list[Step]) -> TokenDecoder:
        """The decoder of all steps one after the other."""
        for step in steps:
            self._add(step)
        changes, has_byte_tokens = tuple(self._changes), self._has_byte_tokens

        def decode(token: str) -> bytes:
            for change in changes:
                token = change(token)
            byte = byte_token(token) if has_byte_tokens else None
            return literal_bytes(token) if byte is None else byte

        is_marked = has_byte_tokens or self._has_marks
        kind = VocabType.BYTE_FALLBACK if is_marked else VocabType.RAW
        return TokenDecoder(kind, decode, decode)

    def _add(self, step: Step) -> None:
        kind = step.get("type")
        if kind == "Fuse":
            self._is_fused = True
        elif kind == "Strip":
            self._strip(step)
        elif kind == "Metaspace":
            self._replace(step.get("replacement", SPACE_MARK), " ", "Metaspace")
        elif kind == "Replace":
            pattern = step.get("pattern")
            text = pattern.get("String") if isinstance(pattern, dict) else None
            if not text:
                _refuse(self._source, f"a decoder that replaces {pattern!r}")
            self._replace(text, step.get("content"), "Replace")
        elif kind == "ByteFallback":
            if self._is_fused:
                _refuse(self._source, "decoder ByteFallback behind Fuse")
            self._has_byte_tokens = True
        else:
            _refuse(self._source, f"decoder {kind}")

    def _replace(self, text: object, content: object, kind: str) -> None:
        if not isinstance(text, str) or not text or not isinstance(content, str):
            malformed(self._source, f"decoder {kind} must replace some text by some text")
        if self._has_byte_tokens:
            # It would also change text that is spelled in byte tokens.
            _refuse(self._source, f"decoder {kind} behind ByteFallback")
        if self._is_fused and len(text) > 1:
            _refuse(self._source, f"decoder {kind} of {text!r}, across tokens, behind Fuse")
        self._has_marks |= text == SPACE_MARK
        self._changes.append(lambda token: token.replace(text, content))

    def _strip(self, step: Step) -> None:
        content, start, stop = step.get("content"), step.get("start", 0), step.get("stop", 0)
        if not isinstance(content, str) or not isinstance(start, int) or not isinstance(stop, int):
            malformed(self._source, "decoder Strip must have a content and two counts")
        if self._is_fused:
            # Now there is one token, the text: its prefix space may go, nothing else.
            if content != " " or stop or start > 1:
                _refuse(self._source, f"decoder Strip of {content!r} behind Fuse")
            return
        if self._has_byte_tokens:
            _refuse(self._source, "decoder Strip between ByteFallback and Fuse")
        self._changes.append(lambda token: _stripped(token, content, start, stop))


def _stripped(token: str, content: str, start: int, stop: int) -> str:
    """The token without up to `start` and `stop` times the content at its ends."""
    if not content:
        return token
    for _ in range(start):
        if not token.startswith(content):
            break
        token = token[len(content) :]
    for _ in range(stop):
        if not token.endswith(content):
            break
        token = token[: -len(content)]
    return token
