"""A grammar compiled for a vocabulary: what it is, its size, its stored form."""

from __future__ import annotations

from sys import getsizeof
from typing import TYPE_CHECKING, Any

from .grammar import Grammar
from .option_checks import check_count
from .stored import compiled_from_json, compiled_to_json, dump_compiled, load_compiled
from .tokenizer_info import TokenizerInfo

if TYPE_CHECKING:
    from collections.abc import Hashable

    from . import _core
    from ._core import MaskTable
    from .certificate import Certificate
    from .generations import Generation

__all__ = [
    "CompiledGrammar",
    "check_tokenizer_info",
    "checked_limits",
    "further_key_bytes",
    "object_bytes",
]

_MAX_WORD = 2**32 - 1
# CompiledGrammar, its core's Python object, Grammar, Certificate, the key's tuple, and their places
# in the cache's dictionary and the garbage collector's lists.
_OBJECT_BYTES = 900
# A further key's tuple and its places in the cache; CompiledGrammar, Grammar, Certificate.
_FURTHER_KEY_BYTES = 360
_FORM_BYTES = 150
_REFERENCE_BYTES = 16
# A str beside its characters, and its place in a tuple.
_TEXT_BYTES = 72
_LIMITS = ("max_states", "max_targets", "max_clauses", "max_lang_states")


class CompiledGrammar:
    """A grammar compiled for a vocabulary. Made by `GrammarCompiler`, used by `GrammarMatcher`.

    Immutable for its users, and safe to share between threads; what matchers compute is kept in it
    and shared by all of them.
    """

    __slots__ = ("__weakref__", "_core", "_grammar", "_tokenizer_info")

    def __init__(
        self, core: _core.CompiledGrammar, grammar: Grammar, tokenizer_info: TokenizerInfo
    ) -> None:
        self._core = core
        self._grammar = grammar
        self._tokenizer_info = tokenizer_info

    @property
    def grammar(self) -> Grammar:
        """What was compiled."""
        return self._grammar

    @property
    def tokenizer_info(self) -> TokenizerInfo:
        """The vocabulary it was compiled for."""
        return self._tokenizer_info

    @property
    def certificate(self) -> Certificate:
        """How the grammar relates to what its source says."""
        return self._grammar.certificate

    @property
    def memory_size_bytes(self) -> int:
        """Memory in bytes, what keeps it in a cache by one key included; waits for nothing.

        Grows while matchers compute states and masks; each call of a matcher that does brings it
        up to date. The vocabulary is not part of it.
        """
        return self._core.memory_bytes

    @property
    def mask_table(self) -> MaskTable:
        """The masks that `GrammarMatcher.next_mask_id` gives the ids of; its compiler's."""
        return self._core.mask_table

    def serialize(self, include_masks: bool = False) -> bytes:
        """Return the stored form, from which `deserialize` loads the grammar again.

        It depends on the grammar, the vocabulary and the limits of the compiler alone, unless masks
        are included.

        Args:
            include_masks: Include the masks that were computed so far, as far as grammars of a
                compiler share masks; see the serialisation guide, **Stored masks**. Waits for a
                matcher that computes one.

        Example:
            >>> from maskwright import TokenizerInfo
            >>> info = TokenizerInfo(["a", "b", "</s>"], stop_token_ids=2)
            >>> stored = GrammarCompiler(info).compile_regex("a+b").serialize()
            >>> CompiledGrammar.deserialize(stored, info).serialize() == stored
            True
        """
        return dump_compiled(
            self._core, self._grammar, self._tokenizer_info, include_masks=include_masks
        )

    @classmethod
    def deserialize(
        cls,
        data: bytes | bytearray | memoryview,
        tokenizer_info: TokenizerInfo,
        *,
        trust_masks: bool = False,
        max_states: int | None = None,
        max_targets: int | None = None,
        max_clauses: int | None = None,
        max_lang_states: int | None = None,
    ) -> CompiledGrammar:
        """Load what `serialize` has stored; it behaves as the compiled grammar did.

        Args:
            data: The bytes. They may come from anywhere: everything is checked before it is used.
                What a stored grammar may describe is up to who wrote it.
            tokenizer_info: The vocabulary that it was compiled for, or an equal one.
            trust_masks: Use the masks that it includes, if it was written by this version. They
                cannot be checked against the grammar: whoever wrote them decides which tokens are
                allowed, so they must come from somebody whom you trust. Without it they are
                left, and computed again.
            max_states: The largest limit of that name that it may have been compiled under; None:
                the default of `GrammarCompiler`.
            max_targets: See there.
            max_clauses: See there.
            max_lang_states: See there.

        Raises:
            DeserializeVersionError: It is of another version (``deserialize-version``).
            DeserializeFormatError: It is no stored grammar (``deserialize-magic``), of another
                byte order (``deserialize-byte-order``), cut off or too long
                (``deserialize-length``), damaged (``deserialize-checksum``), of another vocabulary
                (``deserialize-vocabulary``), or breaks the format (``deserialize-format``).
            LimitExceededError: It was compiled under larger limits (``deserialize-limit``), or
                exceeds one.
        """
        check_tokenizer_info(tokenizer_info)
        limits = checked_limits((max_states, max_targets, max_clauses, max_lang_states))
        return cls._load(data, tokenizer_info, limits, trust_masks=bool(trust_masks))

    @classmethod
    def _load(
        cls,
        data: bytes | bytearray | memoryview,
        tokenizer_info: TokenizerInfo,
        limits: dict[str, int],
        *,
        key: Hashable = None,
        shared_masks: _core.SharedMasks | None = None,
        trust_masks: bool = False,
    ) -> CompiledGrammar:
        """Load a grammar for a cache where it has a key, and that shares masks."""
        core, ir, certificate = load_compiled(
            data, tokenizer_info, limits, shared_masks=shared_masks, trust_masks=trust_masks
        )
        grammar = Grammar(ir, certificate)
        core.around_bytes = object_bytes(grammar, key)
        return cls(core, grammar, tokenizer_info)

    def serialize_json(self) -> str:
        """Return the stored form as JSON text; see `serialize`."""
        return compiled_to_json(self.serialize())

    @classmethod
    def deserialize_json(
        cls, json_string: str, tokenizer_info: TokenizerInfo, **limits: int | None
    ) -> CompiledGrammar:
        """Load what `serialize_json` has stored.

        Args:
            json_string: The text. It may come from anywhere.
            tokenizer_info: As for `deserialize`.
            **limits: As for `deserialize`.

        Raises:
            InvalidJSONError: It is no JSON (``invalid-json``).
            MaskwrightError: What `deserialize` raises.
        """
        data = compiled_from_json(json_string)
        return cls.deserialize(data, tokenizer_info, trust_masks=False, **limits)

    def __reduce__(self) -> tuple[Any, ...]:
        limits = self._core.limits()
        return _load_pickled, (self.serialize(), self._tokenizer_info, limits)

    def __copy__(self) -> CompiledGrammar:
        return self  # immutable

    def __deepcopy__(self, memo: dict[int, Any]) -> CompiledGrammar:
        return self

    def in_form_of(self, grammar: Grammar) -> CompiledGrammar:
        """Return this as compiled from a grammar of the same IR, whose certificate may differ."""
        if grammar is self._grammar or grammar.certificate == self.certificate:
            return self
        own = Grammar(self._grammar.ir, grammar.certificate)  # shares the bytes
        return CompiledGrammar(self._core, own, self._tokenizer_info)

    def charge_to(self, generation: Generation | None) -> None:
        """Have a generation count this grammar from now on; None: nobody. For caches."""
        self._core.charge_to(None if generation is None else generation.ledger)

    def __repr__(self) -> str:
        return f"<CompiledGrammar of {self._grammar!r} for {self._tokenizer_info!r}>"


