"""Stored grammars: round trips, refusals with their texts, damaged forms, JSON, pickle."""

from __future__ import annotations

import base64
import contextlib
import copy
import json
import pickle
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import maskwright
from mask_walks import masks_along
from maskwright import (
    Certificate,
    CompiledGrammar,
    DeserializeFormatError,
    DeserializeVersionError,
    Grammar,
    GrammarCompiler,
    InvalidJSONError,
    LimitExceededError,
    Loosened,
    MalformedIRError,
    MaskwrightError,
    TokenizerInfo,
)
from stored_forms import HEADER, checksum, sealed

WORDS = ['{"', '":', '", "', "name", "12", "true", '"}', "ab", "((", "\u00e9"]
TOKENS = [bytes([byte]) for byte in range(256)] + [word.encode() for word in WORDS] + [b"</s>"]
INFO = TokenizerInfo(TOKENS, stop_token_ids=len(TOKENS) - 1)
PERSON = {
    "type": "object",
    "title": "Person",
    "properties": {
        "name": {"type": "string", "pattern": "^[A-Z]", "maxLength": 40},
        "tags": {"type": "array", "items": {"enum": ["red", "blue"]}, "uniqueItems": True},
        "next": {"$ref": "#"},
    },
    "required": ["name"],
}
EBNF = """
root ::= expr
expr ::= expr "+" term | term
term ::= [0-9]{1,200} | "(" expr ")" | word
word ::= ("ab" | "\u00e9"){2,300}
"""
END = "; pass what CompiledGrammar.serialize() returned, or compile the grammar again"
START = "the bytes are no stored grammar that can be loaded: "


def compile_all() -> list[CompiledGrammar]:
    compiler = GrammarCompiler(INFO)
    return [
        compiler.compile_json_schema(PERSON),
        compiler.compile_grammar(EBNF),
        compiler.compile_regex(r"(?:\d{2}-){3}(?=[a-f])\w+"),
        compiler.compile_builtin_json_grammar(),
    ]


GRAMMARS = compile_all()
STORED = [compiled.serialize() for compiled in GRAMMARS]


@pytest.mark.parametrize("index", range(len(GRAMMARS)))
def test_what_is_loaded_is_what_was_stored(index):
    compiled, stored = GRAMMARS[index], STORED[index]
    loaded = CompiledGrammar.deserialize(stored, INFO)
    assert loaded.grammar == compiled.grammar
    assert str(loaded.grammar) == str(compiled.grammar)
    assert loaded.certificate == compiled.certificate
    assert loaded.tokenizer_info is INFO
    for seed in range(3):
        assert masks_along(loaded, seed) == masks_along(compiled, seed)
    assert loaded.serialize() == stored == compiled.serialize()  # whatever was walked


def test_every_certificate_is_kept():
    certificate = Certificate(
        exact=False,
        narrowed=("a", "\u00e9\U0001f600", ""),
        loosened=(Loosened("#/a", "not", "hard"), Loosened("#/\ud800", "x", "y")),
        ignored=("#/title", "#/\udfff"),
    )
    grammar = Grammar(Grammar.from_regex("a").ir, certificate)
    stored = GrammarCompiler(INFO).compile_grammar(grammar).serialize()
    assert CompiledGrammar.deserialize(stored, INFO).certificate == certificate
    assert Grammar.deserialize_json(grammar.serialize_json()).certificate == certificate


def test_equal_bytes_from_many_threads():
    barrier = threading.Barrier(4)

    def work(_: int) -> list[bytes]:
        barrier.wait(30)
        return [compiled.serialize() for compiled in compile_all()]

    with ThreadPoolExecutor(4) as pool:
        assert all(result == STORED for result in pool.map(work, range(4)))


def test_a_schema_of_256_fields_is_small():
    kinds = [{"type": "string", "maxLength": 20}, {"type": "integer"}, {"enum": ["red", "blue"]}]
    fields = {f"field_number_{i}": kinds[i % 3] for i in range(256)}
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    assert len(GrammarCompiler(INFO).compile_json_schema(schema).serialize()) <= 100_000


