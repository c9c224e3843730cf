"""The reader refuses every malformed buffer, with the place of the fault."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright import _core
from maskwright.errors import GrammarError, MalformedIRError
from maskwright.ir import Builder
from maskwright.ir.format import NONE, VERSION
from maskwright.ir.reader import read


def pack(
    exprs: Sequence[Sequence[int]],
    nodes: Sequence[Sequence[int]] = (),
    pool: bytes = b"root",
    rules: Sequence[tuple[int, int, int]] = ((0, 0, 4),),
) -> bytes:
    """Write a buffer record by record, right or wrong."""
    offsets: list[int] = []
    words: list[int] = []
    for record in (*exprs, *nodes):
        offsets.append(len(words))
        words += record
    table = [word for rule in rules for word in rule]
    counts = (len(exprs), len(rules), len(nodes), len(words), len(pool))
    header = [0x5249574D, VERSION, *counts, 0, 0, 0, 0, 0]
    everything = [*header, *offsets, *table, *words]
    return struct.pack(f"<{len(everything)}I", *everything) + pool


def test_pack_agrees_with_the_builder() -> None:
    builder = Builder()
    root = builder.rule("root")
    builder.define(root, builder.empty())
    assert pack([[0]]) == builder.finish(root)


JSON = [12, 0, 0, 0, 0, 0, 0, 0]  # over node 0

RECORDS: list[tuple[str, list[list[int]], list[list[int]]]] = [
    ("unknown expression kind 13", [[13]], []),
    ("unknown node kind 21", [JSON], [[21]]),
    ("runs past the end of the word pool", [[1, 0]], []),
    ("a list of 9 items runs past", [[2, 9, 1, 1]], []),
    ("a list of 4294967295 items", [[3, NONE, 0, 0]], []),
    ("a literal is empty", [[1, 0, 0]], []),
    ("bytes 3+2 are outside", [[1, 3, 2]], []),
    ("bytes 4294967295+1 are outside", [[1, NONE, 1]], []),
    ("references into the byte pool overlap", [[7, 2, 0, 3, 1, 3]], []),
    ("out of order", [[2, 2, 5, 6, 3, 4]], []),
    ("out of order", [[2, 2, 1, 2, 3, 4]], []),
    ("out of order", [[2, 1, 5, 4]], []),
    ("out of bounds", [[2, 1, 0, 0x110000]], []),
    ("contains surrogates", [[2, 1, 0, 0xD800]], []),
    ("contains surrogates", [[2, 1, 0xDFFF, 0xE000]], []),
    ("1 operands where at least 2", [[3, 1, 1], [0]], []),
    ("0 operands where at least 2", [[4, 0]], []),
    ("0 operands where at least 1", [[8, 0]], []),
    ("expression id 1 is not below 1", [[9, 1]], []),
    ("expression id 7 is not below 2", [[3, 2, 1, 7], [0]], []),
    ("bounds 3..2 are reversed", [[5, 1, 3, 2], [0]], []),
    (f"bounds {NONE}..{NONE}", [[5, 1, NONE, NONE], [0]], []),
    ("rule id 1 is not below 1", [[6, 1]], []),
    ("a literal set is empty", [[7, 0]], []),
    ("free text needs a stop", [[10, 0, 0]], []),
    ("free text needs a stop", [[10, 1, 0, 0, 0]], []),
    ("free text needs a stop", [[10, 1, 0, 4, 1, 0, 0]], []),
    ("flags 0x2 have bits", [[11, 2, 0]], []),
    ("flags 0x20 have bits", [[12, 0, 32, 0, 0, 0, 0, 0]], [[0]]),
    ("two spellings of numbers", [[12, 0, 24, 0, 0, 0, 0, 0]], [[0]]),
    ("node id 0 is not below 0", [JSON], []),
    ("flags 0x80 have bits", [JSON], [[2, 128]]),
    ("flags 0x10 have bits", [JSON], [[3, 16, 0, 0, 0, 0]]),
    ("is not a normalised plain decimal", [JSON], [[3, 1, 0, 4, 0, 0]]),
    ("bounds 2..1", [JSON], [[4, 2, 1]]),
    ("expression id 1 is not below 1", [JSON], [[5, 1]]),
    ("flags 0x8 have bits", [JSON], [[6, 8, 0, 0, 0]]),
    ("is not a normalised plain decimal", [JSON], [[6, 0, 1, 0, 0, 0, 0]]),
    ("node id 1 is not below 1", [JSON], [[6, 0, 0, 0, 1, 1]]),
    ("node id 1 is not below 1", [JSON], [[7, 0, 1]]),
    ("bounds 1..0", [JSON], [[8, 1, 0]]),
    ("an object names a key twice", [JSON], [[9, 2, 0, 4, 0, 0, 4, 0, 0, NONE]]),
    ("node id 1 is not below 1", [JSON], [[9, 1, 0, 4, 1, 0, NONE]]),
    ("expression id 1 is not below 1", [JSON], [[9, 0, 1, 1, 0, NONE]]),
    ("node id 1 is not below 1", [JSON], [[9, 0, 1, 0, 1, NONE]]),
    ("bytes 9+1 are outside", [JSON], [[10, 1, 9, 1]]),
    ("bounds 1..0", [JSON], [[11, 1, 0]]),
    ("0 nodes where at least 1", [JSON], [[12, 0]]),
    ("0 nodes where at least 1", [JSON], [[13, 0]]),
    ("0 nodes where at least 1", [JSON], [[14, 0]]),
    ("node id 1 is not below 1", [JSON], [[15, 1]]),
    ("is not a normalised plain decimal", [JSON], [[16, 0, 4]]),
    ("bounds 2..1", [JSON], [[17, 0, 2, 1]]),
    ("node id 1 is not below 1", [JSON], [[19, 1]]),
    ("bytes 9+1 are outside", [JSON], [[20, 9, 1, 0]]),
    ("expression 0 contains itself", [[5, 0, 0, 1]], []),
    ("contains itself", [[3, 2, 1, 2], [5, 0, 0, 1], [0]], []),
]


@pytest.mark.parametrize(("message", "exprs", "nodes"), RECORDS)
def test_malformed_records(message: str, exprs: list[list[int]], nodes: list[list[int]]) -> None:
    buffer = pack(exprs, nodes)
    with pytest.raises(MalformedIRError) as caught:
        read(buffer)
    assert message in str(caught.value)
    assert caught.value.code == "ir-malformed"
    assert str(caught.value).endswith(f"at byte {caught.value.offset} of the IR buffer")
    assert 48 <= caught.value.offset <= len(buffer)
    assert isinstance(caught.value, GrammarError)


NOT_REGULAR: list[tuple[list[list[int]], list[list[int]]]] = [
    ([[9, 1], [6, 0]], []),  # a complement of its own rule
    ([[8, 2, 1, 2], [11, 0, 0], [0]], []),
    ([[8, 2, 1, 1], JSON], [[0]]),
    ([JSON, [6, 0]], [[5, 1]]),  # a string language that reaches JSON through a rule
    ([[4, 2, 1, 2], [6, 0], [9, 3], [3, 2, 1, 1]], []),
]


@pytest.mark.parametrize(("exprs", "nodes"), NOT_REGULAR)
def test_operands_must_be_regular(exprs: list[list[int]], nodes: list[list[int]]) -> None:
    with pytest.raises(MalformedIRError, match="must be regular") as caught:
        read(pack(exprs, nodes))
    assert caught.value.code == "ir-not-regular"


def test_regular_operands_may_use_rules() -> None:
    rules = ((0, 0, 2), (2, 2, 2))
    assert read(pack([[8, 2, 1, 1], [6, 1], [0]], rules=rules)).rules[1].expr == 2


def corrupt(change: Callable[[bytearray], object]) -> bytes:
    buffer = bytearray(pack([[0]]))
    change(buffer)
    return bytes(buffer)


HEADERS: list[tuple[bytes, str, str, int]] = [
    (b"", "ir-malformed", "0 bytes are too few", 0),
    (pack([[0]])[:47], "ir-malformed", "47 bytes are too few", 47),
    (corrupt(lambda b: b.__setitem__(0, 0)), "ir-malformed", "magic", 0),
    (corrupt(lambda b: b.__setitem__(4, 1)), "ir-version", "format version 1", 4),
    (corrupt(lambda b: b.__setitem__(32, 1)), "ir-malformed", "reserved header words", 32),
    (corrupt(lambda b: b.__setitem__(44, 1)), "ir-malformed", "reserved header words", 32),
    (corrupt(lambda b: b.__setitem__(28, 1)), "ir-malformed", "root rule 1", 28),
    (corrupt(lambda b: b.append(0)), "ir-malformed", "where the header says", 8),
    (corrupt(lambda b: b.__setitem__(11, 255)), "ir-malformed", "where the header says", 8),
    (corrupt(lambda b: b.__setitem__(48, 1)), "ir-malformed", "outside the word pool", 48),
]


@pytest.mark.parametrize(("buffer", "code", "message", "offset"), HEADERS)
def test_malformed_headers(buffer: bytes, code: str, message: str, offset: int) -> None:
    with pytest.raises(MalformedIRError) as caught:
        read(buffer)
    assert message in str(caught.value)
    assert (caught.value.code, caught.value.offset) == (code, offset)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (((1, 0, 4),), "expression id 1 is not below 1"),
        (((0, 0, 0),), "rule name '' is empty or taken"),
        (((0, 0, 1), (0, 0, 1)), "rule name 'r' is empty or taken"),
        (((0, 0, 5),), "bytes 0+5 are outside"),
        (((0, 1, 3),), None),
    ],
)
def test_rule_table(rules: tuple[tuple[int, int, int], ...], message: str | None) -> None:
    buffer = pack([[0]], rules=rules)
    if message is None:
        assert read(buffer).rules[0].name == "oot"
        return
    with pytest.raises(MalformedIRError, match=message.replace("+", r"\+")):
        read(buffer)


def test_names_and_keys_must_be_utf8() -> None:
    for exprs, nodes, rules in (
        ([[0]], [], ((0, 0, 2),)),
        ([JSON], [[10, 1, 0, 2]], ((0, 2, 2),)),
    ):
        with pytest.raises(MalformedIRError, match="not valid UTF-8"):
            read(pack(exprs, nodes, b"\xffaxy", rules))


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (((0, 0, 4),), None),
        (((1, 0, 4),), "its expression does not exist"),
        (((0, 0, 0),), "its name is empty or taken"),
        (((0, 0, 1), (0, 0, 1)), "its name is empty or taken"),
        (((0, 0, 6),), "exceeds the pool"),
        (((0, 3, 2),), "not valid UTF-8"),
    ],
)
def test_the_core_refuses_rules_that_could_not_be_named(
    rules: tuple[tuple[int, int, int], ...], message: str | None
) -> None:
    buffer = pack([[0]], pool=b"root\xff", rules=rules)
    vocabulary = _core.Vocabulary([b"a"], vocab_size=1, special_token_ids=[], stop_token_ids=[])
    if message is None:
        _core.compile(buffer, vocabulary)
        return
    with pytest.raises(MalformedIRError, match=message):
        _core.compile(buffer, vocabulary)


def test_records_may_not_overlap() -> None:
    buffer = bytearray(pack([[0], [2, 1, 0, 0]]))
    buffer[48] = 1  # expression 0 is expression 1 again
    with pytest.raises(MalformedIRError, match="records in the word pool overlap"):
        read(bytes(buffer))


def test_deep_expressions_do_not_recurse() -> None:
    builder = Builder()
    root = builder.rule("root")
    expr = builder.literal(b"a")
    for _ in range(20_000):
        expr = builder.repeat(expr, 0, 1)
    builder.define(root, builder.complement(expr))
    assert len(read(builder.finish(root)).exprs) == 20_002


def rich_buffer() -> bytes:
    b = Builder()
    root = b.rule("root")
    node = b.reserve()
    text = b.string_language(b.intersect([b.char_class([(97, 122)]), b.complement(b.empty())]))
    values = b.enum(literals=1, numbers=["1.5"], strings=["x"])
    members = b.object([("a", node), ("b", values)], text)
    limits = [b.number("-1", "2"), b.string_length(0, 9), b.item_count(1, None), b.required(["a"])]
    b.define_node(node, b.any_of([b.all_of([members, *limits]), b.array([text], b.never())]))
    rest = [b.text_until([b"<"], [b"xy"]), b.token_set([1, 2]), b.literal_set([b"p", b"q"])]
    body = b.sequence([b.literal(b"ab"), b.repeat(b.ref(root), 0, 3), b.json(node), *rest])
    b.define(root, b.choice([body, b.empty()]))
    return b.finish(root)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data())
def test_random_damage_is_read_or_refused(data: st.DataObject) -> None:
    buffer = bytearray(rich_buffer())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(buffer) - 1))
        buffer[place] = data.draw(st.sampled_from([0, 1, 2, 3, 4, 5, 8, 12, 13, 127, 128, 255]))
    offset = 0
    try:
        read(bytes(buffer))
    except MalformedIRError as error:
        offset = error.offset
    assert 0 <= offset <= len(buffer)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.integers(0, 2_000))
def test_truncation_is_refused(length: int) -> None:
    buffer = rich_buffer()
    with pytest.raises(MalformedIRError):
        read(buffer[: min(length, len(buffer) - 1)])
