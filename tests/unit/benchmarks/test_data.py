from __future__ import annotations

import json
from collections import Counter

import pytest
from benchmarks.data import OWN_SCHEMAS, SchemaFile, allocate, load_corpus, sample, to_text


def corpus_of(**sizes):
    return [
        SchemaFile(family, f"{family}-{k}", "{}", ())
        for family, size in sizes.items()
        for k in range(size)
    ]


@pytest.mark.parametrize(
    ("sizes", "count", "expected"),
    [
        ({"a": 50, "b": 30, "c": 20}, 10, {"a": 5, "b": 3, "c": 2}),
        ({"a": 1000, "b": 1, "c": 1}, 10, {"a": 8, "b": 1, "c": 1}),
        ({"a": 3, "b": 2}, 100, {"a": 3, "b": 2}),
        ({"a": 3, "b": 9, "c": 5}, 2, {"b": 1, "c": 1}),
        ({"a": 4, "b": 0}, 2, {"a": 2}),
        ({"a": 5, "b": 5, "c": 5}, 4, {"a": 1, "b": 1, "c": 2}),
    ],
)
def test_places_are_shared_in_proportion(sizes, count, expected):
    assert allocate(sizes, count) == expected


def test_every_count_is_met_exactly_and_within_the_sizes():
    sizes = {"a": 7, "b": 1, "c": 23, "d": 4}
    for count in range(1, 36):
        shares = allocate(sizes, count)
        assert sum(shares.values()) == count
        assert all(0 < share <= sizes[name] for name, share in shares.items())


def test_sample_depends_on_the_seed_and_not_on_the_order_of_files():
    corpus = corpus_of(a=40, b=10)
    first = sample(corpus, 20, seed=3)
    assert sample(corpus[::-1], 20, seed=3) == first
    assert sample(corpus, 20, seed=4) != first
    assert Counter(file.family for file in first) == {"a": 16, "b": 4}
    assert len({file.name for file in first}) == 20


def test_first_files_of_a_sample_cover_the_families():
    first = sample(corpus_of(a=40, b=40, c=40), 12, seed=1)[:3]
    assert {file.family for file in first} == {"a", "b", "c"}


def test_text_has_no_escapes_but_for_lone_surrogates():
    assert to_text({"é": "🎈"}) == '{"é": "🎈"}'
    assert to_text("\ud800é") == '"\\ud800\\u00e9"'


def test_own_schemas_judge_their_instances_as_they_say():
    jsonschema = pytest.importorskip("jsonschema")
    corpus = load_corpus(OWN_SCHEMAS)
    assert len(corpus) == 12
    for file in corpus:
        validator = jsonschema.Draft202012Validator(json.loads(file.schema))
        assert {i.valid for i in file.instances} == {True, False}
        for instance in file.instances:
            assert validator.is_valid(json.loads(instance.text)) == instance.valid, file.name