# --- refusals -------------------------------------------------------------------------------------


def refusal(data: bytes, info: TokenizerInfo = INFO) -> MaskwrightError:
    with pytest.raises(MaskwrightError) as raised:
        CompiledGrammar.deserialize(data, info)
    return raised.value


def changed(at: int, new: bytes) -> bytes:
    """A stored form with other bytes at a place, and the checksum it had."""
    return STORED[1][:at] + new + STORED[1][at + len(new) :]


@pytest.mark.parametrize(
    ("data", "code", "what"),
    [
        (b"", "deserialize-magic", "their magic number is missing"),
        (b"GGUF" * 20, "deserialize-magic", "their magic number is missing"),
        (
            changed(8, b"\4\3\2\1"),
            "deserialize-byte-order",
            "their byte order is another one, expected little-endian",
        ),
        (
            STORED[1][:63],
            "deserialize-length",
            "there are 63 of them, expected a header of 64 at least",
        ),
        (
            STORED[1] + b"\0",
            "deserialize-length",
            f"there are {len(STORED[1]) + 1} of them, expected {len(STORED[1])}",
        ),
        (
            changed(200, bytes(8)),
            "deserialize-checksum",
            "their checksum is wrong: they were damaged",
        ),
    ],
)
def test_what_is_no_whole_form_is_refused(data, code, what):
    error = refusal(data)
    assert type(error) is DeserializeFormatError
    assert (error.code, str(error)) == (code, START + what + END)


def test_another_version_is_refused():
    error = refusal(changed(12, b"\7\0\0\0"))
    assert type(error) is DeserializeVersionError
    assert error.code == "deserialize-version"
    assert str(error) == (
        "the stored grammar has format version 7, expected 1 or 2: compile the grammar again with "
        "this version of Maskwright"
    )


def test_another_vocabulary_is_refused():
    error = refusal(STORED[0], TokenizerInfo(TOKENS, stop_token_ids=0))
    assert type(error) is DeserializeFormatError
    assert error.code == "deserialize-vocabulary"
    assert str(error) == (
        f"{START}it is of another vocabulary than the one that it is loaded for{END}"
    )
    equal = TokenizerInfo(TOKENS, stop_token_ids=len(TOKENS) - 1)
    assert CompiledGrammar.deserialize(STORED[0], equal).tokenizer_info is equal


def test_larger_limits_are_refused_by_name():
    compiler = GrammarCompiler(INFO, max_clauses=20_000)
    compiled = compiler.compile_regex("a")
    with pytest.raises(LimitExceededError) as raised:
        CompiledGrammar.deserialize(compiled.serialize(), INFO)
    error = raised.value
    assert (error.code, error.limit, error.value) == ("deserialize-limit", "max_clauses", 10_000)
    assert str(error) == (
        "the stored grammar was compiled with max_clauses = 20000, and 10000 is allowed here; pass "
        "max_clauses to allow more, if its source is trusted"
    )
    again = CompiledGrammar.deserialize(compiled.serialize(), INFO, max_clauses=20_000)
    assert again.serialize() == compiled.serialize()
    # Whoever unpickles trusts the source already.
    assert pickle.loads(pickle.dumps(compiled)).serialize() == compiled.serialize()


def test_wrong_types_are_refused():
    with pytest.raises(TypeError, match="the stored form is a str; expected bytes"):
        CompiledGrammar.deserialize("text", INFO)
    with pytest.raises(TypeError, match="tokenizer_info is a NoneType; expected a TokenizerInfo"):
        CompiledGrammar.deserialize(STORED[0], None)
    stored = bytearray(STORED[0])
    assert CompiledGrammar.deserialize(memoryview(stored), INFO).serialize() == STORED[0]


