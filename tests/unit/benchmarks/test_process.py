from __future__ import annotations

import sys
from pathlib import Path

import pytest
from benchmarks.data import Instance, SchemaFile
from benchmarks.process import EngineProcess, UnavailableError
from benchmarks.tokens import TokenizerFile

# Stands in for an engine: what it does with a request is the schema's text.
FAKE = r"""
import json, sys
print('{"stage": "ready", "version": "1", "load_seconds": 0, "clock_ns": 1}', flush=True)
for line in sys.stdin:
    what = json.loads(line)["source"]
    if what == "die":
        sys.exit("out of memory")
    print('{"stage": "compiled", "ttfm_ns": 5}', flush=True)
    if what == "hang":
        sys.stdin.read()
    print('{"stage": "done", "status": "ok", "found": {"0": {"verdict": "accepted"}}}', flush=True)
"""


def engine_that_runs(script, seconds=60.0):
    tokenizer = TokenizerFile(Path("none"), 8, 7, "none")
    engine = EngineProcess("fake", tokenizer, seconds=seconds, memory_mib=1024)
    engine._command = [sys.executable, "-c", script]
    return engine


def measure(engine, what):
    file = SchemaFile("family", "name", what, (Instance("1", True), Instance("2", False)))
    return engine.measure(file, [[1], [2]])


@pytest.fixture
def engine():
    engine = engine_that_runs(FAKE)
    yield engine
    engine.stop()


def test_stages_are_merged(engine):
    record = measure(engine, "work")
    assert (record["status"], record["ttfm_ns"]) == ("ok", 5)
    assert [i["verdict"] for i in record["instances"]] == ["accepted", None]
    assert [i["valid"] for i in record["instances"]] == [True, False]


def test_crash_is_recorded_with_the_last_line_and_the_next_file_gets_a_new_process(engine):
    record = measure(engine, "die")
    assert (record["status"], record["message"]) == ("crash", "out of memory")
    assert "ttfm_ns" not in record
    assert measure(engine, "work")["status"] == "ok"


def test_process_that_died_between_two_files_counts_as_a_crash(engine):
    engine.start()
    engine._process.kill()
    engine._process.wait()
    assert measure(engine, "work" * 100_000)["status"] == "crash"
    assert measure(engine, "work")["status"] == "ok"


def test_engine_over_its_time_is_killed_and_keeps_the_stages_that_arrived():
    engine = engine_that_runs(FAKE)
    engine.start()
    engine._seconds = 0.3
    try:
        record = measure(engine, "hang")
    finally:
        engine.stop()
    assert record["status"] == "timeout"
    assert [i["verdict"] for i in record["instances"]] == [None, None]


def test_engine_that_is_not_installed_is_unavailable():
    engine = engine_that_runs("""print('{"stage": "missing", "message": "No module"}')""")
    with pytest.raises(UnavailableError, match="No module"):
        engine.start()


def test_engine_that_does_not_start_is_unavailable_with_its_last_words():
    engine = engine_that_runs("raise SystemExit('broken vocabulary')")
    with pytest.raises(UnavailableError, match="broken vocabulary"):
        engine.start()
