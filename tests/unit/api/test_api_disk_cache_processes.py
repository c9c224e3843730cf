"""One disk cache, many processes: started at once, killed at any moment, forked, many threads."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from maskwright import GrammarCompiler, TokenizerInfo

SECONDS = 60
TOKENS = ["a", "b", "ab", "1", "</s>"]
INFO = TokenizerInfo(TOKENS, stop_token_ids=4)
SOURCES = [f"a{{{n}}}b" for n in range(1, 25)]

#: Says "ready", waits for a line, then compiles what the line says and prints its figures.
WORKER = f"""
import sys
from maskwright import GrammarCompiler, TokenizerInfo
info = TokenizerInfo({TOKENS!r}, stop_token_ids=4)
print("ready", flush=True)
first, last = map(int, sys.stdin.readline().split())
compiler = GrammarCompiler(info, disk_cache=sys.argv[1])
for n in range(first, last):
    compiler.compile_regex(f"a{{{{{{n}}}}}}b")
    print(n, flush=True)
stats = compiler.stats().disk_cache
print("end", stats.hits, stats.misses, stats.writes, stats.dropped, stats.errors, flush=True)
"""


def start(folder: Path) -> subprocess.Popen[str]:
    worker = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", WORKER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert worker.stdout.readline() == "ready\n"
    return worker


def let_go(worker: subprocess.Popen[str], first: int, last: int) -> None:
    worker.stdin.write(f"{first} {last}\n")
    worker.stdin.flush()


def figures(worker: subprocess.Popen[str]) -> list[int]:
    """Hits, misses, writes, dropped, errors of a worker that ends."""
    output, _ = worker.communicate(timeout=SECONDS)
    assert worker.returncode == 0
    return [int(word) for word in output.splitlines()[-1].split()[1:]]


def assert_whole(folder: Path) -> int:
    """Check the database; return how many entries it has."""
    (path,) = folder.glob("*.sqlite3")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return connection.execute("SELECT count(*) FROM entries").fetchone()[0]


def test_processes_that_start_at_once(tmp_path):
    folder = tmp_path / "cache"
    workers = [start(folder) for _ in range(4)]
    for worker in workers:
        let_go(worker, 1, 30)
    for hits, misses, writes, dropped, errors in map(figures, workers):
        assert hits + misses == 29
        assert (writes, dropped, errors) == (misses, 0, 0)
    assert assert_whole(folder) == 29
    late = start(folder)
    let_go(late, 1, 30)
    assert figures(late) == [29, 0, 0, 0, 0]


def test_a_process_that_is_killed_while_it_writes(tmp_path):
    rng = random.Random(7)
    done = 1
    for _ in range(6):
        worker = start(tmp_path)
        let_go(worker, done, 10_000)
        for _ in range(rng.randint(1, 40)):
            done = int(worker.stdout.readline())
        worker.kill()  # somewhere in the middle of a later one
        worker.communicate(timeout=SECONDS)
        assert worker.returncode == -signal.SIGKILL
        assert assert_whole(tmp_path) >= done
    last = start(tmp_path)
    let_go(last, 1, done + 1)
    assert figures(last) == [done, 0, 0, 0, 0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")
def test_forked_children_have_connections_of_their_own(tmp_path):
    compiler = GrammarCompiler(INFO, disk_cache=tmp_path, cache_enabled=False)
    compiler.compile_regex(SOURCES[0])
    store = compiler._disk_cache._store
    connection = store.open()
    children = []
    for child in range(3):
        process = os.fork()
        if process == 0:
            status = 1
            try:
                mine = SOURCES[1 + child :: 3]
                compiler.compile_regex(SOURCES[0])
                for source in mine * 2:
                    compiler.compile_regex(source)
                stats = compiler.stats().disk_cache
                found = (stats.hits, stats.writes, stats.errors, store.open() is connection)
                expected = (child + 1 + len(mine), 1 + len(mine), 0, False)  # with the parent's
                status = 0 if found == expected else 2
            finally:
                os._exit(status)
        children.append(process)
        compiler.compile_regex(SOURCES[0])
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0, 0]
    for source in SOURCES:
        compiler.compile_regex(source)
    stats = compiler.stats().disk_cache
    assert (stats.hits, stats.writes, stats.errors) == (3 + len(SOURCES), 1, 0)
    assert store.open() is not connection
    assert assert_whole(tmp_path) == len(SOURCES)


def test_threads_share_one(tmp_path):
    compilers = [GrammarCompiler(INFO, disk_cache=tmp_path) for _ in range(2)]
    barrier = threading.Barrier(4)

    def work(n: int) -> None:
        barrier.wait(SECONDS)
        for source in SOURCES:
            compilers[n % 2].compile_regex(source)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    stats = [compiler.stats().disk_cache for compiler in compilers]
    assert [one.hits + one.misses for one in stats] == [len(SOURCES)] * 2
    assert [one.errors + one.dropped for one in stats] == [0, 0]
    assert assert_whole(tmp_path) == len(SOURCES)
