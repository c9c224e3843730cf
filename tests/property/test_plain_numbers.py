"""Numbers in plain spelling: each value that a schema allows has one text, and no other; decimals.

The judge of spellings is ``Decimal``: a text is allowed iff its value is, and it is the text that
``plain_text`` makes of that value. Random schemas of numbers are compared with it byte by byte;
schemas with numbers in arrays, objects, enums and free values are walked with the plain-Python
reference beside, for every token at every step. Both are done for all spellings too, so that the
option, and nothing else, makes the difference.
"""

from __future__ import annotations

import itertools
import json
import random
from decimal import Decimal
from fractions import Fraction
from functools import cache

import pytest

from budget_walks import allowed_tokens, choosers, walk
from core_adapter import CoreMatcher
from json_worlds import World, judge_of
from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.frontends.json_schema import compile_json_schema
from number_schemas import candidates, random_numbers, spelled
from oracle import Oracle
from strategies import EFFORT
from vocabularies import TestVocabulary, make_vocabulary, vocabulary

SPELLINGS = ["any", "decimal", "plain"]
PLAIN = {"number_spelling": "plain"}
OPTIONS = {"any_order": True, "strict_mode": False, "max_whitespace_cnt": 1}


def plain_text(text: str) -> str:
    """The plain spelling of a number in any spelling."""
    spelled = format(Decimal(text), "f")
    if "." in spelled:
        spelled = spelled.rstrip("0").rstrip(".")
    return "0" if spelled == "-0" else spelled


def exact(text: str) -> Fraction | int:
    """Reads a number."""
    value = Fraction(text)
    return int(value) if value.denominator == 1 else value


def read_plain(text: str) -> Fraction | int:
    """Reads a number and asserts that it is spelled plainly."""
    assert text == plain_text(text)
    return exact(text)


def read_decimal(text: str) -> Fraction | int:
    """Reads a number and asserts that it has no exponent."""
    assert "e" not in text.lower()
    return exact(text)


def read_any_document(text: str):
    """Reads a JSON text and asserts that its numbers have no exponents."""
    return json.loads(text, parse_int=read_decimal, parse_float=read_decimal)


def read_document(text: str):
    """Reads a JSON text and asserts that its numbers are spelled plainly."""
    return json.loads(text, parse_int=read_plain, parse_float=read_plain)


#: What may end a number that was begun: two digits tell multiples of odd numbers, zeros the others.
ENDS = [b".5", b".01"] + [
    digits.encode() + b"0" * zeros
    for zeros in range(32)
    for digits in ["", *map(str, range(10)), *(f"{n:02}" for n in range(100))]
]


class PlainWorld(World):
    """A world of plain numbers. They have no exponents, which end what digits have begun."""

    def _step_to_end(self, matcher, text, rng):
        if text[-1:] in b"-.0123456789" and text and rng.random() < 0.1:
            ends = (step for step in ENDS if step and _ends_number(matcher.fork(), step))
            if (step := next(ends, None)) is not None:
                return step
        return super()._step_to_end(matcher, text, rng)


def _ends_number(matcher, step):
    return matcher.accept_bytes(step) and (
        matcher.is_completed() or any(matcher.fork().accept_bytes(mark) for mark in (b",", b"]"))
    )


def accepts(matcher: CoreMatcher, text: str) -> bool:
    fork = matcher.fork()
    return fork.accept_bytes(text.encode()) and fork.is_completed()


@pytest.mark.parametrize("seed", range(80 * EFFORT))
def test_values_keep_their_plain_spelling_only(seed):
    rng = random.Random(seed)
    schema, judge = random_numbers(rng)
    world = PlainWorld(schema, judge=judge, options=PLAIN, loads=read_plain)
    if world.empty:
        assert not any(judge(value) for value in candidates(rng, schema)), schema
        return
    matcher = CoreMatcher.compile(world.ir, vocabulary("bytes"))
    for value in candidates(rng, schema):
        text = spelled(rng, value)
        plain = plain_text(text)
        assert accepts(matcher, text) == (judge(value) and text == plain), (schema, text)
        assert accepts(matcher, plain) == judge(value), (schema, plain)
        if judge(value):
            world._check_prefixes(matcher.fork(), plain.encode())
    world.check_ends(b"-0159.e", 6, rng, 30)
    world.check_walks(rng, 3)


