from __future__ import annotations

import io
import itertools
import json
import mmap

import numpy as np
import pytest
from benchmarks import worker
from benchmarks.engines.base import Session

STOP = 40


class Literal:
    """An engine whose "schema" is the only text it accepts; ids are code points minus 96."""

    version = "0"

    def __init__(self, *, stubborn=False, broken_at=None):
        self.row = np.zeros((1, 2), dtype=np.int32)
        self._stubborn = stubborn
        self._broken_at = broken_at

    def forget(self):
        pass

    def open(self, schema, kind="json_schema"):  # noqa: ARG002 - as engines have it
        if schema == "bad":
            raise ValueError("no such schema")
        wanted = [ord(char) - 96 for char in schema] + [STOP]
        done = []

        def fill():
            if len(done) == self._broken_at:
                raise RuntimeError("gave up")
            self.row[:] = 0
            token = wanted[len(done)]
            self.row[0, token >> 5] = 1 << (token & 31)

        def accept(token):
            if self._stubborn:
                return False
            done.append(token)
            return True

        return Session(fill, accept, done.clear)


def serve(engine, schema, *instances, **options):
    request = {
        "source": schema,
        "kind": "json_schema",
        **options,
        "instances": [
            {"ids": [ord(char) - 96 for char in text], "valid": valid} for text, valid in instances
        ],
    }
    answer = io.StringIO()
    worker.serve(engine, request, worker.Run(engine.row, STOP), answer)
    return [json.loads(line) for line in answer.getvalue().splitlines()]


def test_stages_hold_verdicts_and_a_time_per_call():
    stages = serve(Literal(), "abc", ("abc", True), ("abcd", False), ("ab", False), ("abc", True))
    assert [stage["stage"] for stage in stages] == ["compiled", "first", "second", "done"]
    assert stages[0]["ttfm_ns"] > 0
    found = stages[-1]["found"]
    assert [found[k]["verdict"] for k in "0123"] == ["accepted", "refused", "refused", "accepted"]
    # The first mask of all belongs to the time to first mask; each text has one more than tokens.
    assert [len(found[k]["mask_first"]) for k in "03"] == [3, 4]
    assert [len(found[k]["mask_second"]) for k in "03"] == [4, 4]
    assert [len(found[k]["accept_second"]) for k in "03"] == [3, 3]
    assert found["1"]["position"] == 3
    assert found["2"]["position"] == 2


def test_refused_valid_instance_has_no_second_pass():
    found = serve(Literal(), "abc", ("abd", True))[-1]["found"]
    assert (found["0"]["verdict"], found["0"]["position"]) == ("refused", 2)
    assert "mask_second" not in found["0"]


def test_schema_that_does_not_compile_is_refused_with_the_message():
    (stage,) = serve(Literal(), "bad", ("a", True))
    assert (stage["status"], stage["message"]) == ("refused", "ValueError: no such schema")


def test_token_in_the_mask_that_accept_refuses_is_reported():
    found = serve(Literal(stubborn=True), "ab", ("ab", True))[-1]["found"]
    assert (found["0"]["verdict"], found["0"]["disagreed"]) == ("refused", True)


def test_token_outside_the_mask_that_accept_takes_is_reported():
    found = serve(Literal(), "abc", ("abd", False))[-1]["found"]
    # `Literal` accepts whatever comes: its mask is right, its accept is not.
    assert (found["0"]["verdict"], found["0"]["disagreed"]) == ("refused", True)


def test_token_that_mask_and_accept_refuse_is_no_disagreement():
    row = np.zeros((1, 2), dtype=np.int32)
    session = Session(lambda: True, lambda _: False, lambda: None)
    outcome, _, _ = worker.Run(row, STOP).judge(session, [3])
    assert outcome == {"verdict": "refused", "position": 0}


