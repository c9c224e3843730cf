"""Several patterns for one string: intersections, held lazily where all of them are searches."""

from __future__ import annotations

import itertools
import random

import pytest

from core_adapter import CoreMatcher, compile_core
from json_worlds import OPTIONS, check_world
from maskwright.errors import LimitExceededError
from maskwright.frontends.json_schema import compile_json_schema
from vocabularies import vocabulary

TEXTS = ["".join(letters) for n in range(6) for letters in itertools.product("abx", repeat=n)]
SEARCHES = ["a", "b+a", "a.b", "(ab|ba)", "[^a]", "aa|bb", "a[ab]*x", "^|b", "(a|b)(a|b)", ""]
OTHERS = ["^a", "b$", "^[ab]*$", "^(?!a)", "^.{3}", "^(aa|b|x)*$"]


def several(rng):
    """A conjunction of patterns, most of them unanchored."""
    parts = [{"pattern": pattern} for pattern in rng.sample(SEARCHES, rng.randint(2, 4))]
    if rng.random() < 0.4:
        parts.append({"pattern": rng.choice(OTHERS)})
    if rng.random() < 0.3:
        parts.append({"not": {"pattern": rng.choice(SEARCHES[:8])}})
    schema = {"type": "string", "allOf": parts}
    if rng.random() < 0.3:
        schema["minLength"] = rng.randint(1, 4)
    if rng.random() < 0.3:
        schema["maxLength"] = rng.randint(2, 5)
    return schema


@pytest.mark.parametrize("seed", range(25))
def test_several_patterns(seed):
    rng = random.Random(seed)
    texts = rng.sample(TEXTS, 80)
    check_world(
        several(rng), seed=seed, values=texts, alphabet=b'"ab\\', length=5, limit=12, n_walks=2
    )


def letters(count, **more):
    """As many searches, each for a letter that comes twice."""
    parts = [{"pattern": f"{c}[a-z]*{c}"} for c in "abcdefghijklmnop"[:count]]
    return {"type": "string", "allOf": parts, **more}


def compiled(schema):
    return compile_core(compile_json_schema(schema, **OPTIONS)[0], vocabulary("bytes"))


@pytest.mark.parametrize("count", [8, 16])
def test_searches_have_states_only_where_a_text_leads(count):
    core = compiled(letters(count, minLength=4))
    matcher = CoreMatcher.of_compiled(core, vocabulary("bytes"))
    text = "".join(c + "x" + c for c in "abcdefghijklmnop"[:count])
    assert matcher.fork().accept_bytes(b'"' + text.encode() + b'"')
    assert not matcher.fork().accept_bytes(b'"' + text[:-1].encode() + b'"')
    assert core.counters()["states"] < 40 * count


def test_the_shortest_text_of_many_searches_is_not_looked_for():
    with pytest.raises(LimitExceededError, match="an intersection of patterns exceeds"):
        compiled(letters(8, maxLength=100))
