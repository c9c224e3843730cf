"""Runs engines in subprocesses under limits of time and memory.

A process lives over many files and keeps its vocabulary. When it takes too long it is killed, when
it dies (a crash, or an allocation beyond the limit) that is recorded, and in both cases the next
file gets a new one.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.data import SchemaFile
    from benchmarks.stats import Record
    from benchmarks.tokens import TokenizerFile

ROOT = Path(__file__).resolve().parent.parent
LOAD_SECONDS = 120.0
ONE_THREAD = {"OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class UnavailableError(Exception):
    """The engine is not installed or does not load."""


class EngineProcess:
    """One engine in a subprocess that is started when needed."""

    def __init__(
        self,
        name: str,
        tokenizer: TokenizerFile,
        *,
        seconds: float,
        memory_mib: int,
        shared: bool = False,
    ) -> None:
        self.name = name
        self.info: dict[str, Any] = {}
        self._seconds = seconds
        self._command = [sys.executable, "-m", "benchmarks.worker", name, str(tokenizer.path)]
        self._command += [str(tokenizer.vocab_size), str(tokenizer.stop_token_id), str(memory_mib)]
        self._command += ["--shared"] if shared else []
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = b""
        self._errors: IO[bytes] | None = None

    def launch(self) -> None:
        """Start the subprocess without waiting for it; `start` waits."""
        self._buffer = b""
        # A file, not a pipe: nobody has to read it for the engine to go on.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop()
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=ROOT,
            env={**os.environ, **ONE_THREAD},
        )

    def start(self) -> None:
        """Wait until the subprocess is ready; raise if the engine is unavailable."""
        if self._process is None:
            self.launch()
        stage = self._read_stage(time.monotonic() + LOAD_SECONDS)
        if stage is None or stage["stage"] != "ready":
            reason = stage["message"] if stage else self._last_error() or "does not start"
            self.stop()
            raise UnavailableError(reason)
        self.info = {**stage, "starts": self.info.get("starts", 0) + 1}

    def stop(self) -> None:
        """End the subprocess at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout, self._errors):
                if stream is not None:
                    with contextlib.suppress(BrokenPipeError):  # a request it never read
                        stream.close()
            self._process = None

    def measure(self, file: SchemaFile, ids: Sequence[Sequence[int]], **options: Any) -> Record:
        """Measure one schema file.

        Args:
            file: The schema and its instances.
            ids: The token ids of each instance.
            **options: `split=True`: also compile once more, front-end and core apart, where the
                engine can. `cpu_time=True`: what happens once is timed by the CPU time of the
                engine's process. `repeats=n`: of n readings of a step in the second pass take the
                least.

        Returns:
            `status` ("ok", "refused", "timeout", "crash"), `ttfm_ns` if it compiled, and
            `instances` with a verdict each (None where a limit came first).
        """
        instances = [
            {"ids": list(tokens), "valid": instance.valid}
            for tokens, instance in zip(ids, file.instances, strict=True)
        ]
        record: Record = {
            "status": "timeout",
            "instances": [{"valid": i.valid, "verdict": None} for i in file.instances],
        }
        if self._process is None:
            try:
                self.start()
            except UnavailableError as error:
                return {**record, "status": "crash", "message": f"does not start again: {error}"}
        assert self._process is not None
        assert self._process.stdin is not None
        deadline = time.monotonic() + self._seconds
        request = {"source": file.schema, "kind": file.kind, "instances": instances, **options}
        try:
            line = json.dumps(request) + "\n"
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it died between two files: seen below as the end of its output
        while (stage := self._read_stage(deadline)) is not None:
            for k, outcome in stage.pop("found", {}).items():
                record["instances"][int(k)].update(outcome)
            record.update(stage)
            if stage["stage"] == "done":
                return record
        if self._process.poll() is not None or time.monotonic() < deadline:
            record["status"] = "crash"
            record["message"] = self._last_error()
        self.stop()
        return record

    def _read_stage(self, deadline: float) -> dict[str, Any] | None:
        """Read one line; None if the deadline passes or the output ends before."""
        assert self._process is not None
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    return None
                chunk = os.read(descriptor, 1 << 16)
                if not chunk:
                    return None
                self._buffer += chunk
        line, self._buffer = self._buffer.split(b"\n", 1)
        stage: dict[str, Any] = json.loads(line)
        return stage

    def _last_error(self) -> str:
        assert self._errors is not None
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else ""
