"""Schemas in other forms than dicts: text, pydantic models, types."""

from __future__ import annotations

import enum
import io
import sys
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Annotated, Any, Generic, Literal, NamedTuple, Optional, TypeVar, Union

import pytest
from pydantic import BaseModel, Field, TypeAdapter
from typing_extensions import NotRequired, TypedDict

from maskwright import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.errors import InvalidSchemaError, MissingDependencyError
from maskwright.frontends.json_schema.inputs import schema_of

Item = TypeVar("Item")
INFO = TokenizerInfo([*(bytes((byte,)) for byte in range(256)), b""], stop_token_ids=256)


class Model(BaseModel):
    zeta: int = Field(ge=1)
    alpha: str | None = None


@dataclass
class Data:
    b: bool
    a: list[int]


class Options(TypedDict):
    width: int
    name: NotRequired[str]


class Pair(NamedTuple):
    x: int
    y: str


class Colour(enum.Enum):
    RED = "red"
    NONE = 0


class Box(BaseModel, Generic[Item]):
    read: Item


class Tree(BaseModel):
    left: Tree | None = None


def accepts(source, text):
    matcher = GrammarMatcher(GrammarCompiler(INFO).compile_json_schema(source))
    return matcher.accept_string(text) and matcher.is_completed()


@pytest.mark.parametrize(
    ("source", "valid", "invalid"),
    [
        (Model, '{"zeta":1,"alpha":null}', '{"zeta":0}'),
        (TypeAdapter(Model), '{"zeta":2}', '{"alpha":"a"}'),
        (Data, '{"b":true,"a":[1]}', '{"a":[1],"b":true}'),
        (Options, '{"width":1}', '{"name":"a"}'),
        (Pair, '[1,"a"]', '["a",1]'),
        (Colour, "0", '"RED"'),
        (Tree, '{"left":{"left":null}}', '{"left":1}'),
        (Literal["a", 5], "5", '"5"'),
        (Optional[int], "null", '"a"'),  # noqa: UP045 - the form itself
        (Union[int, list[bool]], "[true]", "[1]"),  # noqa: UP007 - the same
        (int | None, "null", "true"),
        (dict[str, float], '{"a":1.5}', '{"a":"b"}'),
        (tuple[int, str], '[1,"a"]', "[1]"),
        (Annotated[int, Field(lt=5)], "4", "5"),
        (list[Data], '[{"b":false,"a":[]}]', "[{}]"),
        (int, "1", "1.5"),
        (str, '"a"', "1"),
        (float, "1.5", '"a"'),
        (bool, "true", "1"),
        (type(None), "null", "0"),
        (Path, '"a"', "1"),
        (Box[int], '{"read":1}', '{"read":"a"}'),
        ('{"type": "null"}', "null", "0"),
    ],
    ids=str,
)
def test_forms(source, valid, invalid):
    assert accepts(source, valid)
    assert not accepts(source, invalid)


def test_any_type_is_any_value():
    assert schema_of(Any) == {}


def test_members_keep_their_order():
    assert list(schema_of(Model)["properties"]) == ["zeta", "alpha"]
    assert accepts(Model, '{"zeta":1,"alpha":"a"}')
    assert not accepts(Model, '{"alpha":"a","zeta":1}')


def test_types_are_cached_by_their_schema():
    compiler = GrammarCompiler(INFO)
    assert compiler.compile_json_schema(Data) is compiler.compile_json_schema(schema_of(Data))


@pytest.mark.parametrize("source", [5, 1.5, [1], (), None, b"{}", {1}, "[]", "5"])
def test_values_are_no_schemas(source):
    with pytest.raises(InvalidSchemaError, match=r"expected a schema") as caught:
        Grammar.from_json_schema(source)
    assert caught.value.code == "schema-not-a-schema"


SEVERAL = (
    'pass {"anyOf": [...]} for one of several schemas, {"enum": [...]} for one of several values, '
    '{"type": "array"} for an array'
)
PARSED = "its text or the parsed object"


