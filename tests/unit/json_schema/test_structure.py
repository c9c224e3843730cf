"""Which nodes each keyword becomes."""

from __future__ import annotations

from decimal import Decimal

import pytest

from maskwright.frontends.json_schema import compile_json_schema
from maskwright.ir import format as f
from maskwright.ir import nodes as n
from unit.json_schema.judge import Judge


def judge_of(schema, **options):
    return Judge(compile_json_schema(schema, **options)[0])


def root_of(schema, **options):
    return judge_of(schema, **options).root


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (True, n.Any()),
        (False, n.Never()),
        ({}, n.Any()),
        ("true", n.Any()),
        ("{}", n.Any()),
        ({"type": "string"}, n.Types(f.TYPE_STRING)),
        ({"type": "number"}, n.Types(f.TYPE_NUMBER)),
        ({"type": ["integer", "null"]}, n.Types(f.TYPE_INTEGER | f.TYPE_NULL)),
        ({"minLength": 2}, n.StringLength(2, None)),
        ({"maxLength": 2}, n.StringLength(0, 2)),
        ({"maxLength": 3, "minLength": 2.0}, n.StringLength(2, 3)),
        ({"minLength": 0}, n.Any()),
        ({"minItems": 1, "maxItems": 1}, n.ItemCount(1, 1)),
        ({"maxProperties": 4}, n.MemberCount(0, 4)),
        ({"required": ["b", "a"]}, n.Required(("b", "a"))),
        ({"required": []}, n.Any()),
        ({"minimum": 1.50}, n.Number("1.5", None, False, False)),
        ({"exclusiveMaximum": -0.0}, n.Number(None, "0", False, True)),
        ({"enum": []}, n.Enum(0, (), (), ())),
        ({"enum": ["a", "a", "b"]}, n.Enum(0, (), ("a", "b"), ())),
        ({"const": None}, n.Enum(f.LITERAL_NULL, (), (), ())),
        ({"const": 100.0}, n.Enum(0, ("100",), (), ())),
        ({"anyOf": [True]}, n.Any()),
        ({"allOf": [{"type": "null"}]}, n.Types(f.TYPE_NULL)),
        ({"uniqueItems": False, "patternProperties": {}, "propertyNames": True}, n.Any()),
        ({"pattern": ".*"}, n.Any()),
        ({"uniqueItems": True}, n.UniqueItems()),
        ({"contains": True}, n.Contains(0, 1, None)),
        ({"contains": True, "maxContains": 3.0}, n.Contains(0, 1, 3)),
        ({"contains": True, "minContains": 0, "maxContains": 0}, n.Contains(0, 0, 0)),
        ({"contains": False, "minContains": 0}, n.Any()),
        ({"minContains": 2, "maxContains": 1}, n.Any()),
    ],
)
def test_keywords_that_make_one_node(schema, expected):
    assert root_of(schema) == expected


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (-0.0, "0"),
        (1e3, "1000"),
        (1.5e-7, "0.00000015"),
        (0.1, "0.1"),
        (-12.50, "-12.5"),
        (10**30, "1" + "0" * 30),
        (1e22, "1" + "0" * 22),
        (Decimal("1.00"), "1"),
        (Decimal("1E+2"), "100"),
        (Decimal("0E+500000"), "0"),
        (-(2**63), "-9223372036854775808"),
    ],
)
def test_bounds_are_plain_decimals(number, text):
    assert root_of({"minimum": number}) == n.Number(text, None, False, False)
    assert root_of({"const": number}) == n.Enum(0, (text,), (), ())


def test_numbers_of_json_text_are_exact():
    text = '{"minimum": 0.1000000000000000000000000001, "maximum": 12345678901234567890123}'
    expected = n.Number("0.1000000000000000000000000001", "12345678901234567890123", False, False)
    assert root_of(text) == expected


def test_boolean_bounds_make_the_inclusive_ones_exclusive():
    schema = {"minimum": 1, "exclusiveMinimum": True, "maximum": 2, "exclusiveMaximum": False}
    assert root_of(schema) == n.Number("1", "2", True, False)


