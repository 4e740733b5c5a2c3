"""Has a process hung? By what it does, not by the clock on the wall: a busy machine makes everything slow.

A process hangs that sleeps, with all its children, though nobody keeps it from going on, or that computes for far
longer than it should. One that waits for a processor, or for a disk, is slow and no more.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

LOOKS = 0.5  # seconds from one to the next


class Hung(Exception):
    """What it did instead of coming to its end."""


class Watch:
    """asleep: seconds that nothing of it may happen; computing: seconds of processor time, from the last `begin`."""

    def __init__(self, process: int, asleep: float, computing: float) -> None:
        self._process, self._asleep, self._computing = process, asleep, computing
        self.begin()

    def begin(self) -> None:
        self._used, _ = activity(self._process)
        self._last, self._since = self._used, time.monotonic()

    def look(self) -> None:
        """Raises Hung."""
        used, ready = activity(self._process)
        if ready or used != self._last:
            self._last, self._since = used, time.monotonic()
        if used - self._used > self._computing:
            raise Hung(f"it went on, for {used - self._used:.0f} s of processor time")
        if time.monotonic() - self._since > self._asleep:
            raise Hung(f"it slept for {self._asleep:.0f} s, with nothing to wait for")


def communicate(process: subprocess.Popen[str], asleep: float, computing: float) -> tuple[str, str]:
    """As its method, until it ends; one that has hung is killed, and Hung raised."""
    watch = Watch(process.pid, asleep, computing)
    while True:
        try:
            return process.communicate(timeout=LOOKS)
        except subprocess.TimeoutExpired:
            try:
                watch.look()
            except Hung:
                end(process.pid)
                process.communicate()
                raise


def end(process: int) -> None:
    """It and all below it, which may hold its pipes open."""
    for one in [process, *_below(process)]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


def activity(process: int) -> tuple[float, bool]:
    """Seconds of processor time of it and all below it, and whether one of their threads is not asleep."""
    seconds, ready = 0.0, False
    for one in [process, *_below(process)]:
        if fields := _fields(Path(f"/proc/{one}/stat")):
            seconds += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")  # its own, and of those that ended
        for thread in Path(f"/proc/{one}/task").glob("*/stat"):
            ready |= _fields(thread)[:1] in (["R"], ["D"])
    return seconds, ready


def _below(process: int) -> list[int]:
    """Its children, theirs, and so on."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and (fields := _fields(Path(entry.path) / "stat")):
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found = [process]
    for one in found:
        found += children.get(one, [])
    return found[1:]


def _fields(stat: Path) -> list[str]:
    """From the state on, behind the name in brackets; none of a process that is gone."""
    try:
        return stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
