"""What the machine was doing while the run measured.

Other work on the machine shows up as outliers, in p99 and above first. Two hints: the load average,
and a loop of fixed work repeated at the start and at the end, whose slowest run over its fastest
would be 1.0 on an idle machine.
"""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path

_REPEATS = 40


def cpu_name() -> str:
    """Return the processor's name as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def fixed_loop_ms() -> list[float]:
    """Time a loop of about a millisecond, repeated; return sorted milliseconds."""
    times = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        sum(range(50_000))
        times.append((time.perf_counter() - start) * 1000.0)
    return sorted(times)


class LoadWatch:
    """Readings of load at the start and at the end of a run."""

    def __init__(self) -> None:
        self._loads = [os.getloadavg()[0]]
        self._loops = fixed_loop_ms()

    def finish(self) -> str:
        """Take the last reading and describe all of it in a line."""
        self._loads.append(os.getloadavg()[0])
        loops = sorted(self._loops + fixed_loop_ms())
        middle, slowest = loops[len(loops) // 2] / loops[0], loops[-1] / loops[0]
        cores = os.cpu_count() or 1
        note = (
            "" if max(self._loads) < cores - 0.5 and middle < 1.2 else " NOISY: repeat when idle."
        )
        return (
            f"{cpu_name()}, {cores} cores; load average {self._loads[0]:.1f} at the start, "
            f"{self._loads[1]:.1f} at the end; a fixed loop took {middle:.2f} (median) and "
            f"{slowest:.2f} (slowest) times its fastest.{note}"
        )
