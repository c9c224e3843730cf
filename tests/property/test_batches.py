"""Batch calls against the same calls one by one, on random trees, grammars and steps.

The scalar `traverse_draft_tree` is the oracle of the batch form; its own is a fork that accepts the
tokens on the way to each node.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core_adapter import CORE, compile_core
from corpus import compile_source
from maskwright import BatchGrammarMatcher, MaskwrightError
from strategies import EFFORT
from vocabularies import TestVocabulary, make_vocabulary, vocabulary

AB = vocabulary("ab")
JSON = vocabulary("json")
#: Not every byte is a token, so masks need a search over the tokens.
SPARSE = make_vocabulary("sparse", [b"ab", b"ba", b"b", b"aab", b"bab"])
OPEN = {"any_order": True, "strict_mode": False, "max_whitespace_cnt": 2}
SOURCES: list[tuple[str, Any, dict[str, Any], TestVocabulary]] = [
    ("ebnf", 'root ::= "a" root "b" | "b" root? | ""', {}, AB),
    ("ebnf", "root ::= ([ab]{2,40} [b]){1,3}", {}, AB),
    ("ebnf", 'root ::= ("a"|"ab")* "b" | ("a" "b")* "ba"', {}, AB),
    ("ebnf", 'root ::= ("ab" | "ba")* "b"', {}, SPARSE),
    ("json_schema", {"type": "object"}, OPEN, JSON),
    (
        "json_schema",
        {"type": "array", "uniqueItems": True, "items": {"type": ["string", "null", "object"]}},
        OPEN,
        JSON,
    ),
]
UNTOUCHED = 0x5A5A5A5A


def compiled(index: int) -> Any:
    language, source, options, v = SOURCES[index]
    return compile_core(compile_source(language, source, options), v)


COMPILED = [compiled(index) for index in range(len(SOURCES))]
TOKENS_OF = [len(v.tokens) for *_, v in SOURCES]
WORDS = max(-(-v.vocab_size // 32) for *_, v in SOURCES)


def new_matcher(index: int, ends_by_itself: bool) -> Any:
    """A matcher of one of the grammars, as the public class has it inside."""
    return CORE.MatcherBase(COMPILED[index], None, ends_by_itself, None)


def pick_token(rng: random.Random, matcher: Any, index: int) -> int:
    """Mostly one that is allowed."""
    size = SOURCES[index][3].vocab_size
    if rng.random() < 0.15:
        return rng.randrange(-2, size + 3)
    row = np.zeros((1, WORDS), dtype=np.int32)
    try:
        matcher.fill_next_token_bitmask(row)
    except MaskwrightError:
        return rng.randrange(size)
    allowed = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))
    return int(rng.choice(list(allowed)))


def fork(matcher: Any) -> Any:
    return CORE.MatcherBase(matcher)


def row_of(matcher: Any) -> bytes | None:
    """The mask; None where no token can follow."""
    row = np.zeros((1, WORDS), dtype=np.int32)
    try:
        matcher.fill_next_token_bitmask(row)
    except MaskwrightError:
        return None
    return row.tobytes()


def random_tree(rng: random.Random, nodes: int) -> tuple[list[int], list[int]]:
    """Links in which nodes may have any numbers, and some are not reached."""
    names = list(range(nodes))
    rng.shuffle(names)
    children, siblings = [-1] * nodes, [-1] * nodes
    for k in range(1, nodes):
        if rng.random() < 0.1:
            continue
        parent = names[rng.randrange(k)]
        siblings[names[k]], children[parent] = children[parent], names[k]
    return children, siblings


def draft(rng: random.Random, matcher: Any, index: int, links: Any, root: int) -> list[int]:
    """A token for each node, mostly one that may come there."""
    children, siblings = links
    tokens = [rng.randrange(-1, 5) for _ in children]
    waiting = [(root, fork(matcher))]
    while waiting:
        node, at = waiting.pop()
        child = children[node]
        while child >= 0:
            below = fork(at)
            tokens[child] = pick_token(rng, below, index)
            below.accept_token(tokens[child])
            waiting.append((child, below))
            child = siblings[child]
    return tokens


def rows_one_by_one(matcher: Any, links: Any, tokens: list[int], root: int) -> Any:
    """The oracle of the scalar form: a fork for each node."""
    children, siblings = links
    rows = np.zeros((len(tokens), WORDS), dtype=np.int32)
    waiting = [(root, fork(matcher))]
    while waiting:
        node, at = waiting.pop()
        mask = row_of(at)
        if mask is not None:
            rows[node] = np.frombuffer(mask, dtype=np.int32)
        child = children[node]
        while child >= 0:
            below = fork(at)
            if below.accept_token(tokens[child]):
                waiting.append((child, below))
            child = siblings[child]
    return rows


def advanced(rng: random.Random, count: int) -> list[tuple[int, Any]]:
    """Matchers of random grammars at random places that can go on; some are forks of others."""
    made: list[tuple[int, Any]] = []
    while len(made) < count:
        if made and rng.random() < 0.3:
            index, origin = rng.choice(made)
            matcher = fork(origin)
        else:
            index = rng.randrange(len(SOURCES))
            matcher = new_matcher(index, rng.random() < 0.2)
        for _ in range(rng.randrange(4)):
            matcher.accept_token(pick_token(rng, matcher, index))
        if row_of(matcher) is not None:
            made.append((index, matcher))
    return made


SEEDS = given(seed=st.integers(0, 2**32))
BATCHES = [BatchGrammarMatcher(1), BatchGrammarMatcher(3)]


@settings(max_examples=40 * EFFORT)
@SEEDS
def test_draft_trees(seed):
    rng = random.Random(seed)
    made = advanced(rng, rng.randint(1, 7))
    matchers = [matcher for _, matcher in made]
    nodes, rows = rng.randint(1, 8), len(made) + rng.randrange(3)
    shared = rng.random() < 0.3
    trees = [random_tree(rng, nodes) for _ in range(1 if shared else rows)]
    indices = rng.sample(range(rows), len(made))
    roots = [rng.randrange(nodes) if rng.random() < 0.4 else 0 for _ in made]
    tokens = [[rng.randrange(-1, 5) for _ in range(nodes)] for _ in range(rows)]
    before = [row_of(matcher) for matcher in matchers]
    wanted = np.full((rows * nodes, WORDS), UNTOUCHED, dtype=np.int32)
    for (index, matcher), row, root in zip(made, indices, roots, strict=True):
        links = trees[0 if shared else row]
        tokens[row] = draft(rng, matcher, index, links, root)
        block = wanted[row * nodes : (row + 1) * nodes]
        arrays = [np.array(values, dtype=np.int32) for values in (*links, tokens[row])]
        done = CORE.traverse_draft_tree(matcher, *arrays, block, -1.0, None, root)
        assert done is True
        assert (block == rows_one_by_one(matcher, links, tokens[row], root)).all()
    links = [np.array([tree[side] for tree in trees]) for side in (0, 1)]
    if shared:
        links = [values[0] for values in links]
    bitmask = np.full((rows * nodes, WORDS), UNTOUCHED, dtype=np.int32)
    batch = rng.choice(BATCHES)
    done = batch.batch_traverse_draft_tree(
        matchers, *links, np.array(tokens), bitmask, indices, roots
    )
    assert done == [True] * len(made)
    assert (bitmask == wanted).all()
    assert [row_of(matcher) for matcher in matchers] == before


@settings(max_examples=25 * EFFORT)
@SEEDS
def test_steps_of_many_matchers(seed):
    """Fills, tokens, texts and steps back, with refused calls between them."""
    rng = random.Random(seed)
    made = advanced(rng, rng.randint(2, 9))
    matchers = [matcher for _, matcher in made]
    alone = [fork(matcher) for matcher in matchers]
    batch = rng.choice(BATCHES)
    steps = [0] * len(made)
    for _ in range(12):
        tokens = [pick_token(rng, matcher, index) for index, matcher in made]
        refuse(rng, batch, matchers)
        if rng.random() < 0.2:
            texts = [SOURCES[index][3].tokens[rng.randrange(TOKENS_OF[index])] for index, _ in made]
            accepted = batch.batch_accept_string(matchers, texts)
            wanted = [CORE.matcher_of(m).accept_bytes(t) for m, t in zip(alone, texts, strict=True)]
        else:
            accepted = batch.batch_accept_token(matchers, tokens)
            wanted = [m.accept_token(token) for m, token in zip(alone, tokens, strict=True)]
        assert accepted == wanted
        steps = [step + done for step, done in zip(steps, accepted, strict=True)]
        masks = [row_of(matcher) for matcher in alone]
        live = [k for k, mask in enumerate(masks) if mask is not None]
        bitmask = np.full((len(made), WORDS), UNTOUCHED, dtype=np.int32)
        batch.batch_fill_next_token_bitmask([matchers[k] for k in live], bitmask, live)
        for k, mask in enumerate(masks):
            if mask is not None:
                assert bitmask[k].tobytes() == mask
            else:
                assert (bitmask[k] == UNTOUCHED).all()
        if rng.random() < 0.3 or len(live) < len(made):
            back = [rng.randint(0, step) if k in live else step for k, step in enumerate(steps)]
            batch.batch_rollback(matchers, back)
            for matcher, count in zip(alone, back, strict=True):
                matcher.rollback(count)
            steps = [step - count for step, count in zip(steps, back, strict=True)]


def refuse(rng: random.Random, batch: BatchGrammarMatcher, matchers: list[Any]) -> None:
    """A call that is refused after much of it would have been right."""
    bitmask = np.full((len(matchers), WORDS), UNTOUCHED, dtype=np.int32)
    too_far = [*[0] * (len(matchers) - 1), 10_000]
    if rng.random() < 0.5:
        with pytest.raises(MaskwrightError):
            batch.batch_rollback(matchers, too_far)
    else:
        with pytest.raises(MaskwrightError):
            batch.batch_fill_next_token_bitmask([*matchers[1:], matchers[1]], bitmask)
    assert (bitmask == UNTOUCHED).all()
