"""Masks of free text: strings, member names and rules, where tokens are judged by their characters.

Most tokens of a text are allowed or refused by a bitmap for the characters they are made of, and
masks are shared between places that no token can tell apart. So every token of vocabularies full of
odd ones is asked at every step: escapes, half code points, several names or strings in one token,
texts longer than a bound.
"""

from __future__ import annotations

import json
import random

import pytest

from core_adapter import CoreMatcher
from maskwright.frontends.json_schema import compile_json_schema
from maskwright.grammar import Grammar
from vocabularies import make_vocabulary

BYTES = [bytes([b]) for b in range(256)]
PIECES = [
    *(b'"', b"\\", b'\\"', b"\\\\", b"\\n", b"\\u", b"\\u0061", b"\\u00", b"\\ud83d", b"\\ude00"),
    *(b"a", b"b", b"ab", b"id", b"name", b"abc", b"0", b"12", b" ", b"  ", b"\n", b"-", b"_", b"."),
    *("é".encode(), "😀".encode(), "€".encode()[:2], "€".encode()[2:], b"\xff", b"\xc3", b"\xa9"),
    *(b'":', b'",', b'"}', b'{"', b',"', b': "', b'": "', b'","', b'""', b"}", b",", b":", b"1"),
    *("\u2028".encode(), b"\xe2\x80", b"\\r", b"123", b"1.5", b"e9", b"/", b"   "),
]
STRINGS = [
    {"type": "string"},
    {"type": "string", "maxLength": 3},
    {"type": "string", "minLength": 2, "maxLength": 40},
    {"type": "string", "minLength": 3},
    {"type": "string", "pattern": "^[a-z]+$"},
    {"type": "string", "pattern": "^[a-z]{4}-[a-z0-9]*$"},
    {"type": "string", "pattern": "^[a-c ]{2,5}$"},
    {"type": "string", "pattern": "b"},
    {"type": "string", "pattern": "b", "maxLength": 4},
    {"type": "string", "pattern": "^\\S+$"},
    {"type": "string", "pattern": '^["\\\\a]*$'},
    {"type": "string", "pattern": "^\\p{L}*$", "minLength": 2},
    {"anyOf": [{"type": "string", "maxLength": 2}, {"type": "string", "pattern": "^a"}]},
    {"not": {"const": "ab"}, "type": "string"},
    {"type": "string", "not": {"pattern": "^ab"}},
    {"type": "string", "pattern": "^.*$"},
    {"type": "string", "pattern": "^(.+)/(.+)$", "maxLength": 9},
    {"type": "string", "pattern": "a.b"},
    {"type": "string", "pattern": "^[0-9a-f]{4}-[0-9a-f]{4}"},
    {"type": "string", "pattern": "^[a-z0-9-]+(\\.[a-z]+)*$", "maxLength": 50},
    {"type": "string", "pattern": "^\\d+\\.\\d+.*$", "maxLength": 12},
    {"type": "string", "minLength": 1, "maxLength": 500},
    {"type": "string", "pattern": "^[\\p{L}\\p{N} ]{1,6}$"},
    {"type": "string", "pattern": "^[a-z]{2,40}$", "minLength": 4, "maxLength": 8},
    {"type": "string", "pattern": "^(?:\\S+\\s+){0,3}\\S+$", "maxLength": 12},
    {"type": "string", "pattern": "^[^\\p{Lu}\\u20ac]{3,64}$"},
    {"type": "string", "pattern": "^[\\u00e9\\u2028]+(?:[^\\s]*-)?$"},
    {"anyOf": [{"type": "string", "pattern": "^.{2,5}$"}, {"type": "string", "pattern": "^a+$"}]},
    {"type": "string", "format": "date-time"},
    {"type": "string", "format": "uri"},
]
NAMES = {"a": True, "ab": {"type": "string"}, "id": {"type": "integer"}, "name": True, 'a"b': True}
OBJECTS = [
    {"type": "object"},
    {"type": "object", "properties": NAMES, "required": ["ab", "id"]},
    {"type": "object", "properties": NAMES, "additionalProperties": {"type": "integer"}},
    {"type": "object", "properties": NAMES, "additionalProperties": False},
    {"type": "object", "properties": NAMES, "minProperties": 2, "maxProperties": 3},
    {"type": "object", "properties": {"": True, ",": {"type": "integer"}}, "required": [","]},
    {"type": "object", "properties": NAMES, "patternProperties": {"^a": {"type": "string"}}},
    {"type": "object", "properties": NAMES, "propertyNames": {"maxLength": 3}},
    {"type": "object", "patternProperties": {"^[a-z_-]{1,60}$": {}}, "additionalProperties": False},
    {"type": "object", "patternProperties": {"^[a-z]{1,3}$": {}}, "additionalProperties": False},
    {"type": "object", "properties": NAMES, "patternProperties": {"^.+$": {"type": "null"}}},
    {"type": "object", "properties": NAMES, "propertyNames": {"pattern": "^[a-z0-9]+$"}},
    {
        "anyOf": [
            {"type": "object", "properties": {"a": {"const": 1}, "ab": True}, "required": ["a"]},
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["name"]},
        ]
    },
    {"type": "object", "properties": {"a": {"type": "object", "properties": NAMES}}},
]
REGEXES = [
    *("[\\p{L}\\p{N} ]{1,200}", ".{1,300}", "\\S+", "\\p{L}+ ?", "[^\\p{Lu}\\u20ac]{3,164}"),
    *("(?:\\S+\\s+){0,49}\\S+", "(?:[a-z]+ ?){1,60}", "(?:[0-9]{2}-?){1,60}", "(?:12|ab){60,70}"),
    *("(?:é|ab){0,120}b?[ab]{0,150}", "[ab]{0,120}[a-c]{130}", "(?:[^a]{3}){40,50}é"),
    *("[a-z]*", "[a-z ]+\\.", '(a|b)*ab[^"]*', "[^a]*", "\\w+(-\\w+)*", "[a-c]{3}x", ".*é"),
]


