"""Hypothesis strategies: random grammars, random schemas, random instances and their spellings.

How many examples are run: a small, fixed, derandomised number by default;
``MASKWRIGHT_TEST_EFFORT=N`` multiplies it and lifts the fixed seed.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from grammar_specs import Grammar, Spec
from json_spellings import Speller
from schema_specs import PATTERNS, Schema

#: How much more than the small default the tests should do.
EFFORT = max(1, int(os.environ.get("MASKWRIGHT_TEST_EFFORT", "1")))


def examples(count: int) -> settings:
    """Settings for about ``count`` examples."""
    return settings(
        max_examples=count * EFFORT,
        derandomize=EFFORT == 1,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


# Grammars.


@st.composite
def grammars(draw: st.DrawFn, *, n_rules: int = 3, regular_operators: bool = True) -> Grammar:
    """Grammars of up to ``n_rules`` rules over the letters a and b, recursive in any way."""
    count = draw(st.integers(1, n_rules))
    leaves = st.one_of(
        st.sampled_from(["a", "b", "", "ab", "bab", ("class", "ab")]),
        st.integers(0, count - 1).map(lambda i: ("ref", i)),
    )
    if regular_operators:
        leaves = st.one_of(leaves, regular_parts())
    return tuple(draw(specs(leaves, 8)) for _ in range(count))


def specs(leaves: st.SearchStrategy[Spec], max_leaves: int) -> st.SearchStrategy[Spec]:
    """Specs made of leaves by sequence, alternation and repetition."""
    counts = st.sampled_from([(0, None), (0, 1), (1, None), (2, 3), (0, 4), (3, 3), (2, None)])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(st.just("seq"), inner, inner),
            st.tuples(st.just("alt"), inner, inner),
            st.builds(lambda x, c: ("rep", x, *c), inner, counts),
        ),
        max_leaves=max_leaves,
    )


def regular_parts() -> st.SearchStrategy[Spec]:
    """Intersections, complements and texts up to a stop, with regular operands."""
    simple = specs(st.sampled_from(["a", "b", "", "ba", ("class", "ab")]), 4)
    texts = st.lists(st.sampled_from(["a", "ab", "bb", "aba"]), min_size=1, max_size=2)
    return st.one_of(
        st.tuples(st.just("and"), simple, simple),
        st.tuples(st.just("and"), simple, st.tuples(st.just("not"), simple)),
        st.tuples(st.just("not"), simple),
        st.tuples(
            st.just("until"),
            texts.map(tuple),
            st.sampled_from([(), ("ba",), ("aab",)]),
        ),
    )


# Schemas.

_KEYS = ["a", "b", "ab", "", "é", 'q"']
_STRINGS = ["", "a", "b", "ab", "aab", "é", "😀", 'a"b', "a\\b", "a\nb", "日本"]
_NUMBERS = [0, 1, -1, 2, 3, 10, 12, 17, 100, -5, 0.5, 1.5, -0.25, 99.75, 1000]


@st.composite
def _number_schema(draw: st.DrawFn) -> Schema:
    schema: dict[str, Any] = {"type": draw(st.sampled_from(["integer", "number"]))}
    low, high = sorted(draw(st.tuples(st.sampled_from(_NUMBERS), st.sampled_from(_NUMBERS))))
    if draw(st.booleans()):
        schema[draw(st.sampled_from(["minimum", "exclusiveMinimum"]))] = low
    if draw(st.booleans()):
        schema[draw(st.sampled_from(["maximum", "exclusiveMaximum"]))] = high
    return schema


@st.composite
def _string_schema(draw: st.DrawFn) -> Schema:
    schema: dict[str, Any] = {"type": "string"}
    low = draw(st.integers(0, 3))
    if draw(st.booleans()):
        schema["minLength"] = low
    if draw(st.booleans()):
        schema["maxLength"] = low + draw(st.integers(0, 3))
    if draw(st.integers(0, 3)) == 0:
        schema["pattern"] = draw(st.sampled_from(PATTERNS))
    return schema


@st.composite
def _array_schema(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    schema: dict[str, Any] = {"type": "array"}
    if draw(st.booleans()):
        schema["prefixItems"] = draw(st.lists(inner, min_size=1, max_size=2))
    if draw(st.booleans()):
        schema["items"] = draw(st.one_of(inner, st.just(False)))
    low = draw(st.integers(0, 2))
    if draw(st.booleans()):
        schema["minItems"] = low
    if draw(st.booleans()):
        schema["maxItems"] = low + draw(st.integers(0, 2))
    return schema


@st.composite
def _object_schema(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    schema: dict[str, Any] = {"type": "object"}
    keys = draw(st.lists(st.sampled_from(_KEYS), max_size=3, unique=True))
    if keys:
        schema["properties"] = {k: draw(inner) for k in keys}
    required = draw(st.lists(st.sampled_from([*keys, "z"]), max_size=2, unique=True))
    if required:
        schema["required"] = required
    more = draw(st.sampled_from(["absent", False, True, "schema"]))
    if more != "absent":
        schema["additionalProperties"] = draw(inner) if more == "schema" else more
    low = draw(st.integers(0, 2))
    if draw(st.integers(0, 3)) == 0:
        schema["minProperties"] = low
    if draw(st.integers(0, 3)) == 0:
        schema["maxProperties"] = low + draw(st.integers(0, 2))
    return schema


def _combined(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    both = st.lists(inner, min_size=1, max_size=2)
    return st.one_of(
        st.builds(lambda branches: {"anyOf": branches}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"allOf": parts}, both),
        st.builds(lambda s, parts: {**s, "anyOf": parts}, _object_schema(inner), both),
        st.builds(lambda s, parts: {**s, "allOf": parts}, _object_schema(inner), both),
    )


def json_values() -> st.SearchStrategy[Any]:
    """JSON values from small pools."""
    scalars = st.sampled_from([None, True, False, *_NUMBERS, *_STRINGS])
    return st.recursive(
        scalars,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(st.sampled_from([*_KEYS, "z"]), inner, max_size=3),
        ),
        max_leaves=5,
    )


def schemas() -> st.SearchStrategy[Schema]:
    """Schemas of all supported keywords but ``$ref``; not always satisfiable."""
    enums = st.lists(json_values(), min_size=1, max_size=3)
    leaves = st.one_of(
        st.sampled_from([True, {}, {"type": "null"}, {"type": ["boolean", "string"]}]),
        _number_schema(),
        _string_schema(),
        st.builds(lambda v: {"const": v}, json_values()),
        st.builds(lambda v: {"enum": v}, enums),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(_array_schema(inner), _object_schema(inner), _combined(inner)),
        max_leaves=5,
    )


def recursive_schemas() -> st.SearchStrategy[Schema]:
    """Schemas that refer to themselves in a member or an item."""
    back = {"$ref": "#"}
    return st.one_of(
        st.builds(
            lambda s: {"type": "object", "properties": {"a": s, "b": back}, "required": ["a"]},
            _string_schema(),
        ),
        st.builds(lambda s: {"anyOf": [s, {"type": "array", "items": back}]}, _number_schema()),
        st.just({"type": "object", "additionalProperties": back, "maxProperties": 2}),
        st.just({"type": "object", "properties": {"a": back}, "required": ["a"]}),
        st.just({"type": ["array", "null"], "prefixItems": [{"type": "null"}], "items": back}),
    )


# Instances near a schema.


@st.composite
def instances_near(draw: st.DrawFn, schema: Schema) -> Any:
    """A value that has a good chance to be valid under a schema (and may well not be)."""
    if not isinstance(schema, dict) or draw(st.integers(0, 19)) == 0:
        return draw(json_values())
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    for key in ("anyOf", "allOf"):
        if key in schema and "type" not in schema:
            return draw(instances_near(draw(st.sampled_from(schema[key]))))
    names = schema.get("type", "null")
    kind = names if isinstance(names, str) else draw(st.sampled_from(names))
    return draw(_of_type(kind, schema))


def _of_type(kind: str, schema: Schema) -> st.SearchStrategy[Any]:
    if kind == "object":
        return _object_near(schema)
    if kind == "array":
        return _array_near(schema)
    return {
        "null": st.none(),
        "boolean": st.booleans(),
        "integer": st.sampled_from([n for n in _NUMBERS if n == int(n)]),
        "number": st.sampled_from(_NUMBERS),
        "string": st.sampled_from(_STRINGS),
    }[kind]


@st.composite
def _object_near(draw: st.DrawFn, schema: Schema) -> Any:
    parts = [schema, *schema.get("allOf", []), *schema.get("anyOf", [])]
    known = {k: s for p in parts if isinstance(p, dict) for k, s in p.get("properties", {}).items()}
    needed = {k for p in parts if isinstance(p, dict) for k in p.get("required", [])}
    more = schema.get("additionalProperties", True)
    keys = draw(st.lists(st.sampled_from([*known, *_KEYS, "z"]), max_size=3, unique=True))
    keys = [k for k in keys if k in known or more is not False]
    wanted = dict.fromkeys([*keys, *sorted(needed)])
    return {k: draw(instances_near(known.get(k, more))) for k in wanted}


@st.composite
def _array_near(draw: st.DrawFn, schema: Schema) -> Any:
    low = schema.get("minItems", 0)
    n_items = draw(st.integers(low, max(low, min(schema.get("maxItems", 3), low + 3))))
    prefix = schema.get("prefixItems", [])
    rest = schema.get("items", True)
    return [draw(instances_near(prefix[i] if i < len(prefix) else rest)) for i in range(n_items)]


# Spellings.


def spellings(value: Any) -> st.SearchStrategy[str]:
    """JSON texts of a value, with at most two bytes of whitespace at once."""
    randoms = st.randoms(use_true_random=False)
    return randoms.map(lambda rng: Speller(rng, max_whitespace=2).text(value))
