"""Instances for a schema: by `hypothesis-jsonschema` near it, and by mutation of others.

A value is made of what `json` reads, with numbers as `NumberText`, as the speller takes them.
"""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from random import Random
from typing import Any

import hypothesis
import jsonschema
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from hypothesis_jsonschema import from_schema

from json_spellings import NumberText, has_lone_surrogate
from keyword_grammar import KEYS, NUMBERS, STRINGS, random_value
from schema_forms import Draft7, Schema

# The library takes minutes for larger schemas, and for those that hardly any value satisfies.
_MAX_FORM_BYTES = 3000
_MAX_ATTEMPTS_PER_INSTANCE = 2
_MAX_EXPONENT = 30


class _EnoughError(Exception):
    """Enough attempts were made."""


def parse(text: str | bytes) -> Any:
    """A JSON text with its numbers as they are written."""
    return json.loads(text, parse_int=NumberText, parse_float=NumberText)


def near_instances(schema: Schema, count: int, seed: int) -> list[Any]:
    """Up to ``count`` values that are likely to be valid, always the same for a seed."""
    form = Draft7(schema).convert(schema)
    if form is False or len(json.dumps(form)) > _MAX_FORM_BYTES:
        return []
    found: list[Any] = []
    attempts = 0

    @hypothesis.seed(seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(st.data())
    def collect(data: st.DataObject) -> None:
        nonlocal attempts
        attempts += 1
        if attempts > count * _MAX_ATTEMPTS_PER_INSTANCE:
            raise _EnoughError
        found.append(data.draw(strategy))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about patterns that Python doesn't know, and long ones
        strategy = from_schema(form)
        # Of hypothesis: nothing was found; or the end after enough attempts, which is none that it
        # knows. Of the library: patterns of its own making, bounds that differ.
        failures = (_EnoughError, HypothesisException, AssertionError, jsonschema.SchemaError)
        with contextlib.suppress(*failures):
            collect()
    return [parse(json.dumps(value)) for value in found if not has_lone_surrogate(value)]


def mutations(value: Any, schema: Schema, rng: Random, count: int) -> Iterator[Any]:
    """Values that differ from a value in one or two places."""
    words = [*_words(schema), *rng.sample(KEYS, 3), *rng.sample(STRINGS, 3)]
    for _ in range(count):
        changed = _mutated(value, words, rng)
        yield _mutated(changed, words, rng) if rng.random() < 0.25 else changed


def _words(schema: Schema) -> Iterator[str]:
    """The strings and names in a schema."""
    if isinstance(schema, dict):
        for name, value in schema.items():
            yield name
            yield from _words(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _words(value)
    elif isinstance(schema, str):
        yield schema


def _mutated(value: Any, words: list[str], rng: Random) -> Any:
    inside = rng.random() < 0.7
    if isinstance(value, list) and value and inside:
        at = rng.randrange(len(value))
        return [*value[:at], _mutated(value[at], words, rng), *value[at + 1 :]]
    if isinstance(value, dict) and value and inside:
        name = rng.choice(list(value))
        return {**value, name: _mutated(value[name], words, rng)}
    if rng.random() < 0.15:
        return parse(json.dumps(random_value(rng)))
    if isinstance(value, NumberText):
        return _number(value, rng)
    change: dict[type, Callable[[Any, list[str], Random], Any]]
    change = {str: _string, list: _array, dict: _object}
    return change.get(type(value), _other)(value, words, rng)


def _number(value: NumberText, rng: Random) -> NumberText:
    try:
        number = Decimal(value)
    except ArithmeticError:  # an exponent of 20 digits
        number = Decimal("inf")
    if number.is_infinite() or abs(number.adjusted()) > _MAX_EXPONENT:
        return NumberText(rng.choice(NUMBERS))
    step = Decimal(rng.choice(("1", "-1", "0.5", "0.01", "-0.1", "1e-9", "10")))
    changed = rng.choice((number + step, -number, number * 10, number / 10, number * 2))
    return NumberText(changed if rng.random() < 0.9 else str(rng.choice(NUMBERS)))


def _string(value: str, words: list[str], rng: Random) -> str:
    at = rng.randint(0, len(value))
    extra = rng.choice((*"aZ0 é\n", "😀", rng.choice(STRINGS)))
    return rng.choice(
        (
            value[:at] + extra + value[at:],
            value[:at] + value[at + 1 :],
            rng.choice(words),
            value * 2,
        )
    )


def _array(value: list[Any], words: list[str], rng: Random) -> list[Any]:
    at = rng.randint(0, len(value))
    extra = rng.choice(value) if value and rng.random() < 0.5 else _other(None, words, rng)
    swapped = rng.sample(value, len(value))
    return rng.choice(
        ([*value[:at], extra, *value[at:]], value[:at] + value[at + 1 :], swapped, [value])
    )


def _object(value: dict[str, Any], words: list[str], rng: Random) -> dict[str, Any]:
    added = {**value, rng.choice(words): _other(None, words, rng)}
    if not value or rng.random() < 0.4:
        return added
    name = rng.choice(list(value))
    rest = {key: member for key, member in value.items() if key != name}
    return rest if rng.random() < 0.6 else {**rest, rng.choice(words): value[name]}


def _other(_value: Any, words: list[str], rng: Random) -> Any:
    scalar = rng.choice((None, True, False, rng.choice(words), rng.choice(NUMBERS), [], {}))
    return (
        NumberText(scalar)
        if isinstance(scalar, (int, float)) and not isinstance(scalar, bool)
        else scalar
    )
