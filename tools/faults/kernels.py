"""Ctrl-C while a kernel works on a batch with many threads: nobody writes to the caller's arrays after the call."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from types import FrameType

import numpy as np

import gyrostat as gs
from gyrostat.tracing import pool

ROWS = 200_000
OWN = 7.0  # what the caller puts into his array when he has it back


class Worker:
    def __init__(self) -> None:
        craft = gs.load("servicer")
        rng = np.random.default_rng(0)
        self.q = np.tile(gs.neutral(craft), (ROWS, 1))
        self.q[:, 7:] += rng.normal(size=(ROWS, craft.nq - 7))
        self.v, self.tau = rng.normal(size=(2, ROWS, craft.nv))
        self.kernel = gs.compile(gs.forward_dynamics, craft, threads=8)
        self.expected = self.kernel(self.q, self.v, self.tau)
        self.takes = min(self._time() for _ in range(5))
        signal.signal(signal.SIGALRM, _interrupt)

    def _time(self) -> float:
        begun = time.monotonic()
        self.kernel(self.q, self.v, self.tau)
        return time.monotonic() - begun

    def one(self, seed: int) -> tuple[dict[str, int], list[str]]:
        """Until one was interrupted: those that were done before it came are looked at, too."""
        rng, wrong = random.Random(seed), list[str]()
        for _ in range(100):
            interrupted, found = self._try(max(1e-5, rng.uniform(0.0, 1.0) * self.takes))
            wrong += found
            if interrupted:
                return {"interrupted": 1}, wrong
        return {"never interrupted": 1}, [*wrong, "a hundred calls ended before the signal came"]

    def _try(self, seconds: float) -> tuple[bool, list[str]]:
        out = np.zeros_like(self.expected)
        interrupted = False
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            self.kernel(self.q, self.v, self.tau, out=out)
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        except KeyboardInterrupt:
            interrupted = True
        if not interrupted:
            return False, [] if np.array_equal(out, self.expected) else ["other numbers"]
        out[:] = OWN
        _all_threads_at_rest()
        written = int((out != OWN).any(axis=1).sum())
        return True, [f"{written} rows were written after the call"] if written else []


def _all_threads_at_rest() -> None:
    """Each of the pool's threads has come back for other work."""
    workers = max(pool.cores() - 1, 1)
    together = threading.Barrier(workers)
    for done in [pool._executor(os.getpid()).submit(together.wait) for _ in range(workers)]:
        done.result()


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt
