"""Masks stored with a grammar: used when trusted, left otherwise, refused when malformed."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

import maskwright
from mask_walks import masks_along
from maskwright import (
    CompiledGrammar,
    DeserializeFormatError,
    DeserializeVersionError,
    GrammarCompiler,
    TokenizerInfo,
)
from stored_forms import MaskSection, sealed

WORDS = ['{"', '":', '", "', "name", "12", "true", '"}', "ab", "((", "\u00e9", "abc", "xyz", "a "]
TOKENS = [bytes([byte]) for byte in range(256)] + [word.encode() for word in WORDS] + [b"</s>"]
INFO = TokenizerInfo(TOKENS, stop_token_ids=len(TOKENS) - 1)
MASK_WORDS = (INFO.vocab_size + 31) // 32
NUM_NODES = 257 + 17  # of the trie: the root, the bytes, and what the words need besides
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[A-Z]", "maxLength": 40},
        "tags": {"type": "array", "items": {"enum": ["red", "blue"]}},
        "next": {"$ref": "#"},
    },
    "required": ["name"],
    "additionalProperties": False,
}
EBNF = """
root ::= expr
expr ::= expr "+" term | term
term ::= [0-9]{1,200} | "(" expr ")" | word
word ::= ("ab" | "\u00e9"){2,300} | [a-z]+
"""
Compile = Callable[[GrammarCompiler], CompiledGrammar]
KINDS: dict[str, Compile] = {
    "schema": lambda compiler: compiler.compile_json_schema(SCHEMA),
    "ebnf": lambda compiler: compiler.compile_grammar(EBNF),
    "regex": lambda compiler: compiler.compile_regex(r".*foo.*|(?:\d{2}-){3}"),
    "text": lambda compiler: compiler.compile_regex("[a-z ]+"),
}


def walked(kind: str, compiler: GrammarCompiler | None = None) -> CompiledGrammar:
    compiled = KINDS[kind](compiler or GrammarCompiler(INFO))
    for seed in range(3):
        masks_along(compiled, seed)
    return compiled


def trusting(data: bytes) -> CompiledGrammar:
    return CompiledGrammar.deserialize(data, INFO, trust_masks=True)


def cold_walks(compiled: CompiledGrammar) -> int:
    return compiled._core.counters()["cold_walks"]


# --- what is stored -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_walked_is_not_walked_again(kind):
    compiled = walked(kind)
    with_masks, without = compiled.serialize(include_masks=True), compiled.serialize()
    assert with_masks != without
    loaded = trusting(with_masks)
    for seed in range(3):
        assert masks_along(loaded, seed) == masks_along(compiled, seed)
    assert cold_walks(compiled) > 1
    assert cold_walks(loaded) == 0
    fresh = KINDS[kind](GrammarCompiler(INFO))
    for seed in range(3, 9):  # what was stored, and what has to be walked
        assert masks_along(loaded, seed) == masks_along(fresh, seed)


@pytest.mark.parametrize("kind", KINDS)
def test_the_default_form_depends_on_no_walk(kind):
    compiled = walked(kind)
    loaded = trusting(compiled.serialize(include_masks=True))
    masks_along(loaded, 5)
    untouched = KINDS[kind](GrammarCompiler(INFO)).serialize()
    assert untouched == compiled.serialize() == loaded.serialize()


@pytest.mark.parametrize("kind", KINDS)
def test_masks_are_stored_again_as_they_were(kind):
    stored = walked(kind).serialize(include_masks=True)
    loaded = trusting(stored)
    assert loaded.serialize(include_masks=True) == stored
    masks_along(loaded, 2)
    assert loaded.serialize(include_masks=True) == stored


def test_without_masks_the_form_is_the_default_one():
    compiled = KINDS["regex"](GrammarCompiler(INFO))
    assert compiled.serialize(include_masks=True) == compiled.serialize()


@pytest.mark.parametrize("kind", KINDS)
def test_a_compiler_that_shares_no_masks_stores_those_of_frames_that_remember_nothing(kind):
    compiled = walked(kind, GrammarCompiler(INFO, cache_enabled=False))
    loaded = trusting(compiled.serialize(include_masks=True))
    for seed in range(3):
        assert masks_along(loaded, seed) == masks_along(compiled, seed)
    if kind == "schema":  # objects remember members
        assert 0 < cold_walks(loaded) < cold_walks(compiled)
    else:
        assert cold_walks(loaded) == 0


def test_masks_of_other_grammars_are_stored_with_those_that_took_them():
    compiler = GrammarCompiler(INFO)
    walked("schema", compiler)
    schema = {"type": "array", "items": SCHEMA}
    taker = compiler.compile_json_schema(schema)
    expected = masks_along(taker, 1)
    assert taker._core.counters()["shared_masks"] > 0
    loaded = trusting(taker.serialize(include_masks=True))
    assert masks_along(loaded, 1) == expected
    assert cold_walks(loaded) == 0


def test_what_is_loaded_is_charged():
    compiled = walked("regex")
    with_masks, without = compiled.serialize(include_masks=True), compiled.serialize()
    plain = CompiledGrammar.deserialize(without, INFO).memory_size_bytes
    full = trusting(with_masks).memory_size_bytes
    assert full - plain > 0.8 * (len(with_masks) - len(without))
    assert CompiledGrammar.deserialize(with_masks, INFO).memory_size_bytes == plain


def test_the_form_is_the_documented_one():
    compiled = walked("schema")
    with_masks, without = compiled.serialize(include_masks=True), compiled.serialize()
    section = MaskSection.split(with_masks, without, MASK_WORDS)
    assert section.form == 2
    assert section.version == maskwright.__version__.encode()
    assert len(section.masks) > 5
    assert section.joined(without) == with_masks


# --- trust ----------------------------------------------------------------------------------------


def forged() -> tuple[bytes, bytes]:
    """A regular expression's form with a mask that lacks tokens, and the default one."""
    compiled = walked("text")
    without = compiled.serialize()
    section = MaskSection.split(compiled.serialize(include_masks=True), without, MASK_WORDS)
    for mask in section.masks:
        mask.dense, mask.text, mask.ids = None, 0, [ord("a")]
    assert section.start is not None
    section.start.dense, section.start.ids = None, [ord("a")]
    return section.joined(without), without


def test_masks_are_left_unless_they_are_trusted():
    wrong, without = forged()
    honest = CompiledGrammar.deserialize(without, INFO)
    expected = masks_along(honest, 1)
    assert masks_along(CompiledGrammar.deserialize(wrong, INFO), 1) == expected
    assert CompiledGrammar.deserialize(wrong, INFO).serialize() == without
    assert masks_along(trusting(wrong), 1, is_forged=True) != expected


@pytest.mark.parametrize(("field", "other"), [("version", b"0.0.1"), ("form", 0), ("form", 3)])
def test_masks_of_another_version_or_form_are_left(field, other):
    wrong, without = forged()
    section = MaskSection.split(wrong, without, MASK_WORDS)
    assert getattr(section, field) != other
    setattr(section, field, other)
    loaded = trusting(section.joined(without))
    assert masks_along(loaded, 1) == masks_along(CompiledGrammar.deserialize(without, INFO), 1)
    assert loaded.serialize() == without


def test_another_version_of_the_form_is_refused():
    stored = walked("text").serialize(include_masks=True)
    assert stored[12] == 2
    other = sealed(stored[:12] + b"\3" + stored[13:], stored[64:])
    with pytest.raises(DeserializeVersionError) as raised:
        trusting(other)
    assert str(raised.value) == (
        "the stored grammar has format version 3, expected 1 or 2: compile the grammar again with "
        "this version of Maskwright"
    )


# --- faults ---------------------------------------------------------------------------------------


def set_field(name: str, value: object) -> Callable[[MaskSection], None]:
    def change(section: MaskSection) -> None:
        setattr(section.masks[0], name, value)

    return change


def set_start(**fields: object) -> Callable[[MaskSection], None]:
    def change(section: MaskSection) -> None:
        for name, value in {"dense": None, "ids": [1], **fields}.items():
            setattr(section.start, name, value)

    return change


def set_list(words: list[int]) -> Callable[[MaskSection], None]:
    def change(section: MaskSection) -> None:
        section.lists[0] = words

    return change


NO_PLACES = "a list is no list of places in the vocabulary"
NO_NODES = "its nodes are not sorted, or not in the vocabulary"
NO_TOKENS = "its tokens are not sorted, or not in the vocabulary"
BEYOND = [0] * (MASK_WORDS - 1) + [1 << 31]
CLASS = [0, 0, 0, 0, 0]
FREE = 2**32 - 1
FAULTS = [
    (set_field("key", []), "a key is none"),
    (set_field("key", [0, 1]), "a key is none"),
    (set_field("key", [5, 1]), "a key is none"),
    (set_field("key", [1] * 1025), "a key is none"),
    (set_field("key", [3, 0]), "a key names no list"),
    (set_field("key", [4, 0, 1]), "a key names no list"),
    (set_field("key", [3, 1000, 0]), "a list does not exist"),
    (set_field("escapes", 1000), "a list does not exist"),
    (set_field("text", 1000), "its text is 1000, expected at most "),
    (set_field("dense", BEYOND), "a bitmap has a token beyond the last"),
    (set_field("ids", [INFO.vocab_size]), NO_TOKENS),
    (set_field("ids", [2, 2]), NO_TOKENS),
    (set_field("ids", [3, 2]), NO_TOKENS),
    (set_field("unsure", [NUM_NODES + 100]), NO_NODES),
    (set_field("unsure", [3, 2]), NO_NODES),
    (set_field("sets", [2, 0]), "a set has another size than it says"),
    (set_field("sets", [100, *range(100)]), "a set has another size than it says"),
    (set_list([5]), NO_PLACES),
    (set_list([NUM_NODES + 100, 0]), NO_PLACES),
    (set_list([5, FREE]), NO_PLACES),
    (set_list([5, 0, 4, 0]), NO_PLACES),
    (set_list([FREE, 0]), NO_PLACES),
    (set_list([FREE, 0, *CLASS, *CLASS, 2, 5]), NO_PLACES),
    (set_list([FREE, 0, *CLASS, *CLASS, 2, 5, 5]), NO_PLACES),
    (set_list([FREE, 0, *CLASS, *CLASS, 1, NUM_NODES + 100]), NO_PLACES),
    (set_list([FREE, 0, *CLASS, 0, 0, 0, 0, 2, 1, 5]), NO_PLACES),
    (set_list([5, 1000]), "its list names a set that does not exist"),
    (lambda section: section.texts.append(BEYOND), "a bitmap has a token beyond the last"),
    (set_start(completed=2), "its end flag is 2, expected at most 1"),
    (set_start(dense=BEYOND), "a bitmap has a token beyond the last"),
    (set_start(ids=[INFO.vocab_size]), NO_TOKENS),
    (set_start(ids=[2, 2]), NO_TOKENS),
    (set_start(ids=[]), "nothing can follow at the start"),
    (set_start(dense=[0] * MASK_WORDS), "nothing can follow at the start"),
]


@pytest.mark.parametrize("number", range(len(FAULTS)))
def test_a_fault_is_named_with_its_place(number):
    change, what = FAULTS[number]
    compiled = walked("ebnf")
    without = compiled.serialize()
    section = MaskSection.split(compiled.serialize(include_masks=True), without, MASK_WORDS)
    section.masks[0].escapes = 0
    change(section)
    with pytest.raises(DeserializeFormatError, match=f"its masks, at byte .*: {what}") as raised:
        trusting(section.joined(without))
    assert raised.value.code == "deserialize-format"


def test_bytes_behind_the_masks_are_refused():
    stored = walked("text").serialize(include_masks=True)
    with pytest.raises(DeserializeFormatError, match=r"its masks, .*: there are bytes behind them"):
        trusting(sealed(stored, stored[64:] + bytes(4)))


def test_damaged_masks_are_refused_or_harmless():
    """What can be loaded may allow anything, but it answers."""
    rng = random.Random(12)
    forms = []
    for kind in KINDS:
        compiled = walked(kind)
        forms.append((compiled.serialize(include_masks=True), len(compiled.serialize())))
    refused = 0
    for n in range(2000):
        stored, start = forms[n % len(forms)]
        body = bytearray(stored[64:])
        for _ in range(rng.randint(1, 3)):
            at = start - 64 + rng.randrange((len(body) - start + 64) // 4) * 4
            value = rng.choice([rng.randrange(20), rng.randrange(300), rng.randrange(2**32)])
            body[at : at + 4] = value.to_bytes(4, "little")
        try:
            loaded = trusting(sealed(stored, bytes(body)))
        except DeserializeFormatError:
            refused += 1
            continue
        masks_along(loaded, n % 3, is_forged=True)
    assert 500 < refused < 1900
