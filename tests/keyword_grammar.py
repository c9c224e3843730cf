"""Random schemas from a grammar of keywords: every keyword that is supported, in all drafts.

A schema is a random set of keyword families, each of which adds its keywords; families of several
types stand side by side. The text of a schema is what counts: a number is what its spelling says.

References go to `$defs`, to anchors and to the root. One that is evaluated on the same value as the
schema around it goes to an earlier definition only, so that no schema refers to itself without
reading a value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import quote

from pattern_grammar import random_pattern

Schema = Any

KEYS = (
    "a", "b", "c", "id", "name", "näme", "日本", "😀", "a b", 'quo"te', "back\\slash", "sl/ash",
    "til~de", "", "tab\t", "%41", "__proto__", "\u2028", "aa", "ab",
)  # fmt: skip
STRINGS = (
    "", "a", "b", "ab", "abc", "é", "日本語", "😀", "a😀b", "𝒳𝒴", 'say "hi"', "back\\slash",
    "line\nbreak", "\x00", "007", "1.5", "A-Z", "x.y", "/", "Ω", "e\u0301", "true", " ", "a_1",
)  # fmt: skip
NUMBERS = (
    0, 1, 2, 3, 5, 7, 10, -1, -3, 42, 100, 1000, 1.5, 0.1, -0.5, 2.5, 0.01, 19.99, 1.0, 1e2,
    -0.0, 3.75, 1e-7, 12345678901234567890, 0.3, 99.95,
)  # fmt: skip
DIVISORS = (1, 2, 3, 5, 10, 0.5, 0.1, 0.01, 2.5, 1.5, 0.25, 7, 100, 1e-3, 0.3, 1.0)
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
DEFINITIONS = ("leaf", "sl/ash", "til~de", "per%cent", "sp ace", "é", "node", 'q"')
FORMATS = ("date", "email", "uri", "x-unknown")


@dataclass(frozen=True)
class Draft:
    """What the drafts write differently."""

    name: str
    uri: str | None
    number: int  # 4, 6, 7, 8 for 2019-09, 9 for 2020-12
    mixed: bool = False  # older spellings beside the newer ones

    def has(self, number: int) -> bool:
        """Whether it has what came with a draft."""
        return self.number >= number


_HOST = "https://json-schema.org/draft/"
_OLD_HOST = "http://json-schema.org/draft-0"
DEFAULT = Draft("default", None, 9, mixed=True)
DRAFTS = (
    Draft("draft2020-12", _HOST + "2020-12/schema", 9),
    Draft("draft2019-09", _HOST + "2019-09/schema", 8),
    Draft("draft7", _OLD_HOST + "7/schema#", 7),
    Draft("draft6", _OLD_HOST + "6/schema#", 6),
    Draft("draft4", _OLD_HOST + "4/schema#", 4),
)


def random_value(rng: Random, depth: int = 2, keys: Sequence[str] = KEYS) -> Any:
    """A JSON value."""
    kind = rng.random()
    if depth and kind < 0.12:
        return [random_value(rng, depth - 1, keys) for _ in range(rng.randint(0, 3))]
    if depth and kind < 0.27:
        names = rng.sample(keys, rng.randint(0, 3))
        return {name: random_value(rng, depth - 1, keys) for name in names}
    return rng.choice((rng.choice(STRINGS), rng.choice(NUMBERS), rng.choice((None, True, False))))


def random_schema(rng: Random) -> str:
    """The text of a schema."""
    draft = DEFAULT if rng.random() < 0.75 else rng.choice(DRAFTS)
    schema = SchemaMaker(rng, draft).document()
    return json.dumps(schema, ensure_ascii=rng.random() < 0.5)


@dataclass
class SchemaMaker:
    """Makes one document."""

    rng: Random
    draft: Draft
    keys: list[str] = field(init=False)  # few, so that keywords speak of the same members
    patterns: list[str] = field(init=False)
    names: list[str] = field(init=False)  # of the definitions
    reachable: int = field(init=False, default=0)  # definitions that may be used in place

    def __post_init__(self) -> None:
        self.keys = self.rng.sample(KEYS, 5)
        self.patterns = [random_pattern(self.rng) for _ in range(3)]
        self.names = self.rng.sample(DEFINITIONS, self.rng.choice((0, 0, 1, 2, 3)))
        self.keyword = "definitions" if not self.draft.has(8) else "$defs"
        if self.draft.mixed and self.rng.random() < 0.3:
            self.keyword = "definitions"

    def document(self) -> Schema:
        """The root, with its definitions."""
        definitions = {}
        for name in self.names:
            definitions[name] = self._definition(name)
            self.reachable += 1
        schema = self._families(self.rng.choice((1, 2, 2, 3)))
        reference = self._reference(False) if self.rng.random() < 0.1 else None
        if reference is not None:
            # Beside the reference older drafts would not see the definitions.
            schema = {"allOf": [{"$ref": reference}, schema]}
        if definitions:
            schema[self.keyword] = definitions
        if self.draft.uri:
            schema["$schema"] = self.draft.uri
        return schema

    def _definition(self, name: str) -> Schema:
        schema = self.schema(self.rng.choice((0, 1, 2)))
        if name != "node":
            return schema
        if self.draft.has(8):
            return {"$anchor": name, "allOf": [schema]}
        return {"$id" if self.draft.has(6) else "id": "#" + name, "allOf": [schema]}

    def schema(self, depth: int, *, root_of_value: bool = False) -> Schema:
        """A schema.

        Args:
            depth: How many levels may lie below.
            root_of_value: It is about another value than the schema around it.
        """
        rng = self.rng
        if rng.random() < 0.05:
            boolean = rng.random() < 0.7
            return boolean if self.draft.has(6) else ({} if boolean else {"not": {}})
        if rng.random() < 0.12:
            reference = self._reference(root_of_value)
            if reference is not None:
                beside = {} if rng.random() < 0.7 else self._families(0)
                return {**beside, "$ref": reference}
        return self._families(depth)

    def _reference(self, root_of_value: bool) -> str | None:
        choices = list(self.names if root_of_value else self.names[: self.reachable])
        if root_of_value:
            choices.append("#")
        if not choices:
            return None
        name = self.rng.choice(choices)
        if name == "#":
            return name
        if name == "node" and self.rng.random() < 0.6:
            return "#node"
        escaped = name.replace("~", "~0").replace("/", "~1")
        return f"#/{self.keyword}/{quote(escaped, safe='~/')}"

    def _families(self, depth: int) -> Schema:
        rng = self.rng
        flat: list[Callable[[], Schema]] = [
            self._type, self._constant, self._text, self._number, self._object_counts,
            self._array_counts,
        ]  # fmt: skip
        deep: list[Callable[[int], Schema]] = [
            self._members, self._items, self._applicator, self._dependent
        ]  # fmt: skip
        schema: Schema = {}
        for _ in range(rng.choice((1, 1, 2, 2, 3))):
            # One of each kind, since array forms of `items` exclude `prefixItems`.
            if depth and deep and rng.random() < 0.65:
                make = rng.choices(deep, (3, 3, 2, 1)[: len(deep)])[0]
                deep.remove(make)
                schema = {**make(depth - 1), **schema}
            else:
                flat_make = rng.choice(flat)
                flat.remove(flat_make)
                schema = {**flat_make(), **schema}
        if rng.random() < 0.6 and "type" not in schema:
            schema.update(self._fitting_type(schema))
        if rng.random() < 0.03:
            schema["format"] = rng.choice(FORMATS)
        if rng.random() < 0.03:
            schema["title"] = "no constraint"
        return schema

    def _fitting_type(self, schema: Schema) -> Schema:
        """The type that the keywords of a schema are about."""
        for kind, words in (
            ("object", ("properties", "required", "patternProperties", "propertyNames", "minProp")),
            ("array", ("items", "prefixItems", "contains", "uniqueItems", "minItems", "maxItems")),
            ("string", ("pattern", "minLength", "maxLength")),
            ("number", ("minimum", "maximum", "multipleOf", "exclusiveMinimum")),
        ):
            if any(word in schema for word in words):
                return {"type": kind}
        return {}

    # One family each.

    def _type(self) -> Schema:
        rng = self.rng
        if rng.random() < 0.7:
            return {"type": rng.choice(TYPES)}
        return {"type": rng.sample(TYPES, rng.randint(1, 3))}

    def _constant(self) -> Schema:
        rng = self.rng
        if rng.random() < 0.4 and self.draft.has(6):
            return {"const": random_value(rng, keys=self.keys)}
        values = {
            json.dumps(v): v
            for v in (random_value(rng, keys=self.keys) for _ in range(rng.randint(1, 5)))
        }
        return {"enum": list(values.values())}

    def _text(self) -> Schema:
        rng = self.rng
        schema: Schema = {}
        if rng.random() < 0.6:
            schema["pattern"] = self._pattern()
        if rng.random() < 0.4 or not schema:
            schema.update(self._range("minLength", "maxLength", rng.choice((0, 1, 2, 3, 8))))
        return schema

    def _pattern(self) -> str:
        return (
            self.rng.choice(self.patterns) if self.rng.random() < 0.5 else random_pattern(self.rng)
        )

    def _range(self, low_key: str, high_key: str, low: int) -> Schema:
        rng = self.rng
        schema: Schema = {}
        if rng.random() < 0.6:
            schema[low_key] = low
        if rng.random() < 0.6:
            schema[high_key] = low + rng.choice((0, 1, 2, 5))
        if rng.random() < 0.05 and self.draft.has(6):
            schema = {key: float(count) for key, count in schema.items()}
        return schema

    def _number(self) -> Schema:
        rng = self.rng
        schema: Schema = {}
        low = rng.choice(NUMBERS)
        high = low + rng.choice((0, 1, 0.5, 3, 10, 100))
        if rng.random() < 0.5:
            schema["minimum"] = low
        if rng.random() < 0.4:
            schema["maximum"] = high
        if rng.random() < 0.35:
            schema["multipleOf"] = rng.choice(DIVISORS)
        for key, value in (("minimum", low), ("maximum", high)):
            exclusive = "exclusive" + key.capitalize()
            if rng.random() > 0.25:
                continue
            as_boolean = not self.draft.has(6) or (self.draft.mixed and rng.random() < 0.2)
            if not as_boolean:
                schema[exclusive] = value
            elif key in schema:
                schema[exclusive] = rng.random() < 0.8
        return schema

    def _members(self, depth: int) -> Schema:
        rng = self.rng
        schema: Schema = {}
        names = rng.sample(self.keys, rng.randint(1, 4))
        if rng.random() < 0.75:
            schema["properties"] = {name: self.below(depth) for name in names}
        if rng.random() < 0.25:
            count = rng.choice((1, 1, 2))
            patterns = [self._pattern() for _ in range(count)]
            schema["patternProperties"] = {p: self.below(depth) for p in patterns}
        if rng.random() < 0.35:
            narrow = rng.random() < 0.4
            schema["additionalProperties"] = False if narrow else self.below(depth)
        if rng.random() < 0.12 and self.draft.has(6):
            schema["propertyNames"] = self._text() if rng.random() < 0.7 else self.below(0)
        if rng.random() < 0.5:
            schema["required"] = rng.sample([*names, rng.choice(self.keys)], rng.randint(1, 2))
            schema["required"] = list(dict.fromkeys(schema["required"]))
        if rng.random() < 0.2:
            schema.update(self._object_counts())
        return schema

    def _object_counts(self) -> Schema:
        return self._range("minProperties", "maxProperties", self.rng.randint(0, 3))

    def _dependent(self, depth: int) -> Schema:
        rng = self.rng
        names = rng.sample(self.keys, rng.randint(1, 2))
        needed = {
            n: rng.sample(self.keys, rng.randint(0 if self.draft.has(6) else 1, 2)) for n in names
        }
        inner = {name: self.schema(depth) for name in names}
        if not self.draft.has(8) or (self.draft.mixed and rng.random() < 0.2):
            return {"dependencies": needed if rng.random() < 0.5 else inner}
        return {"dependentRequired": needed} if rng.random() < 0.5 else {"dependentSchemas": inner}

    def _items(self, depth: int) -> Schema:
        rng = self.rng
        schema: Schema = {}
        if rng.random() < 0.35:
            prefix = [self.below(depth) for _ in range(rng.randint(1, 3))]
            old = not self.draft.has(9) or (self.draft.mixed and rng.random() < 0.2)
            schema["items" if old else "prefixItems"] = prefix
            if rng.random() < 0.5:
                schema["additionalItems" if old else "items"] = self.below(depth)
        elif rng.random() < 0.7:
            schema["items"] = self.below(depth)
        if rng.random() < 0.25 and self.draft.has(6):
            schema["contains"] = self.below(depth)
            if self.draft.has(8):
                schema.update(self._range("minContains", "maxContains", rng.randint(0, 2)))
        if rng.random() < 0.15:
            schema["uniqueItems"] = rng.random() < 0.9
        if rng.random() < 0.3:
            schema.update(self._array_counts())
        return schema

    def _array_counts(self) -> Schema:
        return self._range("minItems", "maxItems", self.rng.randint(0, 3))

    def _applicator(self, depth: int) -> Schema:
        rng = self.rng
        kind = rng.choice(("allOf", "anyOf", "anyOf", "oneOf", "oneOf", "not", "if"))
        if kind == "if" and self.draft.has(7):
            schema = {word: self.schema(depth) for word in ("if", "then", "else")}
            if rng.random() < 0.4:
                del schema[rng.choice(("then", "else"))]
            return schema
        if kind in ("not", "if"):
            return {"not": self.schema(depth)}
        return {kind: [self.schema(depth) for _ in range(rng.randint(1, 3))]}

    def below(self, depth: int) -> Schema:
        """A schema for a member or an item."""
        return self.schema(depth, root_of_value=True)