def test_engine_that_gave_up_before_a_refusal_is_an_error():
    row = np.zeros((1, 2), dtype=np.int32)
    session = Session(lambda: True, lambda _: False, lambda: None, lambda: "too complex")
    outcome, _, _ = worker.Run(row, STOP).judge(session, [3])
    assert (outcome["verdict"], outcome["message"]) == ("error", "too complex")


def test_of_several_readings_of_a_warm_step_the_least_counts(monkeypatch):
    # Each call of the clock is a tick later; the ticks grow from pass to pass but for the third.
    ticks = iter(tick for start in (0, 1000, 5000) for tick in spread(start))
    monkeypatch.setattr(worker, "wall_clock", lambda: next(ticks))
    row = np.full((1, 2), -1, dtype=np.int32)
    session = Session(lambda: True, lambda _: True, lambda: None)
    found = worker.Run(row, STOP).again(session, [1], repeats=3)
    assert found == {"mask_second": [2, 10], "accept_second": [3]}


def spread(start):
    """Readings of a pass over one token: mask, accept, mask; the pass at 1000 is the fastest."""
    steps = {0: (30, 3, 11), 1000: (2, 40, 10), 5000: (7, 9, 12)}[start]
    for step in steps:
        yield start
        start += step
        yield start


def test_answer_that_changes_when_the_text_comes_again_is_kept():
    row = np.full((1, 2), -1, dtype=np.int32)
    answers = iter([True, False])
    session = Session(lambda: True, lambda _: next(answers), lambda: None)
    found = worker.Run(row, STOP).again(session, [1], repeats=2)
    assert (found["verdict"], found["disagreed"]) == ("refused", True)


def test_memory_and_split_compile_are_reported_at_the_end():
    engine = Literal()
    engine.split_compile = lambda source, kind, _clock: (len(source), len(kind))
    done = serve(engine, "ab", ("ab", True), split=True)[-1]
    assert (done["front_end_ns"], done["core_ns"]) == (2, 11)
    assert done["peak_mib"] > 0
    assert "growth_kib" in done
    assert "core_ns" not in serve(engine, "ab", ("ab", True))[-1]


def test_memory_growth_is_what_stays_resident():
    memory = worker.Memory()
    # A mapping of its own: the allocator may have pages to spare.
    with mmap.mmap(-1, 1 << 23) as kept:
        kept.write(b"\1" * (1 << 23))
        used = memory.finish()
    assert used["growth_kib"] >= 7 << 10
    assert used["peak_mib"] >= 8


def test_exception_along_the_text_is_an_error():
    found = serve(Literal(broken_at=1), "ab", ("ab", True))[-1]["found"]
    assert (found["0"]["verdict"], found["0"]["message"]) == ("error", "RuntimeError: gave up")


def test_fill_that_returns_false_allows_every_token():
    row = np.zeros((1, 2), dtype=np.int32)
    session = Session(lambda: False, lambda _: True, lambda: None)
    outcome, masks, accepts = worker.Run(row, STOP).judge(session, [1, 39])
    assert (outcome["verdict"], len(masks), len(accepts)) == ("accepted", 3, 2)


@pytest.mark.parametrize("token", [0, 31, 32, 63])
def test_highest_and_lowest_bits_are_read(token):
    row = np.zeros((1, 2), dtype=np.int32)
    row.view(np.uint32)[0, token >> 5] = 1 << (token & 31)
    session = Session(lambda: True, lambda _: True, lambda: None)
    outcome, _, _ = worker.Run(row, token).judge(session, [])
    assert outcome["verdict"] == "accepted"


def test_what_happens_once_can_be_timed_in_cpu_time(monkeypatch):
    monkeypatch.setattr(worker.time, "process_time_ns", itertools.count(0, 1000).__next__)
    stages = serve(Literal(), "ab", ("ab", True), cpu_time=True)
    times = {key: value for stage in stages for key, value in stage.items()}
    assert times["ttfm_ns"] == 1000
    assert set(times["found"]["0"]["mask_first"]) == {1000}
    assert set(times["found"]["0"]["mask_second"]) != {1000}
