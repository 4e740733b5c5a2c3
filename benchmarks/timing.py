"""How long a call takes: the median of several repeats, each of enough calls to be measured.

In processor time by default: all that run on one thread are then compared fairly,
also on a machine that has other work.
"""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

Clock = Callable[[], float]


def seconds(
    calls: dict[str, Callable[[], object]], repeats: int = 7, at_least: float = 0.02, clock: Clock = time.process_time
) -> dict[str, float]:
    """Seconds per call of each: the median of `repeats`, each lasting `at_least` seconds or one call.

    All are measured in turn, round by round, so that whatever else the machine does meets all of them alike.
    """
    numbers = {name: _enough(call, at_least, clock) for name, call in calls.items()}
    rounds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            time.sleep(0.01)  # until threads of the one before stop waiting for more
            call()
            rounds[name].append(_elapsed(call, numbers[name], clock) / numbers[name])
    return {name: statistics.median(times) for name, times in rounds.items()}


def _enough(call: Callable[[], object], at_least: float, clock: Clock) -> int:
    """How many calls last that long; the first call of all, which may compile, is not counted."""
    call()
    number, elapsed = 1, _elapsed(call, 1, clock)
    while elapsed < at_least and number < 1_000_000:
        number = max(2 * number, int(number * at_least / max(elapsed, 1e-7)))
        elapsed = _elapsed(call, number, clock)
    return number


def _elapsed(call: Callable[[], object], number: int, clock: Clock) -> float:
    start = clock()
    for _ in range(number):
        call()
    return clock() - start


def machine() -> str:
    """The processor's name."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