@pytest.mark.parametrize("seed", range(20 * EFFORT))
def test_all_short_texts(seed):
    rng = random.Random(1000 + seed)
    schema, judge = random_numbers(rng)
    world = World(schema, judge=judge, options=PLAIN)
    matcher = None if world.empty else CoreMatcher.compile(world.ir, vocabulary("bytes"))
    shapes = itertools.product(["", "-"], ["0", "1", "25", "10", "100"], ["", ".5", ".01", ".50"])
    for parts in shapes:
        text = "".join(parts)
        valid = judge(Fraction(text)) and text == plain_text(text)
        assert (matcher is not None and accepts(matcher, text)) == valid, (schema, text)


# --- every token at every step, with the reference ----------------------------------------------


@cache
def number_tokens() -> TestVocabulary:
    """Tokens that begin, end and hold numbers, and every byte of them."""
    texts = "15 5, .5 0.0 -0. -0 00 01 1] 0] 5.0 1e1 0.5, .05 ,- [-0. .25, 10 100 .1 1.0 0} .0] 5}"
    tokens = [text.encode() for text in texts.split()]
    words = [b'{"', b'":', b"null", b"true", b"e5"]
    return make_vocabulary("numbers", [*tokens, *words, *(bytes([b]) for b in range(0x20, 0x7F))])


LIMITS = ["0", "1", "-1", "0.5", "-2.5", "10", "100", "0.05", "15"]


def random_number_schema(rng: random.Random) -> str:
    """The text of a schema of numbers of those keywords that the reference knows."""
    sides = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
    chosen = rng.sample(sides, rng.randint(0, 2))
    parts = [f'"{side}": {rng.choice(LIMITS)}' for side in chosen]
    if rng.random() < 0.4:
        parts.append(f'"multipleOf": {rng.choice(["0.1", "0.25", "0.05", "1.5", "3", "0.01"])}')
    if rng.random() < 0.2:
        parts.append(f'"enum": [{", ".join(rng.sample(LIMITS, 4))}]')
    kind = rng.choice(["integer", "number", "number"])
    return f'{{"type": "{kind}"{"".join(", " + part for part in parts)}}}'


def random_schema(rng: random.Random) -> str:
    """The text of a schema with numbers somewhere in it."""
    number = random_number_schema(rng)
    other = random_number_schema(rng)
    return rng.choice(
        [
            number,
            "{}",
            f'{{"allOf": [{number}, {other}]}}',
            f'{{"anyOf": [{number}, {other}, {{"type": "null"}}]}}',
            f'{{"type": "array", "items": {number}, "maxItems": 3}}',
            f'{{"type": "array", "prefixItems": [{number}, {other}], "minItems": 1}}',
            f'{{"type": "object", "properties": {{"a": {number}, "b": {other}}}}}',
            '{"enum": [[1, 1.50], {"a": 10, "b": -0.0}, 1e2, 15]}',
            f'{{"const": [{", ".join(rng.choices([*LIMITS, "1e2", "2.50"], k=3))}]}}',
        ]
    )


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("seed", range(60 * EFFORT))
def test_every_token_at_every_step(seed, spelling):
    rng = random.Random(seed)
    schema = random_schema(rng)
    world = World(schema, judge=lambda _: True, options={"number_spelling": spelling})
    if world.empty:
        return
    for words in (number_tokens(), vocabulary("json")):
        text = Oracle(world.ir, words, schema).walk(rng, 8)
        if spelling == "plain" and text is not None:
            read_document(text.decode())


