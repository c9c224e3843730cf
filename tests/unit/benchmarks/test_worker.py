from __future__ import annotations

import io
import json

import numpy as np
import pytest
from benchmarks import worker
from benchmarks.engines import Session

STOP = 40


class Literal:
    """An engine whose "schema" is the only text it accepts; ids are code points minus 96."""

    version = "0"

    def __init__(self, *, stubborn=False, broken_at=None):
        self.row = np.zeros((1, 2), dtype=np.int32)
        self._stubborn = stubborn
        self._broken_at = broken_at

    def open(self, schema):
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


def serve(engine, schema, *instances):
    request = {
        "schema": schema,
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