@pytest.mark.parametrize("with_pydantic", [True, False])
@pytest.mark.parametrize(
    ("source", "hint"),
    [
        (Path("a.json"), f"read the file: pass {PARSED}"),
        (io.StringIO("{}"), f"read it: pass {PARSED}"),
        (io.BytesIO(b"{}"), f"read it: pass {PARSED}"),
        (SimpleNamespace(read=str), f"read it: pass {PARSED}"),
        (b"{}", f"decode it: pass {PARSED}"),
        (bytearray(b"{}"), f"decode it: pass {PARSED}"),
        (memoryview(b"{}"), f"decode it: pass {PARSED}"),
        ([{}], SEVERAL),
        (("a",), SEVERAL),
        ({"a"}, SEVERAL),
        (frozenset(), SEVERAL),
        (None, "pass True for any JSON value"),
        (MappingProxyType({}), "pass dict(...) of it"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_to_pass_instead(monkeypatch, source, hint, with_pydantic):
    if not with_pydantic:
        monkeypatch.setitem(sys.modules, "pydantic", None)
    with pytest.raises(InvalidSchemaError) as caught:
        Grammar.from_json_schema(source)
    assert caught.value.code == "schema-not-a-schema"
    assert str(caught.value).endswith(f" at #: expected a schema (an object or a Boolean); {hint}")
    with pytest.raises(InvalidSchemaError) as caught:
        Grammar.from_json_schema({"$ref": "u:x"}, registry={"u:x": source})
    assert str(caught.value).endswith(f"; {hint}")
    with pytest.raises(InvalidSchemaError) as caught:
        Grammar.from_json_schema({"not": source})
    assert str(caught.value).endswith(" at #/not: expected a schema (an object or a Boolean)")


@pytest.mark.parametrize("name", ["from_ebnf", "from_regex", "compile_regex", "compile_grammar"])
@pytest.mark.parametrize(
    ("source", "hint"),
    [
        (Path("a"), "; read the file: pass its text"),
        (io.StringIO("a"), "; read it: pass its text"),
        (b"a", "; decode it: pass its text"),
        (Path, ""),
        (5, ""),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_other_languages_take(name, source, hint):
    owner = Grammar if name.startswith("from") else GrammarCompiler(INFO)
    with pytest.raises(TypeError) as caught:
        getattr(owner, name)(source)
    assert type(source).__name__ in str(caught.value)
    assert ("pass its text" in str(caught.value)) == bool(hint)
    assert str(caught.value).endswith(hint)


class Opaque:
    pass


@pytest.mark.parametrize("source", [Opaque, Opaque(), "Missing"])
def test_types_without_a_schema(source):
    source = list[source] if source == "Missing" else source  # a name that means nothing
    with pytest.raises(InvalidSchemaError, match="has no JSON Schema: ") as caught:
        Grammar.from_json_schema(source)
    assert (caught.value.code, caught.value.pointer) == ("schema-unsupported-type", "#")


def test_without_pydantic(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydantic", None)
    with pytest.raises(MissingDependencyError, match="pip install pydantic") as caught:
        Grammar.from_json_schema(list[int])
    assert caught.value.code == "missing-dependency"
    assert isinstance(caught.value, ImportError)
    assert Grammar.from_json_schema('{"type": "null"}')


def test_nullable_is_an_option():
    schema = {"properties": {"a": {"type": "string", "nullable": True}}}
    for nullable in (False, True):
        grammar = Grammar.from_json_schema(schema, nullable=nullable)
        matcher = GrammarMatcher(GrammarCompiler(INFO).compile_grammar(grammar))
        assert matcher.accept_string('{"a":null}') == nullable
        assert grammar.certificate.ignored == (() if nullable else ("#/properties/a/nullable",))


@pytest.mark.parametrize(
    "schema",
    [
        {"nullable": True},
        {"type": "string", "nullable": False},
        {"type": ["null"], "nullable": True},
    ],
)
def test_nullable_without_effect(schema):
    certificate = Grammar.from_json_schema(schema, nullable=True).certificate
    assert certificate.ignored in ((), ("#/nullable",))
    assert ("type" in schema) == (certificate.ignored == ())
