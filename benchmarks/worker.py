"""The subprocess in which one engine runs: reads requests, measures, writes stages.

A request is a line `{"source": text, "kind": kind, "instances": [{"ids": [...], "valid": bool}]}`;
the answer is one line per stage, each a JSON object to be merged into what came before: `compiled`
with the time to the first mask, `first` and `second` with the passes over valid instances, `done`
with the invalid ones. The parent kills the process when a request takes too long and keeps the
stages that had arrived.

What is timed: a library call between two readings of the clock, whose own cost is measured at the
start and reported, not subtracted. With `"cpu_time": true` the clock of what happens once (compile,
first pass) is the CPU time of this process, which others on the machine do not change; its reading
costs some 0.8 us, so that the second pass keeps the clock on the wall. The garbage collector is off
meanwhile, and all threads of the process run on one core, so that no engine gains from threads of
its own.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.engines.base import Engine, Session

wall_clock = time.perf_counter_ns

# Loads code and fills the allocator, so that the first file is not measured for it.
WARM_UP_SCHEMA = '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}'


class Run:
    """Feeds one text to a session and judges it.

    At each step the token must be in the mask, and must then be accepted; at the end the stop token
    must be in the mask. A token that the mask refuses is still offered to accept: where that takes
    it, or refuses what the mask allows, `disagreed` is set. `verdict` is "accepted", "refused" or
    "error" (the engine gave up).
    """

    def __init__(self, row: Any, stop_token_id: int) -> None:
        self._words = memoryview(row.reshape(-1))
        self._stop = stop_token_id

    def _allows(self, token: int, must_apply: object) -> bool:
        # False from `fill` means that every token is allowed, whatever the row says.
        return must_apply is False or bool(self._words[token >> 5] >> (token & 31) & 1)

    def judge(
        self,
        session: Session,
        ids: list[int],
        *,
        is_filled: bool = False,
        clock: Callable[[], int] | None = None,
    ) -> tuple[dict[str, Any], list[int], list[int]]:
        """Return the outcome, mask times and accept times.

        Args:
            session: A session at its start.
            ids: The text.
            is_filled: Whether the first mask has been computed already; it is not timed then.
            clock: Tells the time, in nanoseconds; None: the clock on the wall.
        """
        clock = clock or wall_clock
        masks: list[int] = []
        accepts: list[int] = []
        message = ""
        fill, accept, allows = session.fill, session.accept, self._allows
        outcome: dict[str, Any] = {"verdict": "refused"}
        try:
            for position, token in enumerate((*ids, self._stop)):
                start = clock()
                must_apply = fill()
                end = clock()
                if position or not is_filled:
                    masks.append(end - start)
                if not allows(token, must_apply):
                    outcome["position"] = position
                    message = session.problem()  # accept of a refused token may be one itself
                    if not message and token != self._stop and accept(token):
                        outcome["disagreed"] = True
                    break
                if position == len(ids):
                    message = session.problem()
                    outcome["verdict"] = "accepted"
                    break
                start = clock()
                taken = accept(token)
                end = clock()
                accepts.append(end - start)
                if not taken:
                    message = session.problem()
                    outcome.update(position=position, disagreed=True)
                    break
        except Exception as error:  # noqa: BLE001 - whatever a library raises is its verdict
            message = f"{type(error).__name__}: {error}"
        if message:
            outcome.update(verdict="error", message=message[:200])
        return outcome, masks, accepts

    def again(self, session: Session, ids: list[int], repeats: int) -> dict[str, Any]:
        """Feed a text that was accepted; of several readings of a step the smallest counts.

        Returns:
            The times, and the outcome if it was another one this time.
        """
        found: dict[str, Any] = {}
        passes = []
        for _ in range(repeats):
            outcome, *times = self.judge(session, ids)
            session.reset()
            passes.append(times)
            if outcome["verdict"] != "accepted":  # the same text, another answer
                found.update(outcome)
        for key, readings in zip(
            ("mask_second", "accept_second"), zip(*passes, strict=True), strict=True
        ):
            found[key] = [min(step) for step in zip(*readings, strict=False)]
        return found


def compile_stage(
    engine: Engine, source: str, kind: str, clock: Callable[[], int]
) -> tuple[Session | None, dict[str, Any]]:
    """Compile, make a matcher and compute the first mask; time all of it."""
    start = clock()
    try:
        session = engine.open(source, kind)
        session.fill()
        end = clock()
        if message := session.problem():
            raise RuntimeError(message)  # noqa: TRY301 - the same answer as any other refusal
    except Exception as error:  # noqa: BLE001 - whatever a library raises is its verdict
        message = f"{type(error).__name__}: {error}"
        return None, {"stage": "done", "status": "refused", "message": message[:300]}
    return session, {"stage": "compiled", "ttfm_ns": end - start}


def serve(engine: Engine, request: dict[str, Any], run: Run, answer: TextIO) -> None:
    """Answer one request."""

    def send(stage: dict[str, Any]) -> None:
        answer.write(json.dumps(stage) + "\n")
        answer.flush()

    source, kind = request["source"], request["kind"]
    clock = time.process_time_ns if request.get("cpu_time") else wall_clock
    engine.forget()
    memory = Memory()
    session, compiled = compile_stage(engine, source, kind, clock)
    if session is None:
        send(compiled)
        return
    send(compiled)
    instances: list[dict[str, Any]] = request["instances"]
    found: dict[int, dict[str, Any]] = {}
    valid = [k for k, instance in enumerate(instances) if instance["valid"]]
    for nth, k in enumerate(valid):
        outcome, masks, accepts = run.judge(
            session, instances[k]["ids"], is_filled=nth == 0, clock=clock
        )
        found[k] = {**outcome, "mask_first": masks, "accept_first": accepts}
        session.reset()
    send({"stage": "first", "found": found})
    for k in (k for k in valid if found[k]["verdict"] == "accepted"):
        found[k].update(run.again(session, instances[k]["ids"], request.get("repeats", 1)))
    send({"stage": "second", "found": found})
    for k, instance in enumerate(instances):
        if not instance["valid"]:
            found[k], _, _ = run.judge(session, instance["ids"])
            session.reset()
    used = memory.finish()
    if request.get("split") and hasattr(engine, "split_compile"):
        used["front_end_ns"], used["core_ns"] = engine.split_compile(source, kind, clock)
    send({"stage": "done", "status": "ok", "found": found, **used})


class Memory:
    """Resident memory of this process over one request.

    The peak is set back at the start where the system can do that. Memory that an earlier request
    has given back to the allocator, and not to the system, does not count as growth again.
    """

    def __init__(self) -> None:
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        self._start_kib = self._read("VmRSS")

    def finish(self) -> dict[str, int]:
        """Return the peak, and how much more than at the start is resident now."""
        growth = self._read("VmRSS") - self._start_kib
        return {"peak_mib": self._read("VmHWM") >> 10, "growth_kib": growth}

    @staticmethod
    def _read(name: str) -> int:
        try:
            lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        except OSError:  # no /proc: the peak of all requests is all there is
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))


def pin_to_one_core() -> None:
    """Let all threads of this process run on the last core that it may use."""
    if not hasattr(os, "sched_setaffinity"):
        return
    core = max(os.sched_getaffinity(0))
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # the thread has ended meanwhile
            os.sched_setaffinity(int(task.name), {core})


def clock_cost_ns() -> int:
    """Return the median time between two readings of the clock."""
    costs = []
    for _ in range(1001):
        start = wall_clock()
        end = wall_clock()
        costs.append(end - start)
    return sorted(costs)[500]


def load(args: argparse.Namespace) -> tuple[Engine, float]:
    """Import the engine, load the vocabulary, warm up; return it with the seconds it took."""
    from benchmarks.engines import ENGINES

    start = time.perf_counter()
    engine = ENGINES[args.engine].load(
        args.tokenizer, args.vocab_size, args.stop_token_id, shared=args.shared
    )
    seconds = time.perf_counter() - start
    session = engine.open(WARM_UP_SCHEMA)
    for _ in range(3):
        session.fill()
    return engine, seconds


def main() -> None:
    """Load the engine named on the command line and serve requests until the input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("engine")
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("vocab_size", type=int)
    parser.add_argument("stop_token_id", type=int)
    parser.add_argument("memory_mib", type=int)
    parser.add_argument("--shared", action="store_true", help="one compiler over all requests")
    args = parser.parse_args()
    limit = args.memory_mib << 20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    # Libraries print; only this module's answers may reach the parent.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        engine, seconds = load(args)
    except ImportError as error:
        answer.write(json.dumps({"stage": "missing", "message": str(error)}) + "\n")
        answer.flush()
        return
    ready = {"stage": "ready", "version": engine.version, "load_seconds": round(seconds, 3)}
    answer.write(json.dumps({**ready, "clock_ns": clock_cost_ns()}) + "\n")
    answer.flush()
    run = Run(engine.row, args.stop_token_id)
    pin_to_one_core()
    gc.collect()
    gc.freeze()
    gc.disable()
    for line in sys.stdin:
        serve(engine, json.loads(line), run, answer)
        gc.collect()


if __name__ == "__main__":
    main()