def _load_pickled(
    data: bytes, tokenizer_info: TokenizerInfo, limits: dict[str, int]
) -> CompiledGrammar:
    """Load under the limits that it was compiled under: whoever unpickles trusts the source."""
    return CompiledGrammar.deserialize(data, tokenizer_info, trust_masks=False, **limits)


def check_tokenizer_info(tokenizer_info: object) -> None:
    """Refuse what is no `TokenizerInfo`."""
    if not isinstance(tokenizer_info, TokenizerInfo):
        raise TypeError(
            f"tokenizer_info is a {type(tokenizer_info).__name__}; expected a TokenizerInfo"
        )


def checked_limits(given: tuple[int | None, ...]) -> dict[str, int]:
    """Return the limits that were given, by name."""
    limits = {name: value for name, value in zip(_LIMITS, given, strict=True) if value is not None}
    for name, value in limits.items():
        check_count(name, value, 1, _MAX_WORD)
    return limits


def object_bytes(grammar: Grammar, key: Hashable) -> int:
    """Return about how much memory the Python objects of a cached grammar take."""
    return _OBJECT_BYTES + len(grammar.ir) + _certificate_bytes(grammar) + _key_bytes(key)


def further_key_bytes(key: Hashable, form: CompiledGrammar, value: CompiledGrammar) -> int:
    """Return about how much a further key of a cached grammar takes, with a form of its own."""
    own_form = 0 if form is value else _FORM_BYTES + _certificate_bytes(form.grammar)
    return _FURTHER_KEY_BYTES + _key_bytes(key) + own_form


def _certificate_bytes(grammar: Grammar) -> int:
    certificate = grammar.certificate
    texts = certificate.narrowed + certificate.ignored
    return sum(map(len, texts)) + _TEXT_BYTES * (len(texts) + 4 * len(certificate.loosened))


def _key_bytes(key: Hashable) -> int:
    if not isinstance(key, tuple) or len(key) < 2:
        return 0
    return _REFERENCE_BYTES * len(key) + getsizeof(key[1])  # the source