@pytest.mark.parametrize("spellings", list(itertools.permutations(SPELLINGS)))
def test_grammars_of_other_spellings_share_no_wrong_mask(spellings):
    words = number_tokens()
    info = TokenizerInfo(list(words.tokens), vocab_size=words.vocab_size, stop_token_ids=[0])
    compiler = GrammarCompiler(info)
    for option in spellings:
        for schema in ('{"type": "integer"}', '{"items": {"type": "number"}}', "{}"):
            compiled = compiler.compile_json_schema(schema, number_spelling=option)
            alone = GrammarCompiler(info).compile_json_schema(schema, number_spelling=option)
            for text in ("", "1", "15", "[1", "[0.5,-", "[1,[0"):
                pair = [GrammarMatcher(one) for one in (compiled, alone)]
                if all(matcher.accept_string(text) for matcher in pair):
                    assert allowed_tokens(pair[0]) == allowed_tokens(pair[1]), (schema, text)


# --- within a budget -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "least"),
    [
        ({"type": "integer"}, 1),
        ({"type": "integer", "minimum": 1000}, 4),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, 3),
        ({"type": "number", "not": {"type": "integer"}}, 3),
        ({"type": "number", "multipleOf": 1e50, "minimum": 1}, 51),
        ({"const": 1e300}, 301),
        ({"const": 1e-300}, 302),
        ({"type": "array", "items": {"enum": [1.5, 20]}, "minItems": 3}, 10),
    ],
)
def test_the_least_number_of_tokens(schema, least):
    words = vocabulary("bytes")
    info = TokenizerInfo(
        list(words.tokens), vocab_size=words.vocab_size, stop_token_ids=list(words.stop_ids)
    )
    compiled = GrammarCompiler(info).compile_json_schema(schema, number_spelling="plain")
    matcher = GrammarMatcher(compiled)
    assert matcher.min_tokens_to_finish() == least + 1
    for choose in choosers(0).values():
        matcher.reset()
        matcher.remaining_tokens = least + 4
        taken = walk(matcher, choose, check_every=1 if least < 10 else 50)
        text = b"".join(words.tokens[token] for token in taken[:-1])
        read_document(text.decode())


# --- arrays of different items -------------------------------------------------------------------

UNIQUE = [
    '{"type": "array", "items": {"minimum": 0, "maximum": 1, "multipleOf": 0.5}}',
    '{"type": "array", "items": {"enum": [1, 1.5, 10, 0, -0.5]}, "minItems": 2}',
    '{"type": "array", "items": {"type": "integer", "minimum": -1, "maximum": 1}, "minItems": 3}',
    '{"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1}}',
    '{"type": "array", "items": {"multipleOf": 0.1, "minimum": 0, "maximum": 0.3}, "minItems": 2}',
    '{"type": "array", "items": {"type": "number"}, "minItems": 2}',
    '{"type": "array", "minItems": 2, "maxItems": 3}',
    '{"type": "array", "items": {"type": "array", "items": {"enum": [1, 1.5]}, "maxItems": 2}}',
    '{"type": "array", "prefixItems": [{"const": 1}, {"minimum": 0.5, "maximum": 1}]}',
]


@pytest.mark.parametrize("schema", UNIQUE)
def test_different_items(schema):
    rng = random.Random(schema)
    content = {**json.loads(schema), "uniqueItems": True}
    judge = judge_of(json.loads(json.dumps(content), parse_float=exact))
    world = PlainWorld(content, judge=judge, options=PLAIN, loads=read_document)
    matcher = CoreMatcher.compile(world.ir, vocabulary("bytes"))
    numbers = ["0", "1", "1.5", "0.5", "-0.5", "10", "0.1", "0.3"]
    for count in range(4):
        for texts in itertools.product(numbers, repeat=count):
            if rng.random() < (0.2 if count == 3 else 1):
                text = f"[{','.join(texts)}]"
                assert accepts(matcher, text) == world.valid(read_document(text)), text
    world.check_ends(b"[],015.-", 8, rng, 60)
    for words in (number_tokens(), vocabulary("json")):
        for _ in range(6):
            text = Oracle(world.ir, words, schema, with_reference=False).walk(rng, 12)
            if text is not None:
                assert world.valid(read_document(text.decode())), text


# --- decimals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40 * EFFORT))
def test_decimals_keep_every_value(seed):
    rng = random.Random(seed)
    schema, judge = random_numbers(rng)
    world = PlainWorld(
        schema, judge=judge, options={"number_spelling": "decimal"}, loads=read_decimal
    )
    matcher = None if world.empty else CoreMatcher.compile(world.ir, vocabulary("bytes"))
    for value in candidates(rng, schema):
        text = spelled(rng, value)
        plain = plain_text(text)
        assert (matcher is not None and accepts(matcher, plain)) == judge(value), (schema, plain)
        assert matcher is None or not accepts(matcher, plain + "e0"), (schema, plain)
    world.check_ends(b"-0159.e", 5, rng, 20)


@pytest.mark.parametrize(
    ("schema", "texts", "refused"),
    [
        ('{"type": "number"}', ["15", "15.0", "19.90", "0.0"], ["1e2", "150.0E-1", "1."]),
        ('{"type": "integer"}', ["15", "-15", "0"], ["15.0", "15.", "150.0E-1", "-0"]),
        ('{"type": "number", "multipleOf": 5}', ["15"], ["15.0"]),
        ('{"multipleOf": 1.5, "allOf": [{"multipleOf": 2}]}', ["6"], ["6.0"]),
        ('{"multipleOf": 0.01}', ["19.9", "19.90", "20.00"], ["19.901", "1999e-2"]),
        ('{"enum": [1, 2]}', ["1", "2"], ["1.0"]),
        ('{"enum": [1, 2.5]}', ["1", "1.0", "2.50"], ["25e-1"]),
        ('{"anyOf": [{"type": "integer"}, {"const": 0.5}]}', ["7", "0.50"], ["7.0"]),
        ('{"const": 1e300}', ["1" + "0" * 300], ["1e300"]),
        ("{}", ["15.0", "[1.50]"], ["1e1", "[1E1]"]),
    ],
)
def test_decimals(schema, texts, refused):
    options = {**OPTIONS, "number_spelling": "decimal"}
    ir, certificate = compile_json_schema(schema, **options)
    matcher = CoreMatcher.compile(ir, vocabulary("bytes"))
    assert [text for text in texts if not accepts(matcher, text)] == []
    assert [text for text in refused if accepts(matcher, text)] == []
    assert any(entry.startswith("number-spelling: decimals") for entry in certificate.narrowed)


@pytest.mark.parametrize("count", [3, 12])
def test_how_many_constants_there_are_makes_no_difference(count):
    branches = [{"const": n} for n in range(count)] + [{"const": n + 0.5} for n in range(count)]
    options = {**OPTIONS, "number_spelling": "decimal"}
    ir, _ = compile_json_schema({"anyOf": branches}, **options)
    matcher = CoreMatcher.compile(ir, vocabulary("bytes"))
    assert accepts(matcher, "2")
    assert accepts(matcher, "2.50")
    assert not accepts(matcher, "2.0")


@pytest.mark.parametrize("schema", UNIQUE)
def test_different_decimals(schema):
    rng = random.Random(schema)
    content = {**json.loads(schema), "uniqueItems": True}
    judge = judge_of(json.loads(json.dumps(content), parse_float=exact))
    options = {"number_spelling": "decimal"}
    world = PlainWorld(content, judge=judge, options=options, loads=read_any_document)
    world.check_ends(b"[],015.-", 7, rng, 50)
    for _ in range(6):
        oracle = Oracle(world.ir, number_tokens(), schema, with_reference=False)
        text = oracle.walk(rng, 12)
        if text is not None:
            assert world.valid(read_any_document(text.decode())), text


# --- what is said of single schemas --------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "texts", "refused"),
    [
        ('{"type": "integer"}', ["0", "15", "-15", "1000"], ["15.0", "150.0E-1", "-0", "0.0"]),
        ('{"type": "number"}', ["1.5", "0.05"], ["1.50", "15e-1", "0.", "1.", "-0.0", "1e2"]),
        ("{}", ["15", '{"a":[1.5,0]}'], ["15.0", '{"a":[1.5,0.0]}', "[1e1]"]),
        ('{"const": 1e300}', ["1" + "0" * 300], ["1e300", "1" + "0" * 300 + ".0"]),
        ('{"const": 1e-300}', ["0." + "0" * 299 + "1"], ["1e-300"]),
        ('{"const": -0.0}', ["0"], ["-0", "0.0"]),
        ('{"minimum": 0.5, "maximum": 0.5}', ["0.5"], ["0.50", "5e-1"]),
        ('{"enum": [1.0, 2.50, [3.0]]}', ["1", "2.5", "[3]"], ["1.0", "2.50", "[3.0]"]),
        ('{"minimum": 1e20}', ["1" + "0" * 20, "1" + "0" * 20 + ".5"], ["1e20", "1" + "0" * 19]),
        ('{"multipleOf": 0.1}', ["1.1", "1", "-0.1"], ["1.0", "1.10", "1.01"]),
        ('{"multipleOf": 1e30}', ["0", "3" + "0" * 30], ["3e30", "-0"]),
    ],
)
def test_spellings(schema, texts, refused):
    ir, certificate = compile_json_schema(schema, **OPTIONS, **PLAIN)
    matcher = CoreMatcher.compile(ir, vocabulary("bytes"))
    assert [text for text in texts if not accepts(matcher, text)] == []
    assert [text for text in refused if accepts(matcher, text)] == []
    assert any(entry.startswith("number-spelling: plain") for entry in certificate.narrowed)
    every = CoreMatcher.compile(compile_json_schema(schema, **OPTIONS)[0], vocabulary("bytes"))
    assert [text for text in texts if not accepts(every, text)] == []


@pytest.mark.parametrize(
    ("schema", "text", "may_follow"),
    [
        ('{"multipleOf": 0.1}', "1.", "123456789"),
        ('{"multipleOf": 0.01}', "1.", "0123456789"),
        ('{"multipleOf": 0.01}', "1.0", "123456789"),
        ('{"multipleOf": 0.25}', "1.2", "5"),
        ('{"type": "integer"}', "1", "0123456789"),
        ('{"minimum": 1, "maximum": 1.05}', "1.", "0"),
        ('{"minimum": 1, "maximum": 1.05}', "1.0", "012345"),
        ('{"minimum": 1, "maximum": 1.05}', "1.05", ""),
        ('{"minimum": 0, "maximum": 9}', "-", None),
        ('{"maximum": 0, "minimum": -0.5}', "-0", "."),
        ('{"maximum": 0, "minimum": -0.5}', "-0.", "012345"),
        ('{"type": "number"}', "0", "."),
        ('{"type": "number"}', "0.0", "0123456789"),
        ('{"const": 1.05}', "1.0", "5"),
    ],
)
def test_what_may_follow(schema, text, may_follow):
    matcher = CoreMatcher.compile(
        compile_json_schema(schema, **OPTIONS, **PLAIN)[0], vocabulary("bytes")
    )
    assert matcher.accept_bytes(text.encode()) == (may_follow is not None)
    if may_follow is not None:
        texts = {matcher.vocabulary.tokens[token] for token in matcher.allowed_tokens()}
        following = {byte.decode() for byte in texts if byte in b"-+.eE0123456789" and byte}
        assert following == set(may_follow)