def random_vocabulary(rng, n_tokens=400):
    tokens = {b"".join(rng.choices(PIECES, k=rng.randint(2, 5))) for _ in range(n_tokens)}
    return make_vocabulary("classes", [*BYTES, *sorted(tokens - set(BYTES))])


def walk(ir, rng, steps=40):
    """A walk through the masks that asks for every token at every step."""
    v = random_vocabulary(rng)
    matcher = CoreMatcher.compile(ir, v)
    for _ in range(steps):
        allowed = matcher.allowed_tokens()
        accepted = {t for t in range(v.vocab_size) if matcher.fork().accept_token(t)}
        assert allowed == accepted, matcher
        rest = sorted(accepted - {v.vocab_size - 1})
        if not rest:
            return
        longer = [t for t in rest if len(v.tokens[t]) > 1]
        token = rng.choice(longer if longer and rng.random() < 0.7 else rest)
        if not matcher.accept_token(token) or matcher.is_terminated():
            return


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("schema", STRINGS, ids=json.dumps)
def test_strings(schema, seed):
    rng = random.Random(f"{schema} {seed}")
    ir = compile_json_schema({"type": "array", "items": schema}, max_whitespace_cnt=3)[0]
    walk(ir, rng)


@pytest.mark.parametrize("any_order", [False, True], ids=["declared", "any order"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("schema", OBJECTS, ids=json.dumps)
def test_members(schema, seed, any_order):
    rng = random.Random(f"{schema} {seed} {any_order}")
    options = {"any_order": any_order, "strict_mode": False, "max_whitespace_cnt": 3}
    walk(compile_json_schema(schema, **options)[0], rng)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("regex", REGEXES)
def test_rules(regex, seed):
    walk(Grammar.from_regex(regex).ir, random.Random(f"{regex} {seed}"))


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (3, r'{"ab\u00a0":1,"ab\u00a'),
        (3, r'{"ab\u00a0":1,"ab\u00'),
        (3, '{"ab/":1,"ab\\'),
        (2, '{"aé":1,"bé":1,"b'),
    ],
)
def test_names_that_only_repeat(length, text):
    # Behind the last code point no other name is left, which the states before do not tell.
    schema = {"type": "object", "propertyNames": {"maxLength": length}}
    matcher = CoreMatcher.compile(
        compile_json_schema(schema, strict_mode=False, max_whitespace_cnt=0)[0],
        make_vocabulary("names", [*BYTES, b'0"', b'0":', "é".encode(), 'é"'.encode()]),
    )
    assert matcher.accept_bytes(text.encode())
    tokens = range(matcher.vocabulary.vocab_size)
    accepted = {t for t in tokens if matcher.fork().accept_token(t)}
    assert matcher.allowed_tokens() == accepted


MIXED = [
    ({"type": "object"}, "a b?"),
    ({"type": "array", "items": {"type": "string"}}, "[a-z ]*"),
    ({"type": ["string", "integer"]}, ' ?"?[a b]*'),
    ({"anyOf": [{"type": "string"}, {"type": "object"}]}, "\\s*\\{?[^a]*"),
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("joined", ["concat", "union"])
@pytest.mark.parametrize(("schema", "regex"), MIXED, ids=str)
def test_json_beside_rules(schema, regex, joined, seed):
    # Whitespace that JSON passes over is text for a rule.
    rng = random.Random(f"{schema} {regex} {joined} {seed}")
    parts = [Grammar.from_json_schema(json.dumps(schema)), Grammar.from_regex(regex)]
    walk(getattr(Grammar, joined)(*parts).ir, rng)


@pytest.mark.parametrize(
    ("regex", "text"), [("a b?", "{}"), (" b?", "{}a"), ("(a| ?b ?)*", '{"a":1}')], ids=str
)
def test_text_behind_json(regex, text):
    # The walks of the object stand where whitespace changes nothing; those behind it do not.
    grammar = Grammar.concat(
        Grammar.from_json_schema('{"type": "object"}', strict_mode=False),
        Grammar.from_regex(regex if text != "{}a" else "a" + regex),
    )
    tokens = [b"a ", b"a b", b"a }", b"{", b'{"', b" b", b"  ", b"b  ", b"ab ", b" }"]
    matcher = CoreMatcher.compile(grammar.ir, make_vocabulary("behind", [*BYTES, *tokens]))
    vocab = range(matcher.vocabulary.vocab_size)
    for step in (b"", text.encode(), b"a", b" "):
        if matcher.accept_bytes(step) or not step:
            accepted = {t for t in vocab if matcher.fork().accept_token(t)}
            assert matcher.allowed_tokens() == accepted