def test_the_checksum_is_the_documented_one():
    for stored in STORED:
        assert HEADER.unpack(stored[:64])[5] == checksum(stored)
        assert sealed(stored, stored[64:]) == stored


#: Words of the stored form of `a{2,5}` over one rule, counted from its end, and what refuses them.
FAULTS = [
    (-1, 99, "edges, at byte .*: one leads outside of its rule"),
    (-2, 7 << 29, "edges, at byte .*: one has an unknown kind"),
    (-2, ord("b") << 8 | ord("a"), "edges, at byte .*: the bytes of one are no range"),
    (-3, 99, "edges, at byte .*: one leads outside of its rule"),
]


@pytest.mark.parametrize(("place", "value", "what"), FAULTS)
def test_a_fault_is_named_with_its_place(place, value, what):
    stored = GrammarCompiler(INFO).compile_regex("ab").serialize()
    at = len(stored) + 4 * place
    if place == -3:  # the target of the edge before
        at = len(stored) - 12
    body = bytearray(stored[64:])
    body[at - 64 : at - 60] = value.to_bytes(4, "little")
    with pytest.raises(DeserializeFormatError, match=f"its {what}") as raised:
        CompiledGrammar.deserialize(sealed(stored, bytes(body)), INFO)
    assert raised.value.code == "deserialize-format"


def test_damaged_forms_are_refused_or_sound():
    rng = random.Random(11)
    refused = 0
    for n in range(3000):
        stored = STORED[n % len(STORED)]
        body = bytearray(stored[64:])
        for _ in range(rng.randint(1, 3)):
            damage(body, rng)
        try:
            loaded = CompiledGrammar.deserialize(sealed(stored, bytes(body)), INFO)
        except (DeserializeFormatError, LimitExceededError):
            refused += 1
            continue
        masks_along(loaded, n)
        with contextlib.suppress(MalformedIRError):  # printing asks for more than compiling does
            str(loaded.grammar)
        again = CompiledGrammar.deserialize(loaded.serialize(), INFO)
        assert again.serialize() == loaded.serialize()
    assert 1000 < refused < 3000


