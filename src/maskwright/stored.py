"""The stored forms of grammars and compiled grammars.

Idea: the core writes and checks the bytes of a compiled grammar (``cpp/src/serialize``); here they
get the grammar's certificate and the vocabulary's fingerprint, and a JSON text around them. A
`Grammar` is its IR and its certificate, so its JSON text holds those, the IR as base64. One version
number covers all of it. Every field is checked, since a text may come from anywhere.
Cost: linear in the bytes, plus what the core needs to judge a schema.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any, Final

from . import _core
from .certificate import Certificate, Loosened
from .errors import MalformedIRError
from .stored_text import StoredText

if TYPE_CHECKING:
    from .grammar import Grammar
    from .tokenizer_info import TokenizerInfo

VERSION: Final[int] = _core.STORED_VERSION

_GRAMMAR: Final = "maskwright-grammar"
_COMPILED: Final = "maskwright-compiled-grammar"
_GRAMMAR_FORM: Final = StoredText("grammar", "Grammar.serialize_json()")
_COMPILED_FORM: Final = StoredText("compiled grammar", "CompiledGrammar.serialize_json()")
_LOOSENED_FIELDS: Final = ("pointer", "keyword", "reason")


def dump_compiled(
    core: _core.CompiledGrammar, grammar: Grammar, info: TokenizerInfo, *, include_masks: bool
) -> bytes:
    """Return the stored form of a compiled grammar."""
    certificate = grammar.certificate
    return _core.store(
        core,
        ir=grammar.ir,
        fingerprint=bytes.fromhex(info.fingerprint),
        exact=certificate.exact,
        narrowed=certificate.narrowed,
        loosened=tuple(
            (entry.pointer, entry.keyword, entry.reason) for entry in certificate.loosened
        ),
        ignored=certificate.ignored,
        include_masks=include_masks,
    )


def load_compiled(
    data: bytes | bytearray | memoryview,
    info: TokenizerInfo,
    limits: dict[str, int],
    *,
    shared_masks: _core.SharedMasks | None = None,
    trust_masks: bool = False,
) -> tuple[_core.CompiledGrammar, bytes, Certificate]:
    """Read what `dump_compiled` has written: the core's grammar, the IR and the certificate.

    Raises:
        DeserializeVersionError: It was written by a version with another format.
        DeserializeFormatError: It is damaged, of another vocabulary or nothing of the kind.
        LimitExceededError: It was compiled under larger limits.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"the stored form is a {type(data).__name__}; expected bytes")
    core, ir, exact, narrowed, loosened, ignored = _core.load(
        bytes(data),
        info._core,  # noqa: SLF001  of this package
        fingerprint=bytes.fromhex(info.fingerprint),
        shared_masks=shared_masks,
        trust_masks=trust_masks,
        **limits,
    )
    entries = tuple(Loosened(*entry) for entry in loosened)
    return core, ir, Certificate(exact, narrowed, entries, ignored)


def compiled_to_json(data: bytes) -> str:
    """Return the stored form of a compiled grammar as JSON text."""
    return _json_text(_COMPILED, {"data": _base64(data)})


def compiled_from_json(text: str) -> bytes:
    """Read what `compiled_to_json` has written; the bytes are not looked at."""
    root = _COMPILED_FORM.read(text, _COMPILED, VERSION, ("data",))
    return _base64_field(root, "data", _COMPILED_FORM)


def grammar_to_json(ir: bytes, certificate: Certificate) -> str:
    """Return a grammar as JSON text."""
    stated = {
        "exact": certificate.exact,
        "narrowed": list(certificate.narrowed),
        "loosened": [
            {name: getattr(entry, name) for name in _LOOSENED_FIELDS}
            for entry in certificate.loosened
        ],
        "ignored": list(certificate.ignored),
    }
    return _json_text(_GRAMMAR, {"certificate": stated, "ir": _base64(ir)})


def grammar_from_json(text: str) -> tuple[bytes, Certificate]:
    """Read what `grammar_to_json` has written.

    Raises:
        InvalidJSONError: The text is no JSON.
        DeserializeVersionError: It was written by a version with another format.
        DeserializeFormatError: It is not the stored form of a grammar.
    """
    root = _GRAMMAR_FORM.read(text, _GRAMMAR, VERSION, ("certificate", "ir"))
    ir = _base64_field(root, "ir", _GRAMMAR_FORM)
    try:
        _core.check_ir(ir)
    except MalformedIRError as error:
        _GRAMMAR_FORM.refuse(f"the field 'ir' holds no IR ({error})")
    return ir, _certificate(root["certificate"])


def _json_text(kind: str, fields: dict[str, Any]) -> str:
    return json.dumps({"format": kind, "version": VERSION, **fields}, separators=(",", ":"))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _base64_field(root: dict[str, Any], name: str, form: StoredText) -> bytes:
    try:
        return base64.b64decode(root[name], validate=True)
    except (TypeError, ValueError, binascii.Error):
        form.refuse(f"the field {name!r} is no base64 text")


def _certificate(stated: object) -> Certificate:
    if not isinstance(stated, dict):
        _GRAMMAR_FORM.refuse("the field 'certificate' is no object")
    names = ("exact", "narrowed", "loosened", "ignored")
    _GRAMMAR_FORM.check_fields(stated, names, names, "certificate.")
    if not isinstance(stated["exact"], bool):
        _GRAMMAR_FORM.refuse(
            f"the field 'certificate.exact' is {stated['exact']!r}, expected a bool"
        )
    loosened = stated["loosened"]
    if not isinstance(loosened, list) or not all(isinstance(entry, dict) for entry in loosened):
        _GRAMMAR_FORM.refuse("the field 'certificate.loosened' is no list of objects")
    for entry in loosened:
        _GRAMMAR_FORM.check_fields(
            entry, _LOOSENED_FIELDS, _LOOSENED_FIELDS, "certificate.loosened."
        )
    return Certificate(
        stated["exact"],
        _texts(stated["narrowed"], "narrowed"),
        tuple(Loosened(*_texts([e[n] for n in _LOOSENED_FIELDS], "loosened")) for e in loosened),
        _texts(stated["ignored"], "ignored"),
    )


def _texts(values: object, name: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        _GRAMMAR_FORM.refuse(f"the field 'certificate.{name}' is no list of texts")
    return tuple(values)
