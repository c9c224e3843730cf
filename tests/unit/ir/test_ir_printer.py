"""What the printer writes where EBNF has no form of its own: names, macros, schemas."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from maskwright.errors import MalformedIRError
from maskwright.ir import Builder
from maskwright.ir.printer import to_ebnf


def printed(make: Callable[[Builder], int]) -> str:
    builder = Builder()
    root = builder.rule("root")
    builder.define(root, make(builder))
    return to_ebnf(builder.finish(root)).removeprefix("root ::= ").removesuffix("\n")


def schema(make: Callable[[Builder], int]) -> object:
    text = printed(lambda b: b.json(make(b)))
    body = text.removeprefix('JsonSchema("').partition('", any_order')[0]
    return json.loads(body.replace('\\"', '"').replace("\\\\", "\\"))


MACROS: dict[str, Callable[[Builder], int]] = {
    'Intersect("a" | "b", [a-z])': lambda b: b.intersect(
        [b.choice([b.literal(b"a"), b.literal(b"b")]), b.char_class([(97, 122)])]
    ),
    'Not("a" "b")*': lambda b: b.repeat(
        b.complement(b.sequence([b.literal(b"a"), b.literal(b"b")])), 0, None
    ),
    'TextUntil("</t>")': lambda b: b.text_until([b"</t>"]),
    'TextUntil("a", Bytes("ff"), excludes=("x", "\\"",))': lambda b: b.text_until(
        [b"a", b"\xff"], [b"x", b'"']
    ),
    "Token(1, 7)": lambda b: b.token_set([7, 1]),
    "ExcludeToken(3)": lambda b: b.token_set([3], exclude=True),
    "ExcludeToken()": lambda b: b.token_set([], exclude=True),
    "[]": lambda b: b.token_set([]),
    '"a" | Bytes("c3") | "\u00e9"': lambda b: b.literal_set([b"a", b"\xc3", b"\xc3\xa9"]),
    '("a" | "b") "c"': lambda b: b.sequence([b.literal_set([b"a", b"b"]), b.literal(b"c")]),
    'JsonSchema("true", any_order=false, strict_mode=true, any_whitespace=true)': lambda b: b.json(
        b.any()
    ),
    'JsonSchema("false", any_order=true, strict_mode=false, any_whitespace=true, '
    "max_whitespace_cnt=2)": lambda b: b.json(
        b.never(), any_order=True, strict=False, max_whitespace=2
    ),
    'JsonSchema("true", any_order=false, strict_mode=true, any_whitespace=true, '
    'number_spelling="plain")': lambda b: b.json(b.any(), number_spelling="plain"),
    'JsonSchema("{\\"type\\": \\"null\\"}", any_order=false, strict_mode=true, '
    'any_whitespace=false, separators=(", ", ": "))': lambda b: b.json(
        b.types(1), any_whitespace=False, item_separator=b", ", key_separator=b": "
    ),
}


@pytest.mark.parametrize("text", MACROS)
def test_macros(text: str) -> None:
    assert printed(MACROS[text]) == text


SCHEMAS: list[tuple[object, Callable[[Builder], int]]] = [
    ({"type": ["boolean", "integer", "number"]}, lambda b: b.types(2 | 4 | 8)),
    (False, lambda b: b.types(0)),
    ({"minimum": -1.5, "maximum": 2}, lambda b: b.number("-1.5", "2")),
    (
        {"exclusiveMinimum": 0, "exclusiveMaximum": 1},
        lambda b: b.number("0", "1", lo_exclusive=True, hi_exclusive=True),
    ),
    ({}, lambda b: b.number()),
    ({"minLength": 1, "maxLength": 4}, lambda b: b.string_length(1, 4)),
    ({"maxItems": 0}, lambda b: b.item_count(0, 0)),
    ({"minProperties": 2}, lambda b: b.member_count(2, None)),
    (
        {"x-maskwright-language": '[a-z]+ "\\\\"'},
        lambda b: b.string_language(
            b.sequence([b.repeat(b.char_class([(97, 122)]), 1, None), b.literal(b"\\")])
        ),
    ),
    (
        {"enum": [None, False, True, 1, 2.5, "x", '\n"']},
        lambda b: b.enum(literals=7, numbers=["1", "2.5"], strings=["x", '\n"']),
    ),
    (
        {"anyOf": [{"enum": [1]}, {"type": "array"}]},
        lambda b: b.enum(numbers=["1"], nodes=[b.types(32)]),
    ),
    ({"anyOf": [{"type": "array"}]}, lambda b: b.enum(nodes=[b.types(32)])),
    (
        {"prefixItems": [True, False], "items": False},
        lambda b: b.array([b.any(), b.never()], b.never()),
    ),
    ({"items": True}, lambda b: b.array([], b.any())),
    (
        {"properties": {"b": True, "\u00e9\\": False}, "additionalProperties": True},
        lambda b: b.object([("b", b.any()), ("\u00e9\\", b.never())], b.any()),
    ),
    ({}, lambda b: b.object([], None)),
    ({"required": ["b", "a"]}, lambda b: b.required(["b", "a"])),
    ({"allOf": [True, False]}, lambda b: b.all_of([b.any(), b.never()])),
    ({"anyOf": [True, False]}, lambda b: b.any_of([b.any(), b.never()])),
    ({"oneOf": [True, False]}, lambda b: b.one_of([b.any(), b.never()])),
    ({"not": True}, lambda b: b.negation(b.any())),
    ({"multipleOf": 0.01}, lambda b: b.multiple_of("0.01")),
    ({"contains": True, "minContains": 1}, lambda b: b.contains(b.any(), 1, None)),
    (
        {"contains": True, "minContains": 0, "maxContains": 2},
        lambda b: b.contains(b.any(), 0, 2),
    ),
    ({"uniqueItems": True}, lambda b: b.unique_items()),
    ({"propertyNames": {"maxLength": 3}}, lambda b: b.member_names(b.string_length(0, 3))),
    ({"dependentRequired": {"a": ["b"]}}, lambda b: b.dependent_required("a", ["b"])),
    (
        {"x-maskwright-key-languages": [['"x"', True]], "additionalProperties": False},
        lambda b: b.object([], b.never(), [(b.literal(b"x"), b.any())]),
    ),
]


@pytest.mark.parametrize(("expected", "make"), SCHEMAS)
def test_schemas(expected: object, make: Callable[[Builder], int]) -> None:
    assert schema(make) == expected


def test_recursive_schema_uses_definitions() -> None:
    def make(b: Builder) -> int:
        node = b.reserve()
        b.define_node(node, b.object([("next", node)], None))
        return node

    reference = {"$ref": "#/$defs/n0"}
    assert schema(make) == {**reference, "$defs": {"n0": {"properties": {"next": reference}}}}


def test_shared_and_deep_schemas_stay_small() -> None:
    def shared(b: Builder) -> int:
        node = b.string_length(1, 2)
        for _ in range(60):
            node = b.all_of([node, node])
        return node

    def deep(b: Builder) -> int:
        node = b.any()
        for _ in range(3_000):
            node = b.array([], node)
        return node

    assert len(json.dumps(schema(shared))) < 10_000
    assert len(json.dumps(schema(deep))) < 100_000


def test_names_are_legal_and_unique_and_the_root_is_called_root() -> None:
    builder = Builder()
    names = ["main", "root", "a b", "a_b", "1", "Token", "..", "\u00e9", "part", "a.b"]
    rules = {name: builder.rule(name) for name in names}
    refs = builder.sequence([builder.ref(rule) for rule in rules.values()])
    for name, rule in rules.items():
        builder.define(rule, refs if name == "main" else builder.literal(name.encode()))
    lines = to_ebnf(builder.finish(rules["main"])).splitlines()
    assert lines == [
        "root ::= root root-2 a_b-2 a_b _1 Token-2 _.. _ part a.b",
        'root-2 ::= "root"',
        'a_b-2 ::= "a b"',
        'a_b ::= "a_b"',
        '_1 ::= "1"',
        'Token-2 ::= "Token"',
        '_.. ::= ".."',
        '_ ::= "\u00e9"',
        'part ::= "part"',
        'a.b ::= "a.b"',
    ]


def test_malformed_ir_is_refused() -> None:
    with pytest.raises(MalformedIRError):
        to_ebnf(b"MWIR")