def damage(body: bytearray, rng: random.Random) -> None:
    at = rng.randrange(max(1, len(body) // 4)) * 4
    match rng.randrange(5):
        case 0:
            body[at : at + 1] = bytes([rng.randrange(256)])
        case 1:
            body[at : at + 4] = rng.randrange(2**32).to_bytes(4, "little")
        case 2:
            body[at : at + 4] = rng.randrange(20).to_bytes(4, "little")
        case 3:
            del body[at:]
        case 4:
            body[at:at] = bytes(4)


def test_every_truncation_is_refused():
    stored = STORED[2]
    for size in range(0, len(stored), 7):
        assert refusal(stored[:size]).code in {"deserialize-magic", "deserialize-length"}
        if size > 64:
            assert refusal(sealed(stored, stored[64:size])).code == "deserialize-format"


# --- JSON and pickle ------------------------------------------------------------------------------


def test_json_round_trips():
    for compiled, stored in zip(GRAMMARS, STORED, strict=True):
        text = compiled.serialize_json()
        assert json.loads(text)["version"] == int(maskwright.get_serialization_version())
        assert CompiledGrammar.deserialize_json(text, INFO).serialize() == stored
        grammar = Grammar.deserialize_json(compiled.grammar.serialize_json())
        assert grammar == compiled.grammar
        assert grammar.certificate == compiled.certificate
        assert grammar.serialize_json() == compiled.grammar.serialize_json()


def test_version_is_that_of_the_config():
    assert maskwright.config.get_serialization_version() == "1"


GRAMMAR_JSON = Grammar.from_json_schema(PERSON).serialize_json()


def altered(**fields) -> str:
    return json.dumps({**json.loads(GRAMMAR_JSON), **fields})


def without(name: str) -> str:
    root = json.loads(GRAMMAR_JSON)
    del root[name]
    return json.dumps(root)


CERTIFICATE = {"exact": True, "narrowed": [], "loosened": [], "ignored": []}
GRAMMAR_FAULTS = [
    ("[]", "it is a list, expected an object"),
    (altered(format="x"), "the field 'format' is 'x', expected 'maskwright-grammar'"),
    (altered(more=1), "the field 'more' is unknown"),
    (without("ir"), "the field 'ir' is missing"),
    (altered(ir=5), "the field 'ir' is no base64 text"),
    (altered(ir="*"), "the field 'ir' is no base64 text"),
    (altered(ir="\u00e9"), "the field 'ir' is no base64 text"),
    (altered(certificate=[]), "the field 'certificate' is no object"),
    (altered(certificate={}), "the field 'certificate.exact' is missing"),
    (
        altered(certificate={**CERTIFICATE, "exact": 1}),
        "the field 'certificate.exact' is 1, expected a bool",
    ),
    (
        altered(certificate={**CERTIFICATE, "ignored": [1]}),
        "the field 'certificate.ignored' is no list of texts",
    ),
    (
        altered(certificate={**CERTIFICATE, "loosened": [1]}),
        "the field 'certificate.loosened' is no list of objects",
    ),
    (
        altered(certificate={**CERTIFICATE, "loosened": [{"pointer": "#"}]}),
        "the field 'certificate.loosened.keyword' is missing",
    ),
]


@pytest.mark.parametrize(("text", "what"), GRAMMAR_FAULTS)
def test_grammar_json_that_breaks_the_format(text, what):
    with pytest.raises(DeserializeFormatError) as raised:
        Grammar.deserialize_json(text)
    assert raised.value.code == "deserialize-format"
    assert str(raised.value) == (
        f"the text is not the stored form of a grammar: {what}; pass what Grammar.serialize_json() "
        "has written"
    )


def test_grammar_json_with_damaged_ir():
    ir = base64.b64encode(Grammar.from_regex("a").ir[:-1]).decode()
    with pytest.raises(DeserializeFormatError, match=r"'ir' holds no IR \(malformed IR"):
        Grammar.deserialize_json(altered(ir=ir))


@pytest.mark.parametrize("version", [0, 2, "1", 1.0, True, None])
def test_json_of_another_version(version):
    with pytest.raises(DeserializeVersionError) as raised:
        Grammar.deserialize_json(altered(version=version))
    assert raised.value.code == "deserialize-version"
    assert str(raised.value) == (
        f"the stored grammar has version {version!r}, expected 1: serialise it again with this "
        "version of Maskwright"
    )


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"version": ' + "9" * 5000 + "}"])
def test_text_that_is_no_json(text):
    def read_compiled(text):
        return CompiledGrammar.deserialize_json(text, INFO)

    for read, what in ((Grammar.deserialize_json, "grammar"), (read_compiled, "compiled grammar")):
        with pytest.raises(
            InvalidJSONError, match=f"the stored form of a {what} is not valid JSON"
        ) as raised:
            read(text)
        assert raised.value.code == "invalid-json"


def test_copies_are_the_grammar_itself():
    assert copy.copy(GRAMMARS[0]) is GRAMMARS[0]
    assert copy.deepcopy([GRAMMARS[0]])[0] is GRAMMARS[0]


def test_pickles_carry_the_vocabulary_once():
    one, two = len(pickle.dumps(GRAMMARS[:1])), len(pickle.dumps(GRAMMARS[:2]))
    assert two - one < len(STORED[1]) + 300 < len(pickle.dumps(INFO))
    loaded = pickle.loads(pickle.dumps(GRAMMARS))
    assert [compiled.serialize() for compiled in loaded] == STORED
    assert len({id(compiled.tokenizer_info) for compiled in loaded}) == 1
    assert loaded[0].tokenizer_info == INFO
    assert pickle.loads(pickle.dumps(GRAMMARS[0].grammar)).certificate == GRAMMARS[0].certificate