def test_inclusive_and_exclusive_bounds_are_both_kept():
    judge = judge_of({"exclusiveMinimum": 1, "minimum": 1, "maximum": 9})
    assert [judge.node(part) for part in judge.root.items] == [
        n.Number("1", "9", False, False),
        n.Number("1", None, True, False),
    ]


def test_a_crossed_pair_of_counts_is_two_nodes():
    judge = judge_of({"minItems": 3, "maxItems": 1})
    assert [judge.node(part) for part in judge.root.items] == [
        n.ItemCount(3, None),
        n.ItemCount(0, 1),
    ]


def test_object_members_keep_their_order_and_text():
    schema = {"properties": {"b": True, "": False, 'a"\n\u00e9': {"type": "null"}}}
    judge = judge_of(schema)
    assert isinstance(judge.root, n.Object)
    assert [key for key, _ in judge.root.members] == ["b", "", 'a"\n\u00e9']
    assert [judge.node(node) for _, node in judge.root.members] == [
        n.Any(),
        n.Never(),
        n.Types(f.TYPE_NULL),
    ]
    assert judge.root.additional is None


def test_key_patterns_stand_beside_members_and_the_others():
    schema = {
        "additionalProperties": False,
        "patternProperties": {"^x-": {"type": "null"}, "a": True},
        "properties": {"b": True},
    }
    judge = judge_of(schema)
    assert isinstance(judge.root, n.Object)
    assert [key for key, _ in judge.root.members] == ["b"]
    assert [judge.node(node) for _, node in judge.root.patterns] == [n.Types(f.TYPE_NULL), n.Any()]
    assert judge.node(judge.root.additional) == n.Never()
    assert judge.accepts({"b": 1, "x-": None, "ca": 2})
    assert not judge.accepts({"x-a": 1})
    assert not judge.accepts({"c": 1})


def test_equal_patterns_of_keys_and_strings_are_one_expression():
    schema = {"patternProperties": {"^a+$": {"pattern": "^a+$"}}}
    judge = judge_of(schema)
    (pattern, node), *_ = judge.root.patterns
    assert judge.node(node) == n.StringLanguage(pattern)


def test_names_are_judged_by_a_node():
    judge = judge_of({"propertyNames": {"maxLength": 1}})
    assert judge.node(judge.root.node) == n.StringLength(0, 1)
    assert judge.accepts({"a": 1, "": 2})
    assert not judge.accepts({"ab": 1})
    assert root_of({"propertyNames": False}) == n.MemberNames(0)


@pytest.mark.parametrize("strict", [True, False])
def test_additional_true_opens_objects_and_arrays_where_that_matters(strict):
    judge = judge_of({"additionalProperties": True, "items": True}, strict_mode=strict)
    if not strict:
        assert judge.root == n.Any()
        return
    items, opened = (judge.node(part) for part in judge.root.items)
    assert opened.members == ()
    assert judge.node(opened.additional) == n.Any()
    assert items.prefix == ()
    assert judge.node(items.rest) == n.Any()


def test_unevaluated_true_opens_in_strict_mode():
    judge = judge_of({"unevaluatedProperties": True, "unevaluatedItems": True})
    assert [type(judge.node(part)) for part in judge.root.items] == [n.Array, n.Object]
    assert root_of({"unevaluatedProperties": True}, strict_mode=False) == n.Any()


def test_prefix_items_and_the_rest():
    judge = judge_of({"prefixItems": [{"type": "null"}, True], "items": False})
    assert [judge.node(item) for item in judge.root.prefix] == [n.Types(f.TYPE_NULL), n.Any()]
    assert judge.node(judge.root.rest) == n.Never()
    assert judge_of({"prefixItems": [True]}).root.rest is None


def test_array_form_items_with_additional_items():
    judge = judge_of({"items": [{"type": "null"}], "additionalItems": {"type": "string"}})
    assert [judge.node(item) for item in judge.root.prefix] == [n.Types(f.TYPE_NULL)]
    assert judge.node(judge.root.rest) == n.Types(f.TYPE_STRING)


def test_constants_of_all_kinds_go_to_their_lists():
    judge = judge_of({"enum": [1, True, "x", None, 1.0, False, [], {}]})
    node = judge.root
    assert node.literals == f.LITERAL_NULL | f.LITERAL_FALSE | f.LITERAL_TRUE
    assert node.numbers == ("1",)
    assert node.strings == ("x",)
    assert len(node.nodes) == 2


def test_a_structured_constant_accepts_only_itself():
    judge = judge_of({"const": {"b": [1, {"c": None}], "a": "x"}})
    kinds = [type(judge.node(part)) for part in judge.root.items]
    assert kinds == [n.Types, n.Object, n.Required]
    members = judge.node(judge.root.items[1])
    assert [key for key, _ in members.members] == ["b", "a"]
    assert judge.accepts({"a": "x", "b": [1, {"c": None}]})
    for wrong in (
        {"a": "x", "b": [1, {"c": None}, 0]},
        {"a": "x", "b": [1]},
        {"a": "x", "b": [True, {"c": None}]},
        {"a": "x", "b": [1, {"c": None, "d": None}]},
        {"a": "x"},
        [],
        "x",
    ):
        assert not judge.accepts(wrong)


def test_one_definition_is_converted_once():
    schema = {
        "$defs": {"d": {"minLength": 3, "maxLength": 4, "type": "string"}},
        "properties": {key: {"$ref": "#/$defs/d"} for key in "abc"},
    }
    judge = judge_of(schema)
    assert len({node for _, node in judge.root.members}) == 1
    assert sum(isinstance(node, n.StringLength) for node in judge.program.nodes) == 1


def test_recursion_is_a_cycle_through_a_reserved_node():
    judge = judge_of({"properties": {"next": {"$ref": "#"}}})
    ((_, node),) = judge.root.members
    assert judge.node(node) is judge.root


def test_one_python_dict_in_many_places_is_one_node():
    text = {"minLength": 3}
    judge = judge_of({"properties": {"a": text, "b": text}, "additionalProperties": text})
    assert len({node for _, node in judge.root.members} | {judge.root.additional}) == 1


def test_a_python_dict_that_contains_itself_is_recursion():
    schema = {"type": "object"}
    schema["properties"] = {"next": schema}
    judge = judge_of(schema)
    assert judge.accepts({"next": {"next": {}}})
    assert not judge.accepts({"next": {"next": 1}})


def test_a_class_with_model_json_schema():
    pydantic = pytest.importorskip("pydantic")

    class Point(pydantic.BaseModel):
        x: int
        tags: tuple[str, ...] = ()
        parent: Point | None = None

    Point.model_rebuild(_types_namespace={"Point": Point})
    judge = judge_of(Point)
    assert judge.accepts({"x": 1, "parent": {"x": 2, "tags": ["a"]}})
    assert not judge.accepts({"x": 1, "parent": {"tags": ["a"]}})


def test_deep_schemas_need_no_recursion():
    depth = 30_000
    text = '{"items":' * depth + '{"type":"null"}' + "}" * depth
    for source in (text, _nested(depth)):
        judge = judge_of(source)
        steps, node = 0, judge.root
        while isinstance(node, n.Array):
            node, steps = judge.node(node.rest), steps + 1
        assert steps == depth
        assert node == n.Types(f.TYPE_NULL)


def _nested(depth):
    schema = {"type": "null"}
    for _ in range(depth):
        schema = {"items": schema}
    return schema


def test_deep_constants_need_no_recursion():
    constant = []
    for _ in range(5_000):
        constant = [constant]
    node = judge_of({"const": constant})
    assert sum(isinstance(x, n.Array) for x in node.program.nodes) == 5_001


def test_the_schema_is_not_changed():
    schema = {"properties": {"a": {"$ref": "#"}}, "enum": [{"a": [1.0]}], "x": 1}
    before = repr(schema)
    compile_json_schema(schema)
    assert repr(schema) == before
